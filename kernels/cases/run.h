#pragma once
// Runs an op case on a host backend: outputs poisoned with NaN before, every buffer and the workspace between guard
// words. What a run leaves is compared as doubles, which hold every stored type exactly.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "kernels/cases/op_case.h"

namespace deft::kernels::cases {

// Bytes as a backend shall see them, aligned to 256 bytes (plus `shift`), with guard zones: before, and of at least
// `after` bytes after, up to the next multiple of 256. Values read there are huge in every type.
class GuardedBytes {
 public:
    static constexpr std::size_t kZone = 256;

    explicit GuardedBytes(std::size_t n, std::size_t shift = 0, std::size_t after = kZone)
        : first_(kZone + shift), n_(n), bytes_((first_ + n + after + kZone - 1) / kZone * kZone) {
        memory_.reset(static_cast<unsigned char*>(std::aligned_alloc(kZone, bytes_)));
        std::fill_n(memory_.get(), bytes_, kGuard);
        std::fill_n(data(), n_, kPoison);
    }
    unsigned char* data() { return memory_.get() + first_; }
    const unsigned char* data() const { return memory_.get() + first_; }
    std::size_t size() const { return n_; }
    // All of it, guard zones included; data() begins `offset()` bytes in.
    std::span<unsigned char> whole() { return {memory_.get(), bytes_}; }
    std::size_t offset() const { return first_; }
    bool intact() const {
        const auto is_guard = [](unsigned char byte) { return byte == kGuard; };
        const unsigned char* const whole = memory_.get();
        return std::all_of(whole, data(), is_guard) && std::all_of(data() + n_, whole + bytes_, is_guard);
    }

