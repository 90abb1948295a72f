#pragma once
// A model that stands in a sweep as it was imported, without training.

#include <optional>
#include <string>

namespace deft::results_db {

struct ImportedModel {
    std::string from;    // as the sweep's file names it
    std::string format;  // "GPT-2 of Hugging Face"
    std::string sha256;
    // What its training took, as the sweep's file states it; 0: not stated.
    double tokens = 0, flops = 0, hours = 0, usd = 0;
    std::string source;  // where that is written

    bool operator==(const ImportedModel&) const = default;
};

// Of sweep_member.imported_json; empty: none. Errors of the second: database, for text that the first did not write.
std::string imported_json(const std::optional<ImportedModel>& model);
std::optional<ImportedModel> imported_of(const std::string& json);

}  // namespace deft::results_db
