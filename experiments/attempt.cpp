#include "experiments/attempt.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <new>

#include "base/error.h"
#include "base/library_error.h"
#include "base/stopwatch.h"
#include "experiments/checkpoint_owner.h"

namespace deft::experiments {

namespace {

// Promises for what is done once and shows nothing of how it goes on.
constexpr double kSlowDisk = 2e6;    // bytes a second
constexpr double kSlowDevice = 2e8;  // FLOPs a second and thread: no processor that this runs on is near it

const char* fail_class_of(ErrorKind kind, engine::Device device) {
    switch (kind) {
        case ErrorKind::nonfinite:
            return "nan";
        case ErrorKind::memory:
            return device == engine::Device::cuda ? "oom_gpu" : "oom_host";
        case ErrorKind::io:
            return "io";
        case ErrorKind::device:
            return "crash";
        case ErrorKind::usage:
        case ErrorKind::config:
        case ErrorKind::data:
            return "config";
        case ErrorKind::missing:
        case ErrorKind::database:
            return "other";
    }
    return "other";
}

void fill_usage(journal::Ended& ended) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    ended.peak_rss_bytes = usage.ru_maxrss * 1024;
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    ended.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    ended.time_ms = now_ms();
}

void fail(journal::Ended& ended, const char* fail_class, const std::string& what) {
    ended.state = "failed";
    ended.fail_class = fail_class;
    ended.error = what;
}

}  // namespace

std::filesystem::path journal_of_rank(const std::filesystem::path& run_folder, int rank) {
    return run_folder / (rank == 0 ? "journal.jsonl" : fmt::format("journal_rank{}.jsonl", rank));
}

namespace {

// Writes nothing more: another attempt does.
int end_without_a_word(const NotOwner& why, const TrialSlot& slot) {
    slot.ranks.leave();
    fmt::print(stderr, "{}\n", why.what());
    return kExitWorkLeft;
}

int run_to_end(const std::filesystem::path& run_folder, const TrialSlot& slot,
               const std::function<bool(journal::Writer&, journal::Ended&)>& work) {
    const std::filesystem::path file = journal_of_rank(run_folder, slot.ranks.rank());
    journal::Writer journal = slot.ranks.rank() == 0 ? journal::Writer(file) : journal::Writer();
    journal::Ended ended;
    ended.threads = slot.threads;
    ended.waited_seconds = 0;
    ended.state = "ok";
    try {
        if (!work(journal, ended)) ended.state = "stopped";
    } catch (const NotOwner&) {
        throw;
    } catch (const Error& error) {
        fail(ended, fail_class_of(error.kind(), slot.device), error.what());
    } catch (const std::bad_alloc&) {
        fail(ended, "oom_host", "out of memory");
    } catch (const std::filesystem::filesystem_error& error) {
        fail(ended, "io", message_for_user(error));
    } catch (const std::exception& error) {
        fail(ended, "other", message_for_user(error));
    }
    fill_usage(ended);
    if (ended.state == "failed" && slot.ranks.rank() > 0) journal = journal::Writer(file);
    journal.write(ended);
    journal.sync();
    if (ended.state == "failed") slot.ranks.leave();
    if (ended.state == "ok") return kExitOk;
    if (ended.state == "stopped") return kExitWorkLeft;
    fmt::print(stderr, "{}\n", ended.error);
    return kExitFailed;
}

}  // namespace

int run_attempt(const std::filesystem::path& run_folder, const TrialSlot& slot,
                const std::function<bool(journal::Writer&, journal::Ended&)>& work) {
    try {
        return run_to_end(run_folder, slot, work);
    } catch (const NotOwner& why) {
        return end_without_a_word(why, slot);
    }
}

void meet_ranks(const TrialSlot& slot, double& waited_seconds, const std::function<void()>& meet) {
    const Clock::time_point before = Clock::now();
    meet();
    if (slot.ranks.size() > 1) waited_seconds += seconds_since(before);
}

double saving_seconds(std::int64_t parameters, double bytes) {
    return bytes * static_cast<double>(parameters) / kSlowDisk;
}

double longest_step_seconds(const Projection& projection, const TrialSlot& slot) {
    return projection.step_flops / (kSlowDevice * slot.threads * slot.ranks.size());
}

}  // namespace deft::experiments
