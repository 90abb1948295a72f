#include "sweeps/driver/rank_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/mpirun.h"
#include "sweeps/driver/mpirun_log.h"
#include "sweeps/driver/program_on_nodes.h"
#include "sweeps/driver/rank_hosts.h"
#include "sweeps/driver/stop_file.h"
#include "sweeps/driver/trial_process.h"
#include "sweeps/driver/trial_pulse.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr const char* kGroupVariable = "DEFT_RANKS_OF";  // the process that started the ranks
constexpr const char* kLog = "log.txt";
constexpr const char* kHostfile = "hosts.txt";
constexpr int kWatchMs = 200;           // between two looks at the ranks
constexpr double kGoneSeconds = 5;      // for which mpirun may outlive its ranks
constexpr double kStoppedSeconds = 30;  // for which a rank may be stopped while others wait for it
constexpr double kLagSeconds = 45;      // for which a network file system may hide a journal's next line
constexpr double kLateOkSeconds = 60;   // for which it may hide an end, where mpirun saw every rank end well
constexpr double kLateSeconds = 15;     // and where it did not
constexpr int kMostStarts = 3;          // of mpirun; several that start together race for one folder in /tmp

// mpirun ends with this process, and the ranks end with mpirun: each asks the kernel for that. On other hosts, Open
// MPI's daemon ends them once it has no connection to mpirun.
pid_t start_mpirun(const fs::path& run_folder, const TrialFile& trial) {
    std::vector<std::string> argv = {"setpriv", "--pdeathsig", "KILL"}, environment, of_ranks;
    if (trial.hosts.empty()) {
        const std::string program = fmt::format("/proc/{}/exe", ::getpid());  // also where its file has been replaced
        of_ranks = mpirun_argv(trial.ranks, {program, "trial", run_folder.string()});
        environment = mpirun_environment();
        environment.push_back(fmt::format("{}={}", kGroupVariable, ::getpid()));
    } else {
        const fs::path hostfile = run_folder / kHostfile;
        write_file_atomically(hostfile, hostfile_text(trial.hosts));
        std::vector<std::string> exported = variables_of_ranks();
        exported.emplace_back(kGroupVariable);
        of_ranks = mpirun_on_hosts_argv(trial.ranks, trial.hosts.ranks_on_each, hostfile, exported,
                                        {program_on_nodes("/proc/self/exe"), "trial", run_folder.string()});
        environment = mpirun_on_hosts_environment(trial.hosts.agent);
        environment.push_back(fmt::format("{}={}", kGroupVariable, run_folder.string()));
    }
    argv.insert(argv.end(), of_ranks.begin(), of_ranks.end());
    return start_process(argv, run_folder / kLog, environment);
}

// Set by mpirun in the process's environment; nothing for the agent that it started for another host.
std::optional<std::string> known_number_of_rank(pid_t rank) {
    constexpr std::string_view kName = "OMPI_COMM_WORLD_RANK=";
    std::ifstream in(fmt::format("/proc/{}/environ", rank), std::ios::binary);
    for (std::string entry; std::getline(in, entry, '\0');)
        if (entry.starts_with(kName)) return entry.substr(kName.size());
    return std::nullopt;
}

std::string number_of_rank(pid_t rank) {
    return known_number_of_rank(rank).value_or(fmt::format("of process {}", rank));
}

// The result of watching the ranks.
class RankWatch {
 public:
    RankWatch(pid_t mpirun, fs::path journal, const RankHosts& hosts)
        : mpirun_(mpirun), journal_(std::move(journal)), hosts_(hosts) {}

