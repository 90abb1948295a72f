#include "reporting/views/page/verdict_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

// Told apart by shape where colours are not.
const char* shape_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::holds:
            return "✓";
        case Outcome::fails:
            return "✗";
        case Outcome::unclear:
            return "?";
        default:
            return "–";
    }
}

// Inconclusive claims follow those with an answer, and those that were not evaluated come last.
int place_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::holds:
        case Outcome::fails:
            return 0;
        case Outcome::unclear:
            return 1;
        default:
            return 2;
    }
}

// After the claim's own statement, which the finding begins with.
std::string grounds(const ClaimFinding& finding, const Claim& claim) {
    const std::string& text = finding.judged.finding.text;
    const std::string statement = claim.statement + ". ";
    return text.starts_with(statement) ? text.substr(statement.size()) : text;
}

const Claim& claim_of(const ClaimFinding& finding, const PublishedTable& table) {
    for (const Claim& claim : table.claims)
        if (claim.id == finding.claim) return claim;
    return table.claims.front();
}

}  // namespace

std::string verdict_strip_html(std::span<const ClaimFinding> findings, const PublishedTable& table,
                               const std::string& scale) {
    if (findings.empty()) return {};
    std::string out = fmt::format(
        "<section class=\"verdicts\" aria-label=\"Claims\">\n<p>What the paper claims of this table, "
        "at this scale ({}): {}.</p>\n<ul>\n",
        html_escaped(scale), html_escaped(counts_text(claims_report(findings, "", table))));
    std::vector<ClaimFinding> answered_first(findings.begin(), findings.end());
    std::stable_sort(answered_first.begin(), answered_first.end(), [](const ClaimFinding& a, const ClaimFinding& b) {
        return place_of(a.judged.finding.outcome) < place_of(b.judged.finding.outcome);
    });
    for (const ClaimFinding& finding : answered_first) {
        const Outcome outcome = finding.judged.finding.outcome;
        const Claim& claim = claim_of(finding, table);
        out += fmt::format(
            "<li class=\"{0}\"><strong><span aria-hidden=\"true\">{1}</span> {4}</strong> <span>{2}.</span> "
            "<small>{3}</small></li>\n",
            name(outcome), shape_of(outcome), html_escaped(claim.statement), html_escaped(grounds(finding, claim)),
            word(outcome));
    }
    return out + "</ul>\n</section>\n";
}

std::string verdict_line(std::span<const ClaimFinding> findings, const PublishedTable& table,
                         const std::string& sweep) {
    if (findings.empty()) return {};
    return fmt::format("Claims of {}: {} (deft check claims {} says why).", table.name,
                       counts_text(claims_report(findings, "", table)), sweep);
}

}  // namespace deft::reporting
