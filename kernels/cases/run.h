#pragma once
// Runs an op case: outputs poisoned with NaN before, every buffer and the workspace between guard words.

#include <bit>
#include <cstring>
#include <limits>
#include <span>

#include "kernels/cases/op_case.h"

namespace deft::kernels::cases {

// `n` items of a type, aligned to a cache line, with a guard zone on both sides.
template <class Item>
class GuardedArray {
 public:
    explicit GuardedArray(std::size_t n) : bytes_((n * sizeof(Item) + 3 * kZone), kSentinel), n_(n) {
        const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
        offset_ = kZone + (kZone - address % kZone) % kZone;
    }
    Item* data() { return reinterpret_cast<Item*>(bytes_.data() + offset_); }
    std::size_t size() const { return n_; }
    bool intact() const {
        for (std::size_t i = 0; i < bytes_.size(); ++i) {
            const bool inside = i >= offset_ && i < offset_ + n_ * sizeof(Item);
            if (!inside && bytes_[i] != kSentinel) return false;
        }
        return true;
    }

 private:
    static constexpr std::size_t kZone = 64;
    static constexpr unsigned char kSentinel = 0xA5;
    std::vector<unsigned char> bytes_;
    std::size_t n_, offset_ = 0;
};

template <class Real>
struct RunResult {
    std::vector<std::vector<Real>> values;  // one a buffer, after the run
    std::string broken_guards;              // names of buffers whose guard zones, or inputs that, were written
};

// run: op.cpu or op.reference.
template <class Real, class ExecType>
RunResult<Real> run_case(const OpCase& op, int threads, const std::function<void(ExecType&, Real* const*)>& run) {
    std::vector<GuardedArray<Real>> arrays;
    std::vector<Real*> pointers;
    arrays.reserve(op.buffers.size());
    for (const Buffer& buffer : op.buffers) {
        GuardedArray<Real>& array = arrays.emplace_back(buffer.value.size());
        for (std::size_t i = 0; i < buffer.value.size(); ++i)
            array.data()[i] = buffer.role == Role::output ? std::numeric_limits<Real>::quiet_NaN()
                                                          : static_cast<Real>(buffer.value[i]);
        pointers.push_back(array.data());
    }
    GuardedArray<std::byte> workspace(op.workspace(threads));
    std::memset(workspace.data(), 0xFF, workspace.size());  // NaN as float and as double
    ExecType exec;
    exec.threads = threads;
    exec.workspace = {workspace.data(), workspace.size()};
    run(exec, pointers.data());

    RunResult<Real> result;
    if (!workspace.intact()) result.broken_guards += " workspace";
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        result.values.emplace_back(arrays[i].data(), arrays[i].data() + arrays[i].size());
        const Buffer& buffer = op.buffers[i];
        bool intact = arrays[i].intact();
        for (std::size_t j = 0; buffer.role == Role::input && j < buffer.value.size(); ++j)
            intact = intact && result.values[i][j] == static_cast<Real>(buffer.value[j]);
        if (!intact) result.broken_guards += " " + buffer.name;
    }
    return result;
}

inline RunResult<float> run_cpu(const OpCase& op, int threads) {
    return run_case<float, cpu::Exec>(op, threads, op.cpu);
}
inline RunResult<double> run_reference(const OpCase& op) {
    return run_case<double, reference::Exec>(op, 1, op.reference);
}

// Normalised mean squared error of `value` against `expected`; NaN when either holds one.
template <class Real>
double normalised_error(const std::vector<Real>& value, const std::vector<double>& expected, double floor = 0) {
    double error = 0, power = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double difference = static_cast<double>(value[i]) - expected[i];
        error += difference * difference;
        power += expected[i] * expected[i];
    }
    power = std::max(power, floor * static_cast<double>(expected.size()));
    return error == 0 ? 0 : error / power;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace deft::kernels::cases
