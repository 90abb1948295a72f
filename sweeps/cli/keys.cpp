// deft keys: the keys of sweep and task files, as tables and as schemas for editors.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/suggestion.h"
#include "experiments/evaluation/task_keys.h"
#include "reporting/table.h"
#include "reporting/text.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/output.h"
#include "sweeps/spec/sweep_keys.h"

namespace deft::cli {

namespace {

struct KeysArguments {
    std::string table, schema;
    bool json = false;
};

// As the argument of deft keys says it.
std::string name_of(const KeyTable& table) {
    return table.path.empty() ? "sweep" : table.path;
}

// Keys of sweep files, then those of task files.
std::vector<KeyTable> all_tables() {
    std::vector<KeyTable> tables = sweeps::sweep_tables();
    for (KeyTable& table : experiments::task_tables()) {
        table.path = table.path.empty() ? "task" : "task." + table.path;
        tables.push_back(std::move(table));
    }
    return tables;
}

bool has_key(const Field& field) {
    return field.rules.role != FieldRole::computed;
}

// [curriculum.voc] is one of [curriculum.METRIC].
std::string with_metric(const std::string& name) {
    const std::string curriculum = "curriculum.";
    if (!name.starts_with(curriculum)) return name;
    const std::size_t dot = name.find('.', curriculum.size());
    return curriculum + "METRIC" + (dot == std::string::npos ? "" : name.substr(dot));
}

// Tables that keep only the keys which `matches` accepts; tables without such a key are left out.
template <class Matches>
std::vector<KeyTable> tables_with_keys(std::vector<KeyTable> tables, const Matches& matches) {
    for (KeyTable& table : tables)
        std::erase_if(table.fields,
                      [&](const Field& field) { return !has_key(field) || !matches(name_of(table), field.key); });
    std::erase_if(tables, [](const KeyTable& table) { return table.fields.empty(); });
    return tables;
}

// All tables of sweep files where `word` is empty. Otherwise the first of these that finds something: the table of that
// name with its subtables, the key TABLE.KEY, and every key with `word` in its name or in its table's name.
std::vector<KeyTable> asked_tables(const std::string& word) {
    if (word.empty()) return sweeps::sweep_tables();
    const std::vector<KeyTable> all = all_tables();

    const std::string path = with_metric(word);
    std::vector<KeyTable> sections = all;
    std::erase_if(sections, [&](const KeyTable& table) {
        return name_of(table) != path && !name_of(table).starts_with(path + ".");
    });
    if (!sections.empty()) return sections;

    std::vector<KeyTable> found = tables_with_keys(
        all, [&](const std::string& table, const std::string& key) { return table + "." + key == path; });
    if (found.empty())
        found = tables_with_keys(all, [&](const std::string& table, const std::string& key) {
            return (table + "." + key).find(word) != std::string::npos;
        });
    if (!found.empty()) return found;

    std::vector<std::string> known;
    for (const KeyTable& table : all) {
        known.push_back(name_of(table));
        for (const Field& field : table.fields) {
            if (!has_key(field)) continue;
            known.push_back(field.key);
            known.push_back(name_of(table) + "." + field.key);
        }
    }
    throw Error(ErrorKind::usage, fmt::format("no table or key matches {}", word),
                suggestion(word, known, "see deft keys for all tables and keys"));
}

// A line a key; what is too wide goes on below.
reporting::Table table_of_keys(const KeyTable& keys, int width) {
    using reporting::Align;
    reporting::Table table;
    table.caption = fmt::format("[{}] {}", name_of(keys), keys.meaning);
    table.columns = {{"key", Align::left}, {"default", Align::left}, {"may be", Align::left}, {"meaning", Align::left}};
    int key_width = 0;
    for (const Field& field : keys.fields)
        if (has_key(field)) key_width = std::max(key_width, reporting::display_width(field.key));
    constexpr int kGaps = 6;
    const int rest = std::max(60, width - key_width - kGaps);
    const std::array<int, 4> widths = {key_width, rest / 5, rest * 3 / 10, rest - rest / 5 - rest * 3 / 10};
    for (const Field& field : keys.fields) {
        if (!has_key(field)) continue;
        std::string allowed = allowed_text(field, keys);
        if (*field.rules.unit != '\0') allowed += fmt::format(" ({})", field.rules.unit);
        const std::array<std::string, 4> texts = {field.key, default_text(field, keys), allowed, field.meaning};
        std::size_t lines = 0;
        std::array<std::vector<std::string>, 4> wrapped;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            wrapped[i] = reporting::wrap(texts[i], widths[i], "");
            lines = std::max(lines, wrapped[i].size());
        }
        for (std::size_t line = 0; line < lines; ++line) {
            std::vector<reporting::Cell>& row = table.rows.emplace_back();
            for (const std::vector<std::string>& cell : wrapped) row.emplace_back(line < cell.size() ? cell[line] : "");
        }
    }
    return table;
}

Json keys_json(const std::vector<KeyTable>& tables) {
    Json all = Json::array();
    for (const KeyTable& table : tables) {
        Json keys = Json::array();
        for (const Field& field : table.fields)
            if (has_key(field))
                keys.push_back({{"key", field.key},
                                {"default", default_text(field, table)},
                                {"allowed", allowed_text(field, table)},
                                {"unit", field.rules.unit},
                                {"meaning", field.meaning},
                                {"decides_results", field.rules.role == FieldRole::setting}});
        all.push_back({{"table", name_of(table)}, {"meaning", table.meaning}, {"keys", std::move(keys)}});
    }
    return {{"schema", "deft-keys/1"}, {"tables", std::move(all)}};
}

// An object on one line where it holds no other or is short, else a line for each of its keys.
std::string schema_text(const Json& json, const std::string& indent = "") {
    const bool plain =
        !json.is_object() || std::none_of(json.begin(), json.end(), [](const Json& v) { return v.is_object(); });
    if (plain || json.dump().size() < 100) return json.dump();
    std::string text;
    for (const auto& [key, value] : json.items())
        text += fmt::format("{}\n{}  {}: {}", text.empty() ? "{" : ",", indent, Json(key).dump(),
                            schema_text(value, indent + "  "));
    return text + "\n" + indent + "}";
}

int run_keys(const KeysArguments& arguments) {
    if (!arguments.schema.empty()) {
        print_exact(schema_text(arguments.schema == "sweep" ? sweeps::sweep_schema() : experiments::task_schema()));
        return kExitOk;
    }
    const std::vector<KeyTable> tables = asked_tables(arguments.table);
    if (arguments.json) {
        print_exact(keys_json(tables).dump(2));
        return kExitOk;
    }
    const int width = output_width();
    std::string text;
    for (const KeyTable& table : tables)
        text += (text.empty() ? "" : "\n") + reporting::render_terminal(table_of_keys(table, width), width);
    print(text);
    return kExitOk;
}

}  // namespace

void add_keys(CLI::App& app, Context& context) {
    CLI::App* command =
        app.add_subcommand("keys", "The keys of sweep and task files: default, values, unit and meaning of each");
    auto arguments = std::make_shared<KeysArguments>();
    CLI::Option* table = command->add_option(
        "table", arguments->table,
        "A table, a key or a part of a name, as in data.bert, train.learning_rate or dtype (default: all of a sweep)");
    CLI::Option* json = command->add_flag("--json", arguments->json, "Print them as JSON");
    command
        ->add_option("--schema", arguments->schema, "Print the JSON Schema by which editors check files: sweep or task")
        ->check(CLI::IsMember({"sweep", "task"}))
        ->excludes(table)
        ->excludes(json);
    command->callback([arguments, &context] { context.exit_code = run_keys(*arguments); });
}

}  // namespace deft::cli
