#pragma once
// One op with shapes and random inputs: what tests hold against the reference and what benchmarks time.

#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/bf16.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cuda/cuda.h"
#include "kernels/philox.h"
#include "kernels/reference/layers.h"
#include "kernels/reference/training.h"
#include "kernels/work.h"
#include "kernels/zipf.h"

namespace deft::kernels::cases {

enum class Role {
    input,   // only read
    output,  // written whole, never read
    update,  // read and written, or written in part
};

// Storage type of a buffer in a backend whose activations are Real.
enum class Item {
    real,     // Real
    sum,      // Sum<Real>: statistics, losses, gradients of weights, master weights
    wide,     // double
    single,   // float, whatever Real is
    rounded,  // bf16, whatever Real is
    index,    // std::int32_t
    id,       // std::int64_t
    byte,     // std::uint8_t
};

struct Buffer {
    std::string name;
    Role role;
    std::vector<float> value;  // what it holds before the run; of an output only the size counts
    // Mean square below which an output's error is taken as absolute: for few values, or sums that may cancel.
    double floor = 1e-2;
    Item item = Item::real;
    bool of_rounded = false;  // of an Item::sum: summed from values that the op has rounded to Real
};

// The buffers of a run, in order. Each is asked for as what it is stored as.
template <class Real>
class Arguments {
 public:
    Arguments(std::span<const Buffer> buffers, std::span<void* const> data) : buffers_(buffers), data_(data) {}

    Real* operator[](std::size_t i) const { return get<Real>(i, Item::real); }
    Sum<Real>* sum(std::size_t i) const { return get<Sum<Real>>(i, Item::sum); }
    float* single(std::size_t i) const { return get<float>(i, Item::single); }
    double* wide(std::size_t i) const { return get<double>(i, Item::wide); }
    bf16* rounded(std::size_t i) const { return get<bf16>(i, Item::rounded); }
    std::int32_t* index(std::size_t i) const { return get<std::int32_t>(i, Item::index); }
    std::int64_t* id(std::size_t i) const { return get<std::int64_t>(i, Item::id); }
    std::uint8_t* byte(std::size_t i) const { return get<std::uint8_t>(i, Item::byte); }

 private:
    template <class Stored>
    Stored* get(std::size_t i, Item item) const {
        if (buffers_[i].item != item) throw std::logic_error("buffer " + buffers_[i].name + " is of another type");
        return static_cast<Stored*>(data_[i]);
    }

    std::span<const Buffer> buffers_;
    std::span<void* const> data_;
};

// The function that a backward op differentiates, for a check by finite differences in double.
struct Derivative {
    // A written buffer, and the input of the forward op in which it is the gradient: a buffer of the case, or none of
    // them, since a linear function's derivative does not ask where it is taken. The check then invents values.
    struct Gradient {
        std::size_t gradient;
        std::optional<std::size_t> variable;
    };
    std::vector<Gradient> gradients;
    // The outputs of the forward op weighted by their gradients, at `variable`, in the order of `gradients`. What the
    // backward op reads of the forward one, such as statistics, is left in the buffers.
    std::function<double(reference::Exec&, const Arguments<double>&, std::span<double* const> variable)> loss;
};

inline double weighted_sum(const double* weight, const std::vector<double>& output) {
    return reference::dot(weight, output.data(), static_cast<std::int64_t>(output.size()));
}

struct OpCase {
    std::string name;  // op and shape
    std::vector<Buffer> buffers;
    std::function<void(cpu::Exec&, const Arguments<float>&)> cpu;
    std::function<void(reference::Exec&, const Arguments<double>&)> reference;
    std::function<void(cuda::Exec&, const Arguments<float>&)> cuda_f32;  // this and the next: where CUDA is built
    std::function<void(cuda::Exec&, const Arguments<bf16>&)> cuda_bf16;
    std::function<std::size_t(int threads)> workspace = [](int) { return std::size_t{0}; };
    std::function<std::size_t()> cuda_workspace = [] { return std::size_t{0}; };
    double flops = 0, bytes = 0;  // work and least memory traffic of one run
    double bf16_bytes = 0;        // that traffic where activations are bf16
    double tolerance = 1e-10;     // largest normalised mean squared error of each written buffer
    // How often a value on its way to an output may be rounded to Real, with a margin where later terms cancel. A
    // rounding to bf16 errs by at most 2^-8 of a value, so the normalised mean squared error is at most (n 2^-8)^2.
    int roundings = 1;
    Derivative derivative;  // of a backward op

    // One generic lambda serves all: the type of its Exec selects the namespace by argument-dependent lookup.
    template <class Run>
    void set_run(Run run) {
        cpu = run;
        set_run_without_cpu(run);
    }
    // For an op that a CPU has no use for.
    template <class Run>
    void set_run_without_cpu(Run run) {
        reference = run;
        if constexpr (cuda::kBuilt) {
            cuda_f32 = run;
            cuda_bf16 = run;
        }
    }
    // bytes: a lambda of one argument of any type, so that its body is compiled only where CUDA is built.
    template <class Bytes>
    void set_cuda_workspace(Bytes bytes_needed) {
        if constexpr (cuda::kBuilt) cuda_workspace = [=] { return bytes_needed(0); };
    }
    void set_work(const Work& work) {
        flops = work.flops;
        bytes = work.bytes(sizeof(float), sizeof(float));
        bf16_bytes = work.bytes(sizeof(bf16), sizeof(float));
    }
};

inline Buffer stored_as(Item item, Buffer buffer) {
    buffer.item = item;
    return buffer;
}

enum class Fill {
    random,
    zeros,  // where only names and sizes matter: drawing takes longer than many an op
};

// Philox draws of one case: (seed, case number) name them.
class Draw {
 public:
    Draw(std::uint64_t seed, std::uint64_t number, Fill fill = Fill::random)
        : seed_(seed), number_(number), fill_(fill) {}

