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
         "Name of the sweep in results.",
         {.takes = "letters, digits, _, - and +", .required = true}},
        {"title", at<&Spec::title>, "Title of the results tables."},
        {"seeds", at<&Spec::seeds>, "Random seeds. Each row is trained once per seed.", {.required = true}},
        {"baseline",
         at<&Spec::baseline>,
         "Recipe that other recipes are compared with.",
         {.by_default = "the first recipe that is trained"}},
        {"extends",
         apart<std::vector<std::string>>,
         "Files to inherit from, relative to this file, or names of bundled sweeps. This file overrides them. A "
         "[[case]] edits the inherited recipe of the same name, or adds one.",
         {.schema = R"({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})"}},
    };
    return fields;
}

const Fields& fields_of(const ResourcesTable&) {
    static const Fields fields = {
        {"threads",
         at<&ResourcesTable::threads>,
         "Number of CPU threads per process.",
         {.at_least = 1, .at_most = 1024, .by_default = "chosen by the scheduler"}},
        {"slots",
         at<&ResourcesTable::slots>,
         "Number of workers (trials that run at once) and their devices.",
         {.takes = "auto, a number, cpu:N, gpu, gpu:N or gpu:N/M (M trials per GPU)"}},
        {"ranks",
         at<&ResourcesTable::ranks>,
         "Number of MPI processes (ranks) per trial.",
         {.at_least = 1, .at_most = kMostRanks}},
        {"ranks_per_node",
         at<&ResourcesTable::ranks_per_node>,
         "Number of ranks of a trial on each node of Slurm, or each host of hostfile. Must divide ranks.",
         {.at_least = 1, .at_most = kMostRanks, .by_default = "all ranks of a trial"}},
        {"hostfile",
         at<&ResourcesTable::hostfile>,
         "Hostfile of Open MPI: hosts that the ranks of a trial span without Slurm. Relative to the working folder.",
         {.by_default = "this machine alone"}},
        {"agent",
         at<&ResourcesTable::agent>,
         "Command that reaches the hosts of hostfile, as in \"ssh -p 22\".",
         {.by_default = "ssh"}},
        {"device", at<&ResourcesTable::device>,
         "Device for which deft plan estimates hours: an entry of experiments/hardware.toml."},
        {"devices",
         at<&ResourcesTable::devices>,
         "Number of devices. Requires device.",
         {.at_least = 1, .at_most = 1'000'000}},
        {"dtype",
         at<&ResourcesTable::dtype>,
         "Number format whose peak FLOP/s deft plan uses. Requires device.",
         {.by_default = "the first one of the device"}},
        {"utilisation",
         at<&ResourcesTable::utilisation>,
         "Fraction of the device's peak FLOP/s that training reaches. Requires device.",
         {.above = 0, .at_most = 1, .by_default = "required for a device with a known peak"}},
        {"fitted_on",
         at<&ResourcesTable::fitted_on>,
         "Recipe to fit utilisation on, in place of stating it. deft plan uses its published hours or samples per "
         "second, at its largest budget. Requires device.",
         {.by_default = "none"}},
        {"fitted_in",
         at<&ResourcesTable::fitted_in>,
         "Published table with these hours: a file of reporting/paper without .toml. Requires fitted_on.",
         {.by_default = "report.paper"}},
    };
    return fields;
}

const Fields& fields_of(const PriceTable&) {
    static const Fields fields = {
        {"sku", at<&PriceTable::sku>, "Product name of the seller.", {.required = true}},
        {"usd_per_device_hour",
         at<&PriceTable::usd_per_device_hour>,
         "Price of one device.",
         {.unit = "US dollars per hour", .at_least = 0, .below = 1e6, .required = true}},
        {"date",
         at<&PriceTable::date>,
         "Date of the price.",
         {.takes = "a date, as in \"2025-01-31\"", .required = true}},
        {"source", at<&PriceTable::source>, "Source of the price.", {.required = true}},
    };
    return fields;
}

const Fields& fields_of(const ReportTable&) {
    static const Fields fields = {
        {"paper",
         at<&ReportTable::paper>,
         "Published table to print beside the results: a file of reporting/paper without .toml.",
         {.required = true}}};
    return fields;
}

const Fields& fields_of(const ProvenanceTable&) {
    static const Fields fields = {
        {"diff", at<&ProvenanceTable::diff>, "Stores the uncommitted changes of the checkout with each result."}};
    return fields;
}

const Fields& fields_of(const Recipe&) {
    static const Fields fields = {
        {"name",
         at<&Recipe::name>,
         "Name of the recipe in results.",
         {.takes = "letters, digits, _, - and +", .required = true}},
        {"label", at<&Recipe::label>, "Label of the recipe in tables.", {.by_default = "the name"}},
        {"enabled", at<&Recipe::enabled>, "false: leaves the recipe out, such as an inherited one."}};
    return fields;
}

