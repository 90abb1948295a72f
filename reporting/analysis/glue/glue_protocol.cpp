#include "reporting/analysis/glue/glue_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

std::vector<double> rates_of(const std::vector<GlueRun>& runs) {
    std::vector<double> rates;
    for (const GlueRun& run : runs)
        if (std::find(rates.begin(), rates.end(), run.rate) == rates.end()) rates.push_back(run.rate);
    return rates;
}

const double* value_in(const GlueRun& run, const std::string& column) {
    for (const auto& [name, value] : run.columns)
        if (name == column) return &value;
    return nullptr;
}

// Why these seeds of one task and rate give no value; nothing where they do.
std::vector<std::string> lacks_of(const GlueTask& task, double rate, const std::vector<const GlueRun*>& seeds) {
    const std::string where = fmt::format("{} at {:g}", task.name, rate);
    if (seeds.empty()) return {where + ": no trial"};
    std::vector<std::string> lacks;
    for (const GlueRun* run : seeds) {
        if (!run->lack.empty()) {
            lacks.push_back(fmt::format("{}: seed {} {}", where, run->seed, run->lack));
            continue;
        }
        for (const std::string& column : task.columns)
            if (value_in(*run, column) == nullptr)
                lacks.push_back(fmt::format("{}: seed {} has no {}", where, run->seed, column));
    }
    for (std::size_t i = 0; i < seeds.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (seeds[i]->seed == seeds[j]->seed)
                lacks.push_back(fmt::format("{}: several trials of seed {}", where, seeds[i]->seed));
    return lacks;
}

// Both columns of MNLI come from the one seed whose records, taken together, are the median.
const GlueRun& in_the_middle(const std::vector<const GlueRun*>& seeds) {
    std::vector<double> chosen_by;
    for (const GlueRun* run : seeds) chosen_by.push_back(run->chosen_by);
    const double middle = upper_median(chosen_by);
    return **std::find_if(seeds.begin(), seeds.end(), [&](const GlueRun* run) { return run->chosen_by == middle; });
}

GlueColumn column_of(const std::string& name, const std::vector<const GlueRun*>& seeds) {
    GlueColumn column{name, rounded_percent(*value_in(in_the_middle(seeds), name)), {}};
    std::vector<double> values;
    for (const GlueRun* run : seeds) values.push_back(*value_in(*run, name));
    if (values.size() > 1) column.spread = rounded_percent(standard_deviation(values));
    return column;
}

void add_averages(GlueAtRate& at) {
    std::vector<double> values, spreads;
    for (const GlueColumn& column : at.columns) {
        values.push_back(column.value);
        if (column.spread) spreads.push_back(*column.spread);
    }
    if (values.empty()) return;
    at.average = rounded_percent(mean(values));
    if (spreads.size() == values.size()) at.spread = rounded_percent(mean(spreads));
}

}  // namespace

double upper_median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

double rounded_percent(double value) {
    return std::strtod(fmt::format("{:.2f}", value).c_str(), nullptr);
}

GlueResult glue_protocol(const std::vector<GlueTask>& tasks, const std::vector<GlueRun>& runs) {
    GlueResult result;
    for (const double rate : rates_of(runs)) {
        GlueAtRate& at = result.rates.emplace_back();
        at.rate = rate;
        for (const GlueTask& task : tasks) {
            std::vector<const GlueRun*> seeds;
            for (const GlueRun& run : runs)
                if (run.task == task.name && run.rate == rate) seeds.push_back(&run);
            const std::vector<std::string> lacks = lacks_of(task, rate, seeds);
            at.lacks.insert(at.lacks.end(), lacks.begin(), lacks.end());
            if (!lacks.empty()) continue;
            for (const std::string& column : task.columns) at.columns.push_back(column_of(column, seeds));
        }
        if (at.lacks.empty()) add_averages(at);
    }
    for (std::size_t i = 0; i < result.rates.size(); ++i)
        if (result.rates[i].average &&
            (!result.chosen || *result.rates[i].average > *result.rates[*result.chosen].average))
            result.chosen = i;
    return result;
}

}  // namespace deft::reporting
