// Task files, read strictly.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/metric.h"
#include "base/score_key.h"
#include "base/suggestion.h"
#include "base/table_reader.h"
#include "experiments/evaluation/metrics.h"
#include "experiments/evaluation/task_keys.h"

namespace deft::experiments {

namespace {

// The position of a word among those that a key may hold.
std::size_t one_of(const TableReader& table, const char* key, const std::string& word,
                   const std::vector<std::string>& words) {
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) table.refuse(key, fmt::format("is '{}'", word), suggestion(word, words));
    return static_cast<std::size_t>(found - words.begin());
}

const std::vector<std::string>& words_of(const Fields& fields, std::string_view key) {
    return std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.key == key; })
        ->rules.one_of;
}

// The position of a key's word; the first one where the key is absent.
std::size_t optional_one_of(TableReader& table, const char* key, const Fields& fields) {
    const std::vector<std::string>& words = words_of(fields, key);
    std::string word = words.front();
    table.optional(key, word);
    return one_of(table, key, word, words);
}

template <class Enum>
void read_choice(const TableReader& table, const char* key, const std::string& word, Enum& value) {
    one_of(table, key, word, names_of<Enum>());
    value = *value_named<Enum>(word);
}

// Absent: the value stays.
template <class Enum>
void optional_choice(TableReader& table, const char* key, Enum& value) {
    if (table.optional_node(key) != nullptr) read_choice(table, key, table.required_text(key), value);
}

std::optional<TextTemplate> optional_template(TableReader& table, const char* key) {
    const ConfigNode* node = table.optional_node(key);
    if (node == nullptr) return std::nullopt;
    std::string text;
    table.optional(key, text);
    return parse_template(text, node->place);
}

std::vector<TextTemplate> optional_templates(TableReader& table, const char* key) {
    const ConfigNode* node = table.optional_node(key);
    if (node == nullptr) return {};
    std::vector<std::string> texts;
    table.optional(key, texts);
    std::vector<TextTemplate> templates;
    for (std::size_t i = 0; i < texts.size(); ++i) templates.push_back(parse_template(texts[i], node->items[i].place));
    return templates;
}

