#include "sweeps/driver/rank_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "sweeps/driver/mpirun.h"
#include "sweeps/driver/stop_file.h"
#include "sweeps/driver/trial_process.h"
#include "sweeps/driver/trial_pulse.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr const char* kGroupVariable = "DEFT_RANKS_OF";  // the process that started the ranks
constexpr const char* kLog = "log.txt";
constexpr int kWatchMs = 200;           // between two looks at the ranks
constexpr double kGoneSeconds = 5;      // for which mpirun may outlive its ranks
constexpr double kStoppedSeconds = 30;  // for which a rank may be stopped while others wait for it

// mpirun ends with this process, and the ranks end with mpirun: each asks the kernel for that.
pid_t start_mpirun(const fs::path& run_folder, int ranks) {
    const std::string program = fmt::format("/proc/{}/exe", ::getpid());  // also where its file has been replaced
    std::vector<std::string> argv = {"setpriv", "--pdeathsig", "KILL"};
    for (const std::string& word : mpirun_argv(ranks, {program, "trial", run_folder.string()})) argv.push_back(word);
    std::vector<std::string> environment = mpirun_environment();
    environment.push_back(fmt::format("{}={}", kGroupVariable, ::getpid()));
    return start_process(argv, run_folder / kLog, environment);
}

// Set by mpirun in the process's environment.
std::string number_of_rank(pid_t rank) {
    constexpr std::string_view kName = "OMPI_COMM_WORLD_RANK=";
    std::ifstream in(fmt::format("/proc/{}/environ", rank), std::ios::binary);
    for (std::string entry; std::getline(in, entry, '\0');)
        if (entry.starts_with(kName)) return entry.substr(kName.size());
    return fmt::format("of process {}", rank);
}

// The result of watching the ranks.
class RankWatch {
 public:
    RankWatch(pid_t mpirun, fs::path journal) : mpirun_(mpirun), journal_(std::move(journal)) {}

    // Ends all ranks where some have been stopped for too long, and others not, or where rank 0 breaks a promise, and
    // mpirun where it outlives them. Where they are to stop, the driver counts the time.
    void look(bool are_to_stop) {
        if (!verdict_.empty()) return;
        const std::vector<pid_t> ranks = children_of(mpirun_);
        if (are_gone(ranks)) return;
        const auto stopped = std::find_if(ranks.begin(), ranks.end(), is_stopped);
        if (stopped == ranks.end()) {
            since_.reset();
            look_at_promise(ranks, are_to_stop);
            return;
        }
        pulse_.rest();
        if (std::all_of(ranks.begin(), ranks.end(), is_stopped)) {
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
        for (const pid_t rank : children_of(mpirun_)) ::kill(rank, SIGCONT);
    }

    const std::string& verdict() const { return verdict_; }

 private:
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
        if (are_to_stop || pulse_.overdue() <= 0) return;
        end_all(fmt::format(
            "the ranks made no progress for {:.0f} s ({}): {}. Another attempt resumes from the last checkpoint; "
            "where it hangs there again, train it on one rank (--ranks 1)",
            pulse_.silent(), pulse_.doing(), who_computed(ranks)));
    }

    // "rank 0 computed for 3% of the time, rank 1 for 100%", over the second half of the silence. One that waits in MPI
    // asks the kernel again and again, and hardly computes.
    std::string who_computed(const std::vector<pid_t>& ranks) const {
        std::string text;
        for (const pid_t rank : ranks) {
            const auto before = sample_->seconds.find(rank);
            if (before == sample_->seconds.end()) continue;
            const double share = (computing_seconds(rank) - before->second) / seconds_since(sample_->at);
            text += fmt::format("{}rank {} {}for {:.0f}%{}", text.empty() ? "" : ", ", number_of_rank(rank),
                                text.empty() ? "computed " : "", 100 * share, text.empty() ? " of the time" : "");
        }
        return text;
    }

    void end_all(const std::string& verdict) {
        verdict_ = verdict;
        ::kill(mpirun_, SIGKILL);
    }

    pid_t mpirun_;
    fs::path journal_;  // of rank 0
    TrialPulse pulse_{kStartSeconds};
    std::optional<Sample> sample_;
    std::optional<Clock::time_point> since_;  // some are stopped
    bool have_begun_ = false;
    std::optional<Clock::time_point> gone_since_;
    std::string verdict_;
};

// "rank 1", where mpirun has named the one that a signal ended.
std::string rank_named_in(const fs::path& log) {
    static const std::regex said("process rank ([0-9]+) with PID");
    std::string rank = "a rank";
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);)
        if (std::smatch match; std::regex_search(line, match, said)) rank = "rank " + match[1].str();
    return rank;
}

journal::Ended ended_without_word(const fs::path& run_folder, int wait_status, const RankWatch& watch,
                                  bool lacked_memory) {
    journal::Ended ended;
    ended.time_ms = now_ms();
    ended.state = "failed";
    ended.fail_class = "crash";
    const bool mpirun_itself = WIFSIGNALED(wait_status);
    const int code = mpirun_itself ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    if (!watch.verdict().empty()) {
        ended.fail_class = "timeout";
        ended.error = watch.verdict();
    } else if (code > 128) {
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
    const pid_t mpirun = start_mpirun(run_folder, trial.ranks);
    const fs::path file = experiments::journal_of_rank(run_folder, 0);
    RankWatch watch(mpirun, file);
    bool were_woken = false;
    int status = 0;
    while (true) {
        const pid_t ended = ::waitpid(mpirun, &status, WNOHANG);
        if (ended == mpirun || (ended < 0 && errno != EINTR)) break;
        if (signals.terminated() && !has_stop_file(run_folder)) write_stop_file(run_folder);
        const bool are_to_stop = has_stop_file(run_folder);
        if (are_to_stop && !std::exchange(were_woken, true)) watch.wake();
        watch.look(are_to_stop);
        signals.sleep_ms(kWatchMs);
    }
    if (const auto ended = read_journal(file).ended) return exit_code_of(*ended);
    std::optional<journal::Ended> ended = failure_of_another(run_folder, trial.ranks);
    if (!ended) ended = ended_without_word(run_folder, status, watch, memory_kills() > memory_kills_before);
    fmt::print(stderr, "{}\n", ended->error);
    journal::Writer(file).write(*ended);
    return exit_code_of(*ended);
}

bool is_rank_of(const TrialFile& trial) {
    const char* const group = std::getenv(kGroupVariable);
    if (group == nullptr || trial.ranks == 1) return false;
    const pid_t starter = parent_of(::getppid());
    const bool has_driver = trial.driver_pid == 0 || parent_of(starter) == trial.driver_pid;
    if (std::to_string(starter) != group || !has_driver)
        throw Error(ErrorKind::usage, fmt::format("process {}, which started this rank, is gone", group),
                    "start the sweep, and leave its trials to it: deft run SWEEP");
    return true;
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
