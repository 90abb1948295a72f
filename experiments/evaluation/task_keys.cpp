#include "experiments/evaluation/task_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/metric.h"
#include "experiments/evaluation/metrics.h"

namespace deft::experiments {

namespace {

constexpr const char* kTextSchema = R"({"anyOf": [{"type": "string", "minLength": 1},
    {"type": "array", "minItems": 1, "items": {"type": "string"}}]})";
constexpr const char* kValuesSchema = R"({"type": "array", "items": {"type": ["string", "integer", "boolean"]}})";
// "KIND: METRIC, METRIC; with two labels also METRIC. KIND: ..."
std::string metrics_by_kind() {
    std::string text;
    for (const EnumName<TaskKind>& kind : EnumNames<TaskKind>::all) {
        std::vector<std::string> of_any, of_two_labels;
        for (const std::string& name : metric_names(kind.value))
            (is_labelled(kind.value) && find_metric(name)->is_binary ? of_two_labels : of_any).push_back(name);
        text += fmt::format("{}{}: {}", text.empty() ? "" : ". ", kind.name, fmt::join(of_any, ", "));
        if (!of_two_labels.empty()) text += fmt::format("; with two labels also {}", fmt::join(of_two_labels, ", "));
    }
    return text;
}

constexpr const char* kTemplate = "a template, as in \"{field}\", \"{table.field}\", \"{list.0}\" or \"{field|strip}\"";

}  // namespace

// Each key's row stays together.
// clang-format off

const Fields& fields_of(const Task&) {
    static const std::string kinds_and_metrics = metrics_by_kind();
    static const Fields fields = {
        {"name", at<&Task::name>, "Name of the task in results.", {.required = true}},
        {"version", at<&Task::version>, "Version: how the records differ from the published task.", {.required = true}},
        {"few_shot_version", at<&Task::few_shot_version>,
         "Further differences with few-shot examples, appended to version."},
        choice<&Task::kind>("kind",
         "multiple_choice: choose an answer. short_answer: print an accepted answer. last_word: complete a text by its "
         "last word. perplexity: predict texts. classification and regression: predict labels, with a model trained on "
         "the task. generation: measure the generation time.",
         {.required = true}),
        {"split", at<&Task::split>, "Name of the split in results.", {.required = true}},
        {"shots", at<&Task::shots>, "Number of few-shot examples per prompt. Not for perplexity or generation.",
         {.at_least = 0}},
        {"metrics", at<&Task::metrics>, "Metrics of the task.",
         {.takes = kinds_and_metrics.c_str(), .required = true}},
        {"headline", at<&Task::headline>, "Metric that tables and averages use.",
         {.by_default = "the first of metrics"}},
    };
    return fields;
}

const Fields& fields_of(const RecordSource&) {
    static const Fields fields = {
        {"file", at<&RecordSource::file>,
         "File of records, relative to DEFT_DATA_MIRROR, the task file or the sweep file. May be compressed (.gz, "
         ".zst).",
         {.by_default = "required, or generator"}},
        choice<&RecordSource::format>("format",
         "Format of the file. json: one array of records. wikitext: one record per article.",
         {.by_default = "required with file"}),
        {"columns", at<&RecordSource::columns>, "Column names. tsv only.", {.by_default = "required with tsv"}},
        {"header", at<&RecordSource::header>, "Whether the first line is a header. tsv only."},
        {"unnest", at<&RecordSource::unnest>,
         "Lists to unnest, outer lists first. Each item becomes a record in which it replaces the list."},
        {"prepare", apart<std::string>,
         "Adds the fields that lm-evaluation-harness derives for the task RACE, ReCoRD or WSC.",
         {.one_of = {"race", "record", "wsc"}, .by_default = "none"}},
        {"where", at<&RecordSource::where>, "Field to filter by: keeps only records whose value is listed in equals."},
        {"equals", apart<std::vector<std::string>>, "Accepted values of the field where. Requires where.",
         {.by_default = "required with where", .takes = "strings, integers or booleans", .schema = kValuesSchema}},
        {"sort_by", at<&RecordSource::sort_by>, "Field to sort the records by, as text."},
        choice<&RecordSource::generator>("generator",
         "Generates records from data.embedded_seed, in place of a file.", {.by_default = "none"}),
        {"count", at<&RecordSource::count>, "Number of generated records. Requires generator.",
         {.at_least = 1, .at_most = 1'000'000, .by_default = "required with generator"}},
        {"order", apart<std::string>,
         "Order of the documents. shuffled: as in lm-evaluation-harness 0.2.0. file: as in the file. [records] only.",
         {.one_of = {"shuffled", "file"}, .by_default = "shuffled"}},
    };
    return fields;
}