// Strings, integers and booleans, as records may hold them, all as text.
std::vector<std::string> optional_values(TableReader& table, const char* key) {
    using Kind = ConfigNode::Kind;
    const ConfigNode* node = table.optional_node(key);
    std::vector<std::string> values;
    if (node == nullptr) return values;
    const std::string write = "write values of the field, as in [\"A\", \"B\"], [1, 2] or [false, true]";
    if (node->kind != Kind::array) table.refuse(key, "must be an array", write);
    for (const ConfigNode& item : node->items) {
        if (item.kind != Kind::text && item.kind != Kind::integer && item.kind != Kind::boolean)
            throw Error(ErrorKind::config, item.place,
                        fmt::format("{} must hold strings, integers or booleans", table.name(key)), write);
        const Json value = to_json(item);
        values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
    return values;
}

// Changes to the records of the file.
void read_arrangement(TableReader& table, RecordSource& source) {
    table.optional("unnest", source.unnest);
    source.unnest_place = table.place("unnest");
    table.optional("prepare", source.prepare);
    source.prepare_place = table.place("prepare");
    if (!source.prepare.empty()) one_of(table, "prepare", source.prepare, words_of(fields_of(source), "prepare"));
    table.optional("where", source.where);
    source.where_place = table.place("where");
    source.equals = optional_values(table, "equals");
    if (source.where.empty() != source.equals.empty())
        table.refuse(source.where.empty() ? "equals" : "where", "is there without the other of where and equals",
                     "write both, as in where = \"label\" and equals = [true]");
    table.optional("sort_by", source.sort_by);
    source.sort_place = table.place("sort_by");
}

// Records of a file.
RecordSource read_file_source(TableReader& table, const Place& place) {
    RecordSource source;
    source.place = place;
    source.file = table.required_text("file");
    read_choice(table, "format", table.required_text("format"), source.format);
    if (source.format == RecordFormat::tsv) {
        source.columns = table.required<std::vector<std::string>>("columns");
        if (source.columns.empty()) table.refuse("columns", "is empty");
        table.optional("header", source.header);
    }
    read_arrangement(table, source);
    return source;
}

RecordSource read_source(TableReader& table, const Place& place) {
    RecordSource source;
    source.place = place;
    optional_choice(table, "generator", source.generator);
    if (source.generator == RecordGenerator::none) return read_file_source(table, place);
    source.count = table.required<std::int64_t>("count");
    if (source.count < 1 || source.count > 1'000'000) table.refuse("count", "must be from 1 to 1,000,000");
    return source;
}

// The right choice is given by its index, or by a list of right answers.
void read_gold(TableReader& table, TaskPrompt& prompt) {
    table.optional("answers", prompt.answers);
    prompt.answers_place = table.place("answers");
    if (prompt.answers.empty()) {
        prompt.gold = table.required_text("gold");
        prompt.gold_place = table.place("gold");
        prompt.gold_values = optional_values(table, "gold_values");
        return;
    }
    if (prompt.choice_list.empty()) table.refuse("answers", "needs prompt.choice_list");
    prompt.answer = optional_template(table, "answer");
    if (!prompt.answer) prompt.answer = parse_template("{choice}", prompt.answers_place);
}

void read_choices(TableReader& table, TaskPrompt& prompt) {
    prompt.choices = optional_templates(table, "choices");
    table.optional("choice_list", prompt.choice_list);
    if (prompt.choices.empty() == prompt.choice_list.empty())
        throw Error(ErrorKind::config, prompt.place,
                    "a multiple_choice task needs prompt.choices or prompt.choice_list", "write the one or the other");
    if (!prompt.choice_list.empty()) {
        prompt.choice = optional_template(table, "choice");
        if (!prompt.choice) prompt.choice = parse_template("{choice}", table.place("choice_list"));
    }
    if (prompt.text.size() > 1 && prompt.text.size() != prompt.choices.size())
        table.refuse("text", fmt::format("gives {} texts for {} choices", prompt.text.size(), prompt.choices.size()));
    read_gold(table, prompt);
    optional_choice(table, "prediction", prompt.prediction);
    if (prompt.prediction != Prediction::argmax && prompt.choices.size() != 2)
        table.refuse("prediction", "compares exactly two choices");
    prompt.group = optional_template(table, "group");
}

TaskPrompt read_prompt(const ConfigNode& node, TaskKind kind) {
    TableReader table(node, "prompt");
    TaskPrompt prompt;
    prompt.place = node.place;
    const ConfigNode* text = node.find("text");
    if (text != nullptr && text->kind == ConfigNode::Kind::array && kind == TaskKind::multiple_choice) {
        prompt.text = optional_templates(table, "text");
        if (prompt.text.empty()) table.refuse("text", "is empty");
    } else {
        prompt.text.push_back(parse_template(table.required_text("text"), table.place("text")));
    }
    if (kind != TaskKind::perplexity) table.optional("delimiter", prompt.delimiter);
    if (kind == TaskKind::multiple_choice) read_choices(table, prompt);
    if (kind == TaskKind::short_answer) {
        prompt.answers = table.required_text("answers");
        prompt.answers_place = table.place("answers");
        prompt.answer = optional_template(table, "answer");
    }
    if (kind == TaskKind::last_word)
        prompt.target = parse_template(table.required_text("target"), table.place("target"));
    if (kind == TaskKind::perplexity) prompt.counted = optional_template(table, "counted");
    table.finish();
    return prompt;
}

TaskTexts read_texts(const ConfigNode& node, TaskKind kind) {
    TableReader table(node, "texts");
    TaskTexts texts;
    texts.place = node.place;
    texts.first = parse_template(table.required_text("first"), table.place("first"));
    texts.second = optional_template(table, "second");
    texts.label = table.required_text("label");
    texts.label_place = table.place("label");
    texts.labels = optional_values(table, "labels");
    const std::set<std::string> different(texts.labels.begin(), texts.labels.end());
    if (kind == TaskKind::classification && (texts.labels.size() < 2 || different.size() != texts.labels.size()))
        table.refuse("labels", texts.labels.size() < 2 ? "must name two labels or more" : "names a label twice",
                     "write each label once, in the order of the classes, as in [\"0\", \"1\"]");
    if (kind == TaskKind::regression && !texts.labels.empty())
        table.refuse("labels", "is of classification, and a regression's label is a number", "drop the key");
    table.finish();
    return texts;
}

std::vector<FurtherSplit> read_further_splits(TableReader& root, const Task& task) {
    std::vector<FurtherSplit> splits;
    const ConfigNode* node = root.optional_node("further_splits");
    if (node == nullptr) return splits;
    if (node->kind != ConfigNode::Kind::array)
        root.refuse("further_splits", "must be an array of tables", "write [[further_splits]]");
    for (const ConfigNode& item : node->items) {
        TableReader table(item, "further_splits");
        FurtherSplit further;
        further.name = table.required_text("split");
        const bool is_known =
            further.name == task.split || std::ranges::count(splits, further.name, &FurtherSplit::name) > 0;
        if (is_known || further.name == kAllSplits)
            table.refuse("split", fmt::format("= \"{}\" is another split's name", further.name),
                         "give each split a name of its own");
        further.records = read_file_source(table, item.place);
        table.finish();
        splits.push_back(std::move(further));
    }
    return splits;
}

TaskPerplexity read_perplexity(const ConfigNode& node) {
    TableReader table(node, "perplexity");
    TaskPerplexity perplexity;
    perplexity.one_document = optional_one_of(table, "document", fields_of(perplexity)) == 1;
    perplexity.words_and_records = optional_one_of(table, "words", fields_of(perplexity)) == 1;
    table.optional("tokenizer", perplexity.tokenizer);
    table.finish();
    return perplexity;
}

TaskGeneration read_generation(const ConfigNode& node) {
    TableReader table(node, "generation");
    TaskGeneration generation;
    read_table(table, generation);
    table.finish();
    return generation;
}

void read_metrics(TableReader& root, Task& task) {
    task.metrics = root.required<std::vector<std::string>>("metrics");
    if (task.metrics.empty())
        root.refuse("metrics", "is empty", "name at least one: the first is the headline where no other is");
    for (const std::string& name : task.metrics) one_of(root, "metrics", name, metric_names(task.kind));
    task.headline = task.metrics.front();
    root.optional("headline", task.headline);
    one_of(root, "headline", task.headline, task.metrics);
}

// A metric may need what only some prompts have.
void require_for_metrics(const TableReader& root, const Task& task) {
    for (const std::string& name : task.metrics) {
        const TaskPart required = find_metric(name)->requires_part;
        if (required == TaskPart::groups && !task.prompt.group)
            root.refuse("metrics", fmt::format("asks for {} without prompt.group", name),
                        "say what belongs together, as in group = \"{passage} {question}\"");
        if (required == TaskPart::answers && task.prompt.answers.empty())
            root.refuse("metrics", fmt::format("asks for {} without prompt.answers", name),
                        "name the field that lists the right answers");
    }
}

// Metrics of binary classification.
void require_two_labels(const TableReader& root, const Task& task) {
    for (const std::string& name : task.metrics)
        if (find_metric(name)->is_binary && task.texts.labels.size() != 2)
            root.refuse("metrics",
                        fmt::format("asks for {}, which is of two labels, and texts.labels has {}", name,
                                    task.texts.labels.size()),
                        "ask for acc");
}

}  // namespace

