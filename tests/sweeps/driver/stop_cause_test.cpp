// Who stopped a sweep, and how its trials are recorded.

#include "sweeps/driver/stop_cause.h"

#include <csignal>
#include <map>

#include "sweeps/driver/trial_process.h"
#include "tests/sweeps/fake_trial.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::sweeps;
using namespace deft::test;

namespace {

StopCause cause_with(bool by_sigterm, const std::map<std::string, std::string>& variables) {
    constexpr std::int64_t kNowMs = 1'000'000'000;
    return cause_of_stop(by_sigterm, kNowMs, [&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

results_db::Outcome stopped_by(StopCause cause, const std::string& killed_because = "") {
    ChildEnd end;
    end.asked_by = cause;
    end.killed_because = killed_because;
    end.wait_status = killed_because.empty() ? kExitWorkLeft << 8 : SIGKILL;
    JournalSummary journal;
    if (killed_because.empty()) journal.ended.emplace().state = "stopped";
    return classify(end, journal);
}

void check(const results_db::Outcome& outcome, const char* state, const char* fail_class, const char* says) {
    CHECK(outcome.state == state);
    CHECK(outcome.fail_class == fail_class);
    CHECK_THAT(outcome.error, ContainsSubstring(says));
}

}  // namespace

TEST_CASE("SIGTERM inside a Slurm job is Slurm's, near the job's end for its time") {
    CHECK(cause_with(true, {}) == StopCause::user);
    CHECK(cause_with(true, {{"SLURM_JOB_END_TIME", "1000100"}}) == StopCause::user);
    CHECK(cause_with(false, {{"SLURM_JOB_ID", "7"}}) == StopCause::user);
    CHECK(cause_with(true, {{"SLURM_JOB_ID", "7"}}) == StopCause::preemption);
    for (const char* near : {"1000600", "1000000", "999990"})
        CHECK(cause_with(true, {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_END_TIME", near}}) == StopCause::time_limit);
    for (const char* far : {"1000601", "soon", ""})
        CHECK(cause_with(true, {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_END_TIME", far}}) == StopCause::preemption);
}

TEST_CASE("a stop is recorded by who asked for it") {
    check(stopped_by(StopCause::none), "preempted", "preempt", "asked to stop; what it had done is kept");
    check(stopped_by(StopCause::user), "cancelled", "user", "stopped by the user; what it had done is kept");
    check(stopped_by(StopCause::preemption), "preempted", "preempt", "stopped by Slurm");
    check(stopped_by(StopCause::time_limit), "preempted", "timeout", "the end of the job's time");
    check(stopped_by(StopCause::user, "it was slow"), "cancelled", "user", "stopped by the user; it was slow");
    check(stopped_by(StopCause::time_limit, "it was slow"), "preempted", "timeout", "job's time; it was slow");
}

TEST_CASE("an attempt of a batch system that was ended after its last line keeps the end that it wrote") {
    ChildEnd end;
    end.wait_status = SIGKILL;
    JournalSummary journal;
    const auto state = [&](const char* written) {
        journal.ended.emplace().state = written;
        return classify(end, journal).state;
    };
    const auto keeps_its_end = [&] {
        CHECK(state("ok") == "ok");
        CHECK(state("stopped") == (end.batch_end == BatchEnd::cancellation ? "cancelled" : "preempted"));
        journal.ended.emplace().fail_class = "nan";
        journal.ended->state = "failed";
        check(classify(end, journal), "failed", "nan", "");
        CHECK(classify(end, journal).term_signal == SIGKILL);
    };
    check(classify(end, journal), "failed", "crash", "signal 9");
    CHECK(state("ok") == "failed");
    for (const BatchEnd batch_end : {BatchEnd::cancellation, BatchEnd::node_failure, BatchEnd::time_limit}) {
        end.batch_end = batch_end;
        keeps_its_end();
    }
    // Its driver ended it, as the batch system did not learn of its end.
    end.batch_end = BatchEnd::none;
    end.killed_because = "its end was not reported";
    keeps_its_end();
    end.usage.emplace();  // a child of the driver
    CHECK(state("ok") == "preempted");
}

TEST_CASE("an end that Slurm forgets is that of who asked for it, of the journal, or nobody's fault") {
    ChildEnd end;
    end.wait_status = SIGTERM;
    end.batch_end = BatchEnd::forgotten;
    end.batch_words = "it is not in the queue";
    check(classify(end, {}), "preempted", "other", "Slurm does not say why: it is not in the queue");
    JournalSummary journal;
    journal.ended.emplace().state = "ok";
    check(classify(end, journal), "ok", "", "");
    journal.ended->state = "failed";
    journal.ended->fail_class = "nan";
    check(classify(end, journal), "failed", "nan", "");
    end.asked_by = StopCause::user;
    check(classify(end, {}), "cancelled", "user", "stopped by the user");
    end.asked_by = StopCause::time_limit;
    check(classify(end, {}), "preempted", "timeout", "the end of the job's time");
}

TEST_CASE("a sweep that Slurm ends goes on in the next job, without a failure", "[bare]") {
    FakeSweep sweep({"slow"});
    {
        const WithVariable job("SLURM_JOB_ID", "7");
        const pid_t driver = sweep.run_apart();
        REQUIRE(sweep.wait_for("up"));
        ::kill(driver, SIGTERM);
        CHECK(wait_for_exit(driver) == kExitWorkLeft);
    }
    CHECK(sweep.row(0).state == "preempted");
    CHECK(sweep.row(0).fail_class == "preempt");
    CHECK_THAT(sweep.row(0).error, ContainsSubstring("stopped by Slurm"));
    sweep.touch("fast");
    CHECK(sweep.run().ok == 1);
    CHECK(sweep.row(0).attempts == 2);
}
