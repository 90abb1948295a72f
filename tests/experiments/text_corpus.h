#pragma once
// Corpora of text files, and what is read from them.

#include <string>
#include <utility>
#include <vector>

#include "engine/data_efficiency/sampling/integer_column.h"
#include "experiments/config.h"

namespace deft::test {

inline experiments::DataConfig text_data(std::vector<std::string> train, std::vector<std::string> valid = {}) {
    experiments::DataConfig data;
    data.corpus = "text";
    data.train_files = std::move(train);
    data.valid_files = std::move(valid);
    return data;
}

inline std::vector<std::int64_t> all(const engine::IntegerColumn& column) {
    return {column.begin(), column.end()};
}

}  // namespace deft::test
