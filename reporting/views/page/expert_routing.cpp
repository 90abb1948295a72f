#include "reporting/views/page/expert_routing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/text.h"
#include "reporting/numbers.h"
#include "reporting/views/render/html.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

using journal::ExpertLoad;

constexpr std::size_t kRunsOfMap = 60, kRunsOfText = 40, kExpertsOfLine = 64;
constexpr std::size_t kMostRows = 12;     // of a comparison that a page draws
constexpr double kLeastTop = 2;           // of a colour scale, so that noise about an even load stays pale
constexpr double kLeastDroppedTop = 0.1;  // likewise, of shares that are dropped
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// As a multiple of an equal share.
double busiest_load(const ExpertLoad& at) {
    double most = kNothing;
    for (const double share : at.load)
        if (!(share <= most) && !std::isnan(share)) most = share;
    return most * static_cast<double>(at.load.size());
}

// Means of finite values.
class RunMeans {
 public:
    explicit RunMeans(std::size_t runs) : sums_(runs, 0), counts_(runs, 0) {}
    void add(std::size_t run, double value) {
        if (!std::isfinite(value)) return;
        sums_[run] += value;
        ++counts_[run];
    }
    std::vector<double> means() const {
        std::vector<double> means;
        for (std::size_t run = 0; run < sums_.size(); ++run)
            means.push_back(counts_[run] == 0 ? kNothing : sums_[run] / static_cast<double>(counts_[run]));
        return means;
    }

 private:
    std::vector<double> sums_;
    std::vector<std::size_t> counts_;
};

std::string layer_name(const LayerRouting& layer) {
    return fmt::format("{}", layer.layer);
}

double scale_top(const std::vector<HeatRow>& rows, double least) {
    double top = least;
    for (const HeatRow& row : rows)
        for (const double value : row.cells)
            if (value > top) top = value;
    return top;
}

// One table per layer and run of logged steps, without rows.
HeatMap map_of_runs(const Routing& routing) {
    HeatMap map;
    map.x_title = routing.steps_of_run <= 1
                      ? "training step"
                      : fmt::format("last training step of a cell, which is the mean of up to {} logged ones",
                                    routing.steps_of_run);
    map.y_title = "layer";
    for (const std::int64_t end : routing.ends) map.columns.push_back(fmt::format("{}", end));
    return map;
}

HeatMap busiest_map(const std::string& name, const Routing& routing) {
    HeatMap map = map_of_runs(routing);
    map.title = fmt::format("Load of the busiest expert: {}", name);
    map.id = "experts-busiest-" + html_id(name);
    map.value_title = "busiest expert's load, as a multiple of an equal share";
    for (const LayerRouting& layer : routing.layers)
        map.rows.push_back({layer_name(layer), layer.busiest, routing_text(layer)});
    map.from = 1;
    map.to = scale_top(map.rows, kLeastTop);
    return map;
}

HeatMap dropped_map(const std::string& name, const Routing& routing) {
    HeatMap map = map_of_runs(routing);
    map.title = fmt::format("Choices dropped: {}", name);
    map.id = "experts-dropped-" + html_id(name);
    map.value_title = "share dropped, of all choices";
    map.text = percent;
    for (const LayerRouting& layer : routing.layers) map.rows.push_back({layer_name(layer), layer.dropped_of_run, ""});
    map.to = scale_top(map.rows, kLeastDroppedTop);
    return map;
}

bool drops_any(const Routing& routing) {
    for (const LayerRouting& layer : routing.layers)
        for (const double dropped : layer.dropped_of_run)
            if (dropped > 0) return true;
    return false;
}

HeatMap last_map(const std::string& name, const Routing& routing) {
    HeatMap map;
    map.title = fmt::format("Load of each expert at step {}: {}", routing.last_step, name);
    map.id = "experts-last-" + html_id(name);
    map.x_title = "expert";
    map.y_title = "layer";
    map.value_title = "expert's load, as a multiple of an equal share";
    std::size_t most = 0;
    for (const LayerRouting& layer : routing.layers) {
        map.rows.push_back({layer_name(layer), layer.last_load, ""});
        most = std::max(most, layer.last_load.size());
    }
    for (std::size_t expert = 0; expert < most; ++expert) map.columns.push_back(fmt::format("{}", expert));
    map.to = scale_top(map.rows, kLeastTop);
    return map;
}

std::string blocks(const HeatMap& map, const std::vector<double>& cells, std::size_t from, std::size_t to) {
    static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::string text;
    for (std::size_t i = from; i < to; ++i)
        text += std::isnan(cells[i]) ? "·" : kBlocks[std::lround(darkness(map, cells[i]) * 7)];
    return text;
}

std::string scale_text(const HeatMap& map) {
    return fmt::format("▁ {} to █ {} of an equal share", ratio(map.from), ratio(map.to));
}

}  // namespace