const Fields& fields_of(const TaskPrompt&) {
    static const Fields fields = {
        {"text", apart<std::string>, "Context of each choice or target. For perplexity: the evaluated text.",
         {.takes = "a template, as in \"{field}\", \"{table.field}\", \"{list.0}\" or \"{field|strip}\"; or one "
                   "template per choice",
          .schema = kTextSchema, .required = true}},
        {"delimiter", at<&TaskPrompt::delimiter>, "Text between context and continuation. Not for perplexity.",
         {.by_default = "a space"}},
        {"choices", apart<std::vector<std::string>>, "Template of each choice. multiple_choice only.",
         {.by_default = "required, or choice_list"}},
        {"choice_list", at<&TaskPrompt::choice_list>, "Field that lists the choices. multiple_choice only."},
        {"choice", apart<std::string>,
         "Template of a choice. {choice} is an item of choice_list. Requires choice_list.", {.by_default = "{choice}"}},
        {"gold", at<&TaskPrompt::gold>, "Field with the index of the correct choice, from 0. multiple_choice only.",
         {.by_default = "required for multiple_choice, or answers"}},
        {"gold_values", apart<std::vector<std::string>>,
         "Values of the field gold, in the order of the choices. Requires gold.",
         {.takes = "strings, integers or booleans", .schema = kValuesSchema}},
        choice<&TaskPrompt::prediction>("prediction",
         "argmax: the choice with the highest log-likelihood. first_if_greater: the first of two choices if its "
         "log-likelihood is strictly greater, else the second. second_if_greater: the reverse. multiple_choice only.",
         {.by_default = "argmax"}),
        {"answers", at<&TaskPrompt::answers>,
         "Field that lists the accepted answers. short_answer, or multiple_choice with choice_list.",
         {.by_default = "required for short_answer"}},
        {"answer", apart<std::string>,
         "short_answer: template of the answer in a few-shot example. multiple_choice: template of the answer that a "
         "{choice} gives. Requires answers.",
         {.by_default = "the first of answers; {choice} for multiple_choice", .takes = kTemplate}},
        {"group", apart<std::string>,
         "Template that identifies a group of documents. acc_all counts a group as correct if all its documents are.",
         {.takes = kTemplate}},
        {"target", apart<std::string>, "Template of the correct continuation. last_word only.",
         {.by_default = "required for last_word", .takes = kTemplate}},
        {"counted", apart<std::string>, "Template of the text whose words and bytes are counted. perplexity only.",
         {.by_default = "text", .takes = kTemplate}},
    };
    return fields;
}

const Fields& fields_of(const TaskPerplexity&) {
    static const Fields fields = {
        {"document", apart<std::string>, "Unit of evaluation: each record, or the concatenation of all records.",
         {.one_of = {"record", "all_records"}, .by_default = "record"}},
        {"words", apart<std::string>,
         "Word count of word_perplexity. pieces: pieces of a split at white space. words_and_records: words plus one "
         "per record.",
         {.one_of = {"pieces", "words_and_records"}, .by_default = "pieces"}},
        {"tokenizer", at<&TaskPerplexity::tokenizer>,
         "Folder with vocab.json and merges.txt. Required for token_perplexity."},
    };
    return fields;
}

