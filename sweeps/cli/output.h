#pragma once
// Where results go: standard output, or a file that is whole or absent.

#include <filesystem>
#include <string>
#include <vector>

#include "reporting/table.h"

namespace deft::cli {

// Text for a reader: on a terminal, wide lines are broken at spaces.
void print(const std::string& text);
// Text for a program, or the content of a file: every line as it is.
void print_exact(const std::string& text);
// A first screen, in colour where standard output takes it.
void print_screen(const std::string& text);
// As wide as the terminal.
void print(const reporting::Table& table);
// To the file, or to standard output where `file` is empty.
void print_to(const std::filesystem::path& file, const std::string& text);

// Refuses a file whose folder is not there, before minutes are spent on what it is to hold. Errors: usage.
void require_folder_of(const std::filesystem::path& file);

// Errors: usage, where one of the files exists and may not be overwritten.
void require_free(const std::vector<std::filesystem::path>& files, bool force);

// The text with ~ in place of the user's home folder, whose name others need not read; a shell takes the paths still.
std::string with_short_home(const std::string& text);

// A remark beside the results, on standard error; nothing where it is empty.
void print_note(const std::string& note);
// A message on standard error, in colour and broken at spaces where that is a terminal.
void print_message(const std::string& text);

// Columns of a table in a file or a log.
inline constexpr int kPlainWidth = 132;
// Columns of standard output's terminal; kPlainWidth where it is none.
int output_width();
// Columns of a first screen in a file or a log.
inline constexpr int kScreenWidth = 80;
// Columns of standard output's terminal; kScreenWidth where it is none.
int screen_width();

}  // namespace deft::cli
