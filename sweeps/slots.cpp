#include "sweeps/slots.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <thread>

namespace deft::sweeps {

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

int slot_count(const std::string& text, int threads, const Place& place) {
    if (text == "auto") return std::max(1, usable_cores() / std::max(1, threads));
    int count = 0;
    if (text.starts_with("cpu:")) {
        const char* end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data() + 4, end, count);
        if (parsed.ec == std::errc() && parsed.ptr == end && count >= 1 && count <= 1024) return count;
    }
    throw Error(place.file.empty() ? ErrorKind::usage : ErrorKind::config, place,
                fmt::format("'{}' says no number of slots", text), "write auto, or cpu:2 for two trials at once");
}

}  // namespace deft::sweeps
