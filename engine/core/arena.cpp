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

std::string human_bytes(std::int64_t bytes) {
    if (bytes < 1 << 20) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

const char* region_name(Region region) {
    constexpr const char* names[kRegions] = {"parameters",  "rounded", "gradients", "optimizer",
                                             "activations", "workspace"};
    return names[static_cast<int>(region)];
}

Tensor Arena::add(Region region, const std::string& name, DType dtype, std::initializer_list<std::int64_t> shape) {
    Tensor tensor = make_tensor(nullptr, dtype, shape);
    if (!committed()) {
        std::int64_t& used = region_bytes_[static_cast<int>(region)];
        buffers_.push_back({region, name, tensor, used});
        used += round_up(tensor.numel(), kAlignedElements) * size_of(dtype);
        return tensor;
    }
    if (next_ >= buffers_.size() || buffers_[next_].name != name || buffers_[next_].shape.bytes() != tensor.bytes())
        throw std::logic_error("the second pass of a memory plan differs from the first at " + name);
    tensor.data = static_cast<char*>(block_.get()) + region_start(region) + buffers_[next_].offset;
    ++next_;
    return tensor;
}

void Arena::reserve_workspace(std::size_t bytes) {
    if (committed()) return;
    std::int64_t& reserved = region_bytes_[static_cast<int>(Region::workspace)];
    reserved = std::max(reserved, round_up(static_cast<std::int64_t>(bytes), 64));
}

Tensor Arena::workspace() const {
    if (!committed()) return {};
    return make_tensor(static_cast<char*>(block_.get()) + region_start(Region::workspace), DType::i32,
                       {region_bytes(Region::workspace) / 4});
}

void Arena::commit() {
    context_ = open_device(device_);
    block_ = allocate(device_, static_cast<std::size_t>(total_bytes()));
}

std::int64_t Arena::total_bytes() const {
    return region_start(static_cast<Region>(kRegions));
}

std::int64_t Arena::region_bytes(Region region) const {
    return region_bytes_[static_cast<int>(region)];
}

std::int64_t Arena::region_start(Region region) const {
    std::int64_t start = 0;
    for (int i = 0; i < static_cast<int>(region); ++i) start += round_up(region_bytes_[i], kRegionAlignment);
    return start;
}

Tensor Arena::flat(Region region, DType dtype) const {
    if (!committed()) return make_tensor(nullptr, dtype, {region_bytes(region) / size_of(dtype)});
    return make_tensor(static_cast<char*>(block_.get()) + region_start(region), dtype,
                       {region_bytes(region) / size_of(dtype)});
}

std::string Arena::table() const {
    std::string text = fmt::format("{:<12} {:<28} {:<26} {:>12}\n", "region", "buffer", "shape", "bytes");
    for (const Buffer& buffer : buffers_)
        text += fmt::format("{:<12} {:<28} {:<26} {:>12}\n", region_name(buffer.region), buffer.name,
                            buffer.shape.shape_text(), buffer.shape.bytes());
    for (int i = 0; i < kRegions; ++i)
        text += fmt::format("{:<12} {:<28} {:<26} {:>12}\n", region_name(static_cast<Region>(i)), "total", "",
                            human_bytes(region_bytes_[i]));
    return text + fmt::format("{:<12} {:<28} {:<26} {:>12}\n", "all", "total", "", human_bytes(total_bytes()));
}

}  // namespace deft::engine
