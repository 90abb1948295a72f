#pragma once
// Memory planned before the first step. A plan is run twice: the first pass counts, commit() allocates one block, the
// second pass hands out the same tensors with memory behind them. A training step allocates nothing.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "engine/core/memory.h"
#include "engine/core/tensor.h"

namespace deft::engine {

// rounded: the weights in the dtype of the activations, where that is shorter than their own.
enum class Region { parameters, rounded, gradients, optimizer, activations, workspace };
inline constexpr int kRegions = 6;
const char* region_name(Region region);

class Arena {
 public:
    explicit Arena(Device device = Device::cpu) : device_(device) {}
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // A named buffer; contiguous with its region's other buffers, each starting at a multiple of 16 elements, zero
    // at first.
    Tensor add(Region region, const std::string& name, DType dtype, std::initializer_list<std::int64_t> shape);

    // The workspace is one buffer as large as the greediest kernel asks.
    void reserve_workspace(std::size_t bytes);
    Tensor workspace() const;  // (bytes / 4) i32, empty before commit()

    // Ends the first pass: opens the device, and allocates. Errors: missing, for a device that is not there; memory,
    // naming the bytes and what to lower.
    void commit();
    const DeviceContext& context() const { return context_; }  // null before commit(), and on a CPU

    Device device() const { return device_; }
    bool committed() const { return block_ != nullptr; }
    std::int64_t total_bytes() const;
    std::int64_t region_bytes(Region region) const;
    // All of a region's buffers, with the padding between them, as one flat tensor of that dtype.
    Tensor flat(Region region, DType dtype) const;

    // One line a buffer, then the sums: what `deft plan --memory` prints.
    std::string table() const;

 private:
    struct Buffer {
        Region region;
        std::string name;
        Tensor shape;
        std::int64_t offset;  // in its region
    };
    std::int64_t region_start(Region region) const;

    Device device_;
    std::vector<Buffer> buffers_;
    std::int64_t region_bytes_[kRegions] = {};
    std::size_t next_ = 0;  // second pass: the buffer expected next
    DeviceContext context_;
    Memory block_{nullptr, nullptr};
};

// Runs `plan(arena)` twice around commit() and returns what the second run returned.
template <class Plan>
auto plan_and_commit(Arena& arena, Plan&& plan) {
    plan(arena);
    arena.commit();
    return plan(arena);
}

}  // namespace deft::engine
