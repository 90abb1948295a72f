#include "engine/bench/profile.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/json.h"
#include "kernels/cuda/products.h"

namespace deft::engine {

namespace {

// Calls of an op at a shape are one group.
std::vector<ProfiledOp> ops_of(const std::vector<OpRecord>& records) {
    std::map<std::tuple<Phase, std::string, std::string>, ProfiledOp> groups;
    for (const OpRecord& record : records) {
        ProfiledOp& op = groups[{record.phase, record.op, record.shape}];
        op.op = record.op;
        op.shape = record.shape;
        op.phase = record.phase;
        ++op.calls;
        op.seconds += record.seconds;
        op.flops += record.flops;
        op.bytes += record.bytes;
        op.products.insert(op.products.end(), record.products.begin(), record.products.end());
    }
    std::vector<ProfiledOp> ops;
    for (auto& [key, op] : groups) {
        op.products = kernels::cuda::merged(op.products);
        ops.push_back(std::move(op));
    }
    std::stable_sort(ops.begin(), ops.end(), [](const ProfiledOp& a, const ProfiledOp& b) {
        return a.phase != b.phase ? a.phase < b.phase : a.seconds > b.seconds;
    });
    return ops;
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
    for (std::int64_t i = 0; i < kProfileWarmUpSteps; ++i) {
        require_room(trainer);
        trainer.step();
    }
    std::vector<StepProfile> profiles;
    for (int i = 0; i < steps; ++i) {
        require_room(trainer);
        OpProfile ops(trainer.exec());
        trainer.exec().profile = &ops;
        trainer.step();
        trainer.exec().profile = nullptr;
        StepProfile& profile = profiles.emplace_back();
        profile.seconds = ops.finish();
        profile.step = trainer.counts().steps;
        profile.records = std::move(ops.records);
        if (trainer.exec().cuda.products != nullptr) profile.plans = trainer.exec().cuda.products->plans.counts();
    }
    std::vector<double> seconds;
    for (const StepProfile& profile : profiles) seconds.push_back(profile.seconds);
    const auto middle = profiles.begin() + (steps - 1) / 2;
    std::nth_element(profiles.begin(), middle, profiles.end(),
                     [](const StepProfile& a, const StepProfile& b) { return a.seconds < b.seconds; });
    StepProfile profile = std::move(*middle);
    profile.steps = std::move(seconds);
    profile.ops = ops_of(profile.records);
    profile.outside_ops = profile.seconds - seconds_in(profile.records);
    return profile;
}

std::vector<kernels::cuda::ProductRecord> products_of(const StepProfile& profile) {
    std::vector<kernels::cuda::ProductRecord> products;
    for (const ProfiledOp& op : profile.ops) products.insert(products.end(), op.products.begin(), op.products.end());
    return kernels::cuda::merged(products);
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
    event(name, "step", 0, profile.seconds, Json::object());
    for (const OpRecord& record : profile.records)
        event(record.op, phase_name(record.phase), record.start, record.seconds,
              {{"shape", record.shape}, {"flops", record.flops}, {"bytes", record.bytes}});
    return Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump();
}

}  // namespace deft::engine
