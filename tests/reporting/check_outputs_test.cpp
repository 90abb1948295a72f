// The findings of a gate as GitHub, JUnit's readers and Bencher take them, whatever the names hold.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "base/process.h"
#include "base/utf8.h"
#include "reporting/analysis/check/check_report.h"
#include "reporting/views/text/ci_files.h"
#include "tests/catch.h"
#include "tests/python.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::reporting;

namespace {

CheckFinding finding(Outcome outcome, const std::string& name, const std::string& text = "it was so") {
    CheckFinding one;
    one.check = "bench";
    one.name = name;
    one.where = "hot";
    one.outcome = outcome;
    one.text = text;
    return one;
}

CheckReport one_of_each() {
    return {"Benchmarks, HEAD against BASE",
            {finding(Outcome::same, "s"), finding(Outcome::better, "b"), finding(Outcome::unclear, "u"),
             finding(Outcome::worse, "w"), finding(Outcome::missing, "m"), finding(Outcome::broken, "x")}};
}

// Ends of lines, of properties, of attributes and of elements, percent codes, control characters, no UTF-8.
const std::vector<std::string> kHostile = {"a::b,c=d%0Ae%25\r\n::error::owned",
                                           "</testcase><!--]]>&amp;\"'>",
                                           std::string("nul\0esc\x1b[2J bell\a", 17),
                                           "broken \xff\xfe utf8 \xc3",
                                           "\xef\xbf\xbf and \xef\xbf\xbe",
                                           "| pipe ` tick <b> \\",
                                           "",
                                           std::string(5000, '%')};

CheckReport hostile() {
    CheckReport report{kHostile[0], {}};
    for (const Outcome outcome : {Outcome::worse, Outcome::broken, Outcome::missing, Outcome::same})
        for (const std::string& text : kHostile) {
            CheckFinding one = finding(outcome, text, text);
            one.where = one.check = text;
            one.effect = 0.1;
            report.findings.push_back(one);
        }
    return report;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t from = 0, to; from < text.size(); from = to + 1) {
        to = std::min(text.find('\n', from), text.size());
        out.push_back(text.substr(from, to - from));
    }
    return out;
}

// Python's independent parser reads the file back: one line per test case, and the counts of the suite.
std::string read_back(const std::string& xml) {
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder / "junit.xml";
    test::write_text(file, xml);
    const char* script =
        "import sys, xml.etree.ElementTree as tree\n"
        "root = tree.parse(sys.argv[1]).getroot()\n"
        "assert root.tag == 'testsuites' and [s.tag for s in root] == ['testsuite']\n"
        "suite = root[0]\n"
        "assert suite.attrib == root.attrib\n"
        "print(*(suite.attrib[k] for k in ('tests', 'failures', 'errors', 'skipped')))\n"
        "for case in suite:\n"
        "    assert case.tag == 'testcase' and len(case) == 1 and float(case.attrib['time']) >= 0\n"
        "    print(ascii(case.attrib['name']), case[0].tag, ascii(case[0].attrib.get('message', case[0].text)))\n";
    const ProcessOutput output = run_process({"python3", "-c", script, file.string()});
    INFO(output.out);
    CHECK(output.exit_code == 0);
    return output.out;
}

}  // namespace

TEST_CASE("workflow commands keep their text whatever it holds", "[bare][python]") {
    CHECK(github_data("100% of\r\na:b,c") == "100%25 of%0D%0Aa:b,c");
    CHECK(github_property("100% of\r\na:b,c") == "100%25 of%0D%0Aa%3Ab%2Cc");
    CHECK(github_data("\x1b[2J") == " [2J");
    const std::string commands = github_annotations(hostile());
    for (const std::string& line : lines(commands)) {
        INFO(line);
        // One title, then the text: the second pair of colons is the first after the command's own.
        CHECK((line.starts_with("::error title=") || line.starts_with("::warning title=")));
        CHECK(line.find('\r') == std::string::npos);
        const std::size_t end = line.find("::", 2);
        REQUIRE(end != std::string::npos);
        CHECK(line.substr(2, end - 2).find(',') == std::string::npos);
    }
    CHECK(is_valid_utf8(commands));
}

