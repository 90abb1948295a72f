// Claims as data, read strictly.

#include "reporting/analysis/published/claim.h"

#include "base/files.h"
#include "reporting/analysis/published/published.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::reporting;

namespace {

const std::string kTable =
    "paper = 'p'\nsource = 's'\nlabel = 'l'\nscale = 'x'\n"
    "[[column]]\nkey = 'hours'\ntitle = 't'\nunit = 'h'\nbetter = 'lower'\nmeasures = 'train hours'\n"
    "[[column]]\nkey = 'zero_shot'\ntitle = 'a'\nunit = '%'\nbetter = 'higher'\n"
    "measures = 'suite:data_efficiency average'\n"
    "[[column]]\nkey = 'gain'\ntitle = 'g'\nunit = 'x'\nbetter = 'higher'\nnot_measured = 'a ratio'\n"
    "[[row]]\ncase = 'baseline'\nbudget_fraction = 1.0\nvalues = { hours = '260', zero_shot = '42.5', gain = '1' }\n"
    "[[row]]\ncase = 'baseline'\nbudget_fraction = 0.5\nvalues = { hours = '130', zero_shot = '42.0', gain = '2' }\n"
    "[[row]]\ncase = 'both'\nbudget_fraction = 0.5\nvalues = { zero_shot = '42.8', gain = '2' }\n"
    "missing = { hours = 'not printed' }\n";

const std::string kHead = "[[claim]]\nid = 'a'\nstatement = 'it is so'\nsource = 'page 1'\n";
const std::string kOf = "of = { case = 'both', budget_fraction = 0.5 }\n";
const std::string kAgainst = "against = { case = 'baseline', budget_fraction = 1.0 }\n";
const std::string kFrom = "from = { case = 'baseline', budget_fraction = 0.5 }\n";
const std::string kPaper = "paper = { column = 'zero_shot', margin = 0.5 }\n";
const std::string kProxy = "proxy = { measures = 'task:validation loss', unit = 'nats/token', margin = 0.02 }\n";
const std::string kPaperPlain = "paper = { column = 'zero_shot' }\n";
const std::string kProxyPlain = "proxy = { measures = 'task:validation loss', unit = 'nats/token' }\n";
const std::string kSpeed = "paper = { not_judged = 'no' }\nproxy = { measures = 'train hours', unit = 'h' }\n";

PublishedTable table_with(const std::string& claims) {
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "t.toml";
    write_file_atomically(file, kTable + claims);
    return read_published_table(file);
}

std::string wrong(const std::string& claims) {
    return test::refusal([&] { table_with(claims); });
}

std::string no_worse(const std::string& of, const std::string& against, const std::string& paper,
                     const std::string& proxy) {
    return kHead + "kind = 'no_worse'\n" + of + against + paper + proxy;
}

}  // namespace

TEST_CASE("a claim has its rows, its quantities and its margins") {
    const PublishedTable table = table_with(no_worse(kOf, kAgainst, kPaper, kProxy));
    REQUIRE(table.claims.size() == 1);
    const Claim& claim = table.claims.front();
    CHECK(claim.id == "a");
    CHECK(claim.statement == "it is so");
    CHECK(claim.source == "page 1");
    CHECK(to_text(claim.kind) == "no_worse");
    CHECK(claim.of.recipe == "both");
    CHECK(claim.of.budget_fraction == 0.5);
    CHECK(claim.against->recipe == "baseline");
    CHECK(claim.against->budget_fraction == 1.0);
    CHECK(!claim.from);
    CHECK(claim.paper.column == "zero_shot");
    CHECK(to_text(claim.paper.quantity) == "suite:data_efficiency average");
    CHECK(claim.paper.unit == "%");
    CHECK(claim.paper.better == "higher");
    CHECK(claim.paper.margin == 0.5);
    CHECK(claim.proxy.column.empty());
    CHECK(to_text(claim.proxy.quantity) == "task:validation loss");
    CHECK(claim.proxy.unit == "nats/token");
    CHECK(claim.proxy.better == "lower");
    CHECK(claim.proxy.margin == 0.02);
}

