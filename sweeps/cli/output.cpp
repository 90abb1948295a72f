#include "sweeps/cli/output.h"

#include <cstdio>

#include "base/files.h"
#include "sweeps/progress.h"

namespace deft::cli {

void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
    std::fflush(stdout);  // what is said on stderr next must not overtake it
}

void print_to(const std::filesystem::path& file, const std::string& text) {
    if (file.empty())
        print(text);
    else
        write_file_atomically(file, text.empty() || text.back() == '\n' ? text : text + "\n");
}

int output_width() {
    const int width = sweeps::terminal_width(stdout);
    return width > 0 ? width : kPlainWidth;
}

std::string quoted(const std::string& word) {
    static constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

}  // namespace deft::cli
