#pragma once
// The files of text that [data] train_files and valid_files name.

#include <filesystem>
#include <string>
#include <vector>

namespace deft::experiments {

struct TextFile {
    std::string name;  // for messages
    std::filesystem::path path;
};

// Whether the name has characters of a pattern (glob(7)).
bool is_pattern(const std::string& name);

// A name is a file; a folder: its .txt and .jsonl files at any depth, hidden ones left out; or a pattern of files as in
// books/*.txt (glob(7)). Each is looked for where find_data_file() looks; files of a folder or pattern are in the order
// of their names. Where a file is there packed and plain, the plain one is meant. Errors: data, for what is not there;
// config, for a folder without text; io.
std::vector<TextFile> text_files(const std::string& name, const std::filesystem::path& base_folder);

// Whether a name ends in .jsonl, before .gz and .zst. Errors: config, where it ends neither so nor in .txt: what such a
// file holds is not known.
bool is_json_lines(const std::string& name);

// Checks the beginning of a file, unpacked. Errors: config, for UTF-16, UTF-32 and content that is not text; io.
void require_text(const std::filesystem::path& file);

}  // namespace deft::experiments
