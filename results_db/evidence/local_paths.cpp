#include "results_db/evidence/local_paths.h"

#include <filesystem>
#include <string_view>

#include "base/json.h"

namespace deft::results_db {

namespace {

bool is_in(char c, std::string_view set) {
    return set.find(c) != std::string_view::npos;
}

// Between the parts of a text, as before a path that stands in it.
bool is_break(char c) {
    return is_in(c, " \t\r\n'\"=([{<>,;:|`");
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
        const bool begins = text[at] == '/' && (at == 0 || is_break(text[at - 1])) && at + 1 < text.size() &&
                            begins_a_name(text[at + 1]);
        if (!begins) {
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
