#include "reporting/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/suggestion.h"
#include "base/table_reader.h"

namespace deft::reporting {

namespace {

using Kind = ConfigNode::Kind;

bool same_budget(double a, double b) {
    return std::abs(a - b) < 1e-9;
}

Measures parse_measures(const std::string& text, const Place& place) {
    static const std::vector<std::string> names = {"train_time", "zero_shot_average", "ten_shot_average"};
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end())
        throw Error(ErrorKind::config, place, fmt::format("nothing measured is called {}", text),
                    suggestion(text, names));
    return static_cast<Measures>(found - names.begin());
}

const ConfigNode& array_of_tables(TableReader& reader, const char* key, const Place& place) {
    const ConfigNode* node = reader.optional_node(key);
    const bool good = node != nullptr && node->kind == Kind::array && !node->items.empty() &&
                      std::all_of(node->items.begin(), node->items.end(),
                                  [](const ConfigNode& item) { return item.kind == Kind::table; });
    if (!good)
        throw Error(ErrorKind::config, node != nullptr ? node->place : place,
                    fmt::format("{} must be an array of tables", key), fmt::format("write [[{}]]", key));
    return *node;
}

PublishedColumn read_column(const ConfigNode& node) {
    TableReader reader(node, "column");
    PublishedColumn column;
    column.key = reader.required<std::string>("key");
    column.title = reader.required<std::string>("title");
    reader.optional("detail", column.detail);
    column.unit = reader.required<std::string>("unit");
    column.better = reader.required<std::string>("better");
    column.measures = parse_measures(reader.required<std::string>("measures"), reader.place("measures"));
    reader.finish();
    reader.require_one_of("better", column.better, {"lower", "higher"});
    return column;
}

// A printed number stands in quotes, for 44.0 and 44 are different prints of one real.
void read_values(const ConfigNode& node, const std::vector<PublishedColumn>& columns, PublishedRow& row) {
    TableReader reader(node, "row.values");
    for (const PublishedColumn& column : columns)
        row.values.emplace_back(column.key, parse_printed(reader.required<std::string>(column.key.c_str()),
                                                          reader.place(column.key.c_str())));
    reader.finish();
}

PublishedRow read_row(const ConfigNode& node, const std::vector<PublishedColumn>& columns) {
    TableReader reader(node, "row");
    PublishedRow row;
    row.case_name = reader.required<std::string>("case");
    row.budget_fraction = reader.required<double>("budget_fraction");
    reader.optional("data", row.data);
    const ConfigNode* values = reader.optional_node("values");
    reader.finish();
    if (!(row.budget_fraction > 0 && row.budget_fraction <= 1)) reader.refuse("budget_fraction", "must lie in (0, 1]");
    if (values == nullptr || values->kind != Kind::table)
        throw Error(ErrorKind::config, node.place, "a row must have a table values");
    read_values(*values, columns, row);
    return row;
}

}  // namespace

PrintedNumber parse_printed(const std::string& text, const Place& place) {
    const std::size_t first = text.starts_with('-') ? 1 : 0;
    const std::size_t point = text.find('.');
    const std::string digits = text.substr(first, point - first);
    const std::string decimals = point == std::string::npos ? "" : text.substr(point + 1);
    const auto all_digits = [](const std::string& part) {
        return !part.empty() && part.size() <= 15 && part.find_first_not_of("0123456789") == std::string::npos;
    };
    if (!all_digits(digits) || (point != std::string::npos && !all_digits(decimals)))
        throw Error(ErrorKind::config, place, fmt::format("'{}' is no number as papers print them", text),
                    "write it as in \"43.6\"");
    return {text, std::strtod(text.c_str(), nullptr), 0.5 * std::pow(10.0, -static_cast<double>(decimals.size()))};
}

const PrintedNumber* PublishedRow::find(const std::string& key) const {
    for (const auto& [column, number] : values)
        if (column == key) return &number;
    return nullptr;
}

const PublishedRow* PublishedTable::find(const std::string& case_name, double budget_fraction) const {
    for (const PublishedRow& row : rows)
        if (row.case_name == case_name && same_budget(row.budget_fraction, budget_fraction)) return &row;
    return nullptr;
}

const PublishedRow* PublishedTable::full_budget(const std::string& case_name) const {
    const PublishedRow* best = nullptr;
    for (const PublishedRow& row : rows)
        if (row.case_name == case_name && (best == nullptr || row.budget_fraction > best->budget_fraction)) best = &row;
    return best;
}

PublishedTable read_published_table(const std::filesystem::path& file) {
    const ConfigNode root = parse_toml_file(file);
    TableReader reader(root, "");
    PublishedTable table;
    table.name = file.stem().string();
    table.paper = reader.required<std::string>("paper");
    table.source = reader.required<std::string>("source");
    table.label = reader.required<std::string>("label");
    table.scale = reader.required<std::string>("scale");
    const Place place{file.string(), 0, 0};
    for (const ConfigNode& item : array_of_tables(reader, "column", place).items) {
        table.columns.push_back(read_column(item));
        for (std::size_t i = 0; i + 1 < table.columns.size(); ++i)
            if (table.columns[i].key == table.columns.back().key ||
                table.columns[i].measures == table.columns.back().measures)
                throw Error(ErrorKind::config, item.place, "a column of that key or measure is there already");
    }
    for (const ConfigNode& item : array_of_tables(reader, "row", place).items) {
        PublishedRow row = read_row(item, table.columns);
        if (table.find(row.case_name, row.budget_fraction) != nullptr)
            throw Error(ErrorKind::config, item.place, "a row of that case and budget is there already");
        table.rows.push_back(std::move(row));
    }
    reader.finish();
    return table;
}

std::vector<std::string> published_table_names(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace deft::reporting
