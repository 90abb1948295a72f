#include "sweeps/gate/bench_noise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/median.h"
#include "base/text.h"
#include "reporting/numbers.h"

namespace deft::sweeps {

namespace {

using kernels::BenchResult;
using kernels::CacheState;

constexpr double kHighSpread = 0.05;  // of the median
constexpr double kFarPeak = 0.2;      // of the last one
constexpr std::size_t kMostNamed = 3;

struct PeakWords {
    const char *key, *name, *unit;
};

constexpr PeakWords kPeakWords[] = {
    {"avx2_flops", "AVX2 FMA", "FLOP/s"},      {"avx512_flops", "AVX-512 FMA", "FLOP/s"},
    {"memory_read", "memory read", "B/s"},     {"memory_copy", "memory copy", "B/s"},
    {"memory_update", "memory update", "B/s"}, {"cached_read", "L2 read", "B/s"},
    {"f32_flops", "product in f32", "FLOP/s"}, {"bf16_flops", "product in bf16", "FLOP/s"},
};

double number_at(const Json& peaks, const char* key) {
    const auto found = peaks.find(key);
    return found != peaks.end() && found->is_number() ? found->get<double>() : 0;
}

std::vector<std::string> far_peaks(const Json& now, const Json& last) {
    std::vector<std::string> far;
    if (!now.is_object() || !last.is_object()) return far;
    for (const PeakWords& peak : kPeakWords) {
        const double is = number_at(now, peak.key), was = number_at(last, peak.key);
        if (is > 0 && was > 0 && std::abs(is / was - 1) > kFarPeak)
            far.push_back(fmt::format("{} {} now, {} before", peak.name, reporting::si(is, peak.unit),
                                      reporting::si(was, peak.unit)));
    }
    return far;
}

Json device_of(const Json& peaks) {
    return peaks.is_object() ? peaks.value("cuda", Json()) : Json();
}

std::string row_name(const BenchResult& row) {
    return fmt::format("{} {} {}", row.name, row.backend, to_string(row.state));
}

std::string spread_note(std::span<const BenchResult> results) {
    std::vector<std::pair<double, std::string>> wide;
    for (const BenchResult& row : results) {
        if (row.seconds.empty()) continue;
        const MedianTime time = median_time(row.seconds);
        if (const double spread = time.deviation / time.median; spread > kHighSpread)
            wide.emplace_back(spread, fmt::format("{} ({:.0f}%)", row_name(row), 100 * spread));
    }
    if (wide.empty()) return {};
    std::stable_sort(wide.begin(), wide.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> names;
    for (const auto& [spread, name] : wide) names.push_back(name);
    return fmt::format(
        "Noise: repetitions spread by more than {:.0f}% (MAD) in {}. Close other programs, or measure longer with "
        "--min-time.",
        100 * kHighSpread, first_of(names, kMostNamed));
}

const BenchResult* hot_row_of(const BenchResult& cold, std::span<const BenchResult> results) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const BenchResult& row) {
        return row.name == cold.name && row.backend == cold.backend && row.state == CacheState::hot;
    });
    return found == results.end() || found->seconds.empty() ? nullptr : &*found;
}

// Faster by more than either spreads.
bool is_clearly_faster(const MedianTime& a, const MedianTime& b) {
    return a.median + a.deviation < b.median - b.deviation && a.median < (1 - kHighSpread) * b.median;
}

std::string cold_note(std::span<const BenchResult> results) {
    std::vector<std::string> names;
    for (const BenchResult& cold : results) {
        if (cold.state != CacheState::cold || cold.seconds.empty()) continue;
        const BenchResult* hot = hot_row_of(cold, results);
        if (hot == nullptr) continue;
        const MedianTime of_cold = median_time(cold.seconds), of_hot = median_time(hot->seconds);
        if (is_clearly_faster(of_cold, of_hot))
            names.push_back(fmt::format("{} {} ({} cold, {} hot)", cold.name, cold.backend,
                                        reporting::small_seconds(of_cold.median),
                                        reporting::small_seconds(of_hot.median)));
    }
    if (names.empty()) return {};
    return fmt::format(
        "Noise: cold caches were faster than hot ones in {}. Load or clock changed between the rows; measure them "
        "again.",
        first_of(names, kMostNamed));
}

}  // namespace

MedianTime median_time(std::vector<double> seconds) {
    MedianTime time{median(seconds), 0};
    for (double& value : seconds) value = std::abs(value - time.median);
    time.deviation = median(seconds);
    return time;
}

std::vector<std::string> noise_notes(std::span<const BenchResult> results) {
    std::vector<std::string> notes;
    for (std::string note : {spread_note(results), cold_note(results)})
        if (!note.empty()) notes.push_back(std::move(note));
    return notes;
}

std::string step_noise_note(const std::vector<double>& seconds) {
    if (seconds.empty()) return {};
    const MedianTime time = median_time(seconds);
    if (!(time.deviation > kHighSpread * time.median)) return {};
    return fmt::format(
        "Noise: the profiled steps spread by {:.0f}% (MAD). Where no schedule grows, close other programs, or profile "
        "more --steps.",
        100 * time.deviation / time.median);
}

std::string peaks_note(const Json& now, const Json& last, int threads) {
    std::vector<std::string> far = far_peaks(now, last);
    const Json device = device_of(now), last_device = device_of(last);
    if (device.is_object() && last_device.is_object() && device.value("device", "") == last_device.value("device", " "))
        for (std::string& one : far_peaks(device, last_device)) far.push_back(one + " (GPU)");
    if (far.empty()) return {};
    return fmt::format(
        "Noise: peaks are far from those of this machine's last run on {} thread(s): {}. Times of the two runs do "
        "not compare.",
        threads, fmt::join(far, "; "));
}

}  // namespace deft::sweeps
