#include "reporting/junit.h"

#include <fmt/format.h>

#include <cmath>

#include "reporting/html_text.h"

namespace deft::reporting {

namespace {

// Beside control characters, which html_escaped() replaces, XML 1.0 has no U+FFFE and U+FFFF.
std::string xml_escaped(const std::string& text) {
    std::string out = html_escaped(text);
    for (std::size_t at = out.find("\xEF\xBF"); at != std::string::npos; at = out.find("\xEF\xBF", at + 2))
        if (const char last = out[at + 2]; last == '\xBE' || last == '\xBF') out[at + 2] = '\xBD';
    return out;
}

enum class Kind { passed, failure, error, skipped };

Kind kind_of(Outcome outcome, bool strict) {
    switch (outcome) {
        case Outcome::broken:
            return Kind::error;
        case Outcome::worse:
            return Kind::failure;
        case Outcome::unclear:
            return strict ? Kind::failure : Kind::skipped;
        case Outcome::missing:
            return Kind::skipped;
        case Outcome::better:
        case Outcome::same:
            break;
    }
    return Kind::passed;
}

struct Counts {
    std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
    double seconds = 0;
};

double seconds_of(const CheckFinding& finding) {
    return finding.seconds > 0 && std::isfinite(finding.seconds) ? finding.seconds : 0;
}

std::string body_of(const CheckFinding& finding, Kind kind) {
    const std::string text = xml_escaped(finding.text);
    const char* outcome = name(finding.outcome);
    switch (kind) {
        case Kind::failure:
            return fmt::format("<failure message=\"{}\" type=\"{}\">{}</failure>", text, outcome, text);
        case Kind::error:
            return fmt::format("<error message=\"{}\" type=\"{}\">{}</error>", text, outcome, text);
        case Kind::skipped:
            return fmt::format("<skipped message=\"{}: {}\"/>", outcome, text);
        case Kind::passed:
            break;
    }
    return fmt::format("<system-out>{}: {}</system-out>", outcome, text);
}

}  // namespace

std::string render_junit(const CheckReport& report, bool strict) {
    Counts counts;
    std::string cases;
    for (const CheckFinding& finding : report.findings) {
        const Kind kind = kind_of(finding.outcome, strict);
        ++counts.tests;
        counts.failures += kind == Kind::failure;
        counts.errors += kind == Kind::error;
        counts.skipped += kind == Kind::skipped;
        counts.seconds += seconds_of(finding);
        cases += fmt::format("<testcase classname=\"deft.{}\" name=\"{}{}{}\" time=\"{:.3f}\">{}</testcase>\n",
                             xml_escaped(finding.check), xml_escaped(finding.name), finding.where.empty() ? "" : ", ",
                             xml_escaped(finding.where), seconds_of(finding), body_of(finding, kind));
    }
    const std::string numbers =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"", counts.tests,
                    counts.failures, counts.errors, counts.skipped, counts.seconds);
    const std::string title = xml_escaped(report.caption);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{0}\" {1}>\n<testsuite name=\"{0}\" {1}>\n"
        "{2}</testsuite>\n</testsuites>\n",
        title, numbers, cases);
}

}  // namespace deft::reporting
