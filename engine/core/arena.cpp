#include "engine/core/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"

namespace deft::engine {

namespace {

constexpr std::int64_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::int64_t round_up(std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::string human_bytes(std::int64_t bytes) {
    if (bytes < 1 << 20) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

const char* region_name(Region region) {
    constexpr const char* names[kRegions] = {"parameters", "gradients", "optimizer", "activations", "workspace"};
    return names[static_cast<int>(region)];
}

Arena::~Arena() {
    if (block_ != nullptr) munmap(block_, mapped_bytes_);
}

Tensor Arena::add(Region region, const std::string& name, DType dtype, std::initializer_list<std::int64_t> shape) {
    Tensor tensor = make_tensor(nullptr, dtype, shape);
    if (!committed()) {
        std::int64_t& used = region_bytes_[static_cast<int>(region)];
        buffers_.push_back({region, name, tensor, used});
        used += round_up(tensor.bytes());
        return tensor;
    }
    if (next_ >= buffers_.size() || buffers_[next_].name != name || buffers_[next_].shape.bytes() != tensor.bytes())
        throw std::logic_error("the second pass of a memory plan differs from the first at " + name);
    tensor.data = static_cast<char*>(block_) + region_start(region) + buffers_[next_].offset;
    ++next_;
    return tensor;
}

void Arena::reserve_workspace(std::size_t bytes) {
    if (committed()) return;
    std::int64_t& reserved = region_bytes_[static_cast<int>(Region::workspace)];
    reserved = std::max(reserved, round_up(static_cast<std::int64_t>(bytes)));
}

Tensor Arena::workspace() const {
    if (!committed()) return {};
    return make_tensor(static_cast<char*>(block_) + region_start(Region::workspace), DType::i32,
                       {region_bytes(Region::workspace) / 4});
}

void Arena::commit() {
    mapped_bytes_ = (static_cast<std::size_t>(total_bytes()) / kHugePage + 1) * kHugePage;
    void* block = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        throw Error(
            ErrorKind::memory, fmt::format("cannot allocate {} for training", human_bytes(total_bytes())),
            "lower train.micro_batch_size, model.seqlen or model.width (`deft plan --memory` shows each buffer)");
    madvise(block, mapped_bytes_, MADV_HUGEPAGE);
    block_ = block;
}

std::int64_t Arena::total_bytes() const {
    std::int64_t bytes = 0;
    for (const std::int64_t part : region_bytes_) bytes += part;
    return bytes;
}

std::int64_t Arena::region_bytes(Region region) const {
    return region_bytes_[static_cast<int>(region)];
}

std::int64_t Arena::region_start(Region region) const {
    std::int64_t start = 0;
    for (int i = 0; i < static_cast<int>(region); ++i) start += region_bytes_[i];
    return start;
}

Tensor Arena::flat(Region region, DType dtype) const {
    if (!committed()) return make_tensor(nullptr, dtype, {region_bytes(region) / size_of(dtype)});
    return make_tensor(static_cast<char*>(block_) + region_start(region), dtype,
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