 private:
    // The guard is the largest finite bf16, 3e38 as float, 1e306 as double and 2e9 as a 32-bit integer; the poison is
    // NaN in every floating type.
    static constexpr unsigned char kGuard = 0x7F, kPoison = 0xFF;
    struct Free {
        void operator()(unsigned char* memory) const { std::free(memory); }
    };
    std::size_t first_, n_, bytes_;
    std::unique_ptr<unsigned char, Free> memory_;
};

// f(T{}) for the type T that a backend of Real stores an item as.
template <class Real, class F>
auto with_stored_type(Item item, const F& f) {
    switch (item) {
        case Item::real:
            return f(Real{});
        case Item::sum:
            return f(Sum<Real>{});
        case Item::single:
            return f(float{});
        case Item::wide:
            return f(double{});
        case Item::rounded:
            return f(bf16{});
        case Item::index:
            return f(std::int32_t{});
        case Item::byte:
            return f(std::uint8_t{});
        case Item::id:
            break;
    }
    return f(std::int64_t{});
}

template <class Real>
std::size_t stored_bytes(const Buffer& buffer) {
    return with_stored_type<Real>(buffer.item,
                                  [&]<class Stored>(Stored) { return buffer.value.size() * sizeof(Stored); });
}

template <class Stored>
Stored to_stored(float value) {
    if constexpr (std::is_same_v<Stored, bf16>)
        return to_bf16(value);
    else
        return static_cast<Stored>(value);
}
inline double to_double(bf16 value) {
    return to_float(value);
}
template <class Stored>
double to_double(Stored value) {
    return static_cast<double>(value);
}

// Where a buffer begins and ends.
enum class Placement {
    aligned,    // it begins at a multiple of 256
    unaligned,  // it ends at one, or an item before: it begins at no multiple of 16, as wide accesses must
};

inline std::size_t shift_of(Placement placement, std::size_t bytes, std::size_t item_bytes) {
    if (placement == Placement::aligned) return 0;
    constexpr std::size_t kWide = 16, kZone = GuardedBytes::kZone;
    const std::size_t shift = (kZone - bytes % kZone) % kZone;
    return shift % kWide != 0 ? shift : (shift + kZone - item_bytes) % kZone;
}

// The buffer's content before a run.
template <class Real>
GuardedBytes store_buffer(const Buffer& buffer, Placement placement = Placement::aligned,
                          std::size_t guard_behind = GuardedBytes::kZone) {
    return with_stored_type<Real>(buffer.item, [&]<class Stored>(Stored) {
        const std::size_t stored_bytes = buffer.value.size() * sizeof(Stored);
        GuardedBytes bytes(stored_bytes, shift_of(placement, stored_bytes, sizeof(Stored)), guard_behind);
        for (std::size_t i = 0; buffer.role != Role::output && i < buffer.value.size(); ++i) {
            const Stored stored = to_stored<Stored>(buffer.value[i]);
            std::memcpy(bytes.data() + i * sizeof(Stored), &stored, sizeof(Stored));
        }
        return bytes;
    });
}

template <class Real>
std::vector<double> load_buffer(const Buffer& buffer, const GuardedBytes& bytes) {
    return with_stored_type<Real>(buffer.item, [&]<class Stored>(Stored stored) {
        std::vector<double> values;
        for (std::size_t i = 0; i < buffer.value.size(); ++i) {
            std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
            values.push_back(to_double(stored));
        }
        return values;
    });
}

struct RunResult {
    std::vector<std::vector<double>> values;  // one a buffer, after the run
    std::string broken_guards;                // names of buffers whose guard zones, or inputs that, were written
};

// The state after a run that began with store_buffer of each.
template <class Real>
RunResult read_result(const OpCase& op, const std::vector<GuardedBytes>& after, const GuardedBytes& workspace) {
    RunResult result;
    if (!workspace.intact()) result.broken_guards += " workspace";
    for (std::size_t i = 0; i < after.size(); ++i) {
        const Buffer& buffer = op.buffers[i];
        bool intact = after[i].intact();
        if (buffer.role == Role::input) {
            const GuardedBytes before = store_buffer<Real>(buffer);
            intact = intact && std::equal(before.data(), before.data() + before.size(), after[i].data());
        }
        if (!intact) result.broken_guards += " " + buffer.name;
        result.values.push_back(load_buffer<Real>(buffer, after[i]));
    }
    return result;
}

// run: op.cpu or op.reference.
template <class Real, class ExecType>
RunResult run_on_host(const OpCase& op, int threads,
                      const std::function<void(ExecType&, const Arguments<Real>&)>& run) {
    std::vector<GuardedBytes> buffers;
    std::vector<void*> data;
    for (const Buffer& buffer : op.buffers) data.push_back(buffers.emplace_back(store_buffer<Real>(buffer)).data());
    GuardedBytes workspace(op.workspace(threads));
    ExecType exec;
    exec.threads = threads;
    exec.workspace = std::as_writable_bytes(std::span(workspace.data(), workspace.size()));
    run(exec, Arguments<Real>(op.buffers, data));
    return read_result<Real>(op, buffers, workspace);
}

inline RunResult run_cpu(const OpCase& op, int threads) {
    return run_on_host<float, cpu::Exec>(op, threads, op.cpu);
}
inline RunResult run_reference(const OpCase& op) {
    return run_on_host<double, reference::Exec>(op, 1, op.reference);
}

// Normalised mean squared error of `value` against `expected`; NaN when either holds one.
inline double normalised_error(const std::vector<double>& value, const std::vector<double>& expected,
                               double floor = 0) {
    double error = 0, power = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double difference = value[i] - expected[i];
        error += difference * difference;
        power += expected[i] * expected[i];
    }
    power = std::max(power, floor * static_cast<double>(expected.size()));
    return error == 0 ? 0 : error / power;
}

// The error that a buffer may have in a run whose activations are float.
inline double float_tolerance(const OpCase& op, const Buffer& buffer) {
    constexpr double kUnit = 1.0 / (1 << 7);  // of bf16: a value between two neighbours may go to either
    return buffer.item == Item::rounded ? kUnit * kUnit : op.tolerance;
}

// Describes the error in the result of a run; empty when there is none. tolerance(buffer), floor(buffer): for its
// normalised error.
template <class Tolerance, class Floor>
std::string disagreement(const OpCase& op, const RunResult& result, const RunResult& expected,
                         const Tolerance& tolerance, const Floor& floor) {
    if (!result.broken_guards.empty()) return op.name + ": written outside or into an input:" + result.broken_guards;
    for (std::size_t i = 0; i < op.buffers.size(); ++i) {
        const Buffer& buffer = op.buffers[i];
        if (buffer.role == Role::input) continue;
        const double error = normalised_error(result.values[i], expected.values[i], floor(buffer));
        if (!(error <= tolerance(buffer)))
            return fmt::format("{}: {} has a normalised error of {:.1e}, allowed is {:.1e}", op.name, buffer.name,
                               error, tolerance(buffer));
    }
    return {};
}
// For a run in float on the host.
inline std::string disagreement(const OpCase& op, const RunResult& result) {
    return disagreement(
        op, result, run_reference(op), [&](const Buffer& buffer) { return float_tolerance(op, buffer); },
        [](const Buffer& buffer) { return buffer.floor; });
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

}  // namespace deft::kernels::cases
