#include "sweeps/cli/output.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/color.h"
#include "base/controls.h"
#include "base/error.h"
#include "base/files.h"
#include "reporting/fit_lines.h"
#include "sweeps/driver/progress.h"

namespace deft::cli {

void print(const std::string& text) {
    print_exact(reporting::fit_lines(text, sweeps::terminal_width(stdout)));
}

void print_exact(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
    std::fflush(stdout);  // what is said on stderr next must not overtake it
}

void print_screen(const std::string& text) {
    print_exact(takes_color(stdout) ? colored_screen(text) : text);
}

void print(const reporting::Table& table) {
    print(reporting::render_terminal(table, output_width()));
}

void print_to(const std::filesystem::path& file, const std::string& text) {
    if (file.empty())
        print_exact(text);
    else
        write_file_atomically(file, text.empty() || text.back() == '\n' ? text : text + "\n");
}

void require_folder_of(const std::filesystem::path& file) {
    if (file.has_parent_path() && !std::filesystem::is_directory(file.parent_path()))
        throw Error(ErrorKind::usage, fmt::format("folder {} does not exist", file.parent_path().string()),
                    "make it, or name another file");
}

void require_free(const std::vector<std::filesystem::path>& files, bool force) {
    for (const std::filesystem::path& file : files)
        if (!force && std::filesystem::exists(std::filesystem::symlink_status(file)))
            throw Error(ErrorKind::usage, fmt::format("{} already exists", file.string()),
                        "choose another path with --out, or overwrite it with --force", file.string());
}

std::string with_short_home(const std::string& text) {
    const char* home = std::getenv("HOME");
    const std::string folder = home == nullptr ? "" : home;
    if (folder.size() < 2 || folder.front() != '/' || folder.back() == '/') return text;
    const auto is_of_path = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("/._-~", c) != nullptr;
    };
    std::string shortened;
    std::size_t at = 0;
    for (std::size_t found = text.find(folder + '/'); found != std::string::npos;
         found = text.find(folder + '/', found + 1)) {
        if (found > 0 && is_of_path(text[found - 1])) continue;
        const bool is_quoted = found > at && text[found - 1] == '\'';  // within which a shell leaves ~ as it is
        shortened += text.substr(at, found - at - (is_quoted ? 1 : 0)) + "~/" + (is_quoted ? "'" : "");
        at = found + folder.size() + 1;
    }
    return shortened + text.substr(at);
}

void print_note(const std::string& note) {
    if (note.empty()) return;
    print_message("deft: " + without_controls_in_lines(note) + "\n");
}

void print_message(const std::string& text) {
    const std::string fitted = reporting::fit_lines(text, sweeps::terminal_width(stderr));
    std::fputs((takes_color(stderr) ? colored_message(fitted) : fitted).c_str(), stderr);
}

int screen_width() {
    const int width = sweeps::terminal_width(stdout);
    return width > 0 ? width : kScreenWidth;
}

int output_width() {
    const int width = sweeps::terminal_width(stdout);
    return width > 0 ? width : kPlainWidth;
}

}  // namespace deft::cli
