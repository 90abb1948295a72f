#pragma once
// The real program as a process of its own, the tiny sweep it is given, and what it left in its database.

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "engine/comm/communicator.h"
#include "results_db/connection.h"
#include "sweeps/driver/trial_process.h"
#include "tests/sweeps/files.h"

namespace deft::test {

// Ends what hangs. A busy machine with a slow disk and sanitisers has needed two minutes for what takes seconds
// elsewhere. Below ctest's limit, so that a wait that fails says so.
inline constexpr std::chrono::seconds kDeadline{540};

inline bool wait_until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

// A test that fails early leaves none of these running.
class Process {
 public:
    Process(const std::vector<std::string>& argv, const std::filesystem::path& out, const std::filesystem::path& err,
            const std::function<void()>& in_child = {}) {
        std::vector<char*> words;
        for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ != 0) return;
        redirect(out, STDOUT_FILENO);
        redirect(err, STDERR_FILENO);
        // Whoever started the tests may ignore these.
        ::signal(SIGINT, SIG_DFL);
        ::signal(SIGHUP, SIG_DFL);
        if (in_child) in_child();
        ::execv(words[0], words.data());
        ::_exit(127);
    }
    ~Process() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    pid_t pid() const { return pid_; }
    // Nothing once it was waited for: the number -1 would name every process of the machine.
    void signal(int number) const {
        if (pid_ > 0) ::kill(pid_, number);
    }

    // The exit status; minus the signal that ended it; -1000 where it did not end in time.
    int wait() {
        int status = 0;
        const bool ended = wait_until([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
        if (!ended) return -1000;
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

 private:
    static void redirect(const std::filesystem::path& file, int number) {
        const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        ::dup2(opened, number);
        if (opened != number) ::close(opened);
    }

    pid_t pid_ = -1;
};

// Whether a trial can have several ranks here.
inline bool has_ranks() {
    return engine::Communicator::has_mpi() && std::system("command -v mpirun >/dev/null") == 0;
}
inline constexpr const char* kNoRanks = "no MPI (Debian: libopenmpi-dev, openmpi-bin)";

inline std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

struct Ran {
    int exit_code = 0;
    std::string out, err;
};

inline constexpr const char* kTinyDefaults = R"toml(
[resources]
slots = "cpu:1"
[defaults]
log_every = 4
[defaults.model]
layers = 3
width = 16
heads = 2
seqlen = 16
[defaults.data]
corpus = "embedded"
embedded_bytes = 5000
[defaults.train]
batch_size = 4
budget_tokens = 4096
[defaults.eval]
tasks = ["embedded_questions"]
documents = 20
validation_tokens = 500
)toml";

// The budget of a trial that is to be met while it trains: sanitised code is many times slower, so there fewer tokens
// take as long.
inline std::int64_t long_tokens(std::int64_t tokens) {
    return std::getenv("DEFT_SANITIZED") != nullptr ? tokens / 6 : tokens;
}
inline std::string long_budget(std::int64_t tokens) {
    return fmt::format("[case.train]\nbudget_tokens = {}\n", long_tokens(tokens));
}

inline const std::string kPlain = "[[case]]\nname = \"plain\"\n";
inline constexpr const char* kTwoRecipes =
    "[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\n[case.train]\nlearning_rate = 2e-3\n";

inline constexpr const char* kBothTechniques = R"toml(
[[case]]
name = "both"
[case.curriculum.seqtru]
min = 8
difficulty_step = 4
duration = 0.5
[case.random_ltd]
min = 8
step = 4
duration = 0.8
)toml";

// A sweep file beside a root that is not there yet.
class TinySweep {
 public:
    explicit TinySweep(const std::string& recipes, const std::string& seeds = "[1]") {
        file = folder.write("tiny.toml", "name = \"tiny\"\nseeds = " + seeds + "\n" + kTinyDefaults + recipes);
    }

    std::vector<std::string> command(const std::string& name, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> argv = {DEFT_PROGRAM, name};
        if (name == "run" || name == "plan" || name == "debug-state") argv.push_back(file.string());
        if (name == "run" || name == "status") argv.insert(argv.end(), {"--root", root.string()});
        argv.insert(argv.end(), more.begin(), more.end());
        return argv;
    }

    Ran deft(const std::string& name, const std::vector<std::string>& more = {},
             const std::function<void()>& in_child = {}) const {
        Process process(command(name, more), out(), err(), in_child);
        const int code = process.wait();
        const Ran ran{code, read_file(out()), read_file(err())};
        UNSCOPED_INFO(fmt::format("deft {} gave {}\n{}{}", name, ran.exit_code, ran.out, ran.err));
        return ran;
    }
    Ran run(const std::vector<std::string>& more = {}, const std::function<void()>& in_child = {}) const {
        return deft("run", more, in_child);
    }
    // Leaves what it says in out() and err().
    Process start(const std::vector<std::string>& more = {}) const { return {command("run", more), out(), err()}; }