const Fields& fields_of(const TaskGeneration&) {
    static const Fields fields = {
        {"texts", at<&TaskGeneration::texts>,
         "Batch size: number of texts that are continued at once.", {.at_least = 1, .at_most = 4096}},
        {"tokens", at<&TaskGeneration::tokens>,
         "Generated tokens per text, at most the model's positions. The first token is not timed.",
         {.at_least = 2, .at_most = 1 << 20}},
        {"rounds", at<&TaskGeneration::rounds>,
         "Number of timed rounds, after one warm-up round. The result is the median.",
         {.at_least = 1, .at_most = 10'000}},
    };
    return fields;
}

const Fields& fields_of(const TaskTexts&) {
    static const Fields fields = {
        {"first", apart<std::string>,
         "Template of the text that the model reads.", {.takes = kTemplate, .required = true}},
        {"second", apart<std::string>,
         "Template of a second text, such as the hypothesis of a sentence pair.",
         {.by_default = "none", .takes = kTemplate}},
        {"label", at<&TaskTexts::label>, "Field to predict: a label for classification, a number for regression.",
         {.required = true}},
        {"labels", apart<std::vector<std::string>>,
         "Labels in the order of the classes. For f1, the second label is the positive class. classification only.",
         {.by_default = "required for classification", .takes = "strings, integers or booleans",
          .schema = kValuesSchema}},
    };
    return fields;
}

namespace {

// Records of a file, without the keys of generators and of the order.
KeyTable file_records_table(const char* path, const char* meaning) {
    KeyTable table = key_table<RecordSource>(path, meaning);
    std::erase_if(table.fields, [](const Field& field) {
        const std::string_view key = field.key;
        return key == "generator" || key == "count" || key == "order";
    });
    for (Field& field : table.fields)
        if (std::string_view(field.key) == "file") field.rules.by_default = "required";
    return table;
}

// Records of a further split, with its name.
KeyTable further_splits_table() {
    KeyTable table = file_records_table(
        "further_splits", "Labelled tasks only: further splits that are evaluated if their files exist.");
    table.fields.insert(table.fields.begin(),
                        {"split", apart<std::string>, "Name of the split in results.", {.required = true}});
    return table;
}

}  // namespace

std::vector<KeyTable> task_tables() {
    std::vector<KeyTable> tables = {
        key_table<Task>("", "Evaluation task."),
        key_table<RecordSource>("records", "Source of the documents. Required for all kinds except generation."),
        key_table<RecordSource>("shot_pool", "Source of the few-shot examples. Default: [records]."),
        key_table<TaskPrompt>("prompt", "Conversion of a record to a prompt and its correct answer."),
        key_table<TaskPerplexity>("perplexity", "Word and token counts. perplexity only."),
        key_table<TaskGeneration>("generation", "Sizes of the timed generation. generation only."),
        file_records_table("train", "Labelled tasks only: training records."),
        key_table<TaskTexts>("texts", "Labelled tasks only: conversion of a record to texts and a label."),
        further_splits_table()};
    tables[2].fields.pop_back();  // [shot_pool] has no order: few-shot examples are sampled
    return tables;
}

// clang-format on

Json task_schema() {
    Json root;
    for (const KeyTable& table : task_tables()) {
        Json schema = json_schema(table);
        for (const Field& field : table.fields)
            if (field.rules.required) schema["required"].push_back(field.key);
        if (table.path.empty())
            root = std::move(schema);
        else if (table.path == "further_splits")
            root["properties"][table.path] = {{"type", "array"}, {"items", std::move(schema)}};
        else
            root["properties"][table.path] = std::move(schema);
    }
    // generation reads no records.
    root["if"] = {{"properties", {{"kind", {{"const", "generation"}}}}}};
    root["else"] = {{"required", {"records"}}};
    root["$schema"] = "http://json-schema.org/draft-07/schema#";
    root["title"] = "Task file of deft";
    return root;
}

}  // namespace deft::experiments
