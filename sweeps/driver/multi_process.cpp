#include "sweeps/driver/multi_process.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "sweeps/driver/run_folder.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr const char* kControl = "nvidia-cuda-mps-control";
constexpr double kStartSeconds = 10;
constexpr auto kAnswer = std::chrono::seconds(5);

// The daemon's program takes commands from its standard input. False where no daemon answers.
bool command_daemon(const std::string& command) {
    try {
        PipedProcess control({kControl});
        return control.write_line(command) && control.end(kAnswer).empty();
    } catch (const Error&) {
        return false;
    }
}

// The wait status of a child; nothing where it does not end in time, and is killed.
std::optional<int> end_within(pid_t child, double seconds) {
    const Clock::time_point start = Clock::now();
    int status = 0;
    while (true) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) return status;
        if (ended < 0 && errno != EINTR) return std::nullopt;
        if (seconds_since(start) > seconds) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ::kill(-child, SIGKILL);
    ::waitpid(child, &status, 0);
    return std::nullopt;
}

// Empty where the daemon runs.
std::string problem_at_start(const fs::path& logs, double answer_seconds, bool& is_started) {
    const fs::path said = logs / "start.txt";
    std::error_code error;
    fs::create_directories(logs, error);
    if (error) return fmt::format("cannot make {}: {}", logs.string(), error.message());
    fs::remove(said, error);
    const pid_t child = start_process({kControl, "-d"}, said, {"CUDA_MPS_LOG_DIRECTORY=" + logs.string()});
    const std::optional<int> status = end_within(child, kStartSeconds);
    if (!status) return fmt::format("{} -d did not answer for {:.0f} s", kControl, kStartSeconds);
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0) {
        const std::vector<std::string> lines = last_lines(said, 1);
        return fmt::format("{} -d failed{}", kControl, lines.empty() ? "" : ": " + lines.back());
    }
    is_started = true;
    const Clock::time_point start = Clock::now();
    while (!has_multi_process_service()) {
        if (seconds_since(start) > answer_seconds) return fmt::format("{} -d started, and does not answer", kControl);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return "";
}

}  // namespace

bool has_multi_process_service() {
    return command_daemon("get_server_list");
}

std::string taking_turns(const std::vector<Slot>& slots) {
    if (slots.empty() || slots.front().per_gpu < 2 || has_multi_process_service()) return "";
    return fmt::format(
        "trials that share a card take turns on it; they run side by side under CUDA's multi-process service: "
        "add --mps, or start it with {} -d",
        kControl);
}

MultiProcessService::MultiProcessService(const fs::path& logs, double answer_seconds) {
    if (has_multi_process_service()) return;
    try {
        problem_ = problem_at_start(fs::absolute(logs), answer_seconds, is_own_);
    } catch (const Error& error) {
        problem_ = error.what();
    }
}

MultiProcessService::~MultiProcessService() {
    if (is_own_) command_daemon("quit");
}

}  // namespace deft::sweeps