    std::filesystem::path out() const { return folder.path / "out"; }
    std::filesystem::path err() const { return folder.path / "err"; }
    bool says(const std::string& text) const { return read_file(err()).find(text) != std::string::npos; }

    // All rows, a line each; numbers to their last bit.
    std::vector<std::string> query(const std::string& sql, int columns) const {
        results_db::Connection connection(root / "results.db", results_db::Connection::Mode::read);
        results_db::Statement statement(connection, sql.c_str());
        std::vector<std::string> rows;
        while (statement.step()) {
            std::string row;
            for (int i = 0; i < columns; ++i) row += (i == 0 ? "" : " ") + statement.text(i);
            rows.push_back(row);
        }
        return rows;
    }
    std::string value(const std::string& sql) const {
        const std::vector<std::string> rows = query(sql, 1);
        return rows.empty() ? "no row" : rows.front();
    }
    // The training attempts.
    std::vector<std::string> attempts() const {
        return query(
            "SELECT id, experiment_id, number, state, created_ms, ended_ms FROM attempt WHERE kind = 'train'"
            " ORDER BY id",
            6);
    }
    std::string count(const std::string& state) const {
        return value("SELECT count(*) FROM attempt WHERE kind = 'train' AND state = '" + state + "'");
    }

    // Every loss and score, to the last bit; of scores those of tasks that were scored whole.
    std::vector<std::string> measured() const {
        results_db::Connection connection(root / "results.db", results_db::Connection::Mode::read);
        std::vector<std::string> lines;
        const auto add = [&](const char* sql) {
            results_db::Statement statement(connection, sql);
            while (statement.step())
                lines.push_back(fmt::format("{} {} {:016x}", statement.text(0), statement.text(1),
                                            std::bit_cast<std::uint64_t>(statement.real(2))));
        };
        add("SELECT e.config_hash, p.step, p.loss FROM v_curve p JOIN experiment e ON e.id = p.experiment_id"
            " WHERE e.id IN (SELECT experiment_id FROM attempt WHERE kind = 'train' AND state = 'ok')"
            " ORDER BY 1, p.step");
        add("SELECT e.config_hash, v.task || v.shots || m.name || s.documents, v.value FROM evaluation v"
            " JOIN attempt a ON a.id = v.attempt_id JOIN score s ON s.attempt_id = a.id AND s.score_key = v.score_key"
            " JOIN metric m ON m.id = v.metric_id JOIN experiment e ON e.id = a.experiment_id ORDER BY 1, 2");
        return lines;
    }

    // Whether that process runs with this sweep's folder on its command line, which one that is ending has no more: its
    // number, or its next parent, is not to be taken for a trial's.
    bool is_of_sweep(pid_t pid) const {
        std::ifstream in(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
        const std::string line{std::istreambuf_iterator<char>(in), {}};
        return line.find(folder.path.string()) != std::string::npos && sweeps::is_running(sweeps::identify(pid));
    }
    // All of those.
    std::vector<pid_t> processes() const {
        std::vector<pid_t> found;
        std::error_code ignored;
        for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
            const pid_t pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
            if (pid > 0 && is_of_sweep(pid)) found.push_back(pid);
        }
        return found;
    }

    // The journals of all run folders that have one.
    std::vector<std::filesystem::path> journals() const {
        std::vector<std::filesystem::path> found;
        std::error_code ignored;
        for (const auto& entry : std::filesystem::directory_iterator(root / "runs", ignored))
            if (std::filesystem::exists(entry.path() / "journal.jsonl"))
                found.push_back(entry.path() / "journal.jsonl");
        return found;
    }

    // The process of a trial that has trained some steps and has not ended, stopped where it is; -1 where none comes.
    // `finished`: how many trials must have ended before it.
    pid_t freeze_trial(std::size_t finished = 0) const {
        pid_t pid = -1;
        const bool found = wait_until([&] {
            std::size_t ended = 0;
            pid = -1;
            for (const auto& journal : journals()) {
                const std::string text = read_file(journal);
                if (text.find("\"ended\"") != std::string::npos) {
                    ++ended;
                } else if (text.find("\"train\"") != std::string::npos) {
                    const auto of_journal = Json::parse(text.substr(0, text.find('\n'))).at("pid").get<pid_t>();
                    if (is_of_sweep(of_journal)) pid = of_journal;
                }
            }
            return pid > 0 && ended >= finished;
        });
        if (!found) return -1;
        ::kill(pid, SIGSTOP);
        return pid;
    }

    // Starts the sweep and stops its driver by SIGTERM while a trial trains, which ends with a checkpoint. The driver's
    // exit code; -1 where no trial comes.
    int stop_while_training() const {
        Process driver = start();
        const pid_t trial = freeze_trial();
        if (trial < 0) return -1;
        driver.signal(SIGTERM);
        ::kill(trial, SIGCONT);
        return driver.wait();
    }

    Folder folder;
    std::filesystem::path file;
    std::filesystem::path root = folder.path / "root";
};

}  // namespace deft::test