TEST_CASE("every kind of claim has what it needs") {
    const std::string rows = kOf + kAgainst;
    const auto only = [](const std::string& claims) { return table_with(claims).claims.front(); };
    CHECK(only(kHead + "kind = 'better'\n" + rows + kPaperPlain + kProxyPlain).kind == ClaimKind::better);
    CHECK(only(kHead + "kind = 'equal_within'\n" + rows + kPaper + kProxy).paper.margin == 0.5);
    const Claim best = only(kHead + "kind = 'best_in_column'\n" + kOf + kPaper + kProxy);
    CHECK(best.kind == ClaimKind::best_in_column);
    CHECK(!best.against);
    const Claim fraction = only(kHead + "kind = 'at_most_fraction'\nfraction = 0.5\n" + rows + kSpeed);
    CHECK(fraction.amount == 0.5);
    CHECK(fraction.paper.not_judged == "no");
    CHECK(only(kHead + "kind = 'times_as_fast'\ntimes = 5\n" + rows + kSpeed).amount == 5);
    CHECK(only(kHead + "kind = 'times_as_fast'\ntimes = 2\n" + rows +
               "paper = { not_judged = 'no' }\n"
               "proxy = { measures = 'task:generation_time ms_per_token', unit = 'ms' }\n")
              .proxy.better == "lower");
    const Claim gap = only(kHead + "kind = 'closes_gap'\nshare = 0.5\n" + rows + kFrom + kPaperPlain + kProxyPlain);
    CHECK(gap.amount == 0.5);
    REQUIRE(gap.from);
    CHECK(gap.from->budget_fraction == 0.5);
}

TEST_CASE("a claim about what the table does not have is refused with the nearest name") {
    CHECK_THAT(wrong(no_worse("of = { case = 'bot', budget_fraction = 0.5 }\n", kAgainst, kPaper, kProxy)),
               ContainsSubstring("t.toml:41:") && ContainsSubstring("claim.of.case is 'bot'") &&
                   ContainsSubstring("did you mean both?"));
    CHECK_THAT(wrong(no_worse("of = { case = 'both', budget_fraction = 1.0 }\n", kAgainst, kPaper, kProxy)),
               ContainsSubstring("no such row of both") && ContainsSubstring("it has 0.5"));
    CHECK_THAT(wrong(no_worse(kOf, "against = { case = 'basline', budget_fraction = 1.0 }\n", kPaper, kProxy)),
               ContainsSubstring("did you mean baseline?"));
    CHECK_THAT(wrong(no_worse(kOf, kAgainst, "paper = { column = 'zero_shots', margin = 1 }\n", kProxy)),
               ContainsSubstring("'zero_shots'") && ContainsSubstring("did you mean zero_shot?"));
    CHECK_THAT(wrong(no_worse(kOf, kAgainst, "paper = { column = 'gain', margin = 1 }\n", kProxy)),
               ContainsSubstring("nothing measures: a ratio"));
    CHECK_THAT(wrong(no_worse(kOf, kAgainst, "paper = { column = 'hours', margin = 1 }\n", kProxy)),
               ContainsSubstring("both at 50% prints no number"));
    CHECK_THAT(
        wrong(no_worse(kOf, kAgainst, kPaper, "proxy = { measures = 'task:lambda acc', unit = '%', margin = 1 }\n")),
        ContainsSubstring("did you mean lambada?"));
}

TEST_CASE("a claim that says too little, too much or nothing is refused") {
    const std::string good = no_worse(kOf, kAgainst, kPaper, kProxy);
    CHECK(wrong(good) == "accepted");
    CHECK_THAT(wrong(good + good), ContainsSubstring("another claim has it"));
    CHECK_THAT(wrong("[[claim]]\nid = 'A b'\nstatement = 's'\nsource = 's'\nkind = 'better'\n"),
               ContainsSubstring("small letters"));
    CHECK_THAT(wrong("[[claim]]\nid = 'a'\nsource = 's'\n"), ContainsSubstring("claim.statement is missing"));
    CHECK_THAT(wrong("[[claim]]\nid = 'a'\nstatement = 's'\n"), ContainsSubstring("claim.source is missing"));
    CHECK_THAT(wrong("claim = 3\n[[claims]]\n"), ContainsSubstring("claim"));
    CHECK_THAT(wrong(kHead + "kind = 'no_wors'\n"), ContainsSubstring("did you mean \"no_worse\"?"));
    CHECK_THAT(wrong(good + "colour = 1\n"), ContainsSubstring("claim.colour"));
    CHECK_THAT(wrong(no_worse("", kAgainst, kPaper, kProxy)), ContainsSubstring("claim.of is missing"));
    CHECK_THAT(wrong(no_worse(kOf, "", kPaper, kProxy)), ContainsSubstring("claim.against is missing"));
    CHECK_THAT(wrong(no_worse(kOf, kAgainst, "", kProxy)), ContainsSubstring("claim.paper is missing"));
    CHECK_THAT(wrong(no_worse(kOf, kAgainst, kPaper, "")), ContainsSubstring("claim.proxy is missing"));
    CHECK_THAT(wrong(no_worse("of = 3\n", kAgainst, kPaper, kProxy)), ContainsSubstring("claim.of must be a table"));
    CHECK_THAT(wrong(no_worse(kOf, "against = { case = 'both', budget_fraction = 0.5 }\n", kPaper, kProxy)),
               ContainsSubstring("is the row that the claim is of"));
    CHECK_THAT(wrong(kHead + "kind = 'best_in_column'\n" + kOf + kAgainst + kPaper + kProxy),
               ContainsSubstring("claim.against is not asked for"));
    CHECK_THAT(wrong(no_worse(kOf, kAgainst + kFrom, kPaper, kProxy)), ContainsSubstring("of the kind closes_gap"));
    CHECK_THAT(wrong(no_worse(kOf, kAgainst, "paper = { margin = 1 }\n", kProxy)),
               ContainsSubstring("either a column or what it measures"));
    CHECK_THAT(wrong(no_worse(kOf, kAgainst, kPaper, "proxy = { measures = 'train hours', margin = 1 }\n")),
               ContainsSubstring("claim.proxy.unit is missing"));
    CHECK_THAT(wrong(no_worse(kOf, kAgainst, "paper = { not_judged = 'no' }\n", "proxy = { not_judged = 'no' }\n")),
               ContainsSubstring("neither is paper"));
    CHECK_THAT(wrong(no_worse(kOf, kAgainst, "paper = { not_judged = '' }\n", kProxy)), ContainsSubstring("is empty"));
}

