// One sweep as several texts, each small enough to be committed.

#include <algorithm>

#include "results_db/evidence/evidence.h"
#include "results_db/evidence/parts.h"
#include "results_db/store.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

std::vector<NamedEvidence> texts_of(const std::vector<Evidence>& parts) {
    std::vector<NamedEvidence> texts;
    for (const Evidence& part : parts) texts.push_back({fmt::format("part {}", texts.size() + 1), part.text});
    return texts;
}

KnownPlace a_place(const char* row, std::int64_t seed, const std::string& hash) {
    KnownPlace place;
    place.row = Json::array({"", row, Json::object()});
    place.seeds = {seed};
    place.config_hash = hash;
    return place;
}

}  // namespace

TEST_CASE("the parts of a sweep give what one text gives, the first of them a trial of every row") {
    const MeasuredSweep measured({.seeds = {1, 2, 3, 4}});
    const Reader reader(measured.file());
    const Evidence whole = reader.evidence("quick", 0);
    CHECK_THAT(whole.text, !ContainsSubstring("part 1 of"));
    for (const std::size_t of : {1, 2, 3, 4}) {
        INFO(of << " parts");
        const std::vector<Evidence> parts = reader.evidence_parts("quick", of, 0);
        REQUIRE(parts.size() == of);
        std::int64_t trials = 0, attempts = 0;
        for (std::size_t i = 0; i < of; ++i) {
            if (of > 1) CHECK_THAT(evidence_note(parts[i].text), ContainsSubstring(fmt::format("part {} of {}, ", i + 1, of)));
            CHECK(std::abs(static_cast<double>(parts[i].trials) - 8.0 / static_cast<double>(of)) < 1);
            trials += parts[i].trials;
            attempts += parts[i].attempts;
        }
        CHECK(trials == 8);
        CHECK(attempts == whole.attempts);
        std::vector<NamedEvidence> texts = texts_of(parts);
        CHECK(Reader(texts).evidence("quick", 0).text == whole.text);
        CHECK(lacking_parts(texts).empty());
        // In any order all is there.
        std::reverse(texts.begin(), texts.end());
        CHECK(Reader(texts).sweep("quick").trials.size() == 8);
        texts.pop_back();
        CHECK(lacking_parts(texts).empty() == (of == 1));
        if (of == 3) CHECK_THAT(lacking_parts(texts).front(), ContainsSubstring("3 parts, of which these are not here: 1"));
    }
    const std::vector<Evidence> two = reader.evidence_parts("quick", 2, 0);
    CHECK_THAT(lacking_parts(texts_of({two.front()})).at(0), ContainsSubstring("2 parts, of which these are not here: 2"));
    const SweepResults first = Reader(texts_of({reader.evidence_parts("quick", 4, 0).front()})).sweep("quick");
    REQUIRE(first.trials.size() == 2);
    CHECK(first.trials[0].seed == 1);
    CHECK(first.trials[1].seed == 1);
    CHECK(first.trials[0].axes_json != first.trials[1].axes_json);
}

TEST_CASE("trials are dealt out by their number in a row, and those of one place stay together") {
    // Each place of row a had another trial before; row b shares its first with a, and its second stands in c first.
    const std::vector<KnownPlace> places = {a_place("a", 1, "a1 old"), a_place("a", 1, "a1"), a_place("a", 2, "a2 old"),
                                            a_place("a", 2, "a2"),     a_place("b", 1, "a1"), a_place("b", 2, "c1"),
                                            a_place("b", 3, "b3"),     a_place("c", 1, "c1"), a_place("c", 2, "c2")};
    CHECK(most_parts(places) == 2);  // seven trials of three rows
    const auto parts = hashes_of_parts(places, 2);
    REQUIRE(parts.size() == 2);
    CHECK(parts[0] == std::set<std::string>{"a1 old", "a1", "c1", "a2 old", "a2"});
    CHECK(parts[1] == std::set<std::string>{"c2", "b3"});
    CHECK(hashes_of_parts(places, 1).front().size() == 7);
    CHECK(most_parts({}) == 1);
    CHECK(hashes_of_parts({}, 1).front().empty());
    CHECK_THROWS(hashes_of_parts(places, 0));
}

TEST_CASE("of a place with a newer trial, parts show what the database shows") {
    const MeasuredSweep measured({.seeds = {1, 2, 3}});
    {  // All but the hash is as it was; the newest of a place stands last, and its use_order is the greatest.
        Connection connection(measured.file(), Connection::Mode::write);
        connection.execute("UPDATE sweep_member SET axes_json = '{\"train.budget_fraction\":1.0}'");
        connection.execute("UPDATE sweep_member SET use_order = ordinal");
        connection.execute("UPDATE sweep_member SET ordinal = ordinal % 3");
    }
    const Reader reader(measured.file());
    const SweepResults before = reader.sweep("quick");
    for (const std::size_t of : {2, 3}) {
        INFO(of);
        const SweepResults after = Reader(texts_of(reader.evidence_parts("quick", of, 0))).sweep("quick");
        REQUIRE(after.trials.size() == before.trials.size());
        for (std::size_t i = 0; i < after.trials.size(); ++i)
            CHECK(after.trials[i].config_hash == before.trials[i].config_hash);
    }
}

TEST_CASE("a sweep has no more parts than trials for each of its rows") {
    const MeasuredSweep measured({.seeds = {1, 2}});
    const Reader reader(measured.file());
    CHECK_THAT(refusal(
                   ErrorKind::usage, [&] { (void)reader.evidence_parts("quick", 3); }, "4 trials in 2 rows cannot be 3 parts"),
               ContainsSubstring("ask for 2 parts at most"));
    CHECK(reader.evidence_parts("quick", 2).size() == 2);
    // What is too long for one text says as how many it may be written, where it may.
    refusal(
        ErrorKind::usage, [&] { (void)reader.evidence("quick", 5'000); }, "write it as several texts with --parts 2, or merge");
    CHECK_THAT(refusal(ErrorKind::usage, [&] { (void)reader.evidence_parts("quick", 2, 2'000); }, "merge the database itself"),
               !ContainsSubstring("write it as several"));
}

TEST_CASE("parts that do not go together are told so, with the one that does not") {
    const MeasuredSweep one({.seeds = {1, 2}}), other({.seeds = {1, 2}, .score = 0.5});
    std::vector<Evidence> parts = Reader(one.file()).evidence_parts("quick", 2, 0);
    CHECK_NOTHROW(require_mergeable(parts));
    parts.push_back(Reader(other.file()).evidence_parts("quick", 2, 0).front());
    CHECK_THAT(refusal(ErrorKind::database, [&] { require_mergeable(parts); }, "could not be merged again"),
               ContainsSubstring("part 3 of 3:"));
}
