// Every metric that a task can ask for has an entry in base/metric.h.

#include "base/metric.h"
#include "experiments/evaluation/metrics.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::experiments;

TEST_CASE("every metric of every kind of task is registered") {
    using enum TaskKind;
    for (const TaskKind kind :
         {multiple_choice, short_answer, last_word, perplexity, classification, regression, generation}) {
        CHECK(!metric_names(kind).empty());
        for (const std::string& name : metric_names(kind)) {
            CAPTURE(name);
            CHECK(find_metric(name) != nullptr);
        }
    }
}
