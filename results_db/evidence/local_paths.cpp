#include "results_db/evidence/local_paths.h"

#include <filesystem>
#include <string_view>

#include "base/json.h"

namespace deft::results_db {

namespace {

bool is_in(char c, std::string_view set) {
    return set.find(c) != std::string_view::npos;
}

// A separator between the parts of a text, or before a path in it.
bool is_break(char c) {
    return is_in(c, " \t\r\n'\"=([{<>,;:|`");
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool begins_a_name(char c) {
    return static_cast<unsigned char>(c) > 127 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || is_in(c, "._-~+@");
}

// Behind the path that begins at `at`: a quoted one may have blanks in it.
std::size_t end_of_path(const std::string& text, std::size_t at) {
    const char before = at == 0 ? ' ' : text[at - 1];
    if (before == '\'' || before == '"')
        if (const std::size_t end = text.find(before, at); end != std::string::npos) return end;
    std::size_t end = at;
    while (end < text.size() && !is_in(text[end], " \t\r\n'\"()[]{}<>,;:|`")) ++end;
    return end;
}

// Whether a path that begins at this slash would be absolute: not after a name, unless it is that of an option as in
// -I/usr/include, and not after another slash.
bool begins_a_path(const std::string& text, std::size_t at) {
    if (text[at] != '/') return false;
    if (at == 0) return true;
    if (text[at - 1] == '/') return false;
    if (!begins_a_name(text[at - 1])) return true;
    std::size_t word = at;
    while (word > 0 && is_letter(text[word - 1])) --word;
    return word > 0 && word < at && text[word - 1] == '-' && (word == 1 || is_break(text[word - 2]));
}

// Behind "https://host" where that begins here; `at` elsewhere. A file:///home/me is a path.
std::size_t end_of_address(const std::string& text, std::size_t at) {
    if (at > 0 && begins_a_name(text[at - 1])) return at;
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end == at || text.compare(end, 3, "://") != 0 || text.compare(at, end - at, "file") == 0) return at;
    end += 3;
    return end < text.size() && begins_a_name(text[end]) ? end : at;
}

std::string last_name(std::string path) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    return path.substr(path.rfind('/') + 1);
}

template <class Change>
Json with_texts(const Json& value, const Change& change) {
    if (value.is_string()) return change(value.get_ref<const std::string&>());
    Json changed = value;
    if (value.is_structured())
        for (Json& item : changed) item = with_texts(item, change);
    return changed;
}

}  // namespace

std::string without_absolute_paths(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        if (const std::size_t end = end_of_address(text, at); end > at) {
            out += text.substr(at, end - at);
            at = end;
            continue;
        }
        const std::size_t name = text.find_first_not_of('/', at);
        if (!begins_a_path(text, at) || name == std::string::npos || !begins_a_name(text[name])) {
            out += text[at++];
            continue;
        }
        const std::size_t end = end_of_path(text, at);
        out += last_name(text.substr(at, end - at));
        at = end;
    }
    return out;
}

Json without_absolute_paths(const Json& value) {
    return with_texts(value, [](const std::string& text) { return without_absolute_paths(text); });
}

std::string an_absolute_path(const Json& value) {
    if (value.is_string() && std::filesystem::path(value.get_ref<const std::string&>()).is_absolute())
        return value.get<std::string>();
    if (value.is_structured())
        for (const Json& item : value)
            if (std::string path = an_absolute_path(item); !path.empty()) return path;
    return {};
}

bool stays_below(const std::string& path) {
    const std::filesystem::path given(path);
    if (given.is_absolute()) return false;
    for (const std::filesystem::path& part : given)
        if (part == "..") return false;
    return true;
}

Json without_local_folders(const Json& local) {
    Json changed =
        with_texts(local, [](const std::string& text) { return stays_below(text) ? text : last_name(text); });
    if (changed.is_object() && changed.contains("base_folder")) changed["base_folder"] = "";
    return changed;
}

std::string without_root(const std::string& command) {
    constexpr std::string_view kOption = " --root ";
    bool is_quoted = false;
    for (std::size_t at = 0; at < command.size(); ++at) {
        if (command[at] == '\'') is_quoted = !is_quoted;
        if (is_quoted || command.compare(at, kOption.size(), kOption) != 0) continue;
        std::size_t end = at + kOption.size();
        for (bool in_quotes = false; end < command.size() && (in_quotes || command[end] != ' '); ++end)
            if (command[end] == '\'' && command[end - 1] != '\\') in_quotes = !in_quotes;
        return command.substr(0, at) + command.substr(end);
    }
    return command;
}

bool is_words_alone(const std::string& command) {
    bool is_quoted = false;
    for (std::size_t at = 0; at < command.size(); ++at) {
        const char c = command[at];
        if (static_cast<unsigned char>(c) < 32 || c == 127) return false;
        if (c == '\'') {
            is_quoted = !is_quoted;
        } else if (!is_quoted && c == '\\') {  // as a quote within quotes is written
            if (++at == command.size() || command[at] != '\'') return false;
        } else if (!is_quoted && !begins_a_name(c) && !is_in(c, " /:=,%")) {
            return false;
        } else if (!is_quoted && c == '~') {
            return false;
        }
    }
    return !is_quoted;
}

}  // namespace deft::results_db
