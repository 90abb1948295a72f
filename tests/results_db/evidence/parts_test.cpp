// One sweep as several texts, each small enough to be committed.

#include <algorithm>
#include <string>

#include "results_db/evidence/evidence.h"
#include "results_db/evidence/parts.h"
#include "results_db/evidence/places.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
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

TEST_CASE("The parts of a sweep give what one text gives, in any order") {
    const MeasuredSweep measured({.seeds = {1, 2, 3, 4}});
    const Reader reader(measured.file());
    const Evidence whole = reader.evidence("quick", 0);
    CHECK_THAT(whole.text, !ContainsSubstring("part 1 of"));
    for (const std::size_t of : {1, 2, 3, 4, 8}) {
        INFO(of << " parts");
        const std::vector<Evidence> parts = reader.evidence_parts("quick", of, 0);
        REQUIRE(parts.size() == of);
        std::int64_t trials = 0, attempts = 0;
        for (std::size_t i = 0; i < of; ++i) {
            if (of > 1)
                CHECK_THAT(evidence_note(parts[i].text), ContainsSubstring(fmt::format("part {} of {}, ", i + 1, of)));
            CHECK(std::abs(static_cast<double>(parts[i].trials) - 8.0 / static_cast<double>(of)) < 1);
            trials += parts[i].trials;
            attempts += parts[i].attempts;
        }
        CHECK(trials == 8);
        CHECK(attempts == whole.attempts);
        std::vector<NamedEvidence> texts = texts_of(parts);
        CHECK(Reader(texts).evidence("quick", 0).text == whole.text);
        CHECK(lacking_parts(texts).empty());
        std::reverse(texts.begin(), texts.end());
        CHECK(Reader(texts).evidence("quick", 0).text == whole.text);
        texts.pop_back();
        CHECK(lacking_parts(texts).empty() == (of == 1));
        if (of == 3)
            CHECK_THAT(lacking_parts(texts).front(), ContainsSubstring("3 parts, of which these are not here: 1"));
    }
    const std::vector<Evidence> two = reader.evidence_parts("quick", 2, 0);
    CHECK_THAT(lacking_parts(texts_of({two.front()})).at(0),
               ContainsSubstring("2 parts, of which these are not here: 2"));
}

TEST_CASE("Parts of many rows give the table again, merged at once in any order or one after the other") {
    const MeasuredSweep measured({.seeds = {1}, .budgets = {1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2}});
    const Reader reader(measured.file());
    const std::string whole = reader.evidence("quick", 0).text;
    for (const std::size_t of : {2, 5, 9}) {
        INFO(of << " parts");
        std::vector<NamedEvidence> texts = texts_of(reader.evidence_parts("quick", of, 0));
        const TemporaryFolder folder;
        {
            Writer writer(folder / "results.db");
            for (const NamedEvidence& text : texts) (void)writer.merge({text});
        }
        CHECK(Reader(folder / "results.db").evidence("quick", 0).text == whole);
        std::rotate(texts.begin(), texts.begin() + 1, texts.end());
        CHECK(Reader(texts).evidence("quick", 0).text == whole);
        std::reverse(texts.begin(), texts.end());
        CHECK(Reader(texts).evidence("quick", 0).text == whole);
    }
}

TEST_CASE("Trials are dealt out in the order of the table, and those of one place stay together") {
    // Each place of row a had another trial before; row b shares its first with a, and its second is in c too.
    const std::vector<KnownPlace> places = {a_place("a", 1, "a1 old"), a_place("a", 1, "a1"), a_place("a", 2, "a2 old"),
                                            a_place("a", 2, "a2"),     a_place("b", 1, "a1"), a_place("b", 2, "c1"),
                                            a_place("b", 3, "b3"),     a_place("c", 1, "c1"), a_place("c", 2, "c2")};
    CHECK(most_parts(places) == 5);
    const auto parts = hashes_of_parts(places, 2);
    REQUIRE(parts.size() == 2);
    CHECK(parts[0] == std::set<std::string>{"a1 old", "a1", "a2 old", "a2", "c1"});
    CHECK(parts[1] == std::set<std::string>{"b3", "c2"});
    for (const std::set<std::string>& part : hashes_of_parts(places, 5)) CHECK_FALSE(part.empty());
    CHECK(hashes_of_parts(places, 1).front().size() == 7);
    CHECK(most_parts({}) == 1);
    CHECK(hashes_of_parts({}, 1).front().empty());
    CHECK_THROWS(hashes_of_parts(places, 0));
}

