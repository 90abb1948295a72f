#include "reporting/analysis/scores/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/installed_files.h"
#include "base/metric.h"
#include "base/score_key.h"
#include "base/suggestion.h"
#include "base/suites.h"
#include "base/table_reader.h"

namespace deft::reporting {

namespace {

constexpr std::string_view kTask = "task:", kSuite = "suite:";
constexpr std::int64_t kMostShots = 1000;

std::vector<std::string> words_of(const std::string& text, const Place& place) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        words.push_back(text.substr(at, end - at));
        if (words.back().empty())
            throw Error(ErrorKind::config, place,
                        fmt::format("'{}' is not a quantity: separate words by one blank", text),
                        "write it as in \"task:lambada acc shots=10\"");
        at = end + 1;
    }
    return words;
}

void require_known(const std::string& word, const std::vector<std::string>& known, const std::string& what,
                   const Place& place) {
    if (std::find(known.begin(), known.end(), word) != known.end()) return;
    throw Error(ErrorKind::config, place, fmt::format("{} is called '{}'", what, word), suggestion(word, known));
}

// The metrics that a task can have.
struct Scorable {
    std::vector<std::string> metrics, splits;
};

// The text that training validates by: the loss, and for models with a head those of its labels.
Scorable validation_scorable() {
    Scorable scorable{validation_metrics(), {}};
    scorable.metrics.emplace_back("perplexity");  // which is computed from its loss
    return scorable;
}

Scorable scorable_of(const std::string& task) {
    if (task == kValidationTask) return validation_scorable();
    const ConfigNode file = parse_toml_file(installed_file("experiments/tasks") / (task + ".toml"));
    TableReader reader(file, "");
    Scorable scores;
    reader.optional("metrics", scores.metrics);
    scores.splits.push_back(reader.required<std::string>("split"));
    if (const ConfigNode* further = reader.optional_node("further_splits"))
        for (const ConfigNode& item : further->items)
            scores.splits.push_back(TableReader(item, "further_splits").required<std::string>("split"));
    return scores;
}

std::vector<std::string> known_tasks() {
    std::vector<std::string> names = {kValidationTask};
    for (const auto& entry : std::filesystem::directory_iterator(installed_file("experiments/tasks")))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> known_suites() {
    std::vector<std::string> names;
    for (const Suite& suite : project_suites()) names.push_back(suite.name);
    return names;
}

std::int64_t shots_of(const std::string& digits, const Place& place) {
    std::int64_t shots = -1;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, shots);
    if (read.ec != std::errc() || read.ptr != end || shots < 0 || shots > kMostShots)
        throw Error(ErrorKind::config, place, fmt::format("shots={} is not a number of shots", digits),
                    fmt::format("give a whole number from 0 to {}", kMostShots));
    return shots;
}

// The words after the metric, each KEY=VALUE.
void read_options(const std::vector<std::string>& words, const std::vector<std::string>& splits, const Place& place,
                  Quantity& quantity) {
    std::vector<std::string> known = {"seeds", "shots"};
    if (!splits.empty()) known.emplace_back("split");
    std::set<std::string> seen;
    for (std::size_t i = 2; i < words.size(); ++i) {
        const std::size_t equals = words[i].find('=');
        const std::string key = words[i].substr(0, equals);
        require_known(key, known, "no option of such a quantity", place);
        if (equals == std::string::npos)
            throw Error(ErrorKind::config, place, fmt::format("{} has no value", key),
                        fmt::format("write {}=...", key));
        if (!seen.insert(key).second)
            throw Error(ErrorKind::config, place, fmt::format("{} is given twice", key), "give it once");
        const std::string value = words[i].substr(equals + 1);
        if (key == "shots") quantity.shots = shots_of(value, place);
        if (key == "split") require_known(quantity.split = value, splits, "no split of that task", place);
        if (key == "seeds") {
            require_known(value, {"mean", "median"}, "no way to take seeds together", place);
            quantity.is_median = value == "median";
        }
    }
}

Quantity parse_score(Quantity::Kind kind, const std::vector<std::string>& words, const Place& place) {
    Quantity quantity;
    quantity.kind = kind;
    quantity.name = words[0].substr((kind == Quantity::Kind::task ? kTask : kSuite).size());
    Scorable scores{{"average"}, {}};
    if (kind == Quantity::Kind::suite) {
        require_known(quantity.name, known_suites(), "no suite", place);
    } else {
        require_known(quantity.name, known_tasks(), "no task", place);
        scores = scorable_of(quantity.name);
    }
    if (words.size() < 2)
        throw Error(ErrorKind::config, place, fmt::format("'{}' does not say which metric", words[0]),
                    fmt::format("write \"{} {}\"", words[0], scores.metrics.front()));
    quantity.metric = words[1];
    require_known(quantity.metric, scores.metrics, "no metric of " + quantity.name, place);
    read_options(words, scores.splits, place, quantity);
    return quantity;
}

}  // namespace

const std::vector<std::string>& resource_quantities() {
    static const std::vector<std::string> all = {
        "train hours",  "train steps", "train flops",         "input tokens",         "unique tokens",
        "layer tokens", "cost usd",    "throughput tokens/s", "throughput samples/s",
    };
    return all;
}

Quantity parse_quantity(const std::string& text, const Place& place) {
    const std::vector<std::string> words = words_of(text, place);
    if (words[0].starts_with(kTask)) return parse_score(Quantity::Kind::task, words, place);
    if (words[0].starts_with(kSuite)) return parse_score(Quantity::Kind::suite, words, place);
    std::vector<std::string> known = resource_quantities();
    if (std::find(known.begin(), known.end(), text) != known.end()) {
        Quantity quantity;
        quantity.name = text;
        return quantity;
    }
    if (const std::size_t colon = words[0].find(':'); colon != std::string::npos)
        throw Error(ErrorKind::config, place, fmt::format("nothing that is measured begins with '{}'", words[0]),
                    suggestion(words[0].substr(0, colon + 1), {std::string(kTask), std::string(kSuite)}));
    known.insert(known.end(), {"task:NAME METRIC", "suite:NAME average"});
    throw Error(ErrorKind::config, place, fmt::format("nothing that is measured is called '{}'", text),
                suggestion(text, known));
}

std::string better_of(const Quantity& quantity) {
    if (quantity.kind == Quantity::Kind::suite) return "higher";
    if (quantity.kind == Quantity::Kind::resource) return quantity.name.starts_with("throughput") ? "higher" : "lower";
    const Metric* metric = find_metric(quantity.metric);
    return std::string(to_text(metric != nullptr ? metric->better : Better::higher));
}

std::string to_text(const Quantity& quantity) {
    if (quantity.kind == Quantity::Kind::resource) return quantity.name;
    std::string text =
        fmt::format("{}{} {}", quantity.kind == Quantity::Kind::task ? kTask : kSuite, quantity.name, quantity.metric);
    if (quantity.shots != 0) text += fmt::format(" shots={}", quantity.shots);
    if (!quantity.split.empty()) text += " split=" + quantity.split;
    if (quantity.is_median) text += " seeds=median";
    return text;
}

}  // namespace deft::reporting
