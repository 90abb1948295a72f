#include "sweeps/spec/sweep_keys.h"

#include <algorithm>

#include "base/json.h"
#include "experiments/config_fields.h"
#include "sweeps/spec/slot_request.h"

namespace deft::sweeps {

const Fields& fields_of(const Spec&) {
    static const Fields fields = {
        {"name",
         at<&Spec::name>,
         "the sweep's name in results",
         {.takes = "letters, digits, _, - and +", .required = true}},
        {"title", at<&Spec::title>, "the title of its tables"},
        {"seeds", at<&Spec::seeds>, "every point is trained with each of them", {.required = true}},
        {"baseline",
         at<&Spec::baseline>,
         "the case that others are compared with",
         {.by_default = "the first case that is trained"}},
        {"extends",
         apart<std::vector<std::string>>,
         "files beside this one that it inherits from; the nearer file wins, and a [[case]] edits the inherited case "
         "of its"
         " name or is added",
         {.schema = R"({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})"}},
    };
    return fields;
}

const Fields& fields_of(const ResourcesTable&) {
    static const Fields fields = {
        {"threads",
         at<&ResourcesTable::threads>,
         "threads of a trial",
         {.at_least = 1, .at_most = 1024, .by_default = "the scheduler chooses"}},
        {"slots",
         at<&ResourcesTable::slots>,
         "how many trials run at once, and on what",
         {.takes = "auto, a number, cpu:N, gpu, gpu:N or gpu:N/M (M trials on one card)"}},
        {"ranks",
         at<&ResourcesTable::ranks>,
         "processes that train each trial together, by MPI, each with those threads",
         {.at_least = 1, .at_most = kMostRanks}},
        {"device", at<&ResourcesTable::device>,
         "what deft plan counts hours for, an entry of experiments/hardware.toml"},
        {"devices", at<&ResourcesTable::devices>, "how many devices", {.at_least = 1, .at_most = 1'000'000}},
        {"dtype", at<&ResourcesTable::dtype>, "the number format whose peak counts", {.by_default = "its first one"}},
        {"utilisation",
         at<&ResourcesTable::utilisation>,
         "the share of the device's peak that training reaches",
         {.above = 0, .at_most = 1, .by_default = "required with a device that states a peak"}},
        {"fitted_on",
         at<&ResourcesTable::fitted_on>,
         "a case on whose published hours or samples a second, at its largest budget, deft plan fits that share in "
         "place of"
         " utilisation",
         {.by_default = "none"}},
        {"fitted_in",
         at<&ResourcesTable::fitted_in>,
         "the published table that prints them, a file of reporting/paper without .toml",
         {.by_default = "the one of report.paper"}},
    };
    return fields;
}

const Fields& fields_of(const PriceTable&) {
    static const Fields fields = {
        {"sku", at<&PriceTable::sku>, "what was priced, as its seller calls it", {.required = true}},
        {"usd_per_device_hour",
         at<&PriceTable::usd_per_device_hour>,
         "the price of one device",
         {.unit = "US dollars an hour", .at_least = 0, .below = 1e6, .required = true}},
        {"date",
         at<&PriceTable::date>,
         "when it was the price",
         {.takes = "a date, as in \"2025-01-31\"", .required = true}},
        {"source", at<&PriceTable::source>, "where it was found", {.required = true}},
    };
    return fields;
}

const Fields& fields_of(const ReportTable&) {
    static const Fields fields = {{"paper",
                                   at<&ReportTable::paper>,
                                   "the published table that is printed beside the results",
                                   {.required = true}}};
    return fields;
}

const Fields& fields_of(const ProvenanceTable&) {
    static const Fields fields = {
        {"diff", at<&ProvenanceTable::diff>, "stores the uncommitted changes of the checkout with each result"}};
    return fields;
}

const Fields& fields_of(const Recipe&) {
    static const Fields fields = {
        {"name",
         at<&Recipe::name>,
         "the case's name in results",
         {.takes = "letters, digits, _, - and +", .required = true}},
        {"label", at<&Recipe::label>, "how tables call the case", {.by_default = "the name"}},
        {"enabled", at<&Recipe::enabled>, "false: the case is left out, as one of a file that this one extends"}};
    return fields;
}

const Fields& fields_of(const Stage&) {
    static const Fields fields = {
        {"from",
         at<&Stage::from>,
         "the stage, written above, from whose trained weights the same case's trials of this one "
         "start",
         {.by_default = "weights are drawn"}},
        {"seeds",
         at<&Stage::seeds>,
         "of the trials that start from one trial of that stage",
         {.by_default = "the seed of that trial"}},
        {"enabled", at<&Stage::enabled>,
         "false: the stage is left out, as by a scale; what starts from it needs its own [start]"},
        {"axes",
         apart<std::string>,
         "every case of this stage is trained at every combination of these values; zip and list as in [axes]",
         {.by_default = "none", .takes = "\"TABLE.KEY\" = [values], one a line", .schema = R"({"type": "object"})"}},
    };
    return fields;
}

const Fields& fields_of(const SearchTable&) {
    static const Fields fields = {
        {"learning_rate",
         apart<std::vector<double>>,
         "the rates that every row is tried at before the table, whose trials have the best one of their row",
         {.takes = "two numbers or more, ascending",
          .schema = R"({"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 2})"}},
        {"seeds", at<&SearchTable::seeds>, "of the search, none of which the table has"},
        {"stage",
         at<&SearchTable::stage>,
         "the stage whose rate is searched, one that starts from no other",
         {.by_default = "the first"}},
        {"enabled", at<&SearchTable::enabled>, "false: there is none, as at a scale"}};
    return fields;
}

const Fields& fields_of(const AxesTable&) {
    static const Fields fields = {
        {"grid",
         apart<std::string>,
         "every case is trained at every combination of these values",
         {.takes = "\"TABLE.KEY\" = [values], one a line", .schema = R"({"type": "object"})"}},
        {"zip",
         apart<std::string>,
         "[[axes.zip]]: values that go together, the first of each key, the second of each, and so on; those of a "
         "scale replace the file's",
         {.by_default = "none",
          .takes = "\"TABLE.KEY\" = [values], as many in each line",
          .schema = R"({"type": "array", "items": {"type": "object"}})"}},
        {"list",
         apart<std::string>,
         "[[axes.list]]: points one by one, all with the same keys; those of a scale replace the file's",
         {.by_default = "none",
          .takes = "\"TABLE.KEY\" = value, one a line",
          .schema = R"({"type": "array", "items": {"type": "object"}})"}}};
    return fields;
}

const Fields& fields_of(const ExcludeTable&) {
    static const Fields fields = {{"case",
                                   apart<std::string>,
                                   "drops the points of that case, and what would start from them; beside it, or "
                                   "alone, \"TABLE.KEY\" = value of an axis",
                                   {.by_default = "any"}},
                                  {"stage",
                                   apart<std::string>,
                                   "of that stage alone; its axes are called \"STAGE.TABLE.KEY\"",
                                   {.by_default = "any"}}};
    return fields;
}

std::vector<KeyTable> sweep_tables() {
    std::vector<KeyTable> tables = {
        key_table<Spec>("", "a sweep; [scale.NAME] holds any of its tables, laid over the file by --scale NAME"),
        key_table<ResourcesTable>("resources", "what trials run on, and what plans count hours for"),
        key_table<PriceTable>("price", "of the device: results get a cost"),
        key_table<ReportTable>("report", "what tables are shown with"),
        key_table<ProvenanceTable>("provenance", "what is stored of the program's source"),
        key_table<Stage>("stage.NAME",
                         "a stage of the trials, in their order, with its own tables of a trial, as below, laid "
                         "over [defaults]; cases say in [case.NAME.TABLE] what is theirs of it"),
        key_table<SearchTable>("search", "the learning rates that rows are tried at before the table"),
        key_table<AxesTable>("axes", "values that multiply the cases of a sweep without stages"),
        key_table<ExcludeTable>("exclude", "[[exclude]]: points that are left out"),
        key_table<Recipe>("case", "[[case]]: its own tables of a trial, as below, are laid over [defaults]")};
    for (KeyTable& table : experiments::trial_tables()) {
        if (table.path.empty()) {
            table.path = "defaults";
            table.meaning = "what all trials share: this key, and the tables below as [defaults.TABLE]";
        }
        tables.push_back(std::move(table));
    }
    return tables;
}

const std::vector<std::string>& trial_keys() {
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> names;
        for (const KeyTable& table : experiments::trial_tables()) {
            if (!table.path.empty() && table.path.find('.') == std::string::npos) names.push_back(table.path);
            if (table.path.empty())
                for (const Field& field : table.fields) names.emplace_back(field.key);
        }
        return names;
    }();
    return keys;
}

