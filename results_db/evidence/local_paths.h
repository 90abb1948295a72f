#pragma once
// Removes the paths of the machine's own folders from a text.

#include <string>

#include "base/json_fwd.h"

namespace deft::results_db {

// "cannot read x.txt" of "cannot read /home/me/x.txt": of an absolute path the last name is left.
std::string without_absolute_paths(const std::string& text);
// A text of the value that is an absolute path; empty: there is none.
std::string an_absolute_path(const Json& value);
// In all texts of the value, keys aside.
Json without_absolute_paths(const Json& value);

// The part "local" of a configuration, which says where files are: of a path that is absolute or leads upwards the last
// name is left.
Json without_local_folders(const Json& local);
// Whether a path may be one of those: relative, and nowhere leading upwards.
bool stays_below(const std::string& path);

// "deft run x.toml" of "deft run x.toml --root 'my runs'".
std::string without_root(const std::string& command);
// Whether a command line is words and quoted words alone, so that a shell does nothing else with it.
bool is_words_alone(const std::string& command);

}  // namespace deft::results_db
