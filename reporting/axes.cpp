#include "reporting/axes.h"

#include <fmt/format.h>

#include "base/json.h"

namespace deft::reporting {

std::string Axes::budget_text() const {
    return fmt::format("{:g}%", budget_fraction * 100);
}

std::string Axes::others_text() const {
    std::string text;
    for (const auto& [key, value] : others) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
    return text;
}

Axes parse_axes(const std::string& axes_json) {
    Axes axes;
    const Json parsed = Json::parse(axes_json, nullptr, false);
    if (!parsed.is_object()) return axes;
    for (const auto& [key, value] : parsed.items()) {
        if (key == "train.budget_fraction" && value.is_number()) {
            axes.has_budget = true;
            axes.budget_fraction = value.get<double>();
        } else {
            axes.others[key] = value.is_string() ? value.get<std::string>() : value.dump();
        }
    }
    return axes;
}

}  // namespace deft::reporting