    // Ends all ranks where some have been stopped for too long, and others not, or where rank 0 breaks a promise, and
    // mpirun where it outlives them. Where they are to stop, the driver counts the time.
    void look(bool are_to_stop) {
        if (!verdict_.empty()) return;
        const std::vector<pid_t> ranks = ranks_here();
        if (hosts_.empty() && are_gone(ranks)) return;
        const auto stopped = std::find_if(ranks.begin(), ranks.end(), is_stopped);
        if (stopped == ranks.end()) {
            since_.reset();
            look_at_promise(ranks, are_to_stop);
            return;
        }
        pulse_.rest();
        // Nobody stops the ranks of several hosts together.
        if (hosts_.empty() && std::all_of(ranks.begin(), ranks.end(), is_stopped)) {
            since_.reset();
            return;
        }
        if (!since_) since_ = Clock::now();
        if (seconds_since(*since_) < kStoppedSeconds) return;
        end_all(fmt::format("rank {} was stopped by a signal for {:.0f} s, and the others waited for it",
                            number_of_rank(*stopped), seconds_since(*since_)));
    }

    // Ranks that a signal has stopped would not hear that they are to end.
    void wake() const {
        for (const pid_t rank : ranks_here()) ::kill(rank, SIGCONT);
    }

    pid_t mpirun() const { return mpirun_; }
    const std::string& verdict() const { return verdict_; }

 private:
    // The ranks of this machine.
    std::vector<pid_t> ranks_here() const {
        std::vector<pid_t> ranks = children_of(mpirun_);
        if (!hosts_.empty()) std::erase_if(ranks, [](pid_t child) { return !known_number_of_rank(child); });
        return ranks;
    }

    // Whether all ranks have ended. mpirun may outlive them: it waits for a stranger that connects to it and says
    // nothing.
    bool are_gone(const std::vector<pid_t>& ranks) {
        const bool have_ended = std::all_of(ranks.begin(), ranks.end(), has_ended);
        have_begun_ = have_begun_ || !have_ended;
        if (!have_begun_ || !have_ended) {
            gone_since_.reset();
            return false;
        }
        if (!gone_since_) gone_since_ = Clock::now();
        if (seconds_since(*gone_since_) > kGoneSeconds) end_all("all ranks ended without a word, and mpirun did not");
        return true;
    }

    // How long each rank had computed by the middle of a silence.
    struct Sample {
        Clock::time_point at;
        std::map<pid_t, double> seconds;
    };

    void look_at_promise(const std::vector<pid_t>& ranks, bool are_to_stop) {
        pulse_.look(journal_);
        if (pulse_.silent() < pulse_.promised() / 2) {
            sample_.reset();
        } else if (!sample_) {
            sample_.emplace(Clock::now());
            for (const pid_t rank : ranks) sample_->seconds[rank] = computing_seconds(rank);
        }
        if (are_to_stop || pulse_.overdue() <= (hosts_.empty() ? 0 : kLagSeconds)) return;
        end_all(fmt::format(
            "the ranks made no progress for {:.0f} s ({}): {}. Another attempt resumes from the last checkpoint; "
            "where it hangs there again, train it on one rank (--ranks 1)",
            pulse_.silent(), pulse_.doing(), who_computed(ranks)));
    }

    // "rank 0 computed for 3% of the time, rank 1 for 100%", over the second half of the silence. One that waits in MPI
    // asks the kernel again and again, and hardly computes.
    std::string who_computed(const std::vector<pid_t>& ranks) const {
        std::string text;
        bool is_first = true;
        if (!hosts_.empty()) text = fmt::format("ranks run on {}", fmt::join(hosts_.names, ", "));
        for (const pid_t rank : ranks) {
            const auto before = sample_->seconds.find(rank);
            if (before == sample_->seconds.end()) continue;
            const double share = (computing_seconds(rank) - before->second) / seconds_since(sample_->at);
            text += fmt::format("{}rank {} {}for {:.0f}%{}", text.empty() ? "" : ", ", number_of_rank(rank),
                                is_first ? "computed " : "", 100 * share, is_first ? " of the time" : "");
            is_first = false;
        }
        return text;
    }

    void end_all(const std::string& verdict) {
        verdict_ = verdict;
        ::kill(mpirun_, SIGKILL);
    }

    pid_t mpirun_;
    fs::path journal_;  // of rank 0
    const RankHosts& hosts_;
    TrialPulse pulse_{kStartSeconds};
    std::optional<Sample> sample_;
    std::optional<Clock::time_point> since_;  // some are stopped
    bool have_begun_ = false;
    std::optional<Clock::time_point> gone_since_;
    std::string verdict_;
};

