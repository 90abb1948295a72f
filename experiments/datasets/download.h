#pragma once
// One file over https, into a file of its own.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace deft::experiments {

struct DownloadOptions {
    bool resume = false;          // go on where `file` ends; where the server cannot, begin anew
    std::int64_t most_bytes = 0;  // a longer answer is refused; 0: any length
    std::string ca_file;          // certificates to trust in place of the system's
    // Bytes here, and of all (0: not known); false stops the download.
    std::function<bool(std::int64_t here, std::int64_t all)> progress;
};

// What was downloaded stays in `file` when it fails, for a later call to resume. Only https is spoken, redirects
// included. Errors: data, for an address that is not https; io, for a failed or stopped transfer, with how to mend it.
void download(const std::string& url, const std::filesystem::path& file, const DownloadOptions& options);

}  // namespace deft::experiments
