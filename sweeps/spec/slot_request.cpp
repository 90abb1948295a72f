#include "sweeps/spec/slot_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace deft::sweeps {

namespace {

constexpr int kMostSlots = 1024;

std::optional<int> parse_count(std::string_view text) {
    int count = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, count);
    if (parsed.ec != std::errc() || parsed.ptr != end || count < 1 || count > kMostSlots) return {};
    return count;
}

// N, N/K or N/auto.
bool parse_gpus(std::string_view text, SlotRequest& request) {
    const std::size_t slash = text.find('/');
    const auto cards = parse_count(text.substr(0, slash));
    const std::string_view share = slash == std::string_view::npos ? "1" : text.substr(slash + 1);
    const auto per_gpu = share == "auto" ? std::optional(0) : parse_count(share);
    if (!cards || !per_gpu) return false;
    request.count = *cards;
    request.per_gpu = *per_gpu;
    return true;
}

}  // namespace

SlotRequest parse_slots(const std::string& text, const Place& place) {
    using Where = SlotRequest::Where;
    SlotRequest request;
    request.text = text;
    if (text == "auto") return request;
    const std::string_view rest = std::string_view(text).substr(std::min<std::size_t>(4, text.size()));
    if (text.starts_with("cpu:")) {
        request.where = Where::cpu;
        request.count = parse_count(rest).value_or(0);
        if (request.count > 0) return request;
    }
    request.where = Where::gpu;
    if (text == "gpu" || (text.starts_with("gpu:") && parse_gpus(rest, request))) return request;
    throw Error(place.file.empty() ? ErrorKind::usage : ErrorKind::config, place,
                fmt::format("'{}' is not a number of workers", text),
                "write auto, cpu:2 for two trials at once, gpu:2 for one on each of two GPUs, gpu:1/2 for two on one, "
                "gpu:1/auto for as many on one as its memory holds");
}

void require_ranks_per_node(int ranks, int ranks_per_node, const Place& place) {
    if (ranks % ranks_per_node == 0) return;
    throw Error(place.file.empty() ? ErrorKind::usage : ErrorKind::config, place,
                fmt::format("ranks_per_node = {} does not divide ranks = {}", ranks_per_node, ranks),
                "each node has the same number of ranks of a trial: choose a divisor of ranks");
}

}  // namespace deft::sweeps
