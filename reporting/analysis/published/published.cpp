#include "reporting/analysis/published/published.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/suggestion.h"
#include "base/table_reader.h"
#include "results_db/row_name.h"

namespace deft::reporting {

namespace {

using Kind = ConfigNode::Kind;

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

std::int64_t read_seeds(TableReader& reader, std::int64_t seeds) {
    if (reader.optional_node("seeds") == nullptr) return seeds;
    reader.optional("seeds", seeds);
    reader.require_at_least("seeds", seeds, 1);
    return seeds;
}

void read_measures(TableReader& reader, PublishedColumn& column) {
    const bool measured = reader.optional_node("measures") != nullptr;
    if (measured) column.measures = parse_quantity(reader.required<std::string>("measures"), reader.place("measures"));
    if (reader.optional_node("not_measured") != nullptr) column.not_measured = reader.required_text("not_measured");
    if (measured != column.not_measured.empty())
        reader.refuse("measures", "and not_measured: one of them must be there",
                      "measures = \"task:lambada acc\" names what answers the column, not_measured = \"...\" says why "
                      "nothing does");
}

PublishedColumn read_column(const ConfigNode& node) {
    TableReader reader(node, "column");
    PublishedColumn column;
    column.key = reader.required_text("key");
    column.title = reader.required_text("title");
    reader.optional("detail", column.detail);
    column.unit = reader.required_text("unit");
    column.better = reader.required<std::string>("better");
    reader.optional("aggregate", column.aggregate);
    reader.optional("spread_kind", column.spread_kind);
    column.seeds = read_seeds(reader, 0);
    read_measures(reader, column);
    reader.finish();
    reader.require_one_of("better", column.better, {"lower", "higher"});
    if (column.measures && column.better != better_of(*column.measures))
        reader.refuse("better", fmt::format("is {}, and '{}' is better {}", column.better, to_text(*column.measures),
                                            better_of(*column.measures)));
    return column;
}

// verified = false with its reason, of a row or a cell; `doubt` where it says nothing of that.
std::string read_doubt(TableReader& reader, const std::string& doubt) {
    if (reader.optional_node("verified") == nullptr) {
        if (reader.optional_node("reason") != nullptr)
            reader.refuse("reason", "is of numbers that are not verified", "write verified = false beside it");
        return doubt;
    }
    const bool verified = reader.required<bool>("verified");
    if (verified && reader.optional_node("reason") != nullptr)
        reader.refuse("reason", "is of numbers that are not verified", "write verified = false, or leave it out");
    return verified ? "" : reader.required_text("reason");
}

// A printed number is quoted, because 44.0 and 44 are different prints of one real.
PublishedCell read_cell(TableReader& row, const PublishedColumn& column, const std::string& doubt) {
    const char* key = column.key.c_str();
    const ConfigNode* node = row.optional_node(key);
    PublishedCell cell;
    cell.seeds = column.seeds;
    cell.doubt = doubt;
    if (node->kind != Kind::table) {
        cell.number = parse_printed(row.required<std::string>(key), row.place(key));
        return cell;
    }
    TableReader reader(*node, row.name(key));
    cell.number = parse_printed(reader.required<std::string>("printed"), reader.place("printed"));
    if (reader.optional_node("spread") != nullptr) {
        cell.spread = parse_printed(reader.required<std::string>("spread"), reader.place("spread"));
        if (column.spread_kind.empty())
            reader.refuse("spread", "is of no kind", "give its column spread_kind, as in \"standard deviation\"");
    }
    cell.seeds = read_seeds(reader, cell.seeds);
    cell.doubt = read_doubt(reader, doubt);
    reader.finish();
    return cell;
}

const ConfigNode& child_table(TableReader& reader, const char* key) {
    static const ConfigNode none;
    const ConfigNode* node = reader.optional_node(key);
    if (node == nullptr) return none;
    if (node->kind != Kind::table) reader.refuse(key, "must be a table", fmt::format("write {} = {{ ... }}", key));
    return *node;
}

// Every column has a cell, or says why it has none.
void read_cells(const ConfigNode& values, const ConfigNode& missing, const std::vector<PublishedColumn>& columns,
                const std::string& doubt, const Place& place, PublishedRow& row) {
    TableReader cells(values, "row.values"), reasons(missing, "row.missing");
    for (const PublishedColumn& column : columns) {
        const char* key = column.key.c_str();
        const bool printed = cells.optional_node(key) != nullptr;
        if (printed == (reasons.optional_node(key) != nullptr))
            throw Error(
                ErrorKind::config, printed ? cells.place(key) : place,
                printed ? fmt::format("{} has a value of column {}, and a reason why it has none", row.name(), key)
                        : fmt::format("{} has no value of column {}", row.name(), key),
                printed
                    ? "leave one out"
                    : fmt::format("write it in values, or why it is not there in missing = {{ {} = \"...\" }}", key));
        if (printed)
            row.cells.emplace_back(column.key, read_cell(cells, column, doubt));
        else
            row.missing.emplace_back(column.key, reasons.required_text(key));
    }
    cells.finish();
    reasons.finish();
}

PublishedRow read_row(const ConfigNode& node, const std::vector<PublishedColumn>& columns) {
    TableReader reader(node, "row");
    PublishedRow row;
    row.recipe = reader.required_text("case");
    row.budget_fraction = reader.required<double>("budget_fraction");
    reader.optional("data", row.data);
    const std::string doubt = read_doubt(reader, "");
    const ConfigNode &values = child_table(reader, "values"), &missing = child_table(reader, "missing");
    reader.finish();
    if (!(row.budget_fraction > 0 && row.budget_fraction <= 1)) reader.refuse("budget_fraction", "must lie in (0, 1]");
    read_cells(values, missing, columns, doubt, node.place, row);
    return row;
}

void read_columns(const ConfigNode& items, PublishedTable& table) {
    for (const ConfigNode& item : items.items) {
        PublishedColumn column = read_column(item);
        for (const PublishedColumn& other : table.columns)
            if (other.key == column.key || (other.measures && other.measures == column.measures))
                throw Error(ErrorKind::config, item.place, "a column with that key or quantity already exists");
        table.columns.push_back(std::move(column));
    }
}

void read_rows(const ConfigNode& items, PublishedTable& table) {
    for (const ConfigNode& item : items.items) {
        PublishedRow row = read_row(item, table.columns);
        if (table.find(row.recipe, row.budget_fraction) != nullptr)
            throw Error(ErrorKind::config, item.place, "a row with that recipe and budget already exists");
        table.rows.push_back(std::move(row));
    }
}

PublishedHardware read_hardware(const ConfigNode& node) {
    TableReader reader(node, "hardware");
    PublishedHardware hardware;
    hardware.devices = reader.required<std::int64_t>("devices");
    hardware.any_of = reader.required<std::vector<std::string>>("any_of");
    reader.finish();
    if (hardware.devices < 1) reader.refuse("devices", "must be at least 1");
    if (hardware.any_of.empty())
        reader.refuse("any_of", "names no device", "name entries of experiments/hardware.toml");
    return hardware;
}

// Keys of [regime]; a key that is left out is unknown.
Regime read_regime(const ConfigNode& node) {
    TableReader reader(node, "regime");
    Regime regime;
    regime.parameters = reader.required<double>("parameters");
    regime.tokens = reader.required<double>("tokens");
    reader.optional("steps", regime.steps);
    reader.optional("passes", regime.passes);
    reader.finish();
    for (const auto& [key, value] : {std::pair("parameters", regime.parameters), std::pair("tokens", regime.tokens)})
        if (!(value > 0)) reader.refuse(key, "must be above 0");
    if (!(regime.steps >= 0)) reader.refuse("steps", "must not be negative");
    if (!(regime.passes >= 0)) reader.refuse("passes", "must not be negative");
    return regime;
}

}  // namespace

const PublishedCell* PublishedRow::find(const std::string& key) const {
    for (const auto& [column, cell] : cells)
        if (column == key) return &cell;
    return nullptr;
}

std::string PublishedRow::name() const {
    return fmt::format("{} at {:.3g}%", recipe, budget_fraction * 100);
}

const PublishedColumn* PublishedTable::column(const std::string& key) const {
    for (const PublishedColumn& column : columns)
        if (column.key == key) return &column;
    return nullptr;
}

const PublishedRow* PublishedTable::find(const std::string& recipe, double budget_fraction) const {
    for (const PublishedRow& row : rows)
        if (row.recipe == recipe && results_db::same_budget(row.budget_fraction, budget_fraction)) return &row;
    return nullptr;
}

const PublishedRow* PublishedTable::full_budget(const std::string& recipe) const {
    const PublishedRow* best = nullptr;
    for (const PublishedRow& row : rows)
        if (row.recipe == recipe && (best == nullptr || row.budget_fraction > best->budget_fraction)) best = &row;
    return best;
}

PublishedTable read_published_table(const std::filesystem::path& file) {
    const ConfigNode root = parse_toml_file(file);
    TableReader reader(root, "");
    PublishedTable table;
    table.name = file.stem().string();
    table.paper = reader.required_text("paper");
    table.source = reader.required_text("source");
    table.label = reader.required_text("label");
    table.scale = reader.required_text("scale");
    reader.optional("stage", table.stage);
    if (const ConfigNode* regime = reader.optional_node("regime")) table.regime = read_regime(*regime);
    if (const ConfigNode* hardware = reader.optional_node("hardware")) table.hardware = read_hardware(*hardware);
    const Place place{file.string(), 0, 0};
    read_columns(array_of_tables(reader, "column", place), table);
    read_rows(array_of_tables(reader, "row", place), table);
    if (reader.optional_node("claim") != nullptr)
        for (const ConfigNode& item : array_of_tables(reader, "claim", place).items)
            table.claims.push_back(read_claim(item, table));
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

std::vector<std::string> doubt_notes(const PublishedTable& table,
                                     const std::function<bool(const PublishedRow&, const PublishedColumn&)>& is_shown) {
    std::vector<std::pair<std::string, std::vector<std::string>>> cells_of;  // by reason, in the table's order
    for (const PublishedRow& row : table.rows)
        for (const PublishedColumn& column : table.columns) {
            const PublishedCell* cell = row.find(column.key);
            if (cell == nullptr || cell->doubt.empty() || !is_shown(row, column)) continue;
            auto found = std::find_if(cells_of.begin(), cells_of.end(),
                                      [&](const auto& entry) { return entry.first == cell->doubt; });
            if (found == cells_of.end()) found = cells_of.insert(found, {cell->doubt, {}});
            found->second.push_back(fmt::format("{} of {}", column.title, row.name()));
        }
    std::vector<std::string> notes;
    for (const auto& [doubt, cells] : cells_of)
        notes.push_back(fmt::format("§ Not verified: {}: {}.", fmt::join(cells, ", "), doubt));
    return notes;
}

}  // namespace deft::reporting