// `said`: mpirun's words on ranks and hosts, whose exit codes on several hosts are not those of signals.
journal::Ended ended_without_word(const fs::path& run_folder, int wait_status, const RankWatch& watch,
                                  bool lacked_memory, bool is_on_hosts, const std::string& said) {
    journal::Ended ended;
    ended.time_ms = now_ms();
    ended.state = "failed";
    ended.fail_class = "crash";
    const bool mpirun_itself = WIFSIGNALED(wait_status);
    const int code = mpirun_itself ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    if (!watch.verdict().empty()) {
        ended.fail_class = "timeout";
        ended.error = watch.verdict();
    } else if (!said.empty()) {
        ended.error = said;
    } else if (code > 128 && code - 128 <= SIGRTMAX && (mpirun_itself || !is_on_hosts)) {
        const int signal = code - 128;
        ended.error =
            fmt::format("{} was ended by signal {} ({})", mpirun_itself ? "mpirun" : rank_named_in(run_folder / kLog),
                        signal, ::strsignal(signal));
        if (signal == SIGKILL && lacked_memory) {
            ended.fail_class = "oom_host";
            ended.error += ": the kernel was out of memory";
        }
    } else {
        ended.error = fmt::format("mpirun exited with {}, and no rank said why in its journal", code);
    }
    return ended;
}

// Its parent is Open MPI's daemon on that host. The first process of a machine adopts what a dead one leaves.
bool is_rank_on_hosts(const fs::path& run_folder, const char* group) {
    if (run_folder != group) return false;
    if (::getppid() > 1 && std::getenv("OMPI_COMM_WORLD_RANK") != nullptr) return true;
    throw Error(ErrorKind::usage, "mpirun, which started this rank, is gone",
                "start the sweep, and leave its trials to it: deft run SWEEP", run_folder.string());
}

// How the trial ended, by the journals of its ranks, which a network file system may show late.
std::optional<journal::Ended> end_in_journals(const fs::path& run_folder, int ranks, double patience_seconds) {
    const Clock::time_point start = Clock::now();
    while (true) {
        if (auto ended = read_journal(experiments::journal_of_rank(run_folder, 0)).ended) return ended;
        if (auto ended = failure_of_another(run_folder, ranks)) return ended;
        if (seconds_since(start) >= patience_seconds) return std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(kWatchMs));
    }
}

// Seconds. Words of mpirun on a lost host leave no more to be awaited.
double patience_with_journals(bool is_on_hosts, int wait_status, const RankWatch& watch, const std::string& said) {
    if (!is_on_hosts || !watch.verdict().empty() || WIFSIGNALED(wait_status)) return 0;
    if (WEXITSTATUS(wait_status) == 0) return kLateOkSeconds;
    return said.empty() || said.find(" exited with ") != std::string::npos ? kLateSeconds : 0;
}

// Whether a rank has claimed the folder or written to its journal. Before that, another start of the ranks loses
// nothing, and the claim refuses a rank that a network file system hides.
bool has_begun(const fs::path& run_folder, const TrialFile& trial) {
    std::error_code unknown;  // as of a network file system: taken for begun
    if (!trial.hosts.empty() && (fs::exists(claim_folder(run_folder), unknown) || unknown)) return true;
    for (int rank = 0; rank < trial.ranks; ++rank)
        if (fs::exists(experiments::journal_of_rank(run_folder, rank), unknown) || unknown) return true;
    return false;
}

// The wait status of mpirun, which is asked to end its ranks where this process is asked to end.
int wait_for_mpirun(const fs::path& run_folder, RankWatch& watch, const SignalWatch& signals) {
    bool were_woken = false;
    int status = 0;
    while (true) {
        const pid_t ended = ::waitpid(watch.mpirun(), &status, WNOHANG);
        if (ended == watch.mpirun() || (ended < 0 && errno != EINTR)) return status;
        if (signals.terminated() && !has_stop_file(run_folder)) write_stop_file(run_folder);
        const bool are_to_stop = has_stop_file(run_folder);
        if (are_to_stop && !std::exchange(were_woken, true)) watch.wake();
        watch.look(are_to_stop);
        signals.sleep_ms(kWatchMs);
    }
}

}  // namespace

