// Escaping and numbers in the renderers that other programs read.

#include <limits>

#include "base/json.h"
#include "reporting/table.h"
#include "reporting/views/render/html.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Cell a_number(const char* text, double value, double spread) {
    Cell cell(text, value);
    cell.spread = spread;
    return cell;
}

Table a_table() {
    Cell published("43.6", 43.6);
    published.published = "43.6";
    Cell flagged("0.5", 0.5);
    flagged.flag = "too short";
    flagged.trace = "cl";
    return {"A table",
            {{"case", Align::left}, {"loss ↓\n(nats)"}, {"average", Align::right, false, true}, {"acc"}},
            {{"base", a_number("3.4 ± 0.1", 3.4375, 0.125), published, "-"}, {"cl", "-", "-", flagged}},
            {"a note"},
            1};
}

Table one_cell(const std::string& text) {
    return {"", {{"c", Align::left}}, {{Cell(text)}}, {}, 1};
}

std::string csv_cell(const std::string& text) {
    const std::string csv = render_csv(one_cell(text));
    return csv.substr(3, csv.size() - 5);  // after the title's line, without the end of its own
}

std::string latex_cell(const std::string& text) {
    const std::string tex = render_latex(one_cell(text));
    const std::size_t at = tex.find("\\midrule\n") + 9;
    return tex.substr(at, tex.find(" \\\\\n", at) - at);
}

}  // namespace

TEST_CASE("CSV holds raw numbers, spreads beside them, and flags at the end") {
    CHECK(render_csv(a_table()) ==
          "case,loss (nats),loss (nats) standard deviation,average,acc,flag\r\n"
          "base,3.4375,0.125,43.6,,\r\n"
          "cl,,,,0.5,too short\r\n");
}

TEST_CASE("no CSV cell is a formula, and quotes are doubled") {
    CHECK(csv_cell("plain") == "plain");
    CHECK(csv_cell("=1+1") == "'=1+1");
    CHECK(csv_cell("+1") == "'+1");
    CHECK(csv_cell("-2") == "'-2");
    CHECK(csv_cell("@SUM(A1)") == "'@SUM(A1)");
    CHECK(csv_cell("\t=1") == "' =1");
    CHECK(csv_cell("\rx") == "' x");
    CHECK(csv_cell("  =cmd") == "'  =cmd");
    CHECK(csv_cell("a,\"b\"") == "\"a,\"\"b\"\"\"");
    CHECK(csv_cell("two\nlines") == "two lines");
    CHECK(csv_cell("=HYPERLINK(\"x\",1)") == "\"'=HYPERLINK(\"\"x\"\",1)\"");
    CHECK(csv_cell("-") == "");
    // A number is a number, also where it is below zero.
    const Table numbers{
        "", {{"c"}, {"d"}}, {{Cell("-2.0", -2), Cell("NaN", std::numeric_limits<double>::quiet_NaN())}}, {}};
    CHECK(render_csv(numbers) == "c,d\r\n-2,nan\r\n");
}

TEST_CASE("LaTeX escapes what it would obey") {
    CHECK(latex_cell("a_b & 50% of $5 #1 {x}") == "a\\_b \\& 50\\% of \\$5 \\#1 \\{x\\}");
    CHECK(latex_cell("\\input{/etc/passwd}") == "\\textbackslash{}input\\{/etc/passwd\\}");
    CHECK(latex_cell("~^<>|\"") ==
          "\\textasciitilde{}\\textasciicircum{}\\textless{}\\textgreater{}\\textbar{}\\textquotedblright{}");
    CHECK(latex_cell("[x]*") == "{[}x{]}{*}");
    CHECK(latex_cell("3.4 ± 0.1 ↓ †") == "3.4 $\\pm$ 0.1 $\\downarrow$ $\\dagger$");
    CHECK(latex_cell("--") == "{-}{-}");
    CHECK(latex_cell("日\xff") == "{[}U+65E5{]}{[}U+FFFD{]}");
    const std::string tex = render_latex(a_table());
    CHECK_THAT(tex, ContainsSubstring("\\begin{tabular}{lrrr}\n\\toprule\ncase & "
                                      "\\shortstack[r]{loss $\\downarrow$\\\\(nats)} & average & acc \\\\\n\\midrule"));
    CHECK_THAT(tex, ContainsSubstring(
                        "cl & {-} & {-} & \\textcolor{gray}{0.5 $\\dagger$} \\\\\n\\bottomrule\n\\end{tabular}"));
    CHECK(tex.ends_with("\\end{table}\n{\\footnotesize\\raggedright\na note\\par\n}\n"));
}

