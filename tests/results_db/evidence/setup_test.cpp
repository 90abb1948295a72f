// The setup of an attempt is kept with it, though several attempts share a machine, a program and data.

#include "base/error.h"
#include "results_db/host_key.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

// The text with another setup of all its attempts.
std::string with_setup(const std::string& text, const std::function<void(Json&)>& change) {
    Records records(text);
    std::size_t setups = 0;
    for (const Json& record : records.all)
        if (record.at("record") == "shared" && record.at("value").is_object() && record.at("value").contains("host"))
            ++setups;
    for (std::size_t i = 0; i < setups; ++i) {
        std::size_t at = 0;
        records.change_shared(
            [&](const Json& value) { return value.is_object() && value.contains("host") && at++ == i; }, change);
    }
    return records.sealed();
}

std::string with_driver(const std::string& text, const std::string& version) {
    return with_setup(text, [&](Json& setup) {
        setup["host"]["extra_json"] = {{"gpus", {"a GPU"}}, {"cuda", {{"driver", version}}}};
    });
}

std::string exported(const std::filesystem::path& file) {
    return Reader(file).evidence("quick").text;
}

Host a_gpu_host(const std::string& driver) {
    Host host = a_host();
    host.extra_json = canonical_json({{"gpus", {"a GPU"}}, {"cuda", {{"driver", driver}}}});
    return host;
}

}  // namespace

TEST_CASE("attempts before and after a driver's update keep the driver that they ran with") {
    const std::string before = with_driver(MeasuredSweep({.seeds = {1}}).text(), "13.0"),
                      after = with_driver(MeasuredSweep({.seeds = {2}}).text(), "13.1");
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "results.db";
    Writer writer(file);
    writer.merge({{"before", before}, {"after", after}});
    const std::string both = exported(file);
    CHECK_THAT(both, ContainsSubstring(R"("driver":"13.0")") && ContainsSubstring(R"("driver":"13.1")"));
    CHECK(Reader(file).trial("plain[budget_fraction=1.0]/1").host.extra_json ==
          R"({"cuda":{"driver":"13.0"},"gpus":["a GPU"]})");
    CHECK(Reader(file).trial("plain[budget_fraction=1.0]/2").host.extra_json ==
          R"({"cuda":{"driver":"13.1"},"gpus":["a GPU"]})");
    CHECK(writer.merge({{"before", before}}).at(0).is_nothing());
    CHECK(writer.merge({{"after", after}}).at(0).is_nothing());
    const Reader further({{"both", both}});
    CHECK(further.evidence("quick").text == both);
}

TEST_CASE("a database takes its own older text back after its machine's driver was updated") {
    const MeasuredSweep measured({.seeds = {1}});
    {
        // As older programs left it: only the host has the driver.
        Connection connection(measured.file(), Connection::Mode::write);
        connection.execute(("UPDATE host SET extra_json = '" + a_gpu_host("13.0").extra_json + "'").c_str());
        Statement(connection, "UPDATE host SET fingerprint = ?1").bind(host_fingerprint(a_gpu_host("13.0"))).run();
    }
    const std::string before = measured.text();
    CHECK_THAT(before, ContainsSubstring(R"("driver":"13.0")"));
    Writer writer(measured.file());
    const std::int64_t host = writer.add_host(a_gpu_host("13.1"));
    CHECK(writer.add_host(a_gpu_host("13.1")) == host);
    CHECK(measured.text() == before);
    CHECK(writer.merge({{"before", before}}).at(0).is_nothing());
}

TEST_CASE("an attempt that a program before merged is known, though its driver's version is gone") {
    const std::string text = with_driver(MeasuredSweep({.seeds = {1}}).text(), "13.1");
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "results.db";
    { Writer(file).merge({{"text", text}}); }
    {
        Connection connection(file, Connection::Mode::write);
        connection.execute("UPDATE attempt SET machine_json = json_remove(machine_json, '$.extra')");
        connection.execute("UPDATE host SET extra_json = json_set(extra_json, '$.cuda.driver', '13.0')");
    }
    CHECK(Writer(file).merge({{"text", text}}).at(0).is_nothing());
    // Another GPU is another machine all the same.
    const std::string other = with_setup(text, [](Json& setup) { setup["host"]["extra_json"]["gpus"] = {"another"}; });
    Writer writer(file);
    CHECK_THAT(refusal(ErrorKind::database, [&] { writer.merge({{"other", other}}); }), ContainsSubstring("'setup'"));
}

TEST_CASE("one commit and program on two branches keeps the branch of each attempt") {
    const auto on_branch = [](const std::string& text, const char* branch) {
        return with_setup(text, [&](Json& setup) { setup["code"]["git_branch"] = branch; });
    };
    const std::string text = MeasuredSweep({.seeds = {1}}).text(), work = on_branch(text, "work"),
                      other = on_branch(MeasuredSweep({.seeds = {2}}).text(), "main");
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "results.db";
    Writer writer(file);
    writer.merge({{"work", work}, {"other", other}});
    CHECK_THAT(exported(file),
               ContainsSubstring(R"("git_branch":"work")") && ContainsSubstring(R"("git_branch":"main")"));
    CHECK(writer.merge({{"work", work}, {"other", other}}).at(1).is_nothing());
    // A branch decides no result: the known data of an attempt remain.
    CHECK(writer.merge({{"text", text}}).at(0).is_nothing());
    // The compiler is another matter.
    const std::string compiled = with_setup(text, [](Json& setup) { setup["code"]["compiler"] = "another"; });
    CHECK_THAT(refusal(ErrorKind::database,
                       [&] {
                           writer.merge({{"compiled", compiled}});
                       }),
               ContainsSubstring("'setup'"));
}

TEST_CASE("data of one hash has one size") {
    const auto with_bytes = [](const std::string& text, std::int64_t bytes, std::int64_t tokens) {
        return with_setup(text, [&](Json& setup) {
            if (!setup.contains("dataset")) return;
            setup["dataset"]["n_bytes"] = bytes;
            setup["dataset"]["n_tokens"] = tokens;
        });
    };
    const std::string one = MeasuredSweep({.seeds = {1}}).text(), two = MeasuredSweep({.seeds = {2}}).text();
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    writer.merge({{"one", with_bytes(one, 1000, 5)}});
    CHECK_THAT(refusal(ErrorKind::database,
                       [&] {
                           writer.merge({{"two", with_bytes(two, 999, 5)}});
                       }),
               ContainsSubstring("'setup'") && ContainsSubstring("two:"));
    // A larger patch makes fewer tokens of an image, and an older program counted no bytes.
    CHECK(writer.merge({{"two", with_bytes(two, 0, 7)}}).at(0).attempts == 4);
}
