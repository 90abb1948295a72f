#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <thread>

#include "base/child_environment.h"
#include "base/error.h"
#include "base/stopwatch.h"

namespace deft {

namespace {

// The child ignores and blocks only the signals given here, whatever the parent does with its own. Its standard
// input is /dev/null unless set otherwise.
class SpawnPlan {
 public:
    SpawnPlan();
    ~SpawnPlan();
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    void open(int number, const char* file);
    void duplicate(int from, int to);
    void own_group();
    void block(std::span<const int> signals);
    // `changed`: "NAME=value" entries in place of, or beside, this process's own. Errors: io.
    pid_t spawn(const std::vector<std::string>& argv, const std::vector<std::string>& changed = {});

 private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
    short flags_ = 0;
};

SpawnPlan::SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    flags_ = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    open(STDIN_FILENO, "/dev/null");
}

SpawnPlan::~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
}

void SpawnPlan::open(int number, const char* file) {
    posix_spawn_file_actions_addopen(&actions_, number, file, number == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
}

void SpawnPlan::duplicate(int from, int to) {
    posix_spawn_file_actions_adddup2(&actions_, from, to);
}

void SpawnPlan::own_group() {
    posix_spawnattr_setpgroup(&attributes_, 0);
    flags_ |= POSIX_SPAWN_SETPGROUP;
}

void SpawnPlan::block(std::span<const int> signals) {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : signals) sigaddset(&blocked, signal);
    posix_spawnattr_setsigmask(&attributes_, &blocked);
}

pid_t SpawnPlan::spawn(const std::vector<std::string>& argv, const std::vector<std::string>& changed) {
    if (argv.empty()) throw Error(ErrorKind::io, "no program to start");
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    std::vector<char*> environment = child_environment(changed);
    posix_spawnattr_setflags(&attributes_, flags_);
    pid_t pid = -1;
    const int error = posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments.data(), environment.data());
    if (error != 0)
        throw Error(ErrorKind::io, fmt::format("cannot start {}: {}", argv[0], error_text(error)),
                    error == ENOENT ? "install it, or put its folder on PATH" : "");
    return pid;
}

std::string ending_of(int status) {
    if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit code {}", WEXITSTATUS(status));
}

// Whether there is something to read, or the other end is closed, before the deadline. Without one, waits for it.
bool is_readable_before(const Descriptor& file, const std::optional<Clock::time_point>& deadline) {
    for (;;) {
        int wait_ms = -1;
        if (deadline) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
            if (left <= 0) return false;
            wait_ms = static_cast<int>(std::min<long long>(left, 1 << 30));
        }
        pollfd waiting{file.number(), POLLIN, 0};
        if (::poll(&waiting, 1, wait_ms) > 0) return true;
    }
}