Task parse_task(const std::string& text, const std::filesystem::path& file, const std::filesystem::path& base_folder) {
    const ConfigNode node = parse_toml(text, file.string());
    TableReader root(node, "");
    Task task;
    task.definition = to_json(node);
    task.file = file;
    task.base_folder = base_folder;
    task.name = root.required_text("name");
    task.version = root.required_text("version");
    read_choice(root, "kind", root.required_text("kind"), task.kind);
    task.split = root.required_text("split");
    read_metrics(root, task);

    const auto table = [&](const char* key) -> const ConfigNode& {
        if (const ConfigNode* found = root.optional_node(key)) return *found;
        throw Error(ErrorKind::config, Place{file.string(), 1, 1}, fmt::format("table [{}] is missing", key));
    };
    if (task.kind == TaskKind::generation) {
        if (const ConfigNode* sizes = root.optional_node("generation")) task.generation = read_generation(*sizes);
        root.finish();
        return task;
    }
    const ConfigNode& records = table("records");
    TableReader source(records, "records");
    if (is_labelled(task.kind)) {
        task.records = read_file_source(source, records.place);
        source.finish();
        task.shuffled = false;
        const ConfigNode& train = table("train");
        TableReader train_table(train, "train");
        task.train = read_file_source(train_table, train.place);
        train_table.finish();
        task.texts = read_texts(table("texts"), task.kind);
        if (task.kind == TaskKind::classification) require_two_labels(root, task);
        task.further_splits = read_further_splits(root, task);
        root.finish();
        return task;
    }
    task.records = read_source(source, records.place);
    task.shuffled = task.kind != TaskKind::perplexity && optional_one_of(source, "order", fields_of(task.records)) == 0;
    source.finish();
    task.prompt = read_prompt(table("prompt"), task.kind);
    require_for_metrics(root, task);

    if (task.kind == TaskKind::perplexity) {
        if (const ConfigNode* perplexity = root.optional_node("perplexity"))
            task.perplexity = read_perplexity(*perplexity);
        if (task.perplexity.tokenizer.empty() &&
            std::find(task.metrics.begin(), task.metrics.end(), "token_perplexity") != task.metrics.end())
            root.refuse("metrics", "asks for token_perplexity without perplexity.tokenizer");
    } else {
        root.optional("shots", task.shots);
        if (task.shots < 0) root.refuse("shots", "must not be negative");
        root.optional("few_shot_version", task.few_shot_version);
        if (const ConfigNode* pool = root.optional_node("shot_pool")) {
            TableReader pool_table(*pool, "shot_pool");
            task.shot_pool = read_source(pool_table, pool->place);
            pool_table.finish();
        }
    }
    root.finish();
    return task;
}

}  // namespace deft::experiments
