#pragma once
// The code, machine and libraries of every number.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/installed_files.h"
#include "base/json_fwd.h"
#include "results_db/rows.h"

namespace deft::sweeps {

// "deft 0.2.0 (GNU 12.2.0, Release)"
std::string version_text();

// The command line of git in that folder, set up so that nothing runs that the repository configures: no hooks, no file
// system monitor. `diff` wants --no-ext-diff --no-textconv besides.
std::vector<std::string> git_command(const std::filesystem::path& folder, const std::vector<std::string>& arguments);

// Never fails: what cannot be found out is "unknown" or empty. Of uncommitted changes the hash is always kept; the text
// is kept where a sweep asks for it ([provenance] diff), secrets replaced (sweeps/driver/redact.h). `folder`: the
// project's files. An installed program has the commit in a file of its folder alone.
enum class Diff { hash, text };
results_db::Code describe_code(Diff keep = Diff::hash,
                               const std::optional<std::filesystem::path>& folder = files_folder());
results_db::Host describe_host();
// The commit alone, as describe_code() has it, without a look at the program or at what is not committed.
std::string current_commit(const std::optional<std::filesystem::path>& folder = files_folder());

// Versions of what the program was built with and of what it runs on: results may differ in bits between them.
// {"oneDNN": "2.6.3", "libc": "glibc 2.36", ...} as loaded in this process, "compiler" as built; every value is text.
Json libraries_json();

// Code, without the diff's text, and host: one program's description of itself for another.
Json code_json(const results_db::Code& code);
Json host_json(const results_db::Host& host);
// Read back from any JSON, which others may have written: a field of another type is empty,
// 0 or "unknown".
results_db::Code code_of(const Json& json);
results_db::Host host_of(const Json& json);

}  // namespace deft::sweeps