bool is_technique(std::string_view table) {
    static const std::vector<KeyTable> tables = experiments::trial_tables();
    return std::any_of(tables.begin(), tables.end(), [&](const KeyTable& known) {
        const auto is_switch = [](const Field& field) { return std::string_view(field.key) == "enabled"; };
        return known.path == table && std::any_of(known.fields.begin(), known.fields.end(), is_switch);
    });
}

namespace {

// The tables of a trial as properties of a schema, each by reference; their own go into `definitions`.
Json trial_properties(Json& definitions) {
    Json properties = Json::object();
    for (const KeyTable& table : experiments::trial_tables()) {
        Json schema = json_schema(table);
        const std::size_t dot = table.path.rfind('.');
        if (table.path.empty()) {
            properties.update(schema["properties"]);
        } else if (dot == std::string::npos) {
            definitions[table.path] = std::move(schema);
            properties[table.path] = {{"$ref", "#/definitions/" + table.path}};
        } else if (table.path.ends_with(".METRIC")) {
            definitions[table.path.substr(0, dot)]["additionalProperties"] = std::move(schema);
        } else {
            definitions[table.path.substr(0, dot)]["properties"][table.path.substr(dot + 1)] = std::move(schema);
        }
    }
    return properties;
}

}  // namespace

// A sweep inherits, and a scale completes it: only what has one place alone is required.
Json sweep_schema() {
    Json definitions = Json::object();
    const Json trial = trial_properties(definitions);
    Json root;
    for (const KeyTable& table : sweep_tables()) {
        const bool is_stage = table.path == "stage.NAME";
        if (definitions.contains(table.path) || (table.path.find('.') != std::string::npos && !is_stage)) continue;
        Json schema = json_schema(table);
        if (table.path == "defaults" || table.path == "case") schema["properties"].update(trial);
        if (table.path == "case") schema["required"] = {"name"};
        if (table.path == "case")  // a stage's tables
            schema["additionalProperties"] = {
                {"type", "object"}, {"properties", trial}, {"additionalProperties", false}};
        if (is_stage) {
            schema["properties"].update(trial);
            root["properties"]["stage"] = {{"type", "object"}, {"additionalProperties", std::move(schema)}};
            continue;
        }
        if (table.path == "exclude") schema["additionalProperties"] = true;
        if (table.path == "case" || table.path == "exclude") schema = {{"type", "array"}, {"items", std::move(schema)}};
        if (table.path.empty())
            root = std::move(schema);
        else
            root["properties"][table.path] = std::move(schema);
    }
    root["properties"]["scale"] = {
        {"type", "object"},
        {"description", "[scale.NAME]: any of the tables, laid over the file by --scale NAME"},
        {"additionalProperties", {{"$ref", "#"}}}};
    root["definitions"] = std::move(definitions);
    root["$schema"] = "http://json-schema.org/draft-07/schema#";
    root["title"] = "Sweep file of deft";
    return root;
}

}  // namespace deft::sweeps
