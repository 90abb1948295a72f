#include "experiments/datasets/labelled_dataset.h"

#include <fmt/format.h>

#include "base/sha256.h"
#include "experiments/datasets/bert_dataset.h"
#include "experiments/evaluation/labelled_records.h"

namespace deft::experiments {

namespace {

std::shared_ptr<const engine::WordPiece> wordpiece_of(const DataConfig& data, const std::string& base_folder) {
    return named_wordpiece(data.tokenizer, data.labelled.lower_case, base_folder);
}

std::string identity_of(const Task& task, const engine::WordPiece& wordpiece, const DataConfig& data) {
    const LabelledConfig& read = data.labelled;
    return sha256(
        fmt::format("labelled texts of {}, tokens of {}{}{}{}{}", task_sha256(task), wordpiece.sha256(),
                    read.truncate_labels ? ", labels truncated" : "",
                    read.records > 0 ? fmt::format(", the first {} to train on", read.records) : "",
                    read.whole_batches > 0 ? fmt::format(", in whole batches of {}", read.whole_batches) : "",
                    read.scored_records > 0 ? fmt::format(", the first {} to score by", read.scored_records) : ""));
}

// The tokens of one text. Errors: config, at the record, where there are none.
std::vector<std::int32_t> tokens_of(const std::string& text, const char* which, const Records& records,
                                    const Record& record, engine::WordPieceEncoder& encoder) {
    std::vector<std::int32_t> tokens;
    encoder.encode(text, tokens);
    if (tokens.empty())
        throw Error(ErrorKind::config, Place{records.file, record.line, 0},
                    fmt::format("the {} text has no tokens", which),
                    "give it text, or take the record out of the file");
    return tokens;
}

void keep_first(Records& records, std::size_t count) {
    if (count < records.items.size())
        records.items.erase(records.items.begin() + static_cast<std::ptrdiff_t>(count), records.items.end());
}

// Records of a split to evaluate on. Errors: config, where none are left.
Records scored_records_of(const RecordSource& source, const Task& task, const DataConfig& data) {
    Records records = load_records(source, context_of(task));
    if (data.labelled.scored_records > 0) keep_first(records, static_cast<std::size_t>(data.labelled.scored_records));
    const auto count = static_cast<std::int64_t>(records.items.size());
    const std::int64_t whole = whole_batches_of(count, data.labelled);
    if (whole == 0)
        throw Error(
            ErrorKind::config,
            fmt::format("data.labelled.whole_batches is {}, and {} has {} records to score by: none would be left",
                        data.labelled.whole_batches, records.file, count),
            "lower it with train.batch_size, or drop the key to score all");
    keep_first(records, static_cast<std::size_t>(whole));
    return records;
}

// Records to train on. Errors: config, where there are fewer than data.labelled.records.
Records training_records_of(const Task& task, const DataConfig& data) {
    Records records = load_records(task.train, context_of(task));
    const auto wanted = static_cast<std::size_t>(data.labelled.records);
    if (wanted > records.items.size())
        throw Error(ErrorKind::config,
                    fmt::format("data.labelled.records is {}, and task {} has {} to train on", wanted, task.name,
                                records.items.size()),
                    "lower it, or drop the key to train on all");
    if (wanted > 0) keep_first(records, wanted);
    if (whole_batches_of(static_cast<std::int64_t>(records.items.size()), data.labelled) == 0)
        throw Error(
            ErrorKind::config,
            fmt::format("data.labelled.whole_batches is {}, and task {} has {} records to train on: none would be left",
                        data.labelled.whole_batches, task.name, records.items.size()),
            "lower it with train.batch_size, or drop the key to train on all");
    return records;
}

std::string missing_splits_note(const std::vector<std::string>& missing) {
    std::string note;
    for (const std::string& split : missing) note += fmt::format("{}{}", note.empty() ? "" : "; ", split);
    return note;
}

}  // namespace

Task labelled_task(const DataConfig& data, const std::string& base_folder) {
    Task task = load_task(data.corpus, base_folder);
    if (!is_labelled(task.kind))
        throw Error(ErrorKind::config,
                    fmt::format("task {} asks a model to continue prompts, and has no [train] records", task.name),
                    "name a task of kind classification or regression, as glue_rte");
    return task;
}

std::int64_t whole_batches_of(std::int64_t records, const LabelledConfig& labelled) {
    return labelled.whole_batches > 0 ? records - records % labelled.whole_batches : records;
}

std::int64_t classes_of(const Task& task) {
    return static_cast<std::int64_t>(task.texts.labels.size());
}

std::int64_t training_records(const DataConfig& data, const std::string& base_folder) {
    return static_cast<std::int64_t>(training_records_of(labelled_task(data, base_folder), data).items.size());
}

DatasetIdentity labelled_identity(const DataConfig& data, const std::string& base_folder) {
    const Task task = labelled_task(data, base_folder);
    const auto wordpiece = wordpiece_of(data, base_folder);
    return {identity_of(task, *wordpiece, data), wordpiece->vocab(), training_records(data, base_folder)};
}

LabelledSamplesPointer labelled_samples(const Task& task, const Records& records,
                                        const std::shared_ptr<const engine::WordPiece>& wordpiece, std::int64_t seqlen,
                                        bool truncates, std::int64_t& bytes) {
    const auto samples = std::make_shared<engine::LabelledSamples>(wordpiece->vocabulary(), seqlen, classes_of(task));
    engine::WordPieceEncoder encoder(wordpiece);
    for (const Record& record : records.items) {
        const LabelledRecord labelled = labelled_record(task, records, record, truncates);
        const std::vector<std::int32_t> first = tokens_of(labelled.first, "first", records, record, encoder);
        std::vector<std::int32_t> second;
        engine::TextPair texts{first, {}};
        if (labelled.second) texts.b = second = tokens_of(*labelled.second, "second", records, record, encoder);
        if (samples->has_values())
            samples->add_value(texts, static_cast<float>(labelled.value));
        else
            samples->add_class(texts, labelled.label);
        bytes += static_cast<std::int64_t>(labelled.first.size() + labelled.second.value_or("").size());
    }
    return samples;
}

LabelledDataset load_labelled_dataset(const DataConfig& data, std::int64_t seqlen, const std::string& base_folder) {
    LabelledDataset dataset;
    dataset.task = labelled_task(data, base_folder);
    const Task& task = dataset.task;
    dataset.wordpiece = wordpiece_of(data, base_folder);
    dataset.sha256 = identity_of(task, *dataset.wordpiece, data);
    require_planned(data, dataset.sha256);
    std::int64_t bytes = 0;
    const auto samples_of = [&](const Records& records) {
        return labelled_samples(task, records, dataset.wordpiece, seqlen, data.labelled.truncate_labels, bytes);
    };
    dataset.training = samples_of(training_records_of(task, data));
    dataset.train_bytes = bytes;
    dataset.splits.push_back({task.split, samples_of(scored_records_of(task.records, task, data))});
    std::vector<std::string> missing;
    for (const FurtherSplit& further : task.further_splits)
        if (records_are_here(further.records, context_of(task)))
            dataset.splits.push_back({further.name, samples_of(scored_records_of(further.records, task, data))});
        else
            missing.push_back(fmt::format("split {} of task {} is not scored: {} is not here", further.name, task.name,
                                          further.records.file));
    dataset.note = missing_splits_note(missing);
    return dataset;
}

}  // namespace deft::experiments
