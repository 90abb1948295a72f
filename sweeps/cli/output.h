#pragma once
// Where results go: standard output, or a file that is whole or absent.

#include <filesystem>
#include <string>

namespace deft::cli {

void print(const std::string& text);
// To the file, or to standard output where `file` is empty.
void print_to(const std::filesystem::path& file, const std::string& text);

// A remark beside the results, on standard error; nothing where it is empty.
void print_note(const std::string& note);

// Columns of a table in a file or a log.
inline constexpr int kPlainWidth = 132;
// Columns of standard output's terminal; kPlainWidth where it is none.
int output_width();

// A word as a shell would take it back.
std::string quoted(const std::string& word);

}  // namespace deft::cli
