#pragma once
// The cases of all ops, each made when it is asked for.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cases/op_case.h"

namespace deft::kernels::cases {

enum class Sizes {
    odd,    // small, and no multiple of anything: for tests
    model,  // of the models that `deft bench step` trains: for benchmarks
};

// A GPT and its step, as far as shapes go.
struct ModelSizes {
    std::int64_t B, T, C, H, V;

    std::int64_t rows() const { return B * T; }
    // Rows of the head: a vocabulary of 50,257 makes even a few rows a large product.
    std::int64_t head_rows() const { return V > 16'384 ? 128 : rows(); }
    std::int64_t kept() const { return T / 2; }  // tokens of a routed layer
};

inline std::vector<ModelSizes> model_sizes() {
    return {{16, 128, 128, 4, 8192}, {8, 256, 256, 8, 8192}, {2, 256, 768, 12, 50257}};
}

class CaseTable {
 public:
    explicit CaseTable(Sizes sizes) : sizes_(sizes) {}

    Sizes sizes() const { return sizes_; }
    std::size_t size() const { return makers_.size(); }
    // make(Draw): an OpCase.
    template <class Make>
    void add(Make make) {
        makers_.push_back(std::move(make));
    }
    // Case i is the same under a seed, whatever else is made.
    OpCase make(std::size_t i, std::uint64_t seed) const { return makers_.at(i)(Draw(seed, i)); }
    // Its name, FLOPs and bytes; the buffers are gone.
    OpCase describe(std::size_t i) const {
        OpCase op = makers_.at(i)(Draw(0, i, Fill::zeros));
        op.buffers.clear();
        return op;
    }

 private:
    Sizes sizes_;
    std::vector<std::function<OpCase(Draw)>> makers_;
};

}  // namespace deft::kernels::cases
