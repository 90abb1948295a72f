#include "engine/comm/meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/error.h"

namespace deft::engine {

namespace {

constexpr const char* kMend = "start the ranks by torchrun or srun, which set it, or set it to the same on all ranks";
constexpr std::int64_t kMostRanks = 1 << 16;

// The number in a variable that is set. Errors: config, for anything but a number from `least` to `most`.
std::int64_t number_in(const char* name, std::int64_t least, std::int64_t most) {
    const std::string text = std::getenv(name);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        throw Error(ErrorKind::config, fmt::format("{} is \"{}\", which is not a number", name, text),
                    fmt::format("set {} to a number from {} to {}, or unset it", name, least, most), kNothingStarted);
    if (number < least || number > most)
        throw Error(ErrorKind::config, fmt::format("{} is {}, which is not from {} to {}", name, number, least, most),
                    "ranks count from 0 to one less than there are; see what started this process", kNothingStarted);
    return number;
}

std::uint16_t port_in(const char* name) {
    return static_cast<std::uint16_t>(number_in(name, 1, std::numeric_limits<std::uint16_t>::max()));
}

bool is_set(const char* name) {
    return std::getenv(name) != nullptr;
}

std::string text_in(const char* name) {
    return is_set(name) ? std::getenv(name) : "";
}

void require_set(const char* name, const std::string& why) {
    if (text_in(name).empty())
        throw Error(ErrorKind::config, fmt::format("{}, and {} is not", why, name), kMend, kNothingStarted);
}

// The process that started torchrun's ranks keeps a store of its own at MASTER_PORT where it says so, and the port is
// taken.
std::uint16_t port_beside_store() {
    const std::uint16_t port = port_in("MASTER_PORT");
    if (text_in("TORCHELASTIC_USE_AGENT_STORE") != "True") return port;
    return static_cast<std::uint16_t>(port == std::numeric_limits<std::uint16_t>::max() ? port - 1 : port + 1);
}

// Ranks that are all on one machine meet where no other machine can knock.
constexpr const char* kLoopback = "127.0.0.1";

bool is_equal_in(const char* name, std::int64_t number) {
    return text_in(name) == std::to_string(number);
}

Meeting of_torchrun() {
    Meeting meeting;
    meeting.ranks = static_cast<int>(number_in("WORLD_SIZE", 1, kMostRanks));
    meeting.rank = static_cast<int>(number_in("RANK", 0, meeting.ranks - 1));
    if (meeting.ranks == 1) return meeting;
    require_set("MASTER_ADDR", "RANK and WORLD_SIZE are set");
    meeting.host = text_in("MASTER_ADDR");
    if (is_set("DEFT_PORT")) {
        meeting.port = port_in("DEFT_PORT");
    } else {
        require_set("MASTER_PORT", "RANK, WORLD_SIZE and MASTER_ADDR are set");
        meeting.port = port_beside_store();
    }
    if (is_equal_in("LOCAL_WORLD_SIZE", meeting.ranks)) meeting.host = kLoopback;
    meeting.token = is_set("TORCHELASTIC_RUN_ID") ? text_in("TORCHELASTIC_RUN_ID") : text_in("SLURM_JOB_ID");
    return meeting;
}

// A task of several that one srun started. SLURM_NTASKS and SLURM_PROCID say nothing of that: sbatch and salloc set the
// first for the whole allocation, in which a driver is one process, and the second, as 0, for the batch script. What
// srun alone gives is a step with a number and its count of tasks; the steps that Slurm makes for itself (batch,
// extern, interactive) have numbers at the end of 32 bits. A shell by srun --pty is a step of one task, and so alone.
bool is_one_of_several_tasks() {
    for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"})
        if (!is_set(name)) return false;
    constexpr std::int64_t kSlurmsOwn = 0xfffffff0, kMost = 0xffffffff;
    return number_in("SLURM_STEP_ID", 0, kMost) < kSlurmsOwn && number_in("SLURM_STEP_NUM_TASKS", 1, kMostRanks) > 1;
}

// Steps of a node that run at once get ports that differ, below those that the kernel gives to connections.
std::uint16_t port_of_step() {
    constexpr std::int64_t kFirst = 16384, kCount = 16384, kStepsOfJob = 61;
    constexpr std::int64_t kMost = 0xffffffff;
    const std::int64_t job = number_in("SLURM_JOB_ID", 0, kMost), step = number_in("SLURM_STEP_ID", 0, kMost);
    return static_cast<std::uint16_t>(kFirst + (job * kStepsOfJob + step) % kCount);
}

// Task 0 is on the first node of the step; the node that srun was called on may have none of it.
std::string host_of_first_task() {
    if (is_set("MASTER_ADDR")) return text_in("MASTER_ADDR");
    std::string host = first_of_node_list(text_in("SLURM_STEP_NODELIST"));
    if (host.empty()) host = text_in("SLURM_LAUNCH_NODE_IPADDR");
    if (host.empty()) require_set("MASTER_ADDR", "srun started several tasks, SLURM_STEP_NODELIST is not set");
    return host;
}

Meeting of_srun() {
    Meeting meeting;
    meeting.ranks = static_cast<int>(number_in("SLURM_STEP_NUM_TASKS", 1, kMostRanks));
    meeting.rank = static_cast<int>(number_in("SLURM_PROCID", 0, meeting.ranks - 1));
    meeting.host = is_equal_in("SLURM_STEP_NUM_NODES", 1) ? kLoopback : host_of_first_task();
    meeting.port = is_set("DEFT_PORT")     ? port_in("DEFT_PORT")
                   : is_set("MASTER_PORT") ? port_in("MASTER_PORT")
                                           : port_of_step();
    meeting.token = text_in("SLURM_JOB_ID") + "." + text_in("SLURM_STEP_ID");
    return meeting;
}

}  // namespace

Meeting meeting_of_launcher() {
    if (is_set("RANK") && is_set("WORLD_SIZE")) return of_torchrun();
    return is_one_of_several_tasks() ? of_srun() : Meeting{};
}

std::string first_of_node_list(const std::string& list) {
    std::string name;
    for (std::size_t at = 0; at < list.size() && list[at] != ','; ++at) {
        if (list[at] != '[') {
            name += list[at];
            continue;
        }
        const std::size_t close = std::min(list.find(']', at), list.size());
        name += list.substr(at + 1, std::min(list.find_first_of("-,", at), close) - at - 1);
        at = close;
    }
    return name;
}

}  // namespace deft::engine
