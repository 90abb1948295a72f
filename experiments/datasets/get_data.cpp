#include "experiments/datasets/get_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/files.h"
#include "base/short_hash.h"
#include "experiments/datasets/download.h"
#include "experiments/datasets/file_lock.h"
#include "experiments/datasets/find_file.h"
#include "experiments/datasets/recorded_hashes.h"
#include "experiments/datasets/text_digest.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// ".gz" or ".zst", or nothing.
std::string packing(const std::string& name) {
    const std::string extension = fs::path(name).extension().string();
    return extension == ".gz" || extension == ".zst" ? extension : "";
}

// A file while it is not whole; what it is packed with is still told by its name.
fs::path part_file(const fs::path& folder, const CatalogueFile& file, const std::string& packed) {
    return (folder / file.path).string() + ".part" + packed;
}

// The hash of a file's text. Errors: io, where it is not the expected one.
std::string verify(const fs::path& path, const CatalogueFile& file, const fs::path& folder, const std::string& fix) {
    const TextDigest digest = text_digest(path);
    const std::string expected = expected_sha256(file, folder);
    if (!expected.empty() && digest.sha256 != expected)
        throw Error(ErrorKind::io,
                    fmt::format("{} has {} bytes of hash {}..., and {}... is expected of {}", path.string(),
                                digest.bytes, short_hash(digest.sha256), short_hash(expected), file.path),
                    fix);
    return digest.sha256;
}

// Gives a verified file its name; a hash that nobody knew is recorded first.
GotFile keep(const fs::path& part, const CatalogueFile& file, const fs::path& folder, const std::string& packed,
             GotFile::How how, const std::string& fix) {
    GotFile got;
    got.how = how;
    got.path = (folder / file.path).string() + packed;
    try {
        got.sha256 = verify(part, file, folder, fix);
    } catch (const Error&) {
        std::error_code ignored;
        fs::remove(part, ignored);  // going on with it would never end well
        throw;
    }
    if (expected_sha256(file, folder).empty()) {
        record_sha256(folder, file.path, got.sha256);
        got.recorded = true;
    }
    std::error_code error;
    fs::rename(part, got.path, error);
    if (error)
        throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", got.path.string(), error.message()),
                    "choose another folder with --to");
    return got;
}

GotFile copy(const fs::path& source, const CatalogueFile& file, const fs::path& folder) {
    const std::string packed = packing(source.string());
    const fs::path part = part_file(folder, file, packed);
    std::error_code error;
    fs::copy_file(source, part, fs::copy_options::overwrite_existing, error);
    if (error)
        throw Error(ErrorKind::io,
                    fmt::format("cannot copy {} to {}: {}", source.string(), part.string(), error.message()),
                    "free some space, or choose another folder with --to");
    return keep(part, file, folder, packed, GotFile::How::copied,
                fmt::format("{} is another file: supply the right one", source.string()));
}

GotFile fetch(const CatalogueFile& file, const fs::path& folder, const GetOptions& options) {
    const std::string packed = packing(file.url);
    const fs::path part = part_file(folder, file, packed);
    DownloadOptions transfer;
    transfer.ca_file = options.ca_file;
    // Without a hash, nobody would notice parts of two versions of a file.
    transfer.resume = !expected_sha256(file, folder).empty();
    if (packed.empty()) transfer.most_bytes = file.bytes;
    if (options.progress)
        transfer.progress = [&](std::int64_t here, std::int64_t all) { return options.progress(file, here, all); };
    std::error_code absent;
    const bool whole = transfer.resume && transfer.most_bytes > 0 &&
                       static_cast<std::int64_t>(fs::file_size(part, absent)) == transfer.most_bytes;
    if (!whole) download(file.url, part, transfer);
    return keep(part, file, folder, packed, GotFile::How::downloaded,
                "it is not the file that was verified: supply that one with --from FOLDER");
}

// Where a file would be copied from.
std::optional<fs::path> look_for_source(const CatalogueFile& file, const GetOptions& options) {
    const fs::path folder = options.from.empty() ? mirror_folder() : options.from;
    return folder.empty() ? std::nullopt : look_in_folder(folder, file.path);
}

bool obtainable(const CatalogueFile& file, const GetOptions& options) {
    return look_in_folder(options.to, file.path) || look_for_source(file, options) ||
           (options.from.empty() && !file.url.empty());
}

const CatalogueForm& obtainable_form(const CatalogueEntry& entry, const GetOptions& options) {
    for (const CatalogueForm& form : entry.forms)
        if (std::all_of(form.files.begin(), form.files.end(),
                        [&](const CatalogueFile& file) { return obtainable(file, options); }))
            return form;
    std::vector<std::string> missing;
    for (const CatalogueFile& file : entry.forms.front().files)
        if (!obtainable(file, options)) missing.push_back(file.path);
    const std::string supply = entry.supply.empty() ? "see " + entry.source : entry.supply;
    throw Error(ErrorKind::data,
                options.from.empty() ? fmt::format("data set {} cannot be downloaded file by file", entry.name)
                                     : fmt::format("{} lacks files of data set {}: {}", options.from.string(),
                                                   entry.name, fmt::join(missing, ", ")),
                fmt::format("{}; then deft data get {} --from FOLDER, or DEFT_DATA_MIRROR=FOLDER", supply, entry.name));
}

GotFile get_file(const CatalogueFile& file, const GetOptions& options) {
    make_folder((options.to / file.path).parent_path());
    if (const auto here = look_in_folder(options.to, file.path)) {
        GotFile got;
        got.path = *here;
        got.sha256 = verify(*here, file, options.to, "delete it, and get it again");
        return got;
    }
    if (const auto source = look_for_source(file, options)) return copy(*source, file, options.to);
    return fetch(file, options.to, options);
}

}  // namespace

std::string expected_sha256(const CatalogueFile& file, const fs::path& folder) {
    return file.sha256 == "unknown" ? recorded_sha256(folder, file.path) : file.sha256;
}

std::vector<GotFile> get_data(const CatalogueEntry& entry, const GetOptions& given) {
    GetOptions options = given;
    if (options.to.empty()) options.to = download_folder();
    if (options.to.empty())
        throw Error(ErrorKind::usage, "there is no folder for data: neither DEFT_DATA nor HOME is set",
                    "name one with --to FOLDER");
    const CatalogueForm& form = obtainable_form(entry, options);
    make_folder(options.to);
    const FileLock lock(options.to / "datasets.lock");
    std::vector<GotFile> files;
    for (const CatalogueFile& file : form.files) files.push_back(get_file(file, options));
    return files;
}

}  // namespace deft::experiments
