#include "reporting/analysis/results/imported.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace deft::reporting {

bool states_anything(const results_db::ImportedModel& model) {
    return model.tokens > 0 || model.flops > 0 || model.hours > 0 || model.usd > 0;
}

bool is_imported(const Row& row) {
    return !row.trials.empty() && row.trials.front()->imported.has_value();
}

std::string recipe_text(const Row& row) {
    return is_imported(row) ? row.recipe + " (imported)" : row.recipe;
}

Cell stated_cell(double value, std::string (*print)(double)) {
    if (!(value > 0)) return "-";
    Cell cell(print(value), value);
    cell.stated = true;
    return cell;
}

std::string origin_text(const results_db::ImportedModel& model) {
    return fmt::format("{}, from {} (sha256 {})", model.format.empty() ? "a model" : model.format, model.from,
                       model.sha256.empty() ? "unknown" : short_hash(model.sha256));
}

std::vector<std::string> imported_notes(const std::vector<Row>& rows) {
    std::vector<std::string> notes, sources;
    bool any_stated = false;
    for (const Row& row : rows) {
        if (!is_imported(row)) continue;
        const results_db::ImportedModel& model = *row.trials.front()->imported;
        notes.push_back(fmt::format("Imported, not trained here: {}: {}. It has no seeds, and no ratios.", row.name,
                                    origin_text(model)));
        any_stated = any_stated || states_anything(model);
        if (states_anything(model) && !model.source.empty())
            sources.push_back(fmt::format("{}: {}", row.name, model.source));
    }
    if (any_stated)
        notes.push_back(fmt::format("‡ As stated in the sweep's file, not measured{}.",
                                    sources.empty() ? "" : fmt::format(": {}", fmt::join(sources, "; "))));
    return notes;
}

}  // namespace deft::reporting
