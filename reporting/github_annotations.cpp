#include "reporting/github_annotations.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "reporting/check_table.h"
#include "reporting/text.h"

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
            return "error";
        case Outcome::unclear:
        case Outcome::missing:
            return "warning";
        case Outcome::better:
            return "notice";
        case Outcome::same:
            break;
    }
    return "";
}

std::string title_of(const CheckFinding& finding) {
    return fmt::format("{}: {}{}{}", name(finding.outcome), finding.name, finding.where.empty() ? "" : ", ",
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

}  // namespace deft::reporting
