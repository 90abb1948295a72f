#include "engine/bench/profile.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/json.h"
#include "base/median.h"

namespace deft::engine {

namespace {

using Key = std::tuple<Phase, std::string, std::string>;  // phase, op, shape

// What one step adds to its groups.
struct Group {
    std::vector<double> seconds;  // (steps)
    int calls = 0;                // of the newest step
    double flops = 0, bytes = 0;
};

void add_step(std::map<Key, Group>& groups, const std::vector<OpRecord>& records) {
    std::map<Key, Group> step;
    for (const OpRecord& record : records) {
        Group& group = step[{record.phase, record.op, record.shape}];
        group.seconds.resize(1);
        group.seconds[0] += record.seconds;
        ++group.calls;
        group.flops += record.flops;
        group.bytes += record.bytes;
    }
    for (auto& [key, now] : step) {
        Group& group = groups[key];
        now.seconds.insert(now.seconds.end(), group.seconds.begin(), group.seconds.end());
        group = std::move(now);
    }
}

double seconds_in(const std::vector<OpRecord>& records) {
    double total = 0;
    for (const OpRecord& record : records) total += record.seconds;
    return total;
}

void require_room(const Trainer& trainer) {
    if (trainer.done())
        throw Error(ErrorKind::usage, "the trial ends before its steps are profiled", "raise train.budget_tokens");
}

}  // namespace

StepProfile profile_steps(Trainer& trainer, int steps) {
    if (trainer.exec().device != Device::cpu)
        throw Error(ErrorKind::config, "only steps on the CPU are profiled: a GPU's ops run on after they return",
                    "use Nsight Systems there");
    for (int i = 0; i < 2; ++i) {
        require_room(trainer);
        trainer.step();
    }
    std::map<Key, Group> groups;
    std::vector<double> seconds, outside;
    StepProfile profile;
    for (int i = 0; i < steps; ++i) {
        require_room(trainer);
        OpProfile ops;
        trainer.exec().profile = &ops;
        trainer.step();
        trainer.exec().profile = nullptr;
        profile.last_seconds = seconds_since(ops.start);
        seconds.push_back(profile.last_seconds);
        outside.push_back(profile.last_seconds - seconds_in(ops.records));
        add_step(groups, ops.records);
        profile.last = std::move(ops.records);
    }
    profile.seconds = median(seconds);
    profile.outside_ops = median(outside);
    for (const auto& [key, group] : groups)
        profile.ops.push_back({std::get<1>(key), std::get<2>(key), std::get<0>(key), group.calls, median(group.seconds),
                               group.flops, group.bytes});
    std::stable_sort(profile.ops.begin(), profile.ops.end(), [](const ProfiledOp& a, const ProfiledOp& b) {
        return a.phase != b.phase ? a.phase < b.phase : a.seconds > b.seconds;
    });
    return profile;
}

std::string chrome_trace(const StepProfile& profile, const std::string& name) {
    Json events = Json::array();
    const auto event = [&](const std::string& op, const char* category, double start, double seconds,
                           const Json& args) {
        events.push_back({{"name", op},
                          {"cat", category},
                          {"ph", "X"},
                          {"ts", start * 1e6},
                          {"dur", seconds * 1e6},
                          {"pid", 1},
                          {"tid", 1},
                          {"args", args}});
    };
    event(name, "step", 0, profile.last_seconds, Json::object());
    for (const OpRecord& record : profile.last)
        event(record.op, phase_name(record.phase), record.start, record.seconds,
              {{"shape", record.shape}, {"flops", record.flops}, {"bytes", record.bytes}});
    return Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump();
}

}  // namespace deft::engine
