#include "experiments/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/table_reader.h"

namespace deft::experiments {

namespace {

bool through_points(const Growth& growth) {
    return growth.pacing == GrowthPacing::discrete || growth.pacing == GrowthPacing::points;
}

std::vector<engine::PacingPoint> points_at(const std::vector<GrowthPoint>& points, std::int64_t duration) {
    std::vector<engine::PacingPoint> at;
    for (const GrowthPoint& p : points) at.push_back({std::llround(p.at * static_cast<double>(duration)), p.value});
    return at;
}

// [[0, 64], [0.5, 128], [1, 512]]
std::vector<GrowthPoint> parse_points(TableReader& table) {
    const ConfigNode* node = table.optional_node("points");
    if (node == nullptr) return {};
    using Kind = ConfigNode::Kind;
    std::vector<GrowthPoint> points;
    for (const ConfigNode& item : node->items) {
        const bool pair = item.kind == Kind::array && item.items.size() == 2 && item.items[1].kind == Kind::integer &&
                          (item.items[0].kind == Kind::real || item.items[0].kind == Kind::integer);
        if (!pair) table.refuse("points", "must be pairs of a fraction and an integer, as in [[0, 64], [1, 512]]");
        const ConfigNode& at = item.items[0];
        points.push_back({at.kind == Kind::real ? at.real : static_cast<double>(at.integer), item.items[1].integer});
    }
    if (std::any_of(points.begin(), points.end(), [](const GrowthPoint& p) { return !std::isfinite(p.at); }))
        table.refuse("points", "must be at finite fractions");
    if (points.size() < 2 || points.front().at != 0 || points.back().at != 1)
        table.refuse("points", "must begin at 0 and end at 1, the fractions of its duration");
    // A long duration keeps points apart that are apart at all.
    const std::string problem = engine::problem_of_points(points_at(points, std::int64_t{1} << 40));
    if (!problem.empty()) table.refuse("points", problem);
    return points;
}

void require_duration(TableReader& table, const Growth& growth) {
    if (growth.pacing == GrowthPacing::constant) {
        for (const char* key : {"duration", "steps"})
            if (table.optional_node(key) != nullptr)
                table.refuse(key, "has no effect with a constant value", "drop the key");
        return;
    }
    const bool given = table.optional_node("duration") != nullptr || table.optional_node("steps") != nullptr;
    if (growth.min == growth.max && !given) return;
    if ((growth.duration > 0) == (growth.steps > 0))
        table.refuse("duration", "and steps: give exactly one of them, above 0",
                     "duration = 0.4 grows over 40% of the baseline's steps at this budget");
}

void parse_bounds(TableReader& table, Growth& growth, const GrowthRange& range) {
    if (through_points(growth)) {
        for (const char* key : {"min", "max"})
            if (table.optional_node(key) != nullptr) table.refuse(key, "is what the points say", "drop the key");
        growth.min = growth.points.front().value;
        growth.max = growth.points.back().value;
    } else {
        if (growth.pacing == GrowthPacing::constant) {
            if (table.optional_node("max") != nullptr && growth.max != growth.min)
                table.refuse("max",
                             fmt::format("is {}, and what is constant stays at min = {}", growth.max, growth.min));
            growth.max = growth.min;
        } else if (growth.max == 0) {
            if (range.needs_max)
                table.refuse("max", "is needed where difficulty = \"value\"",
                             "deft analyze prints the values of a corpus");
            growth.max = range.most;
        }
    }
    table.require_at_least("min", growth.min, 1);
    if (growth.max > range.most)
        table.refuse("max", fmt::format("is {}, above {} = {}", growth.max, range.most_name, range.most));
    if (growth.min > growth.max) table.refuse("min", fmt::format("is {}, above max = {}", growth.min, growth.max));
}

}  // namespace

void parse_growth(TableReader& table, Growth& growth, const GrowthRange& range) {
    growth.points = parse_points(table);
    if (through_points(growth) && growth.points.empty())
        table.refuse("points", fmt::format("is needed by pacing = \"{}\"", name_of(growth.pacing)),
                     "points = [[0, 64], [0.5, 128], [1, 512]]: fractions of the duration, and values");
    if (!through_points(growth) && !growth.points.empty())
        table.refuse("points", fmt::format("has no effect with pacing = \"{}\"", name_of(growth.pacing)),
                     "set pacing = \"points\" or \"discrete\", or drop the key");
    parse_bounds(table, growth, range);
    require_duration(table, growth);
}

void drop_unused(Json& table, const Growth& g) {
    const auto drop = [&](bool unused, std::initializer_list<const char*> keys) {
        if (unused)
            for (const char* key : keys) table.erase(key);
    };
    if (through_points(g))
        for (const GrowthPoint& p : g.points) table["points"].push_back({p.at, p.value});
    drop(through_points(g), {"min", "max"});
    drop(g.pacing != GrowthPacing::root, {"root_degree"});
    drop(g.pacing != GrowthPacing::step, {"stages"});
    drop(!(g.duration > 0), {"duration"});
    drop(!(g.steps > 0), {"steps"});
}

engine::Pacing pacing_of(const Growth& g, std::int64_t baseline_steps) {
    const std::int64_t duration =
        g.steps > 0 ? g.steps : std::llround(g.duration * static_cast<double>(baseline_steps));
    engine::Pacing pacing{g.min, g.max, g.multiple, duration};
    if (g.pacing == GrowthPacing::root) pacing.root_degree = g.root_degree;
    if (g.pacing == GrowthPacing::exponential) pacing.kind = engine::PacingKind::exponential;
    if (g.pacing == GrowthPacing::step) {
        pacing.kind = engine::PacingKind::step;
        pacing.stages = g.stages;
    }
    if (through_points(g)) {
        pacing.kind = g.pacing == GrowthPacing::points ? engine::PacingKind::points : engine::PacingKind::discrete;
        // The last of several points on one step counts.
        for (const engine::PacingPoint& point : points_at(g.points, duration)) {
            if (!pacing.points.empty() && pacing.points.back().step == point.step) pacing.points.pop_back();
            pacing.points.push_back(point);
        }
    }
    return pacing;
}

}  // namespace deft::experiments
