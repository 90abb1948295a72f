// Every text that deft exports can be merged again.

#include "base/error.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

void execute_in(const MeasuredSweep& measured, const std::string& sql) {
    Connection(measured.file(), Connection::Mode::write).execute(sql.c_str());
}

}  // namespace

TEST_CASE("a task that is asked by a path upwards goes on by its last name") {
    const MeasuredSweep measured({.seeds = {1}});
    execute_in(measured, "UPDATE sweep_member SET scores_json = replace(scores_json, 'piqa', '../tasks/piqa.toml')");
    const Evidence evidence = Reader(measured.file()).evidence("quick");
    require_mergeable({evidence});
    CHECK_THAT(evidence.text, ContainsSubstring(R"("task":"piqa.toml")") && !ContainsSubstring("../tasks"));
    CHECK(Reader({{"x.jsonl", evidence.text}}).evidence("quick").text == evidence.text);
}

TEST_CASE("a text that merging would refuse is refused before it is written") {
    const MeasuredSweep measured({.seeds = {1}});
    require_mergeable({Reader(measured.file()).evidence("quick")});
    execute_in(measured, "UPDATE sweep SET scale = 'half.size'");
    const Evidence evidence = Reader(measured.file()).evidence("quick");
    CHECK_THAT(refusal(
                   ErrorKind::database, [&] { require_mergeable({evidence}); }, "could not be merged again"),
               ContainsSubstring("its 'scale' is not a valid name") && ContainsSubstring("help: ") &&
                   ContainsSubstring("unchanged: the results"));
}

TEST_CASE("a configuration whose hash is of an absolute path is exported to no text that is committed") {
    const MeasuredSweep measured({.seeds = {1}, .budgets = {1.0}});
    Json config = {{"data", {{"corpus", "/home/me/tasks/x.toml"}}}, {"seed", 1}, {"train", {{"budget_tokens", 1000}}}};
    Trial own;
    own.seed = 1;
    own.config_json = canonical_json(config);
    own.config_hash = sha256(own.config_json);
    config.erase("seed");
    own.variant_hash = sha256(canonical_json(config));
    {
        Writer writer(measured.file());
        const std::int64_t trial = writer.add_trial(own);
        writer.add_place(1, trial, {5, "other", "{}"});
    }
    const Reader reader(measured.file());
    CHECK_THAT(refusal(
                   ErrorKind::usage, [&] { (void)reader.evidence("quick"); }, "names /home/me/tasks/x.toml"),
               ContainsSubstring("deft db merge") && ContainsSubstring("unchanged: the results"));
    // From one database into another it goes as it is.
    CHECK(Reader({{"all", reader.evidence("quick", 0).text}}).sweep("quick").trials.size() == 2);
}