TEST_CASE("GitHub hears of what is not the same, the gravest first, ten of a kind at most", "[bare][python]") {
    CHECK(github_annotations(one_of_each()) ==
          "::error title=broken%3A x%2C hot::it was so\n"
          "::error title=worse%3A w%2C hot::it was so\n"
          "::warning title=inconclusive%3A u%2C hot::it was so\n"
          "::warning title=not evaluated%3A m%2C hot::it was so\n"
          "::notice title=better%3A b%2C hot::it was so\n");
    CHECK(github_annotations({"all the same", {finding(Outcome::same, "s")}}).empty());
    CheckReport many{"many", {}};
    for (int i = 0; i < 25; ++i) many.findings.push_back(finding(Outcome::worse, "w"));
    const std::vector<std::string> commands = lines(github_annotations(many));
    REQUIRE(commands.size() == 10);
    CHECK(commands.back() == "::error title=many::16 more like this: see the summary of the run");
}

TEST_CASE("a summary counts the outcomes and leads with the gravest", "[bare][python]") {
    CHECK(counts_text(one_of_each()) == "1 broken, 1 worse, 1 inconclusive, 1 not evaluated, 1 better, 1 same");
    CHECK(counts_text({}) == "nothing was checked");
    const std::string summary = github_summary(one_of_each());
    CHECK(summary.find("| broken") < summary.find("| worse"));
    CHECK(summary.find("| worse") < summary.find("| same"));
    CheckReport many{"many", {}};
    for (int i = 0; i < 700; ++i) many.findings.push_back(finding(Outcome::same, std::to_string(i)));
    many.findings.push_back(finding(Outcome::worse, "the one"));
    const std::string short_summary = github_summary(many);
    CHECK_THAT(short_summary, ContainsSubstring("the one") && ContainsSubstring("201 more, none of them graver"));
    CHECK(short_summary.size() < (1u << 20));
    for (const std::string& line : lines(github_summary(hostile()))) CHECK(line.find("<b>") == std::string::npos);
}

TEST_CASE("JUnit's XML is read back by another parser, whatever the names hold", "[bare][python]") {
    if (!test::has_python()) DEFT_SKIP("no python3 to read the XML with");
    const std::vector<std::string> cases = lines(read_back(render_junit(one_of_each(), false)));
    CHECK(cases == std::vector<std::string>{"6 1 1 2", "'s, hot' system-out 'same: it was so'",
                                            "'b, hot' system-out 'better: it was so'",
                                            "'u, hot' skipped 'unclear: it was so'", "'w, hot' failure 'it was so'",
                                            "'m, hot' skipped 'missing: it was so'", "'x, hot' error 'it was so'"});
    CHECK(lines(read_back(render_junit(one_of_each(), true))).front() == "6 2 1 1");
    CHECK(lines(read_back(render_junit({}, false))).front() == "0 0 0 0");
    const std::string xml = render_junit(hostile(), false);
    CHECK(is_valid_utf8(xml));
    const std::vector<std::string> back = lines(read_back(xml));
    REQUIRE(back.size() == 1 + 4 * kHostile.size());
    CHECK(back[0] ==
          fmt::format("{} {} {} {}", 4 * kHostile.size(), kHostile.size(), kHostile.size(), kHostile.size()));
    CHECK_THAT(back[2],
               ContainsSubstring("</testcase><!--]]>&amp;\\\"\\'>") || ContainsSubstring("</testcase><!--]]>&amp;"));
}

TEST_CASE("Bencher gets ratios of times and differences of scores, with their intervals", "[bare][python]") {
    CheckReport report{
        "all", {finding(Outcome::worse, "slow"), finding(Outcome::same, "loss"), finding(Outcome::broken, "x")}};
    report.findings[0].effect = std::log(1.1);
    report.findings[0].lower = std::log(1.05);
    report.findings[0].upper = std::log(1.15);
    report.findings[1].check = "quality";
    report.findings[1].effect = -0.25;
    report.findings[1].upper = std::numeric_limits<double>::infinity();
    const Json json = Json::parse(render_bencher_metrics(report));
    REQUIRE(json.size() == 2);
    const Json& ratio = json.at("slow, hot").at("time_ratio");
    CHECK(ratio.at("value").get<double>() == Approx(1.1));
    CHECK(ratio.at("lower_value").get<double>() == Approx(1.05));
    CHECK(ratio.at("upper_value").get<double>() == Approx(1.15));
    CHECK(json.at("loss, hot") == Json{{"difference", {{"value", -0.25}}}});

    const Json all = Json::parse(render_bencher_metrics(hostile()));
    CHECK(all.size() == hostile().findings.size());  // one of a name does not hide another
    for (const auto& [name, metric] : all.items()) CHECK(name.size() <= 1024);
    CHECK(render_bencher_metrics({}) == "{}\n");
}
