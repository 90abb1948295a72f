#include "engine/core/arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace deft::engine {

namespace {

// Buffers of one region hold the same elements at the same places in every dtype.
constexpr std::int64_t kAlignedElements = 16;
constexpr std::int64_t kRegionAlignment = 256;  // bytes

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

std::int64_t padded_bytes(const Tensor& tensor) {
    return padded_elements(tensor.numel()) * size_of(tensor.dtype);
}

std::string human_bytes(std::int64_t bytes) {
    if (bytes < 1 << 20) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

std::int64_t padded_elements(std::int64_t elements) {
    return round_up(elements, kAlignedElements);
}

const char* region_name(Region region) {
    constexpr const char* names[kRegions] = {"parameters", "rounded",     "gradients",
                                             "optimizer",  "activations", "workspace"};
    return names[static_cast<int>(region)];
}

Tensor Arena::add(Region region, const std::string& name, DType dtype, std::initializer_list<std::int64_t> shape,
                  Side side) {
    const Tensor tensor = make_tensor(nullptr, dtype, shape);
    if (!committed()) {
        buffers_.push_back({region, side, false, name, tensor});
        return tensor;
    }
    while (next_ < buffers_.size() && buffers_[next_].shared) ++next_;
    if (next_ >= buffers_.size() || buffers_[next_].name != name || buffers_[next_].shape.bytes() != tensor.bytes())
        throw std::logic_error("the second pass of a memory plan differs from the first at " + name);
    return placed(buffers_[next_++], tensor);
}

Tensor Arena::add_shared(const std::string& name, DType dtype, std::initializer_list<std::int64_t> shape) {
    const Tensor tensor = make_tensor(nullptr, dtype, shape);
    const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                    [&](const Buffer& buffer) { return buffer.shared && buffer.name == name; });
    if (committed()) {
        if (found == buffers_.end() || found->shape.bytes() < tensor.bytes())
            throw std::logic_error("the second pass of a memory plan differs from the first at " + name);
        return placed(*found, tensor);
    }
    if (found == buffers_.end())
        buffers_.push_back({Region::activations, Side::front, true, name, tensor});
    else if (found->shape.bytes() < tensor.bytes())
        found->shape = tensor;
    return tensor;
}

Tensor Arena::placed(const Buffer& buffer, const Tensor& shape) const {
    Tensor tensor = shape;
    tensor.data = static_cast<char*>(block_.get()) + buffer.offset;
    return tensor;
}

void Arena::reserve_workspace(std::size_t bytes) {
    if (committed()) return;
    workspace_bytes_ = std::max(workspace_bytes_, round_up(static_cast<std::int64_t>(bytes), 64));
}

Tensor Arena::workspace() const {
    if (!committed()) return {};
    return make_tensor(static_cast<char*>(block_.get()) + region_start(Region::workspace), DType::i32,
                       {region_bytes(Region::workspace) / 4});
}

void Arena::commit() {
    context_ = open_device(device_);
    std::int64_t next_of[kRegions][kSides] = {};
    for (int i = 0; i < kRegions; ++i)
        for (int side = 0; side < kSides; ++side) {
            const auto region = static_cast<Region>(i);
            next_of[i][side] = region_start(region) + side_start(region, static_cast<Side>(side));
        }
    for (Buffer& buffer : buffers_) {
        std::int64_t& next = next_of[static_cast<int>(buffer.region)][static_cast<int>(buffer.side)];
        buffer.offset = next;
        next += padded_bytes(buffer.shape);
    }
    block_ = allocate(device_, static_cast<std::size_t>(total_bytes()));
}

std::int64_t Arena::total_bytes() const {
    return region_start(static_cast<Region>(kRegions));
}

std::int64_t Arena::side_bytes(Region region, Side side) const {
    std::int64_t bytes = 0;
    for (const Buffer& buffer : buffers_)
        if (buffer.region == region && buffer.side == side) bytes += padded_bytes(buffer.shape);
    return bytes;
}

// In the region.
std::int64_t Arena::side_start(Region region, Side side) const {
    std::int64_t start = 0;
    for (int i = 0; i < static_cast<int>(side); ++i) start += side_bytes(region, static_cast<Side>(i));
    return start;
}

std::int64_t Arena::region_bytes(Region region) const {
    return region == Region::workspace ? workspace_bytes_ : side_start(region, static_cast<Side>(kSides));
}

std::int64_t Arena::region_start(Region region) const {
    std::int64_t start = 0;
    for (int i = 0; i < static_cast<int>(region); ++i)
        start += round_up(region_bytes(static_cast<Region>(i)), kRegionAlignment);
    return start;
}

Tensor Arena::flat_range(Region region, DType dtype, std::int64_t offset, std::int64_t bytes) const {
    void* data = committed() ? static_cast<char*>(block_.get()) + region_start(region) + offset : nullptr;
    return make_tensor(data, dtype, {bytes / size_of(dtype)});
}

Tensor Arena::flat(Region region, DType dtype) const {
    return flat_range(region, dtype, 0, region_bytes(region));
}

Tensor Arena::flat(Region region, DType dtype, Side side) const {
    return flat_range(region, dtype, side_start(region, side), side_bytes(region, side));
}

PlannedMemory Arena::planned() const {
    PlannedMemory memory{total_bytes()};
    for (const Buffer& buffer : buffers_)
        memory.buffers.push_back({buffer.region, buffer.name, buffer.shape, buffer.shape.bytes()});
    const std::int64_t workspace = region_bytes(Region::workspace);
    if (workspace > 0)
        memory.buffers.push_back(
            {Region::workspace, "workspace", make_tensor(nullptr, DType::i32, {workspace / 4}), workspace});
    for (int i = 0; i < kRegions; ++i)
        memory.region_bytes[static_cast<std::size_t>(i)] = region_bytes(static_cast<Region>(i));
    return memory;
}

std::string table_of(const PlannedMemory& memory) {
    std::size_t name_width = 6, shape_width = 5;
    const auto is_listed = [](const PlannedBuffer& buffer) { return buffer.region != Region::workspace; };
    for (const PlannedBuffer& buffer : memory.buffers) {
        if (!is_listed(buffer)) continue;
        name_width = std::max(name_width, buffer.name.size());
        shape_width = std::max(shape_width, buffer.shape.shape_text().size());
    }
    const auto line = [&](const char* region, const std::string& name, const std::string& shape, const auto& bytes) {
        return fmt::format("{:<11}  {:<{}}  {:<{}}  {:>11}\n", region, name, name_width, shape, shape_width, bytes);
    };
    std::string text = line("region", "buffer", "shape", "bytes");
    for (const PlannedBuffer& buffer : memory.buffers)
        if (is_listed(buffer))
            text += line(region_name(buffer.region), buffer.name, buffer.shape.shape_text(), buffer.bytes);
    for (int i = 0; i < kRegions; ++i)
        text += line(region_name(static_cast<Region>(i)), "total", "",
                     human_bytes(memory.region_bytes[static_cast<std::size_t>(i)]));
    return text + line("all", "total", "", human_bytes(memory.bytes));
}

}  // namespace deft::engine
