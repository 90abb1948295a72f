#include "reporting/views/text/ci_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "base/json.h"
#include "reporting/analysis/check/check_report.h"
#include "reporting/text.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

constexpr std::size_t kMostShown = 10;         // of a level: GitHub drops what a step says beyond
constexpr std::size_t kMostSummaryRows = 500;  // a summary may have a MiB

std::string percent_coded(std::string_view text, std::string_view coded) {
    std::string out;
    for (const char c : text)
        out += coded.find(c) == std::string_view::npos ? std::string(1, c)
                                                       : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return printable(out);  // what else controls a terminal
}

const char* level_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::broken:
        case Outcome::worse:
        case Outcome::fails:
            return "error";
        case Outcome::unclear:
        case Outcome::missing:
            return "warning";
        case Outcome::better:
            return "notice";
        case Outcome::same:
        case Outcome::holds:
            break;
    }
    return "";
}

std::string title_of(const CheckFinding& finding) {
    return fmt::format("{}: {}{}{}", word(finding.outcome), finding.name, finding.where.empty() ? "" : ", ",
                       finding.where);
}

std::string command(const char* level, const std::string& title, const std::string& text) {
    return fmt::format("::{} title={}::{}\n", level, github_property(title), github_data(text));
}

}  // namespace

std::string github_data(std::string_view text) {
    return percent_coded(text, "%\r\n");
}

std::string github_property(std::string_view text) {
    return percent_coded(text, "%\r\n:,");
}

std::string github_annotations(const CheckReport& report) {
    std::string out;
    for (const char* level : {"error", "warning", "notice"}) {
        std::vector<CheckFinding> findings;
        for (CheckFinding& finding : by_gravity(report))
            if (std::string_view(level) == level_of(finding.outcome)) findings.push_back(std::move(finding));
        const std::size_t shown = findings.size() <= kMostShown ? findings.size() : kMostShown - 1;
        for (std::size_t i = 0; i < shown; ++i) out += command(level, title_of(findings[i]), findings[i].text);
        if (shown < findings.size())
            out += command(level, report.caption,
                           fmt::format("{} more like this: see the summary of the run", findings.size() - shown));
    }
    return out;
}

std::string github_summary(const CheckReport& report) {
    return render_markdown(check_table(report, kMostSummaryRows)) + "\n";
}

namespace {

// Beside control characters, which html_escaped() replaces, XML 1.0 has no U+FFFE and U+FFFF.
std::string xml_escaped(const std::string& text) {
    std::string out = html_escaped(text);
    for (std::size_t at = out.find("\xEF\xBF"); at != std::string::npos; at = out.find("\xEF\xBF", at + 2))
        if (const char last = out[at + 2]; last == '\xBE' || last == '\xBF') out[at + 2] = '\xBD';
    return out;
}

enum class JUnitKind { passed, failure, error, skipped };

JUnitKind kind_of(Outcome outcome, bool strict) {
    switch (outcome) {
        case Outcome::broken:
            return JUnitKind::error;
        case Outcome::worse:
        case Outcome::fails:
            return JUnitKind::failure;
        case Outcome::unclear:
            return strict ? JUnitKind::failure : JUnitKind::skipped;
        case Outcome::missing:
            return JUnitKind::skipped;
        case Outcome::better:
        case Outcome::same:
        case Outcome::holds:
            break;
    }
    return JUnitKind::passed;
}

struct Counts {
    std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
    double seconds = 0;
};

double seconds_of(const CheckFinding& finding) {
    return finding.seconds > 0 && std::isfinite(finding.seconds) ? finding.seconds : 0;
}

std::string body_of(const CheckFinding& finding, JUnitKind kind) {
    const std::string text = xml_escaped(finding.text);
    const char* outcome = name(finding.outcome);
    switch (kind) {
        case JUnitKind::failure:
            return fmt::format("<failure message=\"{}\" type=\"{}\">{}</failure>", text, outcome, text);
        case JUnitKind::error:
            return fmt::format("<error message=\"{}\" type=\"{}\">{}</error>", text, outcome, text);
        case JUnitKind::skipped:
            return fmt::format("<skipped message=\"{}: {}\"/>", outcome, text);
        case JUnitKind::passed:
            break;
    }
    return fmt::format("<system-out>{}: {}</system-out>", outcome, text);
}

}  // namespace

std::string render_junit(const CheckReport& report, bool strict) {
    Counts counts;
    std::string cases;
    for (const CheckFinding& finding : report.findings) {
        const JUnitKind kind = kind_of(finding.outcome, strict);
        ++counts.tests;
        counts.failures += kind == JUnitKind::failure;
        counts.errors += kind == JUnitKind::error;
        counts.skipped += kind == JUnitKind::skipped;
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

namespace {

constexpr std::size_t kLongestName = 1024;  // Bencher's limit, in bytes

// Cut between characters, and distinct from the names before it.
std::string free_name(const CheckFinding& finding, const Json& taken) {
    const std::string whole = finding.where.empty() ? finding.name : finding.name + ", " + finding.where;
    for (int count = 1;; ++count) {
        const std::string suffix = count == 1 ? "" : fmt::format(" ({})", count);
        std::size_t size = std::min(whole.size(), kLongestName - suffix.size());
        while (size > 0 && size < whole.size() && (whole[size] & 0xC0) == 0x80) --size;
        const std::string name = whole.substr(0, size) + suffix;
        if (!name.empty() && !taken.contains(name)) return name;
    }
}

void add(Json& metric, const char* key, const std::optional<double>& value, bool is_log) {
    if (!value) return;
    const double shown = is_log ? std::exp(*value) : *value;
    if (std::isfinite(shown)) metric[key] = shown;
}

}  // namespace

std::string render_bencher_metrics(const CheckReport& report) {
    Json all = Json::object();
    for (const CheckFinding& finding : report.findings) {
        const bool is_log = finding.check != "quality" && finding.check != "claim";
        Json metric = Json::object();
        add(metric, "value", finding.effect, is_log);
        if (metric.empty()) continue;
        add(metric, "lower_value", finding.lower, is_log);
        add(metric, "upper_value", finding.upper, is_log);
        all[free_name(finding, all)][is_log ? "time_ratio" : "difference"] = metric;
    }
    return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace deft::reporting
