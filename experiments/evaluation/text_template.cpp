#include "experiments/evaluation/text_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "base/suggestion.h"
#include "base/utf8.h"

namespace deft::experiments {

namespace {

constexpr const char* kItem = "choice";

// "ctx|strip" -> field and filters.
void parse_field(std::string_view inside, TextTemplate::Part& part, const Place& place) {
    std::size_t bar = inside.find('|');
    part.field = inside.substr(0, bar);
    if (part.field.empty()) throw Error(ErrorKind::config, place, "a template has {} without a field name");
    while (bar != std::string_view::npos) {
        inside.remove_prefix(bar + 1);
        bar = inside.find('|');
        const std::string name(inside.substr(0, bar));
        const Filter* filter = find_filter(name);
        if (filter == nullptr)
            throw Error(ErrorKind::config, place, fmt::format("a template names the unknown filter '{}'", name),
                        suggestion(name, filter_names()));
        part.filters.push_back(filter);
    }
}

std::string where(const Records& records, const Record& record) {
    return fmt::format("{}:{}", records.file, record.line);
}

std::string as_text(const Json& value, const std::string& name, const Records& records, const Record& record,
                    const Place& place) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
    if (value.is_number_integer()) return value.dump();
    throw Error(ErrorKind::config, place,
                fmt::format("field '{}' of the record at {} is {}, which no template can print", name,
                            where(records, record), value.type_name()),
                value.is_array()    ? fmt::format("name one of its items, as in {{{}.0}}", name)
                : value.is_object() ? fmt::format("name one of its fields, as in {{{}.FIELD}}", name)
                                    : std::string("name a string, an integer or a boolean"));
}

}  // namespace

TextTemplate parse_template(const std::string& text, const Place& place) {
    TextTemplate result;
    result.place = place;
    TextTemplate::Part part;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool doubled = i + 1 < text.size() && text[i + 1] == text[i];
        if ((text[i] == '{' || text[i] == '}') && doubled) {
            part.literal += text[i++];
        } else if (text[i] == '{') {
            const std::size_t close = text.find_first_of("{}", i + 1);
            if (close == std::string::npos || text[close] == '{')
                throw Error(ErrorKind::config, place, "a template has { without }", "write {{ for a brace");
            parse_field(std::string_view(text).substr(i + 1, close - i - 1), part, place);
            result.parts.push_back(std::move(part));
            part = {};
            i = close;
        } else if (text[i] == '}') {
            throw Error(ErrorKind::config, place, "a template has } without {", "write }} for a brace");
        } else {
            part.literal += text[i];
        }
    }
    if (!part.literal.empty()) result.parts.push_back(std::move(part));
    return result;
}

namespace {

// The key of an object, or the index of a list from 0; null where there is none.
const Json* step_into(const Json& value, std::string_view key) {
    if (value.is_object()) {
        const auto found = value.find(std::string(key));
        return found == value.end() ? nullptr : &*found;
    }
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    const bool is_index = error == std::errc() && end == key.data() + key.size();
    return value.is_array() && is_index && index < value.size() ? &value[index] : nullptr;
}

[[noreturn]] void refuse_path(const Json& value, const std::string& key, const std::string& path,
                              const std::string& whose, const Place& place) {
    const std::string what = fmt::format("{} has no field '{}'", whose, path);
    if (value.is_array())
        throw Error(ErrorKind::config, place,
                    fmt::format("{}: '{}' is not an index of a list of {}", what, key, value.size()),
                    "write an index, counted from 0, as in {options.0}");
    if (!value.is_object())
        throw Error(ErrorKind::config, place, fmt::format("{}: '{}' is asked of {}", what, key, value.type_name()),
                    fmt::format("end the name before .{}", key));
    std::vector<std::string> known;
    for (const auto& [name, field] : value.items()) known.push_back(name);
    throw Error(
        ErrorKind::config, place, what,
        suggestion(key, known,
                   known.empty() ? "it has no fields at all" : fmt::format("its fields: {}", fmt::join(known, ", "))));
}

// The value at a dotted path below `root`.
const Json& value_at(const Json& root, const std::string& path, const std::string& whose, const Place& place) {
    const Json* at = &root;
    for (std::string_view rest = path;;) {
        const std::size_t dot = rest.find('.');
        const std::string key(rest.substr(0, dot));
        const Json* found = step_into(*at, key);
        if (found == nullptr) refuse_path(*at, key, path, whose, place);
        at = found;
        if (dot == std::string_view::npos) return *at;
        rest.remove_prefix(dot + 1);
    }
}

// The value of {choice}, or {choice.text} of a list of objects; null where the field is another.
const Json* item_field(const Json* item, const std::string& field, const std::string& whose, const Place& place) {
    if (item == nullptr) return nullptr;
    if (field == kItem) return item;
    const std::string prefix = std::string(kItem) + ".";
    if (!field.starts_with(prefix) || !item->is_structured()) return nullptr;
    return &value_at(*item, field.substr(prefix.size()), "a choice of " + whose, place);
}

}  // namespace

const Json& field_at(const Records& records, const Record& record, const std::string& path, const Place& place) {
    return value_at(record.fields, path, "the record at " + where(records, record), place);
}

std::string render(const TextTemplate& text, const Records& records, const Record& record, const Json* item) {
    std::string result;
    for (const TextTemplate::Part& part : text.parts) {
        result += part.literal;
        if (part.field.empty()) continue;
        const Json* const of_item = item_field(item, part.field, "the record at " + where(records, record), text.place);
        const Json& value = of_item != nullptr ? *of_item : field_at(records, record, part.field, text.place);
        std::string printed = as_text(value, part.field, records, record, text.place);
        for (const Filter* filter : part.filters) {
            if (printed.find(filter->needs) == std::string::npos)
                throw Error(ErrorKind::config, text.place,
                            fmt::format("field '{}' of the record at {} has no {}, which the filter {} looks for",
                                        part.field, where(records, record), filter->needs, filter->name));
            printed = filter->apply(printed);
        }
        result += printed;
    }
    return result;
}

std::string value_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

namespace {

char32_t next_code_point(std::string_view text, std::size_t& at) {
    const Utf8Character character = decode_utf8(text, at);
    at += character.bytes;
    return character.code;
}

}  // namespace

bool is_whitespace(char32_t c) {
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string_view strip(std::string_view text) {
    std::size_t begin = text.size(), end = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t start = at;
        if (is_whitespace(next_code_point(text, at))) continue;
        if (begin == text.size()) begin = start;
        end = at;
    }
    return end == 0 ? std::string_view{} : text.substr(begin, end - begin);
}

std::int64_t count_whitespace_pieces(std::string_view text) {
    std::int64_t pieces = 1;
    bool in_space = false;
    for (std::size_t at = 0; at < text.size();) {
        const bool space = is_whitespace(next_code_point(text, at));
        if (space && !in_space) ++pieces;
        in_space = space;
    }
    return pieces;
}

std::int64_t count_words(std::string_view text) {
    std::int64_t words = 0;
    bool in_word = false;
    for (std::size_t at = 0; at < text.size();) {
        const bool word = !is_whitespace(next_code_point(text, at));
        if (word && !in_word) ++words;
        in_word = word;
    }
    return words;
}

}  // namespace deft::experiments
