#include "experiments/evaluation/text_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/suggestion.h"

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
                "name a string, an integer or a boolean");
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

const Json& field_at(const Records& records, const Record& record, const std::string& path, const Place& place) {
    const Json* at = &record.fields;
    for (std::string_view rest = path;;) {
        const std::size_t dot = rest.find('.');
        const std::string key(rest.substr(0, dot));
        const auto found = at->is_object() ? at->find(key) : at->end();
        if (found == at->end()) {
            std::vector<std::string> known;
            if (at->is_object())
                for (const auto& [name, value] : at->items()) known.push_back(name);
            throw Error(ErrorKind::config, place,
                        fmt::format("the record at {} has no field '{}'", where(records, record), path),
                        suggestion(key, known, fmt::format("its fields: {}", fmt::join(known, ", "))));
        }
        at = &*found;
        if (dot == std::string_view::npos) return *at;
        rest.remove_prefix(dot + 1);
    }
}

std::string render(const TextTemplate& text, const Records& records, const Record& record, const Json* item) {
    std::string result;
    for (const TextTemplate::Part& part : text.parts) {
        result += part.literal;
        if (part.field.empty()) continue;
        const Json& value =
            item != nullptr && part.field == kItem ? *item : field_at(records, record, part.field, text.place);
        std::string printed = as_text(value, part.field, records, record, text.place);
        for (const Filter* filter : part.filters) printed = filter->apply(printed);
        result += printed;
    }
    return result;
}

}  // namespace deft::experiments
