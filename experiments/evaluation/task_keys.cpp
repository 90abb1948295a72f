#include "experiments/evaluation/task_keys.h"

#include "base/json.h"

namespace deft::experiments {

namespace {

constexpr const char* kTextSchema = R"({"anyOf": [{"type": "string", "minLength": 1},
    {"type": "array", "minItems": 1, "items": {"type": "string"}}]})";
constexpr const char* kValuesSchema = R"({"type": "array", "items": {"type": ["string", "integer", "boolean"]}})";
constexpr const char* kTemplate = "a template: {field}, {table.field}, {list.0}, {field|strip}";

}  // namespace

// A key's row stays together.
// clang-format off

const Fields& fields_of(const Task&) {
    static const Fields fields = {
        {"name", at<&Task::name>, "the task's name in results", {.required = true}},
        {"version", at<&Task::version>, "what differs from the published task", {.required = true}},
        {"few_shot_version", at<&Task::few_shot_version>, "what differs further where there are shots"},
        {"kind", apart<std::string>,
         "choose an answer, print one of those accepted, complete a text by its last word, or predict whole texts; of a "
         "model trained on the task itself: predict the class of texts, or a number; generation: how fast texts are continued",
         {.one_of = {"multiple_choice", "short_answer", "last_word", "perplexity", "classification", "regression",
                     "generation"},
          .required = true}},
        {"split", at<&Task::split>, "which part of the data it is, for the results", {.required = true}},
        {"shots", at<&Task::shots>, "few-shot examples in front of each prompt; not of perplexity or generation",
         {.at_least = 0}},
        {"metrics", at<&Task::metrics>, "what is scored",
         {.takes = "of multiple_choice: acc, acc_norm, acc_bytes, acc_all, em, f1, gold_bits_per_byte; of short_answer: "
                   "acc, gold_bits_per_byte; of last_word: acc, perplexity, gold_bits_per_byte; of perplexity: "
                   "word_perplexity, byte_perplexity, token_perplexity, bits_per_byte; of classification: acc, and of two "
                   "labels mcc and f1; of regression: pearson, spearman; of generation: ms_per_token, tokens_per_second",
          .required = true}},
        {"headline", at<&Task::headline>, "the metric that tables and averages take",
         {.by_default = "the first of metrics"}},
    };
    return fields;
}

const Fields& fields_of(const RecordSource&) {
    static const Fields fields = {
        {"file", at<&RecordSource::file>,
         "below DEFT_DATA_MIRROR, or beside the task or the sweep file; also .gz or .zst",
         {.by_default = "this or generator"}},
        {"format", apart<std::string>, "format of the file; json is one array of records, wikitext has articles",
         {.one_of = {"jsonl", "json", "tsv", "lines", "wikitext"}, .by_default = "required with file"}},
        {"columns", at<&RecordSource::columns>, "of tsv: a name for each", {.by_default = "required with tsv"}},
        {"header", at<&RecordSource::header>, "of tsv: the first line is not a record"},
        {"unnest", at<&RecordSource::unnest>,
         "lists, outer ones first, each of whose items becomes a record and replaces the list"},
        {"prepare", apart<std::string>, "adds the fields that the harness derives for that task",
         {.one_of = {"race", "record", "wsc"}, .by_default = "none"}},
        {"where", at<&RecordSource::where>, "only records of which this field is one of equals"},
        {"equals", apart<std::vector<std::string>>, "of where: the values",
         {.by_default = "required with where", .takes = "strings, integers or booleans", .schema = kValuesSchema}},
        {"sort_by", at<&RecordSource::sort_by>, "the field by whose text records are sorted first"},
        {"generator", apart<std::string>, "makes records from a seed, in place of a file",
         {.one_of = {"embedded_questions", "embedded_last_words"}, .by_default = "none"}},
        {"count", at<&RecordSource::count>, "of a generator: how many records",
         {.at_least = 1, .at_most = 1'000'000, .by_default = "required with generator"}},
        {"order", apart<std::string>, "shuffled as lm-evaluation-harness 0.2.0 does, or that of the file; of [records]",
         {.one_of = {"shuffled", "file"}, .by_default = "shuffled"}},
    };
    return fields;
}

