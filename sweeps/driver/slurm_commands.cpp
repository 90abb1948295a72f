#include "sweeps/driver/slurm_commands.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "base/error.h"
#include "base/process.h"
#include "base/stopwatch.h"

namespace deft::sweeps {

namespace {

// The parts between bars.
std::vector<std::string> parts_of(std::string_view line) {
    std::vector<std::string> parts;
    while (true) {
        const std::size_t bar = line.find('|');
        parts.emplace_back(line.substr(0, bar));
        if (bar == std::string_view::npos) return parts;
        line.remove_prefix(bar + 1);
    }
}

bool is_job_number(std::string_view text) {
    return !text.empty() && text.size() < 20 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

SlurmReply call_slurm(const std::vector<std::string>& argv, double seconds) {
    SlurmReply reply;
    const Clock::time_point start = Clock::now();
    const auto left = [&] {
        return std::chrono::milliseconds(
            std::max<std::int64_t>(1, static_cast<std::int64_t>(1000 * (seconds - seconds_since(start)))));
    };
    try {
        PipedProcess command(argv);
        try {
            while (std::optional<std::string> line = command.read_line(left())) reply.lines.push_back(std::move(*line));
        } catch (const Error&) {
            reply.is_late = true;
            reply.complaint = "Slurm did not answer in time";
            return reply;
        }
        reply.is_whole = command.end(left()).empty();
        reply.is_late = !reply.is_whole && seconds_since(start) >= seconds;
        reply.complaint = command.last_complaint();
    } catch (const Error& error) {
        reply.complaint = error.what();
    }
    return reply;
}

bool may_answer_later(const SlurmReply& reply) {
    static constexpr std::array<std::string_view, 7> kPassing = {"Unable to contact slurm controller",
                                                                 "Socket timed out",
                                                                 "Connection refused",
                                                                 "Zero Bytes were transmitted",
                                                                 "Protocol authentication error",
                                                                 "Munge encode failed",
                                                                 "Resource temporarily unavailable"};
    return reply.is_late || std::ranges::any_of(kPassing, [&](std::string_view words) {
               return reply.complaint.find(words) != std::string::npos;
           });
}

bool lacks_nodes(const SlurmReply& reply) {
    return reply.complaint.find("node configuration is not available") != std::string::npos ||
           reply.complaint.find("nodes are busy") != std::string::npos;
}

std::optional<std::string> submitted_job(const SlurmReply& reply) {
    if (reply.lines.size() != 1) return std::nullopt;
    const std::string id = reply.lines.front().substr(0, reply.lines.front().find(';'));
    return is_job_number(id) ? std::optional(id) : std::nullopt;
}

std::vector<std::string> queue_argv() {
    return {"squeue", "--me", "--states=all", "--array", "--noheader", "--format=%i|%j|%T|%r|%N"};
}

std::optional<std::vector<QueuedJob>> queued_jobs(const SlurmReply& reply) {
    if (!reply.is_whole) return std::nullopt;
    std::vector<QueuedJob> jobs;
    for (const std::string& line : reply.lines) {
        std::vector<std::string> parts = parts_of(line);
        if (parts.size() > 5 && !parts[1].starts_with("deft-")) continue;  // somebody else's name has a bar
        if (parts.size() != 5 || parts[2].empty()) return std::nullopt;
        jobs.push_back({parts[0], parts[1], parts[2], parts[3], parts[4]});
    }
    return jobs;
}

std::vector<std::string> accounting_argv(const std::string& id) {
    return {"sacct",       "--allocations", "--noheader",
            "--parsable2", "--jobs=" + id,  "--format=JobID,JobName%200,State%40"};
}

std::optional<std::string> accounted_state(const SlurmReply& reply, const std::string& id, const std::string& name) {
    if (!reply.is_whole) return std::nullopt;
    std::optional<std::string> state;
    for (const std::string& line : reply.lines) {
        const std::vector<std::string> parts = parts_of(line);
        if (parts.size() == 3 && parts[0] == id && parts[1] == name && !parts[2].empty()) state = parts[2];
    }
    return state;
}

bool is_ended_state(const std::string& state) {
    return batch_end_of(state) != BatchEnd::none || state.starts_with("COMPLETED") || state.starts_with("FAILED");
}

BatchEnd batch_end_of(const std::string& state) {
    struct Named {
        std::string_view start;
        BatchEnd end;
    };
    static constexpr std::array<Named, 8> kStates = {{{"TIMEOUT", BatchEnd::time_limit},
                                                      {"DEADLINE", BatchEnd::time_limit},
                                                      {"OUT_OF_MEMORY", BatchEnd::out_of_memory},
                                                      {"NODE_FAIL", BatchEnd::node_failure},
                                                      {"BOOT_FAIL", BatchEnd::node_failure},
                                                      {"PREEMPTED", BatchEnd::preemption},
                                                      {"REVOKED", BatchEnd::preemption},
                                                      {"CANCELLED", BatchEnd::cancellation}}};
    for (const Named& named : kStates)
        if (state.starts_with(named.start)) return named.end;
    return BatchEnd::none;
}

bool is_permanent(const std::string& reason) {
    static constexpr std::array<std::string_view, 9> kReasons = {"PartitionTimeLimit",
                                                                 "PartitionConfig",
                                                                 "BadConstraints",
                                                                 "AccountNotAllowed",
                                                                 "InvalidAccount",
                                                                 "InvalidQOS",
                                                                 "QOSNotAllowed",
                                                                 "AssocMaxWallDurationPerJobLimit",
                                                                 "QOSMaxWallDurationPerJobLimit"};
    return std::ranges::find(kReasons, reason) != kReasons.end();
}

}  // namespace deft::sweeps