TEST_CASE("JSON holds raw numbers, published digits, traces and flags") {
    const Json json = Json::parse(render_json(a_table()));
    CHECK(json["schema"] == "deft-report/1");
    CHECK(json["columns"][2]["published"] == true);
    const Json& first = json["rows"][0];
    CHECK(first[1]["value"].get<double>() == 3.4375);
    CHECK(first[1]["spread"].get<double>() == 0.125);
    CHECK(first[1]["text"] == "3.4 ± 0.1");
    CHECK(first[2]["published"] == "43.6");
    CHECK(!first[3].contains("value"));
    CHECK(json["rows"][1][3]["flag"] == "too short");
    CHECK(json["rows"][1][3]["trace"] == "cl");
    const double infinity = std::numeric_limits<double>::infinity();
    const Json odd = Json::parse(render_json({"\"\\\n\xff", {{"c"}}, {{Cell("inf", -infinity)}}, {}}));
    CHECK(odd["rows"][0][0]["value"] == "-inf");
}

TEST_CASE("HTML escapes content and attributes, and marks what is published and flagged") {
    CHECK(html_escaped("<script>\"&'\x1b") == "&lt;script&gt;&quot;&amp;&#39; ");
    const std::string html = render_html(one_cell("</td><img src=x onerror=alert(1)>"));
    CHECK(html.find("<img") == std::string::npos);
    CHECK_THAT(html, ContainsSubstring("&lt;/td&gt;&lt;img src=x onerror=alert(1)&gt;"));
    const std::string table = render_html(a_table());
    CHECK_THAT(table, ContainsSubstring("<th scope=\"col\">loss ↓<br><small>(nats)</small></th>"));
    CHECK_THAT(table, ContainsSubstring("<th scope=\"row\">base</th>"));
    CHECK_THAT(table, ContainsSubstring("<td class=\"pub\">43.6<"));
    CHECK_THAT(table, ContainsSubstring("<td class=\"flag\" title=\"too short\"><a href=\"#trace-cl\">0.5 †</a><"));
    Table hostile = one_cell("x");
    hostile.caption = "\"><script>";
    CHECK(render_html(hostile).find("<script") == std::string::npos);
    CHECK(html_id("CL+x[a=0.5]") != html_id("CL-x[a=0.5]"));
    CHECK(html_id("a\"b").find('"') == std::string::npos);
}

TEST_CASE("Markdown is text alone: no image, link, mention, reference or HTML") {
    const auto cell = [](const std::string& text) {
        const std::string md = render_markdown(one_cell(text));
        const std::size_t at = md.rfind("\n| ") + 3;
        return md.substr(at, md.find_last_not_of(" |\n") + 1 - at);
    };
    CHECK(cell("![x](http://evil/x.png)") == "![x\\](http<!-- -->://evil/x.png)");
    CHECK(cell("[click](javascript:x)") == "[click\\](javascript:x)");
    CHECK(cell("[a][b]") == "[a\\][b]");
    CHECK(cell("[a]: x") == "[a\\]: x");
    CHECK(cell("see https://evil.example") == "see https<!-- -->://evil.example");
    CHECK(cell("www.evil.example") == "www<!-- -->.evil.example");
    CHECK(cell("@everyone, me@example.org") == "@<!-- -->everyone, me@<!-- -->example.org");
    CHECK(cell("fixes #12, # 1") == "fixes #<!-- -->12, \\# 1");
    CHECK(cell("&#64;user") == "&amp;#<!-- -->64;user");
    CHECK(cell("<b>*x* `y` ~z~ _e_") == "&lt;b>\\*x\\* \\`y\\` \\~z\\~ \\_e\\_");
    CHECK(cell("a|b\\c") == "a\\|b\\\\c");
    // Text of the program itself is read as it is.
    for (const char* plain : {"cl[budget_fraction=0.5]/1", "3.457 ± 0.012", "1.20M 0.50x", "seqtru_voc", "$0.0021"})
        CHECK(cell(plain) == plain);
    CHECK(render_markdown({"@all", {}, {}, {"[n](x)"}, 1}) == "**@<!-- -->all**\n\n- [n\\](x)\n");
}

TEST_CASE("a table too long for a page is a LaTeX longtable, its head on every page") {
    Table table = a_table();
    while (table.rows.size() < 200) table.rows.push_back(table.rows.back());
    const std::string tex = render_latex(table);
    CHECK_THAT(tex, ContainsSubstring("booktabs,longtable") &&
                        ContainsSubstring("\\begin{longtable}{lrrr}\n\\caption{A table}") &&
                        ContainsSubstring("\\endfirsthead") && ContainsSubstring("\\endhead") &&
                        ContainsSubstring("\\end{longtable}"));
    CHECK(tex.find("\\begin{table}") == std::string::npos);
    CHECK(render_latex(a_table()).find("longtable") == std::string::npos);
}

TEST_CASE("flagged cells are marked in text as well") {
    CHECK_THAT(render_terminal(a_table(), 0), ContainsSubstring("(0.5) †"));
    CHECK_THAT(render_markdown(a_table()), ContainsSubstring("(0.5) † |"));
}

TEST_CASE("a published column stays in the block of the measured one") {
    const Table table{"", {{"k"}, {"aaaaaa"}, {"bbbbbb"}, {"cccccc", Align::right, false, true}, {"dddd"}}, {}, {}};
    const std::string text = render_terminal(table, 20);
    CHECK_THAT(text, ContainsSubstring("k  bbbbbb  cccccc"));
}
