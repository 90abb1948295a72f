#include "results_db/evidence/text_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/controls.h"
#include "base/error.h"
#include "base/sha256.h"
#include "results_db/evidence/evidence.h"

namespace deft::results_db {

namespace {

constexpr int kDeepest = 32;             // far above any configuration
constexpr std::size_t kHashDigits = 16;  // these detect damage; the last line has all 64

// Bytes that are no UTF-8 become U+FFFD, as in journals.
std::string dumped(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string short_sha256(std::string_view text) {
    return sha256(text).substr(0, kHashDigits);
}

// Counted before it is parsed, for a parsed value is walked by functions that call themselves.
int depth_of(std::string_view text) {
    int depth = 0, deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string && c == '\\') ++i;
        if (c == '"') in_string = !in_string;
        if (in_string) continue;
        if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
        if (c == '}' || c == ']') --depth;
    }
    return deepest;
}

bool has_nul(const Json& value) {
    if (value.is_string()) return value.get_ref<const std::string&>().find('\0') != std::string::npos;
    if (value.is_object())
        for (const auto& [key, item] : value.items())
            if (key.find('\0') != std::string::npos) return true;
    return value.is_structured() && std::any_of(value.begin(), value.end(), has_nul);
}

std::string taken_text(Json& record, const char* key) {
    const auto found = record.find(key);
    if (found == record.end() || !found->is_string()) throw BadRecord{fmt::format("it has no '{}'", key)};
    std::string text = found->get<std::string>();
    record.erase(found);
    return text;
}

EvidenceLine read_line(std::string_view text, int number) {
    if (depth_of(text) > kDeepest) throw BadRecord{fmt::format("it is nested deeper than {}", kDeepest)};
    Json record = try_parse_json(text);
    if (!record.is_object()) throw BadRecord{"it is not a JSON object"};
    if (dumped(record) != text) throw BadRecord{"it is not spelled as deft spells it"};
    if (has_nul(record)) throw BadRecord{"it has a text with a zero byte"};
    const std::string check = taken_text(record, "check");
    if (short_sha256(dumped(record)) != check)
        throw BadRecord{"it does not match its hash: something in it was changed"};
    const std::string kind = taken_text(record, "record");
    return {number, kind, std::move(record)};
}

void require_keys(const EvidenceLine& line, std::initializer_list<const char*> keys, const std::string& name) {
    for (const auto& [key, value] : line.record.items())
        if (std::none_of(keys.begin(), keys.end(), [&known = key](const char* one) { return known == one; }))
            fail_in_evidence(name, line.number, fmt::format("it has the unknown key '{}'", key));
}

void require_part(const EvidenceLine& first, const std::string& name) {
    const Json part = first.record.value("part", Json()), parts = first.record.value("parts", Json());
    if (!part.is_number_unsigned() || !parts.is_number_unsigned() || parts > kMostParts || part < 1 || part > parts)
        fail_in_evidence(name, first.number, "its 'part' is none of its 'parts'");
}

void require_schema(const EvidenceLine& first, const std::string& name) {
    if (first.kind != "evidence")
        fail_in_evidence(name, first.number, "this is not an evidence file of deft: its first line is not valid");
    const Json schema = first.record.value("schema", Json());
    if (schema.is_number_integer() && schema >= kOldestEvidenceSchema && schema <= kEvidenceSchema) {
        require_keys(first, {"schema", "sweep", "curve_points", "note", "part", "parts"}, name);
        if (first.record.contains("part") || first.record.contains("parts")) require_part(first, name);
        for (const char* key : {"sweep", "note"})
            if (!first.record.value(key, Json()).is_string())
                fail_in_evidence(name, first.number, fmt::format("it has no text '{}'", key));
        if (!first.record.value("curve_points", Json()).is_number_unsigned())
            fail_in_evidence(name, first.number, "its 'curve_points' is not a count");
        return;
    }
    fail_in_evidence(
        name, first.number,
        fmt::format("it is of schema {}; this program reads {} to {}", schema.dump(), kOldestEvidenceSchema,
                    kEvidenceSchema),
        "use the deft that wrote it, or regenerate it with this one from its database: deft db export SWEEP");
}

void require_end(const std::vector<EvidenceLine>& lines, std::string_view before, const std::string& name) {
    const EvidenceLine& last = lines.back();
    if (last.kind != "end") fail_in_evidence(name, last.number, "the file is truncated: it has no end record");
    require_keys(last, {"lines", "sha256"}, name);
    if (last.record.value("sha256", Json()) != sha256(before))
        fail_in_evidence(name, last.number, "the file does not match its hash: a line is missing, added or moved");
    if (last.record.value("lines", Json()) != lines.size() - 1)
        fail_in_evidence(name, last.number, "the file has another number of lines than it says");
}

// The text as deft writes it, where git or an editor gave it a byte order mark, CRLF line ends, blank lines at its end
// or no last line end. The hashes are of the lines themselves.
std::string as_written(std::string_view given) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (given.starts_with(kByteOrderMark)) given.remove_prefix(kByteOrderMark.size());
    std::string text;
    text.reserve(given.size() + 1);
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i] != '\r' || i + 1 == given.size() || given[i + 1] != '\n') text += given[i];
    while (text.ends_with("\n\n")) text.pop_back();
    // A line that was cut in its middle does not parse.
    if (!text.ends_with('\n') && try_parse_json(text.substr(text.rfind('\n') + 1)).is_object()) text += '\n';
    return text;
}

}  // namespace