std::optional<journal::Ended> failure_of_another(const fs::path& run_folder, int ranks) {
    for (int rank = 1; rank < ranks; ++rank) {
        std::optional<journal::Ended> ended = read_journal(experiments::journal_of_rank(run_folder, rank)).ended;
        if (!ended) continue;
        ended->error = fmt::format("rank {}: {}", rank, ended->error);
        return ended;
    }
    return {};
}

int exit_code_of(const journal::Ended& ended) {
    return ended.state == "ok" ? kExitOk : ended.state == "stopped" ? kExitWorkLeft : kExitFailed;
}

int run_ranks(const fs::path& run_folder, const TrialFile& trial, const SignalWatch& signals) {
    const long memory_kills_before = memory_kills();
    const fs::path file = experiments::journal_of_rank(run_folder, 0);
    const bool is_on_hosts = !trial.hosts.empty();
    for (int starts = 1;; ++starts) {
        RankWatch watch(start_mpirun(run_folder, trial), file, trial.hosts);
        const int status = wait_for_mpirun(run_folder, watch, signals);
        const std::string named = failure_in_mpirun_log(run_folder / kLog);
        const bool is_unexplained = WIFEXITED(status) && WEXITSTATUS(status) != 0 && watch.verdict().empty() &&
                                    named.empty() && !has_stop_file(run_folder);
        if (is_unexplained && starts < kMostStarts && !has_begun(run_folder, trial)) {
            fmt::print(stderr, "mpirun exited with {} before a rank began; it starts again ({} of {})\n",
                       WEXITSTATUS(status), starts + 1, kMostStarts);
            continue;
        }
        const std::string said = is_on_hosts ? named : "";
        std::optional<journal::Ended> ended =
            end_in_journals(run_folder, trial.ranks, patience_with_journals(is_on_hosts, status, watch, said));
        if (ended && read_journal(file).ended) return exit_code_of(*ended);
        if (!ended)
            ended =
                ended_without_word(run_folder, status, watch, memory_kills() > memory_kills_before, is_on_hosts, said);
        fmt::print(stderr, "{}\n", ended->error);
        journal::Writer(file).write(*ended);
        return exit_code_of(*ended);
    }
}

bool is_rank_of(const fs::path& run_folder, const TrialFile& trial) {
    const char* const group = std::getenv(kGroupVariable);
    if (group == nullptr || trial.ranks == 1) return false;
    if (!trial.hosts.empty()) return is_rank_on_hosts(run_folder, group);
    const pid_t starter = parent_of(::getppid());
    const bool has_driver = trial.driver_pid == 0 || parent_of(starter) == trial.driver_pid;
    if (std::to_string(starter) != group || !has_driver)
        throw Error(ErrorKind::usage, fmt::format("process {}, which started this rank, is gone", group),
                    "start the sweep, and leave its trials to it: deft run SWEEP");
    return true;
}

void claim_as_rank_of_hosts(const fs::path& run_folder, const TrialFile& trial) {
    const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (trial.hosts.empty() || rank == nullptr || std::string_view(rank) != "0") return;
    claim_run_folder(run_folder, true, fmt::format("{}", fmt::join(trial.hosts.names, ",")));
}

engine::Communicator join_ranks(const fs::path& run_folder, const TrialFile& trial) {
    engine::Communicator ranks = engine::Communicator::of_launcher();
    if (ranks.size() != trial.ranks)
        throw Error(ErrorKind::config,
                    fmt::format("{} ranks were started for a trial of {}", ranks.size(), trial.ranks));
    if (ranks.rank() > 0) {
        const fs::path log = run_folder / fmt::format("log_rank{}.txt", ranks.rank());
        const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (file >= 0) {
            ::dup2(file, STDOUT_FILENO);
            ::dup2(file, STDERR_FILENO);
            ::close(file);
        }
    }
    return ranks;
}

}  // namespace deft::sweeps
