#include "reporting/comparison.h"

#include <fmt/format.h>

#include <utility>

#include "reporting/axes.h"
#include "reporting/field.h"
#include "reporting/key_fields.h"
#include "reporting/measured.h"
#include "reporting/notes.h"
#include "reporting/published_columns.h"
#include "reporting/resources.h"
#include "reporting/score_columns.h"
#include "reporting/sweep_text.h"
#include "reporting/variants.h"

namespace deft::reporting {

namespace {

using results_db::SweepResults;

Cell seeds_cell(const Variant& variant) {
    const std::size_t all = variant.trials.size();
    return variant.ok.size() == all ? fmt::format("{}", all) : fmt::format("{} of {}", variant.ok.size(), all);
}

void append(std::vector<Field>& to, std::vector<Field> fields) {
    for (Field& field : fields) to.push_back(std::move(field));
}

// The fields from `scores` on tell how good the models are.
struct Fields {
    std::vector<Field> all;
    std::size_t keys = 0, scores = 0;
};

Fields fields_of(const SweepResults& sweep, const std::vector<Variant>& variants, const std::string& base_case,
                 const PublishedContext* published) {
    Fields fields{key_fields(variants)};
    fields.keys = fields.all.size();
    fields.all.emplace_back(Column{"seeds"}, seeds_cell);
    for (const Resource& resource : resources()) {
        fields.all.push_back(resource_field(resource, variants, base_case));
        if (published != nullptr && resource.value == train_time().value)
            append(fields.all, published_time_fields(*published));
    }
    fields.scores = fields.all.size();
    if (published != nullptr) append(fields.all, average_fields(*published));
    std::vector<Field> scores = score_fields(sweep);
    if (!scores.empty()) scores.front().column.begins_block = true;
    append(fields.all, std::move(scores));
    return fields;
}

std::vector<Cell> row_of(const Variant& variant, const Fields& fields) {
    const std::string flag = not_measured(variant);
    std::vector<Cell> row;
    for (std::size_t i = 0; i < fields.all.size(); ++i) {
        Cell cell = fields.all[i].cell(variant);
        const bool measured = !fields.all[i].column.published && (cell.value || i == 0) && !variant.ok.empty();
        if (measured && (i == 0 || i >= fields.keys)) cell.trace = variant.name;
        if (measured && (i == 0 || i >= fields.scores)) cell.flag = flag;
        row.push_back(std::move(cell));
    }
    return row;
}

}  // namespace

Table comparison_table(const SweepResults& sweep, const SweepAbout& about) {
    const std::vector<Variant> variants = variants_of(sweep);
    const std::string base_case = baseline_case(variants, about.baseline, sweep.name);
    std::optional<PublishedContext> published;
    if (about.published) published.emplace(PublishedContext{*about.published, sweep, variants, base_case, about.scale});
    const Fields fields = fields_of(sweep, variants, base_case, published ? &*published : nullptr);

    Table table;
    table.caption = "Sweep " + sweep_text(sweep) + (about.title.empty() ? "" : ": " + about.title);
    table.key_columns = fields.keys;
    for (const Field& field : fields.all) table.columns.push_back(field.column);
    for (const Variant& variant : variants) table.rows.push_back(row_of(variant, fields));
    table.notes = comparison_notes(sweep, variants, base_case, about);
    if (published && !variants.empty())
        for (std::string& text : published_notes(*published)) table.notes.push_back(std::move(text));
    return table;
}

}  // namespace deft::reporting