TEST_CASE("Rows of parts that are merged one after the other keep the order of their table") {
    const Json a = "a", b = "b", c = "c", d = "d", e = "e";
    using Rows = std::vector<Json>;
    CHECK(joined_rows({a, b}, {c, d}) == Rows{a, b, c, d});
    CHECK(joined_rows({a, b}, {b, c}) == Rows{a, b, c});
    CHECK(joined_rows({c, d}, {a, b, c}) == Rows{a, b, c, d});
    CHECK(joined_rows({a, c, e}, {b, c, d, e}) == Rows{a, b, c, d, e});
    CHECK(joined_rows({}, {a, b}) == Rows{a, b});
}

TEST_CASE("of a place with a newer trial, parts show what the database shows") {
    const MeasuredSweep measured({.seeds = {1, 2, 3}});
    {  // All but the hash is as it was; the newest of a place comes last, and its use_order is the greatest.
        Connection connection(measured.file(), Connection::Mode::write);
        connection.execute("UPDATE sweep_member SET axes_json = '{\"train.budget_fraction\":1.0}'");
        connection.execute("UPDATE sweep_member SET use_order = ordinal");
        connection.execute("UPDATE sweep_member SET ordinal = ordinal % 3");
    }
    const Reader reader(measured.file());
    const StoredSweep before = reader.sweep("quick");
    for (const std::size_t of : {2, 3}) {
        INFO(of);
        const StoredSweep after = Reader(texts_of(reader.evidence_parts("quick", of, 0))).sweep("quick");
        REQUIRE(after.trials.size() == before.trials.size());
        for (std::size_t i = 0; i < after.trials.size(); ++i)
            CHECK(after.trials[i].config_hash == before.trials[i].config_hash);
    }
}

TEST_CASE("A sweep has as many parts as it needs, up to one for each trial") {
    const MeasuredSweep measured({.seeds = {1, 2}});
    const Reader reader(measured.file());
    CHECK_THAT(refusal(
                   ErrorKind::usage, [&] { (void)reader.evidence_parts("quick", 5); }, "4 trials cannot be 5 parts"),
               ContainsSubstring("ask for 4 parts at most"));
    CHECK(reader.evidence_parts("quick", 4).size() == 4);
    CHECK_THAT(
        refusal(
            ErrorKind::usage, [&] { (void)reader.evidence_parts("quick", 2, 2'000); }, "merge the database itself"),
        !ContainsSubstring("write it as several"));
}

TEST_CASE("What is too long for one text names a number of parts that can be written", "[slow]") {
    const MeasuredSweep measured({.seeds = {1, 2, 3, 4}});
    const Reader reader(measured.file());
    const std::string whole = reader.evidence("quick", 0).text;
    int advised = 0;
    for (std::size_t most = 3'000; most < whole.size(); most += 500) {
        INFO(most << " bytes");
        std::string said;
        try {
            (void)reader.evidence("quick", most);
            break;
        } catch (const Error& error) {
            said = error.what();
        }
        const std::size_t at = said.find("--parts ");
        if (at == std::string::npos) continue;
        ++advised;
        const std::size_t count = std::stoul(said.substr(at + 8));
        const std::vector<Evidence> parts = reader.evidence_parts("quick", count, most);
        CHECK(parts.size() == count);
        for (const Evidence& part : parts) CHECK(part.text.size() <= most);
    }
    CHECK(advised > 2);
}

TEST_CASE("parts that do not go together are refused, naming the one that does not") {
    const MeasuredSweep one({.seeds = {1, 2}}), other({.seeds = {1, 2}, .score = 0.5});
    std::vector<Evidence> parts = Reader(one.file()).evidence_parts("quick", 2, 0);
    CHECK_NOTHROW(require_mergeable(parts));
    parts.push_back(Reader(other.file()).evidence_parts("quick", 2, 0).front());
    CHECK_THAT(refusal(
                   ErrorKind::database, [&] { require_mergeable(parts); }, "could not be merged again"),
               ContainsSubstring("part 3 of 3:"));
}
