#include "sweeps/cli/output.h"

#include <cstdio>

#include "base/controls.h"
#include "base/files.h"
#include "sweeps/driver/progress.h"

namespace deft::cli {

void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
    std::fflush(stdout);  // what is said on stderr next must not overtake it
}

void print(const reporting::Table& table) {
    print(reporting::render_terminal(table, output_width()));
}

void print_to(const std::filesystem::path& file, const std::string& text) {
    if (file.empty())
        print(text);
    else
        write_file_atomically(file, text.empty() || text.back() == '\n' ? text : text + "\n");
}

void print_note(const std::string& note) {
    if (!note.empty()) std::fprintf(stderr, "deft: %s\n", without_controls_in_lines(note).c_str());
}

int output_width() {
    const int width = sweeps::terminal_width(stdout);
    return width > 0 ? width : kPlainWidth;
}

}  // namespace deft::cli