void fail_in_evidence(const std::string& name, int line, const std::string& what, const std::string& fix) {
    throw Error(ErrorKind::database, Place{name, line, 0}, without_controls(what, '?'),
                fix.empty() ? "fetch the file again, or regenerate it: deft db export SWEEP" : fix, "the database");
}

std::string SharedValues::add(Json value) {
    const std::string id = short_sha256(dumped(value));
    values_.emplace(id, std::move(value));
    return id;
}

void SharedValues::take(const Json& record) {
    if (record.size() != 2 || !record.contains("id") || !record.contains("value"))
        throw BadRecord{"it has other keys than id and value"};
    if (record.at("id") != short_sha256(dumped(record.at("value"))))
        throw BadRecord{"its id is not the hash of its value"};
    values_.emplace(record.at("id").get<std::string>(), record.at("value"));
}

const Json& SharedValues::at(const Json& id) const {
    const auto found = id.is_string() ? values_.find(id.get_ref<const std::string&>()) : values_.end();
    if (found == values_.end()) throw BadRecord{fmt::format("the file has no shared value {}", dumped(id))};
    return found->second;
}

std::string evidence_line(const std::string& kind, Json record) {
    record["record"] = kind;
    // A line's text must equal its own serialization, also for bytes that are not UTF-8.
    Json line = parse_json(dumped(record));
    line["check"] = short_sha256(dumped(line));
    return dumped(line);
}

std::string end_line(std::string_view lines) {
    return evidence_line("end", {{"lines", std::count(lines.begin(), lines.end(), '\n')}, {"sha256", sha256(lines)}});
}

std::string evidence_note(const std::string& text) {
    const Json first = try_parse_json(text.substr(0, text.find('\n')));
    const Json note = first.is_object() ? first.value("note", Json()) : Json();
    return note.is_string() ? note.get<std::string>() : std::string();
}

std::vector<EvidenceLine> read_evidence_lines(std::string_view given, const std::string& name) {
    const std::string text = as_written(given);
    if (text.empty()) fail_in_evidence(name, 0, "the file is empty");
    if (text.back() != '\n') fail_in_evidence(name, 0, "the file is truncated: its last line is incomplete");
    std::vector<EvidenceLine> lines;
    std::size_t begin = 0;
    for (std::size_t end = 0; begin < text.size(); begin = end + 1) {
        end = text.find('\n', begin);
        const int number = static_cast<int>(lines.size()) + 1;
        try {
            lines.push_back(read_line(std::string_view(text).substr(begin, end - begin), number));
        } catch (const BadRecord& bad) {
            fail_in_evidence(name, number, number == 1 ? "this is not an evidence file of deft:  " + bad.why : bad.why,
                             bad.fix);
        }
        if (number == 1) require_schema(lines.front(), name);
        if (end + 1 == text.size()) break;
    }
    require_end(lines, std::string_view(text).substr(0, begin), name);
    return lines;
}

}  // namespace deft::results_db
