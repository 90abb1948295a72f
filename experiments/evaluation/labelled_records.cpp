#include "experiments/evaluation/labelled_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "experiments/evaluation/replace.h"

namespace deft::experiments {

namespace {

[[noreturn]] void refuse_label(const Task& task, const Records& records, const Record& record, const std::string& what,
                               const std::string& fix) {
    throw Error(ErrorKind::config, task.texts.label_place,
                fmt::format("field '{}' of the record at {}:{} {}", task.texts.label, records.file, record.line, what),
                fix);
}

double number_of(const std::string& text, const Task& task, const Records& records, const Record& record) {
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    // The model is held to it in single precision.
    const bool is_number =
        problem == std::errc() && end == text.data() + text.size() && std::isfinite(static_cast<float>(number));
    if (!is_number)
        refuse_label(task, records, record, fmt::format("is '{}'", text), "a regression's label is a number, as 3.8");
    return number;
}

std::int32_t class_of(const std::string& text, const Task& task, const Records& records, const Record& record) {
    const std::vector<std::string>& labels = task.texts.labels;
    const auto found = std::find(labels.begin(), labels.end(), text);
    if (found == labels.end())
        refuse_label(task, records, record, fmt::format("is '{}'", text),
                     fmt::format("texts.labels has {}", fmt::join(labels, ", ")));
    return static_cast<std::int32_t>(found - labels.begin());
}

}  // namespace

std::string cleaned_text(std::string_view text) {
    std::string joined;
    bool in_space = false;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character c = decode_utf8(text, at);
        const std::size_t begin = at;
        at += c.bytes;
        if (is_whitespace(c.code)) {
            in_space = true;
            continue;
        }
        if (in_space && !joined.empty()) joined += ' ';
        in_space = false;
        joined += text.substr(begin, at - begin);
    }
    for (int times = 0; times < 3; ++times) joined = replaced_all(joined, " . ", ". ");
    return joined;
}

LabelledRecord labelled_record(const Task& task, const Records& records, const Record& record, bool truncates) {
    const TaskTexts& texts = task.texts;
    LabelledRecord labelled;
    labelled.first = cleaned_text(render(texts.first, records, record));
    if (texts.second) labelled.second = cleaned_text(render(*texts.second, records, record));
    const std::string label(strip(value_text(field_at(records, record, texts.label, texts.label_place))));
    if (task.kind == TaskKind::classification) {
        labelled.label = class_of(label, task, records, record);
        return labelled;
    }
    labelled.value = number_of(label, task, records, record);
    if (truncates) labelled.value = std::trunc(labelled.value);
    return labelled;
}

}  // namespace deft::experiments