Routing routing_of(const std::vector<ExpertLoad>& loads, std::size_t runs) {
    Routing routing;
    std::set<std::int64_t> step_set, layer_set;
    for (const ExpertLoad& load : loads) {
        step_set.insert(load.step);
        layer_set.insert(load.layer);
    }
    if (step_set.empty()) return routing;
    const std::vector<std::int64_t> steps(step_set.begin(), step_set.end()), layers(layer_set.begin(), layer_set.end());
    runs = std::min(runs, steps.size());
    routing.first_step = steps.front();
    routing.last_step = steps.back();
    std::map<std::int64_t, std::size_t> run_of;
    for (std::size_t run = 0; run < runs; ++run) {
        const std::size_t begin = run * steps.size() / runs, end = (run + 1) * steps.size() / runs;
        for (std::size_t i = begin; i < end; ++i) run_of[steps[i]] = run;
        routing.ends.push_back(steps[end - 1]);
        routing.steps_of_run = std::max(routing.steps_of_run, end - begin);
    }
    for (const std::int64_t layer : layers) {
        LayerRouting& own = routing.layers.emplace_back();
        own.layer = layer;
        RunMeans busiest(runs), dropped(runs);
        for (const ExpertLoad& load : loads) {
            if (load.layer != layer) continue;
            busiest.add(run_of.at(load.step), busiest_load(load));
            dropped.add(run_of.at(load.step), load.dropped);
            own.last_load.clear();
            for (const double share : load.load) own.last_load.push_back(share * static_cast<double>(load.load.size()));
            own.dropped = load.dropped;
            own.entropy = load.entropy;
        }
        own.busiest = busiest.means();
        own.dropped_of_run = dropped.means();
    }
    return routing;
}

std::string routing_text(const LayerRouting& layer) {
    return fmt::format("{:.1f}% dropped, gate entropy {:.2f} of {:.2f} nats", 100 * layer.dropped, layer.entropy,
                       std::log(static_cast<double>(layer.last_load.size())));
}

std::vector<HeatMap> routing_maps(const std::string& name, const std::vector<ExpertLoad>& loads) {
    const Routing routing = routing_of(loads, kRunsOfMap);
    if (routing.layers.empty()) return {};
    std::vector<HeatMap> maps = {busiest_map(name, routing)};
    if (drops_any(routing)) maps.push_back(dropped_map(name, routing));
    maps.push_back(last_map(name, routing));
    return maps;
}

std::vector<std::pair<std::string, std::string>> routing_lines(const std::vector<ExpertLoad>& loads) {
    const Routing routing = routing_of(loads, kRunsOfText);
    if (routing.layers.empty()) return {};
    std::vector<std::pair<std::string, std::string>> lines;
    const HeatMap busiest = busiest_map("", routing), last = last_map("", routing);
    lines.emplace_back("busiest expert's load",
                       fmt::format("steps {} to {}, {}; after it the load at step {}", routing.first_step,
                                   routing.last_step, scale_text(busiest), routing.last_step));
    for (const LayerRouting& layer : routing.layers)
        lines.emplace_back(
            "layer " + layer_name(layer),
            fmt::format("{}  {}", blocks(busiest, layer.busiest, 0, layer.busiest.size()), routing_text(layer)));
    lines.emplace_back(fmt::format("loads at step {}", routing.last_step), "expert by expert, " + scale_text(last));
    for (const LayerRouting& layer : routing.layers)
        for (std::size_t from = 0; from < layer.last_load.size(); from += kExpertsOfLine) {
            const std::size_t to = std::min(from + kExpertsOfLine, layer.last_load.size());
            lines.emplace_back("layer " + layer_name(layer) + (from == 0 ? "" : fmt::format(", from expert {}", from)),
                               blocks(last, layer.last_load, from, to));
        }
    return lines;
}

std::string routing_html(const std::vector<Row>& rows, const ExpertLoads& loads, const std::string& id,
                         const std::string& suffix) {
    std::string out;
    std::size_t drawn = 0, left_out = 0;
    for (const Row& row : rows) {
        const auto trial = std::find_if(row.ok.begin(), row.ok.end(), [&](const Trial* one) {
            const auto found = loads.find(one->config_hash);
            return found != loads.end() && !found->second.empty();
        });
        if (trial == row.ok.end()) continue;
        if (drawn == kMostRows) {
            ++left_out;
            continue;
        }
        ++drawn;
        for (HeatMap& map : routing_maps(results_db::trial_name(**trial), loads.at((*trial)->config_hash))) {
            map.title += suffix;
            out += heat_map_html(map);
        }
    }
    if (drawn == 0) return {};
    std::string rest;
    if (left_out > 0)
        rest = fmt::format(" {} {} not drawn.", counted(left_out, "further row"), left_out == 1 ? "is" : "are");
    return fmt::format(
               "<h2 id=\"experts{}\">Experts</h2>\n<p>How often the gates of each layer chose its experts, before any "
               "choice was dropped: the first finished trial of each row. The columns on the right show what the last "
               "logged "
               "step dropped, and the entropy of its gate beside that of an even one.{}</p>\n",
               id, rest) +
           out;
}

}  // namespace deft::reporting
