#include "experiments/evaluation/check_task.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "experiments/evaluation/evaluate_task.h"
#include "experiments/evaluation/labelled_records.h"
#include "experiments/evaluation/prompt.h"
#include "experiments/evaluation/records.h"

namespace deft::experiments {

namespace {

bool is_by_line(const RecordSource& source) {
    using enum RecordFormat;
    return source.format == jsonl || source.format == tsv || source.format == lines;
}

std::size_t end_of_lines(const std::string& text, std::size_t count) {
    std::size_t end = 0;
    for (; count > 0 && end < text.size(); --count) end = std::min(text.find('\n', end), text.size() - 1) + 1;
    return end;
}

// The records of the file's first lines, at least one: of a source that keeps few records more lines are read.
Records first_records(const RecordSource& source, RecordContext context) {
    context.limit = 1;
    if (source.generator != RecordGenerator::none || !is_by_line(source)) return load_records(source, context);
    const std::filesystem::path path = find_records_file(source, context.task_folder, context.base_folder);
    const std::string text = read_text_file(path);
    for (std::size_t lines = 2;; lines *= 8) {
        const std::size_t end = end_of_lines(text, lines);
        if (end == text.size()) return load_records(source, context);
        Records records = parse_records(source, text.substr(0, end), path.string());
        if (!records.items.empty()) return records;
    }
}

template <class Use>
void use_first(const Task& task, const RecordSource& source, const Use& use) {
    const RecordContext context = context_of(task);
    if (source.generator == RecordGenerator::none && !records_are_here(source, context)) return;
    const Records records = first_records(source, context);
    use(records, records.items.front());
}

}  // namespace

void check_first_records(const Task& task) {
    const auto use_labelled = [&](const Records& records, const Record& record) {
        labelled_record(task, records, record);
    };
    if (task.kind == TaskKind::generation) return;
    if (is_labelled(task.kind)) {
        use_first(task, task.train, use_labelled);
        use_first(task, task.records, use_labelled);
        for (const FurtherSplit& split : task.further_splits) use_first(task, split.records, use_labelled);
        return;
    }
    use_first(task, task.records, [&](const Records& records, const Record& record) {
        if (task.kind == TaskKind::perplexity)
            scored_texts(task, records, 1);
        else
            make_prompt(task, records, record);
    });
    if (task.shots > 0 && task.shot_pool)
        use_first(task, *task.shot_pool,
                  [&](const Records& records, const Record& record) { worked_example(task, records, record); });
}

}  // namespace deft::experiments
