#include "experiments/evaluation/records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files.h"
#include "base/json.h"
#include "base/utf8.h"
#include "experiments/datasets/embedded_corpus.h"
#include "experiments/datasets/find_file.h"
#include "experiments/evaluation/text_template.h"
#include "experiments/evaluation/wikitext.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// Calls use(line without its end, number from 1) for each line; the end of the last one may be missing.
template <class Use>
void for_each_line(const std::string& text, Use&& use) {
    int number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line(text.data() + begin, end - begin);
        if (line.ends_with('\r')) line.remove_suffix(1);
        use(line, ++number);
        begin = end + 1;
    }
}

void require_utf8(std::string_view line, const std::string& file, int number) {
    if (!is_valid_utf8(line)) throw Error(ErrorKind::config, Place{file, number, 0}, "the record is not valid UTF-8");
}

// Copying and comparing values recurses once a level.
constexpr int kDeepest = 100;

bool is_deep(std::string_view json) {
    int depth = 0;
    bool in_text = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        if (in_text && json[i] == '\\')
            ++i;
        else if (json[i] == '"')
            in_text = !in_text;
        else if (!in_text && (json[i] == '[' || json[i] == '{') && ++depth > kDeepest)
            return true;
        else if (!in_text && (json[i] == ']' || json[i] == '}'))
            --depth;
    }
    return false;
}

Json parse_record(std::string_view text, const Place& place, bool columns_count) {
    if (is_deep(text))
        throw Error(ErrorKind::config, place, fmt::format("the record nests lists or tables deeper than {}", kDeepest));
    try {
        Json record = try_parse_json(text);
        if (record.is_discarded()) record = try_parse_json(tolerant_json(text));
        return record.is_discarded() ? parse_json(text) : record;
    } catch (const Json::parse_error& error) {
        Place at = place;
        if (columns_count) at.column = static_cast<int>(error.byte);
        const std::string what = error.what();  // "[json...] parse error at line 1, column 5: reason"
        const std::size_t reason = what.find(": ");
        throw Error(ErrorKind::config, at,
                    "the record is not valid JSON: " + (reason == std::string::npos ? what : what.substr(reason + 2)));
    } catch (const Json::out_of_range&) {
        throw Error(ErrorKind::config, place, "the record has a number beyond the range of a double",
                    "write it as a text, or smaller");
    }
}

Record object_record(Json fields, int number, const std::string& file) {
    if (!fields.is_object())
        throw Error(ErrorKind::config, Place{file, number, 0},
                    fmt::format("the record is {}, not a JSON object", fields.type_name()));
    return {std::move(fields), number};
}

Records parse_jsonl(const std::string& text, const std::string& file) {
    Records records{file, {}};
    for_each_line(text, [&](std::string_view line, int number) {
        if (strip(line).empty()) return;
        records.items.push_back(object_record(parse_record(line, {file, number, 0}, true), number, file));
    });
    return records;
}

Records parse_json_array(const std::string& text, const std::string& file) {
    Json array = parse_record(text, {file, 0, 0}, false);
    if (!array.is_array())
        throw Error(ErrorKind::config, Place{file, 0, 0},
                    fmt::format("the file is {}, not an array of records", array.type_name()));
    Records records{file, {}};
    for (Json& fields : array)
        records.items.push_back(object_record(std::move(fields), static_cast<int>(records.items.size()) + 1, file));
    return records;
}

// Columns are parted by tabs alone; quotes are ordinary characters.
Records parse_tsv(const RecordSource& source, const std::string& text, const std::string& file) {
    Records records{file, {}};
    for_each_line(text, [&](std::string_view line, int number) {
        if ((source.header && number == 1) || line.empty()) return;
        require_utf8(line, file, number);
        Record record{Json::object(), number};
        std::size_t column = 0;
        for (std::size_t begin = 0; begin <= line.size(); ++column) {
            const std::size_t end = std::min(line.find('\t', begin), line.size());
            if (column < source.columns.size())
                record.fields[source.columns[column]] = std::string(line.substr(begin, end - begin));
            begin = end + 1;
        }
        if (column != source.columns.size())
            throw Error(
                ErrorKind::config, Place{file, number, 0},
                fmt::format("the record has {} columns where the task names {}", column, source.columns.size()));
        records.items.push_back(std::move(record));
    });
    return records;
}