    std::uint64_t seed() const { return seed_; }

    Buffer input(std::string name, std::int64_t n, double deviation = 1, double mean = 0) {
        return {std::move(name), Role::input, normal(n, deviation, mean)};
    }
    Buffer update(std::string name, std::int64_t n) { return {std::move(name), Role::update, normal(n, 1, 0)}; }

    std::vector<float> normal(std::int64_t n, double deviation, double mean) {
        std::vector<float> values(static_cast<std::size_t>(n));
        if (fill_ == Fill::zeros) return values;
        for (float& value : values) value = static_cast<float>(mean + deviation * philox_normal(next()));
        return values;
    }
    // Uniform in [0, limit).
    std::vector<std::int32_t> integers(std::int64_t n, std::int64_t limit) {
        std::vector<std::int32_t> values(static_cast<std::size_t>(n));
        if (fill_ == Fill::zeros) return values;
        for (std::int32_t& value : values)
            value = static_cast<std::int32_t>(philox_uniform(next().word[0]) * static_cast<double>(limit));
        return values;
    }
    // Ids of V tokens that are as unevenly frequent as words; frequent ones are not adjacent.
    std::vector<std::int32_t> tokens(std::int64_t n, std::int64_t V) {
        constexpr std::int64_t kPrime = 7919;
        std::vector<std::int32_t> ids(static_cast<std::size_t>(n));
        if (fill_ == Fill::zeros) return ids;
        for (std::int32_t& id : ids)
            id = static_cast<std::int32_t>(zipf_rank(philox_uniform(next().word[0]), V) * kPrime % V);
        return ids;
    }
    // (B, K) ascending positions out of T.
    std::vector<std::int32_t> kept_rows(std::int64_t B, std::int64_t T, std::int64_t K) {
        std::vector<std::int32_t> index(static_cast<std::size_t>(B * K));
        if (fill_ == Fill::zeros) return index;
        std::vector<std::int64_t> sample(static_cast<std::size_t>(B));
        for (std::int64_t& id : sample) id = next().word[0];
        const std::int32_t layer = 0;
        reference::Exec exec;
        reference::select_kept_tokens(exec, index.data(), RandomKeys{seed_, 0, &layer, sample.data(), B, {}}, B, T, K);
        return index;
    }

 private:
    PhiloxBlock next() { return philox_block(seed_, RandomPurpose::tests, 0, 0, number_, position_++); }

    std::uint64_t seed_, number_;
    Fill fill_;
    std::uint32_t position_ = 0;
};

inline Buffer output(std::string name, std::int64_t n) {
    return {std::move(name), Role::output, std::vector<float>(static_cast<std::size_t>(n))};
}

inline Buffer sum_output(std::string name, std::int64_t n) {
    return stored_as(Item::sum, output(std::move(name), n));
}

// A gradient: written over, or added to.
inline Buffer gradient(Draw& draw, std::string name, std::int64_t n, Accumulate accumulate) {
    Buffer buffer = accumulate == Accumulate::yes ? draw.update(std::move(name), n) : output(std::move(name), n);
    buffer.floor = 1;  // a sum over rows
    return stored_as(Item::sum, std::move(buffer));
}

// Integers, all less than 2^24.
inline Buffer integer_input(std::string name, const std::vector<std::int32_t>& values) {
    return stored_as(Item::index, {std::move(name), Role::input, {values.begin(), values.end()}});
}

// Real tokens of each sample: none of one, all of another, and anything between.
inline Buffer lengths(Draw& draw, std::int64_t B, std::int64_t T) {
    std::vector<std::int32_t> length = draw.integers(B, T + 1);
    if (B > 1) length[0] = static_cast<std::int32_t>(T);
    if (B > 2) length[1] = 0;
    return integer_input("length", length);
}

// Where packed samples of such lengths start, and where the last ends: (B + 1).
inline Buffer starts(Draw& draw, std::int64_t B, std::int64_t T) {
    Buffer start = lengths(draw, B, T);
    start.name = "start";
    start.value.insert(start.value.begin(), 0.0f);
    std::partial_sum(start.value.begin(), start.value.end(), start.value.begin());
    return start;
}

// " gelu": series of benchmarks know the tanh form under this name.
inline std::string activation_text(Activation act) {
    switch (act) {
        case Activation::none:
            return "";
        case Activation::gelu_tanh:
            return " gelu";
        case Activation::gelu_erf:
            return " gelu_erf";
        case Activation::tanh:
            return " tanh";
        case Activation::swiglu:
            break;
    }
    return " swiglu";
}

template <class... Sizes>
std::string shape_text(const char* op, Sizes... sizes) {
    std::string text = op;
    (text.append(1, ' ').append(std::to_string(sizes)), ...);
    return text;
}

}  // namespace deft::kernels::cases
