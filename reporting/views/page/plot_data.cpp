#include "reporting/views/page/plot_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "reporting/analysis/cost/resource.h"
#include "reporting/ordered_json.h"
#include "reporting/views/render/script.h"

namespace deft::reporting {

namespace {

constexpr Abscissa kBySeconds = {"by-seconds", "train time (s)",
                                 [](const journal::TrainPoint& p) { return static_cast<double>(p.wall_ms) / 1000; }};

// Six digits, more than a screen shows.
OrderedJson rounded(double value) {
    return std::isfinite(value) ? OrderedJson(std::stod(fmt::format("{:.6g}", value))) : OrderedJson(nullptr);
}

template <class Value>
OrderedJson each(const std::vector<CurvePoint>& points, const Value& value) {
    OrderedJson list = OrderedJson::array();
    for (const CurvePoint& point : points) list.push_back(rounded(value(point)));
    return list;
}

// Places on a horizontal axis, each list once: rows of one length share those of their tokens, and often of their
// FLOPs.
class Places {
 public:
    // The number of the list of these points.
    std::size_t number_of(const std::vector<CurvePoint>& points, double factor) {
        OrderedJson list = each(points, [&](const CurvePoint& point) { return factor * point.x; });
        const auto [known, is_new] = numbers_.emplace(list.dump(), lists_.size());
        if (is_new) lists_.push_back(std::move(list));
        return known->second;
    }
    const OrderedJson& lists() const { return lists_; }

 private:
    OrderedJson lists_ = OrderedJson::array();
    std::map<std::string, std::size_t> numbers_;
};

const Row* row_named(const std::vector<Row>& rows, const std::string& series) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return series_name(row) == series; });
    return found == rows.end() ? nullptr : &*found;
}

std::optional<double> mean_resource(const Row& row, std::string_view quantity) {
    for (const Resource& one : resources())
        if (quantity == one.quantity) return mean_of(row, one);
    return std::nullopt;
}

// Dollars of a second of the row's training; nothing where its time or price is not that of one kind of worker.
std::optional<double> usd_per_second(const Row& row) {
    const std::optional<double> hours = mean_resource(row, "train hours"), usd = mean_resource(row, "cost usd");
    if (!hours || !usd || *hours <= 0 || *usd <= 0) return std::nullopt;
    return *usd / *hours;
}

}  // namespace

std::string plot_data_html(const std::vector<Figure>& figures, const std::vector<Row>& rows, const Curves& curves) {
    if (figures.empty()) return {};
    const Figure& first = figures.front();
    OrderedJson data = {{"title", first.title}, {"y", first.y_title}, {"log_x", false}, {"log_y", false}};
    OrderedJson& axes = data["axes"] = OrderedJson::array();
    for (const Figure& figure : figures) axes.push_back(figure.x_title);
    axes.push_back(kBySeconds.name);
    axes.push_back("cost (USD)");
    Places places;
    OrderedJson& all = data["series"] = OrderedJson::array();
    for (std::size_t i = 0; i < first.series.size(); ++i) {
        const Series& series = first.series[i];
        OrderedJson one = {
            {"name", series.name}, {"style", series.style}, {"dash", series.dash}, {"seeds", series.seeds}};
        one["y"] = each(series.points, [](const CurvePoint& point) { return point.y; });
        one["low"] = each(series.points, [](const CurvePoint& point) { return point.low; });
        one["high"] = each(series.points, [](const CurvePoint& point) { return point.high; });
        one["mark_y"] = each(series.marks, [](const CurvePoint& point) { return point.y; });
        OrderedJson &x = one["x"] = OrderedJson::array(), &mark_x = one["mark_x"] = OrderedJson::array();
        const auto add = [&](const Series& other, std::optional<double> factor) {
            const bool is_same =
                factor && other.points.size() == series.points.size() && other.marks.size() == series.marks.size();
            x.push_back(is_same ? OrderedJson(places.number_of(other.points, *factor)) : OrderedJson(nullptr));
            mark_x.push_back(is_same ? OrderedJson(places.number_of(other.marks, *factor)) : OrderedJson(nullptr));
        };
        for (const Figure& figure : figures) add(figure.series.at(i), 1);
        if (const Row* row = row_named(rows, series.name)) {
            one["recipe"] = row->recipe;
            const Series by_time =
                loss_series(*row, curves_with(&results_db::TrialCurve::points, *row, curves), kBySeconds);
            const std::optional<double> dollars = usd_per_second(*row);
            const bool is_timed = mean_resource(*row, "train hours").has_value();
            add(by_time, is_timed ? std::optional(1.0) : std::nullopt);
            add(by_time, dollars);
        }
        all.push_back(std::move(one));
    }
    data["places"] = places.lists();
    return data_block_html("figure-data", data);
}

}  // namespace deft::reporting