const Fields& fields_of(const TaskPrompt&) {
    static const Fields fields = {
        {"text", apart<std::string>, "the context; of perplexity: what is scored",
         {.takes = "a template: {field}, {table.field}, {list.0}, {field|strip}; or one for each choice",
          .schema = kTextSchema, .required = true}},
        {"delimiter", at<&TaskPrompt::delimiter>, "between context and continuation; not of perplexity",
         {.by_default = "a space"}},
        {"choices", apart<std::vector<std::string>>, "of multiple_choice: a template for each",
         {.by_default = "this or choice_list"}},
        {"choice_list", at<&TaskPrompt::choice_list>, "of multiple_choice: the field that lists them"},
        {"choice", apart<std::string>, "of choice_list: the template of each {choice}", {.by_default = "{choice}"}},
        {"gold", at<&TaskPrompt::gold>, "of multiple_choice: the field with the right choice's index",
         {.by_default = "required with multiple_choice, or answers"}},
        {"gold_values", apart<std::vector<std::string>>,
         "of multiple_choice: gold is the position of its value among these",
         {.takes = "strings, integers or booleans", .schema = kValuesSchema}},
        {"prediction", apart<std::string>,
         "of multiple_choice: the choice of the highest score, or of two the one compared",
         {.one_of = {"argmax", "first_if_greater", "second_if_greater"}, .by_default = "argmax"}},
        {"answers", at<&TaskPrompt::answers>,
         "the field that lists what is right: of short_answer, where any counts that would be printed; of choice_list",
         {.by_default = "required with short_answer"}},
        {"answer", apart<std::string>,
         "of answers: the template of a shot's answer, or of the answer of {choice} among them",
         {.by_default = "the first of answers; {choice}", .takes = kTemplate}},
        {"group", apart<std::string>, "of acc_all, which counts a group only where all of it is right: its template",
         {.takes = kTemplate}},
        {"target", apart<std::string>, "of last_word: the template of the right continuation",
         {.by_default = "required with last_word", .takes = kTemplate}},
        {"counted", apart<std::string>, "of perplexity: the template whose words and bytes are counted",
         {.by_default = "text", .takes = kTemplate}},
    };
    return fields;
}

const Fields& fields_of(const TaskPerplexity&) {
    static const Fields fields = {
        {"document", apart<std::string>, "what is scored as one text",
         {.one_of = {"record", "all_records"}, .by_default = "record"}},
        {"words", apart<std::string>,
         "what word_perplexity counts: pieces at white space, or each record's words and one more",
         {.one_of = {"pieces", "words_and_records"}, .by_default = "pieces"}},
        {"tokenizer", at<&TaskPerplexity::tokenizer>, "a folder with vocab.json and merges.txt, for token_perplexity"},
    };
    return fields;
}

const Fields& fields_of(const TaskGeneration&) {
    static const Fields fields = {
        {"texts", at<&TaskGeneration::texts>, "texts that are continued at once", {.at_least = 1, .at_most = 4096}},
        {"tokens", at<&TaskGeneration::tokens>,
         "tokens drawn of each, fewer where the model's positions end; those after the first are timed",
         {.at_least = 2, .at_most = 1 << 20}},
        {"rounds", at<&TaskGeneration::rounds>, "how often that is timed, after once untimed: the median counts",
         {.at_least = 1, .at_most = 10'000}},
    };
    return fields;
}

const Fields& fields_of(const TaskTexts&) {
    static const Fields fields = {
        {"first", apart<std::string>, "the text that the model reads", {.takes = kTemplate, .required = true}},
        {"second", apart<std::string>, "a second text after it", {.by_default = "none", .takes = kTemplate}},
        {"label", at<&TaskTexts::label>, "the field that the model predicts: a label, or for regression a number",
         {.required = true}},
        {"labels", apart<std::vector<std::string>>, "of classification: the labels; f1 asks how well the second is found",
         {.by_default = "required with classification", .takes = "strings, integers or booleans", .schema = kValuesSchema}},
    };
    return fields;
}

namespace {

// Records of a file, all of them.
KeyTable file_records_table(const char* path, const char* meaning) {
    KeyTable table = key_table<RecordSource>(path, meaning);
    std::erase_if(table.fields, [](const Field& field) {
        const std::string_view key = field.key;
        return key == "generator" || key == "count" || key == "order";
    });
    return table;
}

// With a name of their own among the splits.
KeyTable further_splits_table() {
    KeyTable table = file_records_table("further_splits", "of labelled tasks: records that are scored too, where they are here");
    table.fields.insert(table.fields.begin(), {"split", apart<std::string>, "what these are called in the results", {.required = true}});
    return table;
}

}  // namespace

std::vector<KeyTable> task_tables() {
    std::vector<KeyTable> tables = {
        key_table<Task>("", "an evaluation task"),
        key_table<RecordSource>("records", "where the documents are; required but by generation, which reads none"),
        key_table<RecordSource>("shot_pool", "where shots are drawn from; without it, from [records]"),
        key_table<TaskPrompt>("prompt", "how a record becomes a prompt, and what is right"),
        key_table<TaskPerplexity>("perplexity", "of kind perplexity: what is counted"),
        key_table<TaskGeneration>("generation", "of kind generation: what is timed"),
        file_records_table("train", "of labelled tasks: the records to train on"),
        key_table<TaskTexts>("texts", "of labelled tasks: how a record becomes texts and a label"),
        further_splits_table()};
    tables[2].fields.pop_back();  // shots are drawn at random
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
    // All kinds read records but one.
    root["if"] = {{"properties", {{"kind", {{"const", "generation"}}}}}};
    root["else"] = {{"required", {"records"}}};
    root["$schema"] = "http://json-schema.org/draft-07/schema#";
    root["title"] = "Task file of deft";
    return root;
}

}  // namespace deft::experiments
