// Seeds of one sweep that were measured in several databases.

#include "base/error.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "results_db/trial_name.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

struct Table {
    std::string names, scores;
    bool operator==(const Table&) const = default;
};

Table table_of(const Reader& reader) {
    Table table;
    std::int64_t ordinal = 0;
    for (const StoredTrial& trial : reader.sweep("quick").trials) {
        CHECK(trial.ordinal == ordinal++);
        table.names += trial_name(trial) + "\n";
        for (const ScoreRow& score : trial.scores) table.scores += fmt::format("{} {}\n", score.measure, score.value);
    }
    return table;
}

}  // namespace

TEST_CASE("databases with different seeds make one table, in whichever order they come") {
    const MeasuredSweep all({.seeds = {1, 2, 3, 4, 5}}), some({.seeds = {2, 4}}), others({.seeds = {1, 3, 5}});
    const Table expected = table_of(Reader(all.file()));
    CHECK(expected.names.starts_with("plain[budget_fraction=1.0]/1\nplain[budget_fraction=1.0]/2\n"));
    const NamedEvidence a{"a.jsonl", some.text()}, b{"b.jsonl", others.text()};
    for (const auto& texts : {std::vector{a, b}, std::vector{b, a}}) {
        const TemporaryFolder folder;
        Writer writer(folder / "results.db");
        const std::vector<Merged> merged = writer.merge(texts, " --root here");
        CHECK_FALSE(merged.at(0).is_joined);
        CHECK(merged.at(1).is_joined);
        CHECK(merged.at(0).sweep == merged.at(1).sweep);
        CHECK(merged.at(1).seeds ==
              (texts[0].name == "a.jsonl" ? std::set<std::int64_t>{1, 3, 5} : std::set<std::int64_t>{2, 4}));
        const Reader reader(folder / "results.db");
        CHECK(reader.sweeps().size() == 1);
        CHECK(table_of(reader) == expected);
        CHECK(reader.sweeps().front().command == "deft run quick.toml --scale proxy --seeds 1,2,3,4,5 --root here");
        // Told once more, they add nothing.
        for (const Merged& again : writer.merge(texts)) CHECK(again.is_nothing());
        CHECK(table_of(reader) == expected);
        CHECK(reader.sweeps().front().command == "deft run quick.toml --scale proxy --seeds 1,2,3,4,5 --root here");
        // The joined table is exported as one text, verdicts included.
        const Reader further(std::vector<NamedEvidence>{{"c.jsonl", reader.evidence("quick").text}});
        CHECK(table_of(further) == expected);
        CHECK(further.verdicts().size() == 2);
    }
    // Into a database with results of its own.
    {
        Writer writer(some.file());
        CHECK(writer.merge({b}).at(0).is_joined);
    }
    CHECK(table_of(Reader(some.file())) == expected);
    CHECK_FALSE(Reader(some.file()).trial("plain[budget_fraction=1.0]/2").is_merged());
    CHECK(Reader(some.file()).trial("plain[budget_fraction=1.0]/3").is_merged());
}

TEST_CASE("seeds of the same spec, which both were to train, are filled in") {
    const MeasuredSweep both;
    const TemporaryFolder folder;
    const std::string text = both.text();
    // The first one knows the place of seed 2, and has not trained it.
    Records first(text);
    std::erase_if(first.all, [](const Json& record) {
        const Json& uid = record.contains("uid") ? record.at("uid") : record.value("attempt", Json(""));
        return uid.is_string() && uid.get<std::string>().starts_with("run-2");
    });
    Writer writer(folder / "results.db");
    writer.merge({{"first", first.sealed()}});
    CHECK(Reader(folder / "results.db").sweep("quick").trials[1].state == "pending");
    const Merged merged = writer.merge({{"second", text}}).at(0);
    CHECK(merged.attempts == 4);
    CHECK(merged.known == 4);
    CHECK(merged.places == 0);
    CHECK_FALSE(merged.is_joined);
    CHECK(table_of(Reader(folder / "results.db")) == table_of(Reader(both.file())));
    CHECK(Reader(folder / "results.db").evidence("quick").text == text);
}