TEST_CASE("a margin or an amount that is none is refused") {
    for (const char* margin : {"0", "0.0", "-0.5", "nan", "inf"})
        CHECK_THAT(wrong(no_worse(kOf, kAgainst,
                                  std::string("paper = { column = 'zero_shot', margin = ") + margin + " }\n", kProxy)),
                   ContainsSubstring("t.toml:43:") && ContainsSubstring("margin is"));
    CHECK_THAT(wrong(no_worse(kOf, kAgainst, kPaperPlain, kProxy)), ContainsSubstring("margin is missing"));
    const std::string rows = kOf + kAgainst;
    CHECK_THAT(wrong(kHead + "kind = 'better'\n" + rows + kPaper + kProxyPlain),
               ContainsSubstring("margin is not of the kind better"));
    for (const char* fraction : {"0", "-1", "1.1"})
        CHECK_THAT(wrong(kHead + "kind = 'at_most_fraction'\nfraction = " + fraction + "\n" + rows + kSpeed),
                   ContainsSubstring("must lie in (0, 1]"));
    CHECK_THAT(wrong(kHead + "kind = 'times_as_fast'\ntimes = 1\n" + rows + kSpeed),
               ContainsSubstring("must be above 1"));
    CHECK_THAT(wrong(kHead + "kind = 'times_as_fast'\n" + rows + kSpeed), ContainsSubstring("claim.times is missing"));
    CHECK_THAT(wrong(kHead + "kind = 'times_as_fast'\ntimes = 2\nshare = 0.5\n" + rows + kSpeed),
               ContainsSubstring("claim.share is of the kind closes_gap"));
    CHECK_THAT(wrong(kHead + "kind = 'at_most_fraction'\nfraction = 0.5\n" + rows + kPaperPlain + kProxyPlain),
               ContainsSubstring("nothing that training takes"));
    CHECK_THAT(wrong(kHead + "kind = 'at_most_fraction'\nfraction = 0.5\n" + rows +
                     "paper = { not_judged = 'no' }\n"
                     "proxy = { measures = 'throughput tokens/s', unit = 'tokens/s' }\n"),
               ContainsSubstring("nothing that training takes"));
    CHECK_THAT(wrong(kHead + "kind = 'times_as_fast'\ntimes = 2\n" + rows +
                     "paper = { not_judged = 'no' }\n"
                     "proxy = { measures = 'cost usd', unit = 'USD' }\n"),
               ContainsSubstring("is not a speed"));
}

TEST_CASE("a gap lies between one recipe at two budgets") {
    const std::string head = kHead + "kind = 'closes_gap'\nshare = 0.5\n" + kOf;
    const std::string scales = kPaperPlain + kProxyPlain;
    CHECK_THAT(wrong(head + kAgainst + scales), ContainsSubstring("claim.from is missing"));
    CHECK_THAT(wrong(head + kAgainst + "from = { case = 'both', budget_fraction = 0.5 }\n" + scales),
               ContainsSubstring("is the row that the claim is of"));
    CHECK_THAT(wrong(head + kAgainst + "from = { case = 'baseline', budget_fraction = 1.0 }\n" + scales),
               ContainsSubstring("must be baseline with less data"));
    CHECK_THAT(wrong(kHead + "kind = 'closes_gap'\nshare = 1.5\n" + kOf + kAgainst + kFrom + scales),
               ContainsSubstring("(0, 1]"));
}
