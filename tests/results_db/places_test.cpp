// A place of a sweep whose data or program has changed has several trainings, one of which represents it.

#include <map>

#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

// A sweep whose places are given to trainings of new data, one after the other.
struct Places {
    TemporaryFolder folder;
    Writer writer{folder / "results.db"};
    std::int64_t code = writer.add_code(a_code()), host = writer.add_host(a_host());
    std::int64_t sweep = writer.add_sweep({"quick", "s1", "name = 'quick'", "[]"});

    std::map<std::string, std::string> names;  // by configuration hash
    int attempts = 0;

    std::int64_t plan(const std::string& name, const TrialPlace& place, std::int64_t seed = 1) {
        const std::int64_t trial_id = writer.add_trial(a_trial(name, seed));
        names[hash_of(name, seed)] = name;
        writer.add_place(sweep, trial_id, place);
        return trial_id;
    }
    void end(std::int64_t trial_id, const std::string& state) {
        const std::int64_t attempt = writer.begin_attempt(
            trial_id, code, host,
            an_attempt("attempt " + std::to_string(++attempts), writer.next_attempt_number(trial_id)));
        Outcome outcome = ended_ok();
        outcome.state = state;
        outcome.fail_class = state == "ok" ? "" : "nan";
        writer.end_attempt(attempt, outcome);
    }
    std::vector<std::string> shown() const {
        std::vector<std::string> planned;
        for (const StoredTrial& trial : Reader(folder / "results.db").sweep("quick").trials)
            planned.push_back(
                names.at(trial.config_hash) +
                (trial.newer_state.empty() ? "" : " " + trial.newer_state + " " + names.at(trial.newer_hash)));
        return planned;
    }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the last planned training that ended well represents its place") {
    Places places;
    const TrialPlace place{0, "plain", "{}"};
    const std::int64_t before = places.plan("aa", place);
    CHECK(places.shown() == Names{"aa"});
    places.end(before, "ok");
    const std::int64_t after = places.plan("bb", place);
    CHECK(places.shown() == Names{"aa pending bb"});
    places.end(after, "failed");
    CHECK(places.shown() == Names{"aa failed bb"});
    places.end(after, "ok");
    CHECK(places.shown() == Names{"bb"});
    // A third, of which nothing has come: the newest that ended well, not the oldest.
    places.plan("cc", place);
    CHECK(places.shown() == Names{"bb pending cc"});
    // The data is what it was: its training, planned again, represents the place again.
    places.plan("aa", place);
    CHECK(places.shown() == Names{"aa"});
}

TEST_CASE("where no training ended well, the one planned last represents its place") {
    Places places;
    const TrialPlace place{0, "plain", "{}"};
    places.end(places.plan("aa", place), "failed");
    places.plan("bb", place);
    CHECK(places.shown() == Names{"bb"});
    places.plan("aa", place);
    CHECK(places.shown() == Names{"aa"});
}

TEST_CASE("stage, case, axes and seeds each distinguish places") {
    Places places;
    TrialPlace staged{1, "plain", "{}"}, chained{3, "plain", "{}"};
    staged.stage = "tune";
    chained.stage = "tune";
    chained.seeds = "1.2";
    places.plan("aa", {0, "plain", "{}"});
    places.plan("bb", staged);
    places.plan("cc", {2, "wide", "{}"});
    places.plan("dd", chained);
    places.plan("ee", {4, "plain", R"({"train.budget_fraction":0.5})"});
    places.plan("ff", {5, "plain", "{}"}, 2);
    CHECK(places.shown() == Names{"aa", "bb", "cc", "dd", "ee", "ff"});
    // A chain of one seed is the place of that seed.
    TrialPlace named{0, "plain", "{}"};
    named.seeds = "1";
    places.plan("gg", named);
    CHECK(places.shown() == Names{"gg", "bb", "cc", "dd", "ee", "ff"});
    // Another sweep's places are its own.
    places.sweep = places.writer.add_sweep({"other", "s2", "name = 'other'", "[]"});
    places.plan("hh", {0, "plain", "{}"});
    CHECK(places.shown() == Names{"gg", "bb", "cc", "dd", "ee", "ff"});
}
