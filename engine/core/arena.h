#pragma once
// Memory planned before the first step. A plan is run twice: the first pass counts, commit() allocates one block, the
// second pass hands out the same tensors, backed by memory. A training step allocates nothing.

#include <array>
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

// A region's buffers lie by their sides, these in this order, in whatever order the buffers were added.
enum class Side { front, back, divided_front, divided_back };
inline constexpr int kSides = 4;

// One planned buffer, without its trailing padding.
struct PlannedBuffer {
    Region region = Region::parameters;
    std::string name;
    Tensor shape;  // without memory
    std::int64_t bytes = 0;
};

struct PlannedMemory {
    std::int64_t bytes = 0;
    std::vector<PlannedBuffer> buffers = {};            // in the order in which they were added; the workspace last
    std::array<std::int64_t, kRegions> region_bytes{};  // padding counted
};

// One line a buffer, then the sums: what `deft plan --memory` prints.
std::string table_of(const PlannedMemory& memory);

// Elements of a buffer including its trailing padding.
std::int64_t padded_elements(std::int64_t elements);

class Arena {
 public:
    explicit Arena(Device device = Device::cpu) : device_(device) {}
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // A named buffer; contiguous with the others of its region and side, each starting at a multiple of 16 elements,
    // zero at first.
    Tensor add(Region region, const std::string& name, DType dtype, std::initializer_list<std::int64_t> shape,
               Side side = Side::front);

    // A buffer of Region::activations that all who name it use in turn: as large as the largest of them.
    Tensor add_shared(const std::string& name, DType dtype, std::initializer_list<std::int64_t> shape);

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
    // All of a region's buffers, or those of one side, with the padding between them, as one flat tensor of that dtype.
    Tensor flat(Region region, DType dtype) const;
    Tensor flat(Region region, DType dtype, Side side) const;

    PlannedMemory planned() const;

 private:
    struct Buffer {
        Region region;
        Side side;
        bool shared;
        std::string name;
        Tensor shape;
        std::int64_t offset = 0;  // in the block; known from commit() on
    };
    std::int64_t side_bytes(Region region, Side side) const;
    std::int64_t side_start(Region region, Side side) const;
    std::int64_t region_start(Region region) const;
    Tensor placed(const Buffer& buffer, const Tensor& shape) const;
    Tensor flat_range(Region region, DType dtype, std::int64_t offset, std::int64_t bytes) const;

    Device device_;
    std::vector<Buffer> buffers_;
    std::int64_t workspace_bytes_ = 0;
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
