#pragma once
// What an evaluation task is: a TOML file that names the records, the prompt, the choices or target, and the metrics.
// experiments/tasks/ holds those of the suite; a user's own lies beside the sweep file. Keys:
//
//   name, version           as the results name them; the version says what differs from the published task
//   kind                    multiple_choice | last_word | perplexity
//   split                   for the results
//   shots                   worked examples in front of each prompt (0)
//   metrics, headline       see metrics.h; the headline is the one that tables and the suite average take
//   [records]               where the documents are (records.h): file and format (jsonl | json | tsv | lines), tsv:
//                           columns, header; or generator and count. order: shuffled (as lm-evaluation-harness 0.2.0
//                           does) | file
//   [shot_pool]             the same keys: the train split that shots are drawn from; without it they are drawn from
//                           [records], the document itself left out
//   [prompt]                templates (text_template.h):
//     text                  the context; an array gives each choice its own
//     delimiter             between context and continuation (" "); no part of the choice's length
//     multiple_choice:      choices = templates, or choice_list = a list field and choice = a template of its {choice};
//                           gold = field with the right choice's index, or, with gold_values (strings, integers or
//                           booleans), its position there;
//                           prediction = argmax | first_if_greater | second_if_greater
//     last_word:            target
//     perplexity:           text is what is scored; counted = what words and bytes are counted of (text)
//   [perplexity]            document = record | all_records; words = pieces | words_and_records; tokenizer = folder
//                           for token_perplexity

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "experiments/evaluation/text_template.h"

namespace deft::experiments {

enum class TaskKind { multiple_choice, last_word, perplexity };

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
    std::optional<TextTemplate> target;
    std::optional<TextTemplate> counted;
    Place place, gold_place;
};

struct TaskPerplexity {
    bool one_document = false;       // all records together
    bool words_and_records = false;  // words of each record and one more; else pieces of a split at white space
    std::string tokenizer;           // folder of vocab.json and merges.txt
};

struct Task {
    std::string name, version, split;
    TaskKind kind = TaskKind::multiple_choice;
    std::int64_t shots = 0;
    std::vector<std::string> metrics;
    std::string headline;
    RecordSource records;
    bool shuffled = true;
    std::optional<RecordSource> shot_pool;
    TaskPrompt prompt;
    TaskPerplexity perplexity;

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

// Over the definition and the bytes of its record files (decompressed; the shot pool's where shots are drawn).
// Errors: config, for missing files.
std::string task_sha256(const Task& task);

}  // namespace deft::experiments
