#include "sweeps/spec/select.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggestion.h"

namespace deft::sweeps {

namespace {

// "cl[budget_fraction=0.5]" of "cl[budget_fraction=0.5]/1".
std::string row_of(const Point& point) {
    const std::string name = point.name();
    return name.substr(0, name.rfind('/'));
}

bool means(const std::string& name, const Point& point) {
    return name == point.case_name || name == point.name() || name == row_of(point);
}

// Whether it may be a row or a trial of that case.
bool is_within(const std::string& name, const Case& entry) {
    return name.starts_with(entry.name) &&
           (name.size() == entry.name.size() || std::string("[:/").find(name[entry.name.size()]) != std::string::npos);
}

}  // namespace

bool is_selected(const Point& point, const std::vector<std::string>& names) {
    return names.empty() ||
           std::any_of(names.begin(), names.end(), [&](const std::string& name) { return means(name, point); });
}

std::vector<char> selected_points(const std::vector<Point>& points, const std::vector<std::string>& names) {
    std::vector<char> selected(points.size(), 0);
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!is_selected(points[i], names)) continue;
        selected[i] = 1;
        const bool is_whole_case = std::find(names.begin(), names.end(), points[i].case_name) != names.end();
        if (names.empty() || is_whole_case) continue;
        for (auto start = points[i].parent; start; start = points[*start].parent) selected[*start] = 1;
    }
    return selected;
}

void require_selected(const Spec& spec, const std::vector<Point>& points, const std::vector<std::string>& names) {
    std::vector<std::string> known;
    for (const Case& entry : spec.cases) known.push_back(entry.name);
    for (const Point& point : points)
        for (std::string name : {row_of(point), point.name()})
            if (known.empty() || known.back() != name) known.push_back(std::move(name));
    for (const std::string& name : names) {
        if (spec.find_case(name) != nullptr) continue;
        if (std::any_of(points.begin(), points.end(), [&](const Point& point) { return means(name, point); })) continue;
        throw Error(ErrorKind::usage, fmt::format("the sweep {} has no case, row or trial {}", spec.name, name),
                    suggestion(name, known, "deft status lists a sweep's trials"));
    }
}

void require_selectable(const Spec& spec, const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (std::none_of(spec.cases.begin(), spec.cases.end(),
                         [&](const Case& entry) { return is_within(name, entry); }))
            require_cases(spec, {name});
}

std::vector<std::string> split_names(const std::string& text) {
    std::vector<std::string> names(1);
    int depth = 0;
    for (const char c : text) {
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (c == ',' && depth <= 0)
            names.emplace_back();
        else
            names.back() += c;
    }
    return names;
}

}  // namespace deft::sweeps