TEST_CASE("a verdict goes with the runs of its own scale") {
    const MeasuredSweep measured;
    {
        Writer writer(measured.file());
        measure(writer, measured.folder, {.seeds = {3}, .scale = "smoke"});
    }
    const Reader reader(measured.file());
    REQUIRE(reader.sweeps().size() == 2);
    REQUIRE(reader.verdicts().size() == 4);
    for (const SweepHead& head : reader.sweeps()) {
        const Records records(reader.evidence(full_name(head)).text);
        std::int64_t verdicts = 0;
        for (const Json& record : records.all)
            if (record.at("record") == "verdict") {
                ++verdicts;
                CHECK(record.at("subject_json").at("spec_sha256") == head.spec_sha256);
            }
        CHECK(verdicts == 1);
    }
}

TEST_CASE("a trial planned here takes precedence over a merged trial of the same place") {
    // Seed 1 of that row was retrained there: another configuration at the same place.
    const MeasuredSweep here({.seeds = {1}, .budgets = {1.0}}), there({.seeds = {1}, .budgets = {0.5}});
    Records records(there.text());
    records.find("place")["axes_json"]["train.budget_fraction"] = 1.0;
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    writer.merge({{"here", here.text()}, {"there", records.sealed()}});
    const Reader reader(folder / "results.db");
    REQUIRE(reader.sweeps().size() == 1);
    REQUIRE(reader.sweep("quick").trials.size() == 1);
    CHECK(reader.sweep("quick").trials[0].config_hash == hashed_trial(1, 1.0).config_hash);
    // As such they go on.
    const Reader further(std::vector<NamedEvidence>{{"both", reader.evidence("quick").text}});
    CHECK(further.sweep("quick").trials.at(0).config_hash == hashed_trial(1, 1.0).config_hash);
    CHECK(further.trial(hashed_trial(1, 0.5).config_hash).state == "ok");
}

TEST_CASE("another scale, or rows of another configuration, are a sweep of their own") {
    const MeasuredSweep proxy, smoke({.seeds = {3}, .scale = "smoke"});
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    CHECK_FALSE(writer.merge({{"a", proxy.text()}, {"b", smoke.text()}}).at(1).is_joined);
    CHECK(Reader(folder / "results.db").sweeps().size() == 2);
    // The same row, of another budget than its name says.
    const MeasuredSweep seed({.seeds = {7}});
    Records records(seed.text());
    for (Json& record : records.all)
        if (record.at("record") == "place")
            record["axes_json"]["train.budget_fraction"] = record["row"] == 0 ? 0.5 : 1.0;
    CHECK_FALSE(writer.merge({{"c", records.sealed()}}).at(0).is_joined);
    CHECK(Reader(folder / "results.db").sweeps().size() == 3);
}

TEST_CASE("a row that one of them lacks comes after the row that it follows in the other") {
    const MeasuredSweep two({.seeds = {1}, .budgets = {1.0, 0.25}}), three({.seeds = {2}, .budgets = {1.0, 0.5, 0.25}});
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    writer.merge({{"two", two.text()}, {"three", three.text()}});
    CHECK(table_of(Reader(folder / "results.db")).names ==
          "plain[budget_fraction=1.0]/1\nplain[budget_fraction=1.0]/2\nplain[budget_fraction=0.5]/2\n"
          "plain[budget_fraction=0.25]/1\nplain[budget_fraction=0.25]/2\n");
}

TEST_CASE("the first day that a sweep ran on is that of all its seeds") {
    const MeasuredSweep early({.seeds = {1}});
    Records records(early.text());
    records.find("sweep")["created_ms"] = 5;
    records.find("sweep")["claims_json"] = {{"claims", Json::array()}, {"table", "then"}};
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    const MeasuredSweep late({.seeds = {2}});
    writer.merge({{"late", late.text()}, {"early", records.sealed()}, {"late again", late.text()}});
    const SweepHead head = Reader(folder / "results.db").sweeps().front();
    CHECK(head.created_ms == 5);
    CHECK_THAT(head.claims_json, ContainsSubstring("then"));
}
