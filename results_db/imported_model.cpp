#include "results_db/imported_model.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"

namespace deft::results_db {

std::string imported_json(const std::optional<ImportedModel>& model) {
    if (!model) return {};
    return canonical_json(Json{{"from", model->from},
                               {"format", model->format},
                               {"sha256", model->sha256},
                               {"tokens", model->tokens},
                               {"flops", model->flops},
                               {"hours", model->hours},
                               {"usd", model->usd},
                               {"source", model->source}});
}

std::optional<ImportedModel> imported_of(const std::string& json) {
    if (json.empty()) return {};
    try {
        const Json read = parse_json(json);
        return ImportedModel{read.at("from"),  read.at("format"), read.at("sha256"), read.at("tokens"),
                             read.at("flops"), read.at("hours"),  read.at("usd"),    read.at("source")};
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::database, fmt::format("an imported model that cannot be read: {}", error.what()));
    }
}

}  // namespace deft::results_db