// Whether a child ends before the deadline; without one, true. The child is not waited for.
bool has_ended_before(pid_t pid, const std::optional<Clock::time_point>& deadline) {
    while (deadline) {
        siginfo_t how{};
        const int result = ::waitid(P_PID, static_cast<id_t>(pid), &how, WEXITED | WNOHANG | WNOWAIT);
        if (how.si_pid == pid || (result != 0 && errno != EINTR)) return true;
        if (Clock::now() > *deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace

ProcessOutput run_process(const std::vector<std::string>& argv, std::optional<std::chrono::milliseconds> patience) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw Error(ErrorKind::io, fmt::format("cannot make a pipe: {}", error_text(errno)));
    const Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    SpawnPlan plan;
    plan.duplicate(writing.number(), STDOUT_FILENO);
    plan.open(STDERR_FILENO, "/dev/null");
    if (patience) plan.own_group();
    std::optional<Clock::time_point> deadline;
    if (patience) deadline = Clock::now() + *patience;
    const pid_t pid = plan.spawn(argv);
    writing.close();

    ProcessOutput output;
    std::array<char, 1 << 14> buffer{};
    for (;;) {
        output.is_overdue = !is_readable_before(reading, deadline);
        if (output.is_overdue) break;
        const ssize_t count = ::read(reading.number(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        output.out.append(buffer.data(), static_cast<std::size_t>(count));
    }
    // A program may close its output and go on. Until it is waited for, its group's number is nobody else's.
    output.is_overdue = output.is_overdue || !has_ended_before(pid, deadline);
    if (output.is_overdue) ::kill(-pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) throw Error(ErrorKind::io, fmt::format("lost {}: {}", argv[0], error_text(errno)));
    output.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return output;
}

pid_t start_process(const std::vector<std::string>& argv, const std::filesystem::path& log,
                    const std::vector<std::string>& environment, std::span<const int> blocked) {
    const Descriptor file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (file.number() < 0)
        throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", log.string(), error_text(errno)));
    SpawnPlan plan;
    plan.duplicate(file.number(), STDOUT_FILENO);
    plan.duplicate(file.number(), STDERR_FILENO);
    plan.own_group();
    plan.block(blocked);
    return plan.spawn(argv, environment);
}

PipedProcess::PipedProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment)
    : line_(-1), complaints_(::memfd_create("standard error", MFD_CLOEXEC)) {
    int ends[2];
    // Not pipes: writing to a pipe that nobody reads would raise SIGPIPE.
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw Error(ErrorKind::io, fmt::format("cannot make a socket: {}", error_text(errno)));
    line_.reset(ends[0]);
    const Descriptor theirs(ends[1]);
    if (complaints_.number() < 0)
        throw Error(ErrorKind::io, fmt::format("cannot keep a child's standard error: {}", error_text(errno)));
    SpawnPlan plan;
    plan.duplicate(theirs.number(), STDIN_FILENO);
    plan.duplicate(theirs.number(), STDOUT_FILENO);
    plan.duplicate(complaints_.number(), STDERR_FILENO);
    plan.own_group();
    pid_ = plan.spawn(argv, environment);
}

PipedProcess::~PipedProcess() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

bool PipedProcess::write_line(const std::string& line) {
    const std::string whole = line + '\n';
    for (std::size_t sent = 0; sent < whole.size();) {
        const ssize_t count = ::send(line_.number(), whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        sent += static_cast<std::size_t>(count);
    }
    return true;
}

std::optional<std::string> PipedProcess::read_line(std::chrono::milliseconds patience, std::size_t most_bytes) {
    const auto deadline = Clock::now() + patience;
    for (;;) {
        const std::size_t end = unread_.find('\n');
        if (end != std::string::npos) {
            std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        if (unread_.size() > most_bytes)
            throw Error(ErrorKind::io, fmt::format("a line of more than {} bytes from a child process", most_bytes));
        if (!is_readable_before(line_, deadline))
            throw Error(ErrorKind::io, fmt::format("no answer from a child process for {} s", patience.count() / 1000));
        std::array<char, 1 << 14> buffer;
        const ssize_t count = ::read(line_.number(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return std::nullopt;
        unread_.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

void PipedProcess::freeze() const {
    if (pid_ > 0) ::kill(-pid_, SIGSTOP);
}

void PipedProcess::thaw() const {
    if (pid_ > 0) ::kill(-pid_, SIGCONT);
}

std::string PipedProcess::end(std::chrono::milliseconds patience) {
    if (pid_ <= 0) return ending_;
    thaw();
    ::shutdown(line_.number(), SHUT_WR);
    const auto deadline = Clock::now() + patience;
    int status = 0;
    for (;;) {
        const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
        if (ended == pid_ || (ended < 0 && errno != EINTR)) break;
        if (Clock::now() > deadline) ::kill(-pid_, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    pid_ = -1;
    return ending_ = ending_of(status);
}

std::string PipedProcess::last_complaint() const {
    constexpr off_t kMostBytes = 4096;
    const off_t size = ::lseek(complaints_.number(), 0, SEEK_END);
    if (size <= 0) return "";
    std::string tail(static_cast<std::size_t>(std::min(size, kMostBytes)), '\0');
    const ssize_t count =
        ::pread(complaints_.number(), tail.data(), tail.size(), size - static_cast<off_t>(tail.size()));
    tail.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    while (!tail.empty() && (tail.back() == '\n' || tail.back() == ' ')) tail.pop_back();
    const std::size_t start = tail.rfind('\n');
    return start == std::string::npos ? tail : tail.substr(start + 1);
}

}  // namespace deft
