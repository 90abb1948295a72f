#pragma once
// The program as it was at a git revision: checked out and built once, then kept.

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"

namespace deft::sweeps {

// $XDG_CACHE_HOME/deft/builds, or ~/.cache/deft/builds. Errors: usage, where neither is known.
std::filesystem::path build_cache();

// The top of the checkout that holds the folder. Errors: usage.
std::filesystem::path checkout_of(const std::filesystem::path& folder);
// The full hash of a commit. Errors: usage, for what names none.
std::string resolve_revision(const std::filesystem::path& checkout, const std::string& revision);
// Whether tracked files differ from HEAD.
bool has_changes(const std::filesystem::path& checkout);

// A commit that does not build. Its message has the compiler's last words, its kind is io.
class BuildFailed : public Error {
 public:
    BuildFailed(const std::string& hash, const std::filesystem::path& source, const std::filesystem::path& log);
    const std::string& reason() const { return reason_; }  // the first line with an error, with paths as in the source

 private:
    std::string reason_;
};

// CACHE/HASH/build/deft, built as Release without tests where it is not there yet; others that want it wait.
// narrate(what is being done). Errors: BuildFailed; io, for a commit that cannot be checked out, and where the user
// interrupts.
std::filesystem::path build_revision(const std::filesystem::path& checkout, const std::string& hash,
                                     const std::filesystem::path& cache,
                                     const std::function<void(const std::string&)>& narrate);

}  // namespace deft::sweeps
