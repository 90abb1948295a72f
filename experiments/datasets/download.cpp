#include "experiments/datasets/download.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <system_error>

#include "base/error.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

constexpr long kMostRedirects = 10;
constexpr long kConnectSeconds = 30;
// Below so many bytes a second for so long, a transfer has stalled.
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

int tell_progress(void* user, curl_off_t total, curl_off_t, curl_off_t, curl_off_t) {
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
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, tell_progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(transfer.here));
    if (!options.ca_file.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, options.ca_file.c_str());
}

[[noreturn]] void fail(const std::string& url, const fs::path& file, const Transfer& transfer, const std::string& why) {
    if (transfer.stopped)
        throw Error(ErrorKind::io, fmt::format("the download of {} was stopped", url), "the same command goes on");
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
