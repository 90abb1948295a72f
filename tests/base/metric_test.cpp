// The registry of metrics.

#include "base/metric.h"

#include <set>

#include "tests/catch.h"

using namespace deft;

TEST_CASE("metrics have one entry each, with a range and a direction") {
    std::set<std::string_view> names;
    for (const Metric& metric : metrics()) {
        CAPTURE(metric.name);
        CHECK(names.insert(metric.name).second);
        CHECK(metric.least < metric.most);
        CHECK(find_metric(metric.name) == &metric);
        if (!metric.correlation.empty()) CHECK((metric.least == -1 && metric.most == 1));
        if (metric.name.ends_with("perplexity") || metric.name.find("loss") != std::string_view::npos)
            CHECK(metric.better == Better::lower);
        if (metric.name.starts_with("acc")) CHECK((metric.better == Better::higher && metric.most == 1));
    }
    CHECK(find_metric("accuracy") == nullptr);
    CHECK(is_timed("ms_per_token"));
    CHECK(!is_timed("acc"));
    CHECK(to_text(Better::lower) == "lower");
    CHECK(to_text(Better::higher) == "higher");
}

TEST_CASE("validations store these metrics, in the order of the documentation") {
    CHECK(validation_metrics() ==
          std::vector<std::string>{"loss", "bits_per_byte", "acc", "mcc", "f1", "pearson", "spearman"});
}
