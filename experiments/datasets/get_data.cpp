#include "experiments/datasets/get_data.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "experiments/datasets/file_hashes.h"
#include "experiments/datasets/find_file.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// ".gz" or ".zst", or nothing.
std::string packing(const std::string& name) {
    const std::string extension = fs::path(name).extension().string();
    return extension == ".gz" || extension == ".zst" ? extension : "";
}

// A partial file, whose name still ends with the extension of its packing.
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
        throw Error(ErrorKind::usage, "no folder for data: neither DEFT_DATA nor HOME is set",
                    "name one with --to FOLDER");
    const CatalogueForm& form = obtainable_form(entry, options);
    make_folder(options.to);
    const FileLock lock(options.to / "datasets.lock");
    std::vector<GotFile> files;
    for (const CatalogueFile& file : form.files) files.push_back(get_file(file, options));
    return files;
}

namespace {

constexpr long kMostRedirects = 10;
constexpr long kConnectSeconds = 30;
// A transfer that is slower than this rate for this time has stalled.
constexpr long kStallBytes = 100, kStallSeconds = 60;
constexpr long kRangeNotSatisfiable = 416;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

struct CloseHandle {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

struct Transfer {
    std::FILE* file = nullptr;
    std::int64_t here = 0;   // bytes in the file
    std::int64_t began = 0;  // of them there before this transfer
    const DownloadOptions* options = nullptr;
    bool too_long = false, stopped = false, disk_failed = false;
};

std::size_t take_bytes(char* bytes, std::size_t, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    const std::int64_t most = transfer.options->most_bytes;
    if (most > 0 && static_cast<std::int64_t>(count) > most - transfer.here) {
        transfer.too_long = true;
        return 0;
    }
    if (std::fwrite(bytes, 1, count, transfer.file) != count) {
        transfer.disk_failed = true;
        return 0;
    }
    transfer.here += static_cast<std::int64_t>(count);
    return count;
}

int report_progress(void* user, curl_off_t total, curl_off_t, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(user);
    const auto& progress = transfer.options->progress;
    transfer.stopped = progress && !progress(transfer.here, total > 0 ? transfer.began + total : 0);
    return transfer.stopped ? 1 : 0;
}

void set_options(CURL* handle, const std::string& url, Transfer& transfer, char* message) {
    const DownloadOptions& options = *transfer.options;
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "https");
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(handle, CURLOPT_MAXREDIRS, kMostRedirects);
    curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, kStallBytes);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, kStallSeconds);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "deft");
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, message);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, report_progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(transfer.here));
    if (!options.ca_file.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, options.ca_file.c_str());
}

[[noreturn]] void fail(const std::string& url, const fs::path& file, const Transfer& transfer, const std::string& why) {
    if (transfer.stopped)
        throw Error(ErrorKind::io, fmt::format("the download of {} was stopped", url), "the same command resumes");
    if (transfer.disk_failed)
        throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", file.string(), why),
                    "free some space, or choose another folder");
    if (transfer.too_long)
        throw Error(ErrorKind::io,
                    fmt::format("{} sends more than the {} bytes that are expected", url, transfer.options->most_bytes),
                    "supply the file from elsewhere: it is not the same any more");
    throw Error(ErrorKind::io, fmt::format("cannot download {}: {}", url, why),
                "check the network and try again, or copy the file from a mirror with --from FOLDER",
                transfer.here > 0 ? fmt::format("the {} bytes in {}", transfer.here, file.string()) : "");
}

// False where the server cannot go on from the file's end.
bool transfer_once(const std::string& url, const fs::path& file, const DownloadOptions& options, bool resume) {
    const std::unique_ptr<std::FILE, CloseFile> out(std::fopen(file.c_str(), resume ? "abe" : "wbe"));
    Transfer transfer;
    transfer.file = out.get();
    transfer.options = &options;
    std::error_code no_file;
    if (resume) transfer.here = transfer.began = static_cast<std::int64_t>(fs::file_size(file, no_file));
    if (!out || no_file) {
        transfer.disk_failed = true;
        fail(url, file, transfer, std::generic_category().message(errno));
    }
    const std::unique_ptr<CURL, CloseHandle> handle(curl_easy_init());
    if (!handle) throw Error(ErrorKind::memory, "libcurl cannot start");
    char message[CURL_ERROR_SIZE] = "";
    set_options(handle.get(), url, transfer, message);
    const CURLcode status = curl_easy_perform(handle.get());
    const int error = errno;
    long answer = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &answer);
    const bool cannot_resume = status == CURLE_RANGE_ERROR || status == CURLE_BAD_DOWNLOAD_RESUME ||
                               (status == CURLE_HTTP_RETURNED_ERROR && answer == kRangeNotSatisfiable);
    if (resume && cannot_resume) return false;
    if (status != CURLE_OK)
        fail(url, file, transfer,
             transfer.disk_failed ? std::generic_category().message(error)
             : *message != '\0'   ? message
                                  : curl_easy_strerror(status));
    if (std::fflush(out.get()) != 0) {
        transfer.disk_failed = true;
        fail(url, file, transfer, std::generic_category().message(errno));
    }
    return true;
}

}  // namespace

void download(const std::string& url, const fs::path& file, const DownloadOptions& options) {
    if (!url.starts_with("https://"))
        throw Error(ErrorKind::data, fmt::format("{} is not downloaded: only https is spoken", url),
                    "supply the file yourself, with --from FOLDER");
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    std::error_code ignored;
    const bool any = options.resume && fs::file_size(file, ignored) > 0 && !ignored;
    try {
        if (any && transfer_once(url, file, options, true)) return;
        transfer_once(url, file, options, false);
    } catch (const Error&) {
        if (fs::is_empty(file, ignored) && !ignored) fs::remove(file, ignored);
        throw;
    }
}

}  // namespace deft::experiments
