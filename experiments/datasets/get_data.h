#pragma once
// One file over https, into a file of its own.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "experiments/datasets/catalogue.h"

namespace deft::experiments {

struct DownloadOptions {
    bool resume = false;          // go on where `file` ends; where the server cannot, restart
    std::int64_t most_bytes = 0;  // a longer answer is refused; 0: any length
    std::string ca_file;          // certificates to trust in place of the system's
    // Bytes here, and of all (0: not known); false stops the download.
    std::function<bool(std::int64_t here, std::int64_t all)> progress;
};

// A failed download leaves its part in `file`, for a later call to resume. Only https is supported, redirects
// included. Errors: data, for an address that is not https; io, for a failed or stopped transfer, with help.
void download(const std::string& url, const std::filesystem::path& file, const DownloadOptions& options);

// Brings the files of a data set into a folder, from a mirror folder or by download, each verified before it gets its
// name.

struct GetOptions {
    std::filesystem::path from;  // take files from this folder alone; empty: the mirror, else download
    std::filesystem::path to;    // empty: download_folder()
    std::string ca_file;         // as DownloadOptions has it
    // Bytes here, and of all (0: not known); false stops.
    std::function<bool(const CatalogueFile& file, std::int64_t here, std::int64_t all)> progress;
};

struct GotFile {
    enum class How { was_here, copied, downloaded };
    std::filesystem::path path;
    How how = How::was_here;
    std::string sha256;     // of the text
    bool recorded = false;  // its hash was unknown and is recorded now
};

// All files of the first form that can be had whole. A file that is here already is verified. Partial downloads stay as
// NAME.part and are resumed where a known hash can verify the parts together.
// Errors: data, with how to supply it, for what cannot be had; io, for a file whose hash is not the expected one.
std::vector<GotFile> get_data(const CatalogueEntry& entry, const GetOptions& options);

// The hash that a file must have in `folder`: the catalogue's, or the one recorded there; empty where neither knows.
std::string expected_sha256(const CatalogueFile& file, const std::filesystem::path& folder);

}  // namespace deft::experiments