const Fields& fields_of(const Stage&) {
    static const Fields fields = {
        {"from",
         at<&Stage::from>,
         "Earlier stage of the same recipe whose trained weights this stage starts from.",
         {.by_default = "random initialization"}},
        {"seeds",
         at<&Stage::seeds>,
         "Seeds of the trials that start from one trial of the earlier stage. Requires from.",
         {.by_default = "the seed of the earlier trial"}},
        {"enabled", at<&Stage::enabled>,
         "false: leaves the stage out, such as in a scale. Stages that start from it then need their own [start]."},
        {"axes",
         apart<std::string>,
         "Grid of this stage: every recipe is trained at every combination of these values. zip and list work as in "
         "[axes].",
         {.by_default = "none", .takes = "\"TABLE.KEY\" = [values], one per line", .schema = R"({"type": "object"})"}},
    };
    return fields;
}

const Fields& fields_of(const SearchTable&) {
    static const Fields fields = {
        {"learning_rate",
         apart<std::vector<double>>,
         "Learning rates to search. Each row is trained at each of them first, and then uses its best one.",
         {.takes = "at least two numbers, ascending",
          .schema = R"({"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 2})"}},
        {"seeds", at<&SearchTable::seeds>, "Seeds of the search trials. They must differ from the seeds of the sweep."},
        {"stage",
         at<&SearchTable::stage>,
         "Stage whose learning rate is searched. It must not start from another stage.",
         {.by_default = "the first stage"}},
        {"enabled", at<&SearchTable::enabled>, "false: disables the search, such as in a scale."}};
    return fields;
}

const Fields& fields_of(const AxesTable&) {
    static const Fields fields = {
        {"grid",
         apart<std::string>,
         "Grid: every recipe is trained at every combination of these values.",
         {.takes = "\"TABLE.KEY\" = [values], one per line", .schema = R"({"type": "object"})"}},
        {"zip",
         apart<std::string>,
         "[[axes.zip]]: values that change together, as in Python's zip. The zip of a scale replaces the file's.",
         {.by_default = "none",
          .takes = "\"TABLE.KEY\" = [values], one per line, all of equal length",
          .schema = R"({"type": "array", "items": {"type": "object"}})"}},
        {"list",
         apart<std::string>,
         "[[axes.list]]: individual combinations, all with the same keys. The list of a scale replaces the file's.",
         {.by_default = "none",
          .takes = "\"TABLE.KEY\" = value, one per line",
          .schema = R"({"type": "array", "items": {"type": "object"}})"}}};
    return fields;
}

const Fields& fields_of(const ExcludeTable&) {
    static const Fields fields = {{"case",
                                   apart<std::string>,
                                   "Recipe whose trials to drop, with all trials that start from them.",
                                   {.by_default = "any"}},
                                  {"stage",
                                   apart<std::string>,
                                   "Stage whose trials to drop. Its axes are written \"STAGE.TABLE.KEY\".",
                                   {.by_default = "any"}}};
    return fields;
}

std::vector<KeyTable> sweep_tables() {
    std::vector<KeyTable> tables = {
        key_table<Spec>("", "Sweep file. [scale.NAME] holds any of these tables; --scale NAME applies them."),
        key_table<ResourcesTable>("resources",
                                  "Devices that trials run on, and devices that plans estimate hours for."),
        key_table<SlurmSettings>("resources.slurm",
                                 "Slurm jobs of deft run --launcher slurm. No result depends on it."),
        key_table<PriceTable>("price", "Price of the device, for the cost of results."),
        key_table<ReportTable>("report", "Comparison with a published table."),
        key_table<ProvenanceTable>("provenance", "Source code that is stored with results."),
        key_table<Stage>(
            "stage.NAME",
            "Stage of the trials, in file order. Its tables override [defaults]. A recipe overrides them in "
            "its tables NAME.TABLE."),
        key_table<SearchTable>("search", "Search for the learning rate of each row, before the sweep is trained."),
        key_table<AxesTable>("axes", "Values that multiply the recipes of a sweep without stages."),
        key_table<ExcludeTable>(
            "exclude", "[[exclude]]: combinations to leave out. \"TABLE.KEY\" = value matches one value of an axis."),
        key_table<Recipe>("case", "[[case]]: a recipe. Its tables override [defaults].")};
    for (KeyTable& table : experiments::trial_tables()) {
        if (table.path.empty()) {
            table.path = "defaults";
            table.meaning = "Values that all trials share. The tables below are written as [defaults.TABLE].";
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

// The tables of a trial as properties of a schema, by reference into `definitions`.
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

// Inheritance and scales complete a sweep, so only keys that neither can supply are required.
Json sweep_schema() {
    Json definitions = Json::object();
    const Json trial = trial_properties(definitions);
    Json root;
    for (const KeyTable& table : sweep_tables()) {
        const bool is_stage = table.path == "stage.NAME";
        if (table.path == "resources.slurm")
            root["properties"]["resources"]["properties"]["slurm"] = json_schema(table);
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
    root["properties"]["scale"] = {{"type", "object"},
                                   {"description", "[scale.NAME]: any of the tables; --scale NAME applies them."},
                                   {"additionalProperties", {{"$ref", "#"}}}};
    root["definitions"] = std::move(definitions);
    root["$schema"] = "http://json-schema.org/draft-07/schema#";
    root["title"] = "Sweep file of deft";
    return root;
}

}  // namespace deft::sweeps
