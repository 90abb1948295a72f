#pragma once
// A model that a sweep imports, without training it.

#include <optional>
#include <string>

namespace deft::results_db {

struct ImportedModel {
    std::string from;    // as the sweep's file names it
    std::string format;  // "GPT-2 of Hugging Face"
    std::string sha256;
    // The cost of its training, as stated by the sweep's file; 0: not stated.
    double tokens = 0, flops = 0, hours = 0, usd = 0;
    std::string source;  // where that is written

    bool operator==(const ImportedModel&) const = default;
};

// Conversion of sweep_member.imported_json; empty: none. Errors of the second: database, for text not from the first.
std::string imported_json(const std::optional<ImportedModel>& model);
std::optional<ImportedModel> imported_of(const std::string& json);

}  // namespace deft::results_db