Records parse_wikitext(const std::string& text, const std::string& file) {
    Records records{file, {}};
    for (Article& article : wikitext_articles(text)) {
        require_utf8(article.page, file, article.line);
        records.items.push_back({Json{{"page", std::move(article.page)}}, article.line});
    }
    return records;
}

Records parse_lines(const std::string& text, const std::string& file) {
    Records records{file, {}};
    for_each_line(text, [&](std::string_view line, int number) {
        require_utf8(line, file, number);
        records.items.push_back({Json{{"line", std::string(line)}}, number});
    });
    return records;
}

std::string without_leading_space(const std::string& text) {
    return text.starts_with(' ') ? text.substr(1) : text;
}

Records generate(const RecordSource& source, const RecordContext& context) {
    const auto seed = static_cast<std::uint64_t>(context.embedded_seed);
    const std::int64_t count = context.limit > 0 ? context.limit : source.count;
    Records records{fmt::format("{} (seed {})", name_of(source.generator), context.embedded_seed), {}};
    const auto add = [&](Json fields) {
        records.items.push_back({std::move(fields), static_cast<int>(records.items.size()) + 1});
    };
    if (source.generator == RecordGenerator::embedded_questions)
        for (const FourWayQuestion& question : embedded_questions(seed, count)) {
            Json choices = Json::array();
            for (const std::string& choice : question.choices) choices.push_back(without_leading_space(choice));
            add({{"context", question.context}, {"choices", std::move(choices)}, {"gold", question.gold}});
        }
    else
        for (const LastWordQuestion& question : embedded_last_words(seed, count))
            add({{"context", question.context}, {"word", without_leading_space(question.word)}});
    return records;
}

}  // namespace

fs::path find_records_file(const RecordSource& source, const fs::path& task_folder, const fs::path& base_folder) {
    if (const auto found = look_for_data_file(source.file, base_folder)) return *found;
    if (const auto found = look_for_data_file(source.file, task_folder)) return *found;
    return find_data_file(source.file, base_folder);
}

bool records_are_here(const RecordSource& source, const RecordContext& context) {
    return look_for_data_file(source.file, context.base_folder).has_value() ||
           look_for_data_file(source.file, context.task_folder).has_value();
}

namespace {

Records parse_format(const RecordSource& source, const std::string& text, const std::string& file) {
    switch (source.format) {
        case RecordFormat::json:
            return parse_json_array(text, file);
        case RecordFormat::tsv:
            return parse_tsv(source, text, file);
        case RecordFormat::lines:
            return parse_lines(text, file);
        case RecordFormat::wikitext:
            return parse_wikitext(text, file);
        case RecordFormat::jsonl:
            break;
    }
    return parse_jsonl(text, file);
}

}  // namespace

Records parse_records(const RecordSource& source, const std::string& text, const std::string& file) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) return parse_records(source, text.substr(kByteOrderMark.size()), file);
    Records records = parse_format(source, text, file);
    arrange_records(source, records);
    return records;
}

Records load_records(const RecordSource& source, const RecordContext& context) {
    if (source.generator != RecordGenerator::none) return generate(source, context);
    const fs::path path = find_records_file(source, context.task_folder, context.base_folder);
    Records records = parse_records(source, read_text_file(path), path.string());
    if (records.items.empty())
        throw Error(ErrorKind::config, Place{path.string(), 0, 0},
                    source.where.empty() ? "the file holds no record"
                                         : fmt::format("the file holds no record whose field '{}' is {}", source.where,
                                                       fmt::join(source.equals, " or ")),
                    "supply the records, or take the task out of eval.tasks");
    return records;
}

}  // namespace deft::experiments
