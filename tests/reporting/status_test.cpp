// The output of `deft show` and `deft status`.

#include "reporting/views/text/status.h"

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/views/page/page.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Results changed_sweep() {
    Results sweep = a_sweep_of({a_finished_trial("base", "{}", 1, 3)});
    sweep.spec_sha256 = "0123456789abcdef";
    sweep.overrides_json = R"([{"path":"train.learning_rate","value":0.002}])";
    return sweep;
}

}  // namespace

TEST_CASE("a trial shows when it ran, each attempt's part of its cost, and the libraries") {
    Trial trial = a_finished_trial("base", "{}", 1, 3);
    trial.started_ms = 1700000000000;
    trial.ended_ms = 1700000065000;
    trial.attempt_uid = "b";
    trial.attempts = 3;
    results_db::AttemptRow lost, stopped, last;
    lost.number = 1;
    lost.state = "failed";
    lost.fail_class = "crash";
    lost.own_seconds = lost.device_seconds = 4;
    stopped.number = 2;
    stopped.state = "cancelled";
    stopped.own_seconds = stopped.device_seconds = 2.12;
    stopped.counts = true;
    last.number = 3;
    last.uid = "b";
    last.state = "ok";
    last.started_ms = 1700000000000;
    last.ended_ms = 1700000065000;
    last.resume_step = 20;
    last.shape = {"cuda", 1, 3};
    last.own_seconds = 9;
    last.device_seconds = 3;
    last.usd = 0.5;
    last.price = results_db::Price{"h200", 1700000000000, 600, "a list"};
    last.libraries_json = R"({"libc":"glibc 2.36","oneDNN":"2.6.3"})";
    last.counts = true;
    trial.attempt_rows = {lost, stopped, last};
    trial.device_seconds = 5.12;
    const std::string text = render_trial(trial);
    CHECK_THAT(text, ContainsSubstring("started                 2023-11-14 22:13:20 UTC\n"));
    CHECK_THAT(text, ContainsSubstring("ended                   2023-11-14 22:14:25 UTC\n"));
    CHECK_THAT(text, ContainsSubstring("no price: set [price]"));
    CHECK_THAT(text, ContainsSubstring("attempt 1               failed, crash, on 1 thread, trained 4.00 s, device "
                                       "time 4.00 s, not counted: the result contains none of its work\n"));
    CHECK_THAT(text, ContainsSubstring(
                         "attempt 2               cancelled, on 1 thread, trained 2.12 s, device time 2.12 s\n"));
    CHECK_THAT(text, ContainsSubstring(
                         "attempt 3               ok, 2023-11-14 22:13:20 UTC to 2023-11-14 22:14:25 UTC, from step "
                         "20, on 1/3 of 1 GPU, trained 9.00 s, device time 3.00 s, $0.50 at $600 an hour of h200, "
                         "price of 2023-11-14, a list\n"));
    CHECK_THAT(text, ContainsSubstring("libraries               libc glibc 2.36, oneDNN 2.6.3\n"));
}

TEST_CASE("every caption shows what --set changed, which names the run") {
    const Results sweep = changed_sweep();
    const std::string named = "Sweep quick@0123456789ab with train.learning_rate=0.002";
    CHECK(comparison_table(sweep, {"base", "smoke", "A title", ""}).caption == named + ": A title");
    results_db::SweepHead other;
    other.name = "quick";
    other.spec_sha256 = "fedcba9876543210";
    other.scale = "proxy";
    other.created_ms = 1700000000000;
    const Table status = status_table(sweep, {other, sweep});
    CHECK(status.caption == named);
    CHECK(status.notes.back() ==
          "this is quick@0123456789ab; other runs: quick@fedcba987654 (scale proxy, 2023-11-14)");
    CHECK(status_table(sweep, {sweep}).notes.size() == 1);

    ReportData data;
    data.sweep = sweep;
    data.about = {"base", "smoke", "A title", "", ""};
    journal::TrainPoint point;
    point.step = 1;
    point.loss = 3;
    data.curves[sweep.trials[0].config_hash].points = {point};
    const std::string page = render_page(data), changed = "(train.learning_rate=0.002)";
    for (const char* caption :
         {"A title", "What each row consumed, and how much of the baseline&#39;s that is",
          "Scores of each task, means over seeds", "Training loss by FLOPs", "Every trial, as stored"})
        CHECK_THAT(page, ContainsSubstring(std::string(caption) + " " + changed));
}
