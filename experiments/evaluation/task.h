#pragma once
// An evaluation task: a TOML file that names the records, the prompt, the choices or target, and the metrics.
// experiments/tasks/ holds those of the suite; a user's own is beside the sweep file. The meaning of each key:
// task_keys.cpp, or deft keys task; templates: text_template.h, metrics: metrics.h, records: records.h.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "experiments/evaluation/text_template.h"

namespace deft::experiments {

enum class TaskKind { multiple_choice, short_answer, last_word, perplexity, classification, regression, generation };

// Whether a model trained on the task's own records predicts its labels: [train] and [texts], and no prompt.
inline bool is_labelled(TaskKind kind) {
    return kind == TaskKind::classification || kind == TaskKind::regression;
}

// Whether few-shot examples may precede its prompts.
inline bool takes_shots(TaskKind kind) {
    return kind != TaskKind::perplexity && kind != TaskKind::generation;
}

// How the predicted choice follows from the log-likelihoods. The two-way tasks of the harness compare directly, which
// differs from argmax in ties and NaN: first_if_greater predicts choice 0 only if it is greater, else 1.
enum class Prediction { argmax, first_if_greater, second_if_greater };

struct TaskPrompt {
    std::vector<TextTemplate> text;  // one, or one a choice
    std::string delimiter = " ";
    std::vector<TextTemplate> choices;  // or choice_list
    std::string choice_list;
    std::optional<TextTemplate> choice;
    std::string gold;
    std::vector<std::string> gold_values;
    Prediction prediction = Prediction::argmax;
    std::string answers;                 // the field that lists what is right
    std::optional<TextTemplate> answer;  // short_answer: what a shot shows; multiple_choice: what a choice answers
    std::optional<TextTemplate> group;
    std::optional<TextTemplate> target;
    std::optional<TextTemplate> counted;
    Place place, gold_place, answers_place;
};

struct TaskPerplexity {
    bool one_document = false;       // all records together
    bool words_and_records = false;  // words of each record and one more; else pieces of a split at white space
    std::string tokenizer;           // folder of vocab.json and merges.txt
};

// Settings of generation, which reads no records: how fast the model continues texts.
struct TaskGeneration {
    std::int64_t texts = 1;    // at once
    std::int64_t tokens = 64;  // of each; fewer where the model's positions end
    std::int64_t rounds = 20;  // that are timed
};

// Settings of labelled tasks: the record's texts that the model reads, and the label that it predicts.
struct TaskTexts {
    TextTemplate first;
    std::optional<TextTemplate> second;
    std::string label;                // the field that holds it
    std::vector<std::string> labels;  // of classification: the labels, in the order of their classes
    Place place, label_place;
};

// For labelled tasks: records that are evaluated beside [records].
struct FurtherSplit {
    std::string name;
    RecordSource records;
};

struct Task {
    std::string name, version, few_shot_version, split;
    TaskKind kind = TaskKind::multiple_choice;
    std::int64_t shots = 0;
    std::vector<std::string> metrics;
    std::string headline;
    RecordSource records;
    bool shuffled = true;
    std::optional<RecordSource> shot_pool;
    TaskPrompt prompt;
    TaskPerplexity perplexity;
    TaskGeneration generation;
    // For labelled tasks.
    RecordSource train;
    TaskTexts texts;
    std::vector<FurtherSplit> further_splits;

    Json definition;             // the file's content
    std::filesystem::path file;  // where it was read
    std::filesystem::path base_folder;
};

// A task by name or file: base_folder/NAME, base_folder/NAME.toml, then the project's experiments/tasks/NAME.toml.
// Errors: config, with the place; an unknown name gets the nearest one.
Task load_task(const std::string& name_or_file, const std::filesystem::path& base_folder);

// `text` is TOML; `file` is for messages and for records beside it.
Task parse_task(const std::string& text, const std::filesystem::path& file, const std::filesystem::path& base_folder);

// The names in experiments/tasks/, sorted.
std::vector<std::string> project_tasks();

// The task with another number of shots than its file's, where one is given; of a kind that takes none, as it is.
// Errors: config, for a negative number.
Task with_shots(Task task, std::optional<std::int64_t> shots);

// Errors: config, for a labelled task, which asks no prompts.
void require_prompts(const Task& task);

// The version in its scores: few_shot_version is appended to the version where there are shots.
std::string scored_version(const Task& task);

// Where to look for its records.
RecordContext context_of(const Task& task);

// Over the definition and the bytes of its record files, where it has any (decompressed; the shot pool's where shots
// are drawn; of labelled tasks those to train on, and of further splits those that are here). Errors: data, for missing
// files.
std::string task_sha256(const Task& task);
// Over the definition alone: of two tasks of one such hash and different task_sha256() the records differ.
std::string definition_sha256(const Task& task);

}  // namespace deft::experiments

namespace deft {

template <>
struct EnumNames<experiments::TaskKind> {
    using enum experiments::TaskKind;
    static constexpr EnumName<experiments::TaskKind> all[] = {{multiple_choice, "multiple_choice"},
                                                              {short_answer, "short_answer"},
                                                              {last_word, "last_word"},
                                                              {perplexity, "perplexity"},
                                                              {classification, "classification"},
                                                              {regression, "regression"},
                                                              {generation, "generation"}};
};

template <>
struct EnumNames<experiments::Prediction> {
    using enum experiments::Prediction;
    static constexpr EnumName<experiments::Prediction> all[] = {
        {argmax, "argmax"}, {first_if_greater, "first_if_greater"}, {second_if_greater, "second_if_greater"}};
};

}  // namespace deft
