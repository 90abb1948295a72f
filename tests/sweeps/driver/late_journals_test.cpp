// Journals that arrive after their trials have ended, as on a network file system.

#include "sweeps/driver/late_journals.h"

#include <csignal>

#include "tests/sweeps/fake_trial.h"

using namespace deft;
using namespace deft::sweeps;
using namespace deft::test;

TEST_CASE("only what says nothing against a whole journal is waited for") {
    const auto ended_with = [](int wait_status) {
        ChildEnd end;
        end.wait_status = wait_status;
        return end;
    };
    const auto exit_of = [&](int code) { return ended_with(code << 8); };
    const JournalSummary without_end;
    CHECK(may_be_late(exit_of(kExitOk), without_end));
    CHECK(may_be_late(exit_of(kExitWorkLeft), without_end));
    CHECK(!may_be_late(exit_of(kExitUsage), without_end));
    CHECK(!may_be_late(exit_of(kExitFailed), without_end));
    CHECK(!may_be_late(ended_with(SIGKILL), without_end));
    JournalSummary whole;
    whole.ended.emplace().state = "ok";
    CHECK(!may_be_late(exit_of(kExitOk), whole));
    JournalSummary damaged;
    damaged.damage = "a damaged line";
    CHECK(!may_be_late(exit_of(kExitOk), damaged));
    damaged.is_shorter = true;
    CHECK(may_be_late(exit_of(kExitOk), damaged));
    CHECK(may_be_late(ended_with(SIGKILL), damaged));
}

TEST_CASE("a journal that arrives after its trial's end is taken in, while other trials run", "[bare]") {
    // The journal of the first arrives once the other has started, on the only worker.
    FakeSweep sweep({"delayed", "opens"});
    sweep.options.late_journal_seconds = 30;
    CHECK(sweep.run().ok == 2);
    CHECK_THAT(sweep.said, ContainsSubstring("waiting for the journal of delayed/1"));
    CHECK(sweep.row(0).attempts == 1);
    CHECK(sweep.row(0).state == "ok");
    CHECK(sweep.row(0).last_point);
}

TEST_CASE("a trial whose journal never says how it ended has crashed", "[bare]") {
    FakeSweep sweep({"silent"});
    CHECK(sweep.run().failed == 1);
    CHECK(sweep.row(0).fail_class == "crash");
    CHECK(sweep.row(0).attempts == 2);
}

TEST_CASE("a journal that is shorter for a while is not damaged, and one that stays so is", "[bare]") {
    FakeSweep sweep({"shrinks"});
    sweep.options.late_journal_seconds = 30;
    CHECK(sweep.run().ok == 1);
    CHECK(sweep.row(0).attempts == 1);

    FakeSweep lost({"cut"});
    CHECK(lost.run().failed == 1);
    CHECK(lost.row(0).fail_class == "io");
    CHECK_THAT(lost.row(0).error, ContainsSubstring("already read from it"));
}
