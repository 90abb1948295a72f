#include "sweeps/driver/trial_process.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/stopwatch.h"
#include "base/this_machine.h"

namespace deft::sweeps {

namespace {

struct ProcessState {
    char state = 0;  // 0: no such process
    pid_t parent = 0;
    std::int64_t user_ticks = 0;
    std::int64_t start_ticks = 0;
};

ProcessState state_of(std::int64_t pid) {
    std::ifstream in(fmt::format("/proc/{}/stat", pid));
    std::string line;
    std::getline(in, line);
    // The command is in parentheses and may itself have some, so fields are counted from the last closing one.
    const std::size_t close = line.rfind(')');
    if (close == std::string::npos) return {};
    std::istringstream fields(line.substr(close + 1));
    ProcessState result;
    fields >> result.state >> result.parent;
    std::string skipped;
    for (int field = 5; field <= 13; ++field) fields >> skipped;
    fields >> result.user_ticks;
    for (int field = 15; field <= 21; ++field) fields >> skipped;
    fields >> result.start_ticks;
    return result;
}

bool gone_within(const results_db::ProcessIdentity& process, int milliseconds) {
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(milliseconds);
    while (is_running(process)) {
        if (Clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

results_db::ProcessIdentity identify(pid_t pid) {
    return {pid, state_of(pid).start_ticks, boot_id()};
}

bool is_running(const results_db::ProcessIdentity& process) {
    if (process.pid <= 0 || process.start_ticks <= 0 || process.boot_id != boot_id()) return false;
    const ProcessState now = state_of(process.pid);
    return !has_ended(static_cast<pid_t>(process.pid)) && now.start_ticks == process.start_ticks;
}

pid_t parent_of(pid_t pid) {
    return state_of(pid).parent;
}

std::vector<pid_t> children_of(pid_t pid) {
    std::ifstream in(fmt::format("/proc/{}/task/{}/children", pid, pid));
    std::vector<pid_t> children;
    for (pid_t child = 0; in >> child;) children.push_back(child);
    return children;
}

bool is_stopped(pid_t pid) {
    const char state = state_of(pid).state;
    return state == 'T' || state == 't';
}

bool has_ended(pid_t pid) {
    const char state = state_of(pid).state;
    return state == 0 || state == 'Z' || state == 'X';
}

double computing_seconds(pid_t pid) {
    return static_cast<double>(state_of(pid).user_ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void ask_group_to_end(pid_t pid) {
    ::kill(-pid, SIGTERM);
    ::kill(-pid, SIGCONT);  // a stopped process would not hear it
}

bool end_group(const results_db::ProcessIdentity& process, int grace_ms) {
    if (!is_running(process)) return true;
    ask_group_to_end(static_cast<pid_t>(process.pid));
    if (gone_within(process, grace_ms)) return true;
    ::kill(static_cast<pid_t>(-process.pid), SIGKILL);
    return gone_within(process, 2000);
}

namespace {

struct BatchRecord {
    const char* state;
    const char* fail_class;
    const char* why;
};

// In the order of BatchEnd. An attempt that its node, the time limit or a preemption ended has not failed: it goes on
// elsewhere or later.
const BatchRecord& record_of(BatchEnd end) {
    static constexpr std::array<BatchRecord, 11> kBatchRecords = {{
        {"failed", "other", "it ended"},
        {"preempted", "node", "its node failed"},
        {"failed", "oom_host", "it needed more memory than its job has"},
        {"preempted", "timeout", "its job's time ended"},
        {"preempted", "preempt", "Slurm preempted its job"},
        {"cancelled", "user", "somebody cancelled it"},
        {"cancelled", "config", "Slurm never starts such a job"},
        {"failed", "crash", "its job left the queue, and nothing says why"},
        {"preempted", "preempt", "its job ended before it began"},
        {"preempted", "preempt", "the Slurm job of this run is ending"},
        {"preempted", "other", "it ended, and Slurm does not say why"},
    }};
    return kBatchRecords[static_cast<std::size_t>(end)];
}

bool is_own_cancellation(const ChildEnd& end) {
    const bool may_be_own = end.batch_end == BatchEnd::cancellation || end.batch_end == BatchEnd::forgotten;
    return may_be_own && (end.asked_by != StopCause::none || !end.killed_because.empty());
}

}  // namespace

results_db::Outcome classify(const ChildEnd& end, const JournalSummary& journal) {
    // The exit status of a batch system's command says nothing of an attempt that was ended after its last line.
    const bool is_status_void =
        journal.ended && (end.batch_end != BatchEnd::none || (!end.usage && !end.killed_because.empty()));
    const bool signalled = WIFSIGNALED(end.wait_status) && !is_status_void;
    const int signal = signalled ? WTERMSIG(end.wait_status) : 0;
    const int code = WIFSIGNALED(end.wait_status) || is_status_void ? 0 : WEXITSTATUS(end.wait_status);
    const StopRecord& asked = record_of(end.asked_by);
    results_db::Outcome outcome;
    const auto stopped = [](const char* state, const char* fail_class, const std::string& why) {
        results_db::Outcome result;
        result.state = state;
        result.fail_class = fail_class;
        result.error = why;
        return result;
    };
    const auto fail = [&](const std::string& fail_class, const std::string& error) {
        outcome.state = "failed";
        outcome.fail_class = fail_class;
        outcome.error = error;
    };
    if (journal.damage) {
        fail("io", *journal.damage);
    } else if (!signalled && code == 0 && journal.ended && journal.ended->state == "ok") {
        outcome.state = "ok";
    } else if (journal.ended && journal.ended->state == "stopped" && end.asked_by == StopCause::none &&
               end.batch_end != BatchEnd::none) {
        const BatchRecord& record = record_of(end.batch_end);
        outcome = stopped(record.state, record.fail_class,
                          fmt::format("{}: {}; what it had done is kept", record.why, end.batch_words));
    } else if (!signalled && journal.ended && journal.ended->state == "stopped") {
        outcome = stopped(asked.state, asked.fail_class, fmt::format("{}; what it had done is kept", asked.why));
    } else if (signal == SIGKILL && !end.killed_because.empty()) {
        outcome = end.hung
                      ? stopped("timeout", "timeout", end.killed_because)
                      : stopped(asked.state, asked.fail_class, fmt::format("{}; {}", asked.why, end.killed_because));
    } else if (!journal.ended && is_own_cancellation(end)) {
        outcome = stopped(asked.state, asked.fail_class, fmt::format("{}, before it had begun to save", asked.why));
    } else if (!journal.ended && end.batch_end != BatchEnd::none) {
        const BatchRecord& record = record_of(end.batch_end);
        outcome = stopped(record.state, record.fail_class, fmt::format("{}: {}", record.why, end.batch_words));
    } else if (!signalled && journal.ended && journal.ended->fail_class == "timeout") {
        outcome = stopped("timeout", "timeout", journal.ended->error);
    } else if (!signalled && journal.ended && journal.ended->state != "ok") {
        fail(journal.ended->fail_class.empty() ? "other" : journal.ended->fail_class, journal.ended->error);
    } else if (signalled && end.kernel_killed_for_memory && signal == SIGKILL) {
        fail("oom_host", "killed by the kernel: out of memory");
    } else if (signalled) {
        fail("crash", fmt::format("ended by signal {} ({}){}", signal, ::strsignal(signal),
                                  signal == SIGKILL ? "; out of memory perhaps, see dmesg" : ""));
    } else if (code == kExitUsage) {
        fail("config", "the trial refused its configuration, see its log");
    } else if (code == 0) {
        fail("crash", "the trial exited with 0, but its journal does not say that it ended");
    } else {
        fail("crash", fmt::format("the trial exited with {} and said nothing in its journal", code));
    }
    if (WIFSIGNALED(end.wait_status))
        outcome.term_signal = WTERMSIG(end.wait_status);
    else
        outcome.exit_code = WEXITSTATUS(end.wait_status);
    if (end.usage) {
        outcome.peak_rss_bytes = static_cast<std::int64_t>(end.usage->ru_maxrss) * 1024;
        outcome.cpu_seconds = seconds(end.usage->ru_utime) + seconds(end.usage->ru_stime);
    } else if (journal.ended) {
        outcome.peak_rss_bytes = journal.ended->peak_rss_bytes;
        outcome.cpu_seconds = journal.ended->cpu_seconds;
    }
    outcome.ended_ms = end.ended_ms;
    outcome.held_seconds = end.held_seconds;
    outcome.queue_seconds = end.queue_seconds;
    return outcome;
}

long memory_kills() {
    std::ifstream group("/proc/self/cgroup");
    for (std::string line; std::getline(group, line);) {
        if (!line.starts_with("0::")) continue;
        std::ifstream events("/sys/fs/cgroup" + line.substr(3) + "/memory.events");
        std::string key;
        for (long count = 0; events >> key >> count;)
            if (key == "oom_kill") return count;
    }
    return 0;
}

}  // namespace deft::sweeps
