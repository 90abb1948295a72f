#pragma once
// The program as it was at a git revision: checked out and built once, then kept.

#include <filesystem>
#include <functional>
#include <string>

namespace deft::sweeps {

// $XDG_CACHE_HOME/deft/builds, or ~/.cache/deft/builds. Errors: usage, where neither is known.
std::filesystem::path build_cache();

// The top of the checkout that holds the folder. Errors: usage.
std::filesystem::path checkout_of(const std::filesystem::path& folder);
// The full hash of a commit. Errors: usage, for what names none.
std::string resolve_revision(const std::filesystem::path& checkout, const std::string& revision);
// Whether tracked files differ from HEAD.
bool has_changes(const std::filesystem::path& checkout);

// CACHE/HASH/build/deft, built as Release without tests where it is not there yet; others that want it wait.
// narrate(what is being done). Errors: io, with the compiler's last words, for a commit that does not build, and where
// the user interrupts.
std::filesystem::path build_revision(const std::filesystem::path& checkout, const std::string& hash,
                                     const std::filesystem::path& cache,
                                     const std::function<void(const std::string&)>& narrate);

}  // namespace deft::sweeps
