#pragma once
// One op with shapes and random inputs: what tests hold against the reference and what benchmarks time.

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cpu/cpu.h"
#include "kernels/philox.h"
#include "kernels/reference/reference.h"

namespace deft::kernels::cases {

enum class Role {
    input,   // only read
    output,  // written whole, never read
    update,  // read and written, or written in part
};

struct Buffer {
    std::string name;
    Role role;
    std::vector<float> value;  // what it holds before the run; of an output only the size counts
    // Mean square below which an output's error is taken as absolute: for few values, or sums that may cancel.
    double floor = 1e-2;
};

struct OpCase {
    std::string name;  // op and shape
    std::vector<Buffer> buffers;
    std::function<void(cpu::Exec&, float* const*)> cpu;  // one pointer a buffer, in order
    std::function<void(reference::Exec&, double* const*)> reference;
    std::function<std::size_t(int threads)> workspace = [](int) { return std::size_t{0}; };
    double flops = 0, bytes = 0;  // work and least memory traffic of one run
    double tolerance = 1e-10;     // largest normalised mean squared error of each written buffer

    // One generic lambda serves both: the type of its Exec selects the namespace by argument-dependent lookup.
    template <class Run>
    void set_run(Run run) {
        cpu = run;
        reference = run;
    }
    void set_least_bytes() {
        bytes = 0;
        for (const Buffer& buffer : buffers)
            bytes += static_cast<double>(buffer.value.size()) * sizeof(float) * (buffer.role == Role::update ? 2 : 1);
    }
};

// Philox draws of one case: (seed, case number) name them.
class Draw {
 public:
    Draw(std::uint64_t seed, std::uint64_t number) : seed_(seed), number_(number) {}

    Buffer input(std::string name, std::int64_t n, double deviation = 1, double mean = 0) {
        return {std::move(name), Role::input, normal(n, deviation, mean)};
    }
    Buffer update(std::string name, std::int64_t n) { return {std::move(name), Role::update, normal(n, 1, 0)}; }

    std::vector<float> normal(std::int64_t n, double deviation, double mean) {
        std::vector<float> values(static_cast<std::size_t>(n));
        for (float& value : values) value = static_cast<float>(mean + deviation * philox_normal(next()));
        return values;
    }
    // Uniform in [0, limit).
    std::vector<std::int32_t> integers(std::int64_t n, std::int64_t limit) {
        std::vector<std::int32_t> values(static_cast<std::size_t>(n));
        for (std::int32_t& value : values)
            value = static_cast<std::int32_t>(philox_uniform(next().word[0]) * static_cast<double>(limit));
        return values;
    }
    // (B, K) ascending positions out of T.
    std::vector<std::int32_t> kept_rows(std::int64_t B, std::int64_t T, std::int64_t K) {
        std::vector<std::int32_t> index(static_cast<std::size_t>(B * K));
        std::vector<std::int64_t> sample(static_cast<std::size_t>(B));
        for (std::int64_t& id : sample) id = next().word[0];
        const std::int32_t layer = 0;
        reference::Exec exec;
        reference::select_kept_tokens(exec, index.data(), seed_, 0, &layer, 1, sample.data(), B, T, K);
        return index;
    }

 private:
    PhiloxBlock next() { return philox_block(seed_, RandomPurpose::tests, 0, 0, number_, position_++); }

    std::uint64_t seed_, number_;
    std::uint32_t position_ = 0;
};

inline Buffer output(std::string name, std::int64_t n) {
    return {std::move(name), Role::output, std::vector<float>(static_cast<std::size_t>(n))};
}

// A gradient: written over, or added to.
inline Buffer gradient(Draw& draw, std::string name, std::int64_t n, Accumulate accumulate) {
    Buffer buffer = accumulate == Accumulate::yes ? draw.update(std::move(name), n) : output(std::move(name), n);
    buffer.floor = 1;  // a sum over rows
    return buffer;
}

template <class... Sizes>
std::string shape_text(const char* op, Sizes... sizes) {
    std::string text = op;
    (text.append(1, ' ').append(std::to_string(sizes)), ...);
    return text;
}

}  // namespace deft::kernels::cases
