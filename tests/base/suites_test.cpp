// Suites of tasks, read strictly.

#include "base/suites.h"

#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/refusal.h"

using namespace deft;

TEST_CASE("a suite has its tasks in the file's order, each with its measure", "[bare]") {
    const auto suites = parse_suites(
        "[mine]\nmeaning = \"two\"\n[mine.measures]\nzeta = \"acc\"\nalpha = \"f1\"\n"
        "[other]\nmeaning = \"one\"\nmeasures = { alpha = \"acc\" }\n",
        "s.toml");
    REQUIRE(suites.size() == 2);
    CHECK(suites[0].name == "mine");
    CHECK(suites[0].meaning == "two");
    REQUIRE(suites[0].tasks.size() == 2);
    CHECK(suites[0].tasks[0].name == "zeta");
    CHECK(suites[0].find("alpha")->measure == "f1");
    CHECK(suites[1].find("alpha")->measure == "acc");
    CHECK(suites[1].find("zeta") == nullptr);
}

TEST_CASE("mistakes in a file of suites are reported with their place", "[bare]") {
    const auto error = [](const std::string& text) { return test::refusal([&] { parse_suites(text, "s.toml"); }); };
    CHECK_THAT(error("[a]\nmeaning = \"m\"\n"),
               ContainsSubstring("s.toml:1") && ContainsSubstring("a.measures is missing"));
    CHECK_THAT(error("[a]\nmeaning = \"m\"\n[a.measures]\n"), ContainsSubstring("a.measures is empty"));
    CHECK_THAT(error("[a]\nmeasures = { t = \"acc\" }\n"), ContainsSubstring("a.meaning is missing"));
    CHECK_THAT(error("[a]\nmeaning = \"m\"\n[a.measures]\nt = 3\n"),
               ContainsSubstring("s.toml:4") && ContainsSubstring("a.measures.t must be"));
    CHECK_THAT(error("[a]\nmeaning = \"m\"\ncolour = 1\n[a.measures]\nt = \"acc\"\n"), ContainsSubstring("a.colour"));
    CHECK_THAT(error("a = 1\n"), ContainsSubstring("must be a table"));
    CHECK_THAT(test::refusal([] { project_suite("data_eficiency"); }),
               ContainsSubstring("did you mean data_efficiency?"));
}

TEST_CASE("the project's suites are those of the published tables", "[bare]") {
    CHECK(project_suite("moe").tasks.size() == 6);
    const Suite& papers = project_suite("data_efficiency");
    CHECK(papers.tasks.size() == 19);
    golden::for_group("metrics.json", "macro_average", [&](const Json& c) {
        if (!c.contains("order")) return;
        REQUIRE(c["order"].size() == papers.tasks.size());
        for (std::size_t i = 0; i < papers.tasks.size(); ++i)
            CHECK(papers.tasks[i].name == c["order"][i].get<std::string>());
    });
}
