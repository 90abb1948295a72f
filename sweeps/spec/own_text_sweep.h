#pragma once
// A sweep file for a user's own text, which trains without an edit.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace deft::sweeps {

// The texts of a sweep, as it names them, and their size.
struct OwnText {
    std::vector<std::string> train_files;
    std::vector<std::string> valid_files;  // empty: `split` divides the documents
    std::vector<std::string> left_out;     // test files, which no sweep trains on
    std::int64_t files = 0;                // of train_files
    std::int64_t documents = 0;            // of train_files
    std::int64_t bytes = 0;                // of train_files, decompressed
    bool is_more = false;                  // both counts are lower bounds: reading stopped at kSurveyBytes
    std::vector<std::int64_t> split;       // percent to train, validate and test on
};

// Text that a survey reads at most.
inline constexpr std::int64_t kSurveyBytes = std::int64_t{256} << 20;
// Text that a sweep needs.
inline constexpr std::int64_t kLeastBytes = 4000;

// Finds and reads the files, folders and patterns `names`, which are relative to the working folder. The survey names
// them relative to `folder`, where the sweep file will be; files whose stem is valid, validation, val or dev validate.
// Errors: data, for a missing file; config, for a file that is not text, and for too little text; io.
OwnText survey_text(const std::vector<std::string>& names, const std::filesystem::path& folder);

// The sweep file: a baseline, a curriculum by length, random-LTD and both, at two budgets, with three seeds.
// `file`: the sweep file's name, for the commands in its head.
std::string own_text_sweep(const std::string& name, const std::string& file, const OwnText& text);

}  // namespace deft::sweeps
