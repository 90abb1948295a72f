#include "reporting/analysis/compare/compare.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/numbers.h"
#include "reporting/ordered_json.h"

namespace deft::reporting {

namespace {

OrderedJson interval_json(const std::optional<Interval>& interval) {
    if (!interval) return nullptr;
    return OrderedJson::array({json_number(interval->low), json_number(interval->high)});
}

OrderedJson reached_json(const std::optional<Reached>& reached) {
    if (!reached) return nullptr;
    return {{"loss", json_number(reached->loss)},
            {"paid_by_it", json_number(reached->paid_by_it)},
            {"paid_by_other", json_number(reached->paid_by_other)},
            {"range", reached->range
                          ? OrderedJson::array({json_number(reached->range->from), json_number(reached->range->to)})
                          : OrderedJson()}};
}

OrderedJson losses_json(const EqualCost& losses) {
    OrderedJson json = {{"by", words_of(losses.by).name},
                        {"loss", losses.is_validation ? "validation" : "training"},
                        {"at_equal_cost", OrderedJson::array()},
                        {"loss_of_a", reached_json(losses.of_a)},
                        {"loss_of_b", reached_json(losses.of_b)}};
    for (const EqualCostRow& row : losses.rows)
        json["at_equal_cost"].push_back({{"cost", json_number(row.paid)},
                                         {"a", json_number(row.a)},
                                         {"b", json_number(row.b)},
                                         {"difference", json_number(row.difference)},
                                         {"interval", interval_json(row.interval)}});
    if (!losses.missing.empty()) json["missing"] = losses.missing;
    return json;
}

OrderedJson values_json(const std::vector<double>& values) {
    OrderedJson json = OrderedJson::array();
    for (const double value : values) json.push_back(json_number(value));
    return json;
}

OrderedJson score_json(const ScoreDifference& one) {
    const bool both = one.is_of_both();
    OrderedJson json = to_json(one.id);
    json.update({{"a", values_json(one.a)},
                 {"b", values_json(one.b)},
                 {"difference", both ? json_number(one.difference) : OrderedJson()},
                 {"interval", interval_json(one.interval)},
                 {"method", one.method == ContrastMethod::pooled ? "pooled" : "welch"},
                 {"p_equal_variances", one.equal_variances ? json_number(one.equal_variances->p_value) : OrderedJson()},
                 {"p", json_number(one.p_value)},
                 {"p_holm", one.p_value ? json_number(one.adjusted_p) : OrderedJson()},
                 {"verdict", name(one.verdict)}});
    if (!one.why.empty()) json["why"] = one.why;
    return json;
}

OrderedJson test_json(const ItemTest& test) {
    return {{"difference", json_number(test.difference)},
            {"interval", interval_json(test.interval)},
            {"p", json_number(test.p_value)}};
}

OrderedJson items_json(const ItemDifference& one) {
    OrderedJson json = {{"task", one.task}, {"shots", one.shots}, {"verdict", name(one.verdict)}};
    if (!one.why.empty()) {
        json["why"] = one.why;
        return json;
    }
    json["documents"] = one.right.documents;
    json["a"] = json_number(one.a);
    json["b"] = json_number(one.b);
    json["only_a"] = one.only_a;
    json["only_b"] = one.only_b;
    json["right"] = test_json(one.right);
    json["p_holm"] = json_number(one.adjusted_p);
    json["gold_log_likelihood"] = one.gold ? test_json(*one.gold) : OrderedJson();
    return json;
}

OrderedJson sweep_json(const results_db::SweepHead& sweep) {
    return {{"sweep", sweep.name}, {"spec_sha256", sweep.spec_sha256}};
}

OrderedJson rows_json(const RowComparison& rows) {
    OrderedJson json = {{"a", rows.a},
                        {"b", rows.b},
                        {"a_trials", rows.trials_a},
                        {"b_trials", rows.trials_b},
                        {"configuration", OrderedJson::array()},
                        {"losses", losses_json(rows.losses)},
                        {"scores", OrderedJson::array()},
                        {"documents", OrderedJson::array()},
                        {"notes", rows.notes}};
    for (const ConfigurationDifference& one : rows.configuration)
        json["configuration"].push_back({{"key", one.key}, {"a", one.from}, {"b", one.to}});
    for (const ScoreDifference& one : rows.scores) json["scores"].push_back(score_json(one));
    for (const ItemDifference& one : rows.items) json["documents"].push_back(items_json(one));
    return json;
}

}  // namespace

std::string render_comparison_json(const Comparison& comparison) {
    OrderedJson json = {{"schema", "deft-compare/1"},
                        {"a", comparison.a},
                        {"b", comparison.b},
                        {"rows", OrderedJson::array()},
                        {"only_a", comparison.only_a},
                        {"only_b", comparison.only_b},
                        {"same", comparison.same},
                        {"a_sweep", sweep_json(comparison.sweep_a)},
                        {"b_sweep", sweep_json(comparison.sweep_b)}};
    for (const RowComparison& rows : comparison.rows) json["rows"].push_back(rows_json(rows));
    return json_text(json);
}

}  // namespace deft::reporting
