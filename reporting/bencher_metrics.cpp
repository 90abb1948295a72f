#include "reporting/bencher_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json.h"

namespace deft::reporting {

namespace {

constexpr std::size_t kLongestName = 1024;  // Bencher's limit, in bytes

// Cut between characters, and told apart from the names before it.
std::string free_name(const CheckFinding& finding, const Json& taken) {
    const std::string whole = finding.where.empty() ? finding.name : finding.name + ", " + finding.where;
    for (int count = 1;; ++count) {
        const std::string suffix = count == 1 ? "" : fmt::format(" ({})", count);
        std::size_t size = std::min(whole.size(), kLongestName - suffix.size());
        while (size > 0 && size < whole.size() && (whole[size] & 0xC0) == 0x80) --size;
        const std::string name = whole.substr(0, size) + suffix;
        if (!name.empty() && !taken.contains(name)) return name;
    }
}

void add(Json& metric, const char* key, const std::optional<double>& value, bool is_log) {
    if (!value) return;
    const double shown = is_log ? std::exp(*value) : *value;
    if (std::isfinite(shown)) metric[key] = shown;
}

}  // namespace

std::string render_bencher_metrics(const CheckReport& report) {
    Json all = Json::object();
    for (const CheckFinding& finding : report.findings) {
        const bool is_log = finding.check != "quality";
        Json metric = Json::object();
        add(metric, "value", finding.effect, is_log);
        if (metric.empty()) continue;
        add(metric, "lower_value", finding.lower, is_log);
        add(metric, "upper_value", finding.upper, is_log);
        all[free_name(finding, all)][is_log ? "time_ratio" : "difference"] = metric;
    }
    return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace deft::reporting
