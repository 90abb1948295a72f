#include "reporting/views/render/html.h"
#include "base/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/sha256.h"
#include "reporting/table.h"
#include "reporting/text.h"
#include "reporting/views/render/script.h"

namespace deft::reporting {

std::string html_escaped(std::string_view text) {
    std::string out;
    for (const char c : printable(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string notes_html(const std::vector<std::string>& notes) {
    std::string out = "<ul class=\"notes\">\n";
    for (const std::string& note : notes) out += "<li>" + html_escaped(note) + "</li>\n";
    return out + "</ul>\n";
}

std::string html_id(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
        out += plain ? std::string(1, c) : fmt::format("_{:02x}", static_cast<unsigned char>(c));
    }
    return out;
}

std::string trace_id(std::string_view row) {
    constexpr std::size_t kLongest = 16, kHexDigits = 10;
    const std::string id = html_id(row);
    return id.size() <= kLongest ? "trace-" + id : "t" + sha256(row).substr(0, kHexDigits);
}

namespace {

// The first line of a title names the column, the others say more of it.
std::string title_html(const std::string& title) {
    const std::vector<std::string_view> lines = lines_of(title);
    std::string out = html_escaped(lines.front());
    for (std::size_t i = 1; i < lines.size(); ++i) out += "<br><small>" + html_escaped(lines[i]) + "</small>";
    return out;
}

bool is_all_left(const Table& table) {
    return std::all_of(table.columns.begin(), table.columns.end(),
                       [](const Column& column) { return column.align == Align::left; });
}

// The class of each column's alignment; empty where the style sheet aligns it, which spares cells their class.
std::vector<std::string> alignments(const Table& table) {
    std::vector<std::string> names(table.columns.size());
    for (std::size_t at = 0; at < names.size(); ++at) {
        const bool is_left = table.columns[at].align == Align::left;
        if (is_left != (at == 0) && !is_all_left(table)) names[at] = is_left ? "l" : "r";
    }
    return names;
}

// `names`: the class of its alignment.
std::string classes(const Column& column, std::string names, const Cell* cell) {
    if (column.published) names += names.empty() ? "pub" : " pub";
    if (cell != nullptr && !cell->flag.empty()) names += names.empty() ? "flag" : " flag";
    if (cell != nullptr && !cell->stale.empty()) names += names.empty() ? "stale" : " stale";
    if (cell != nullptr && !cell->doubt.empty()) names += names.empty() ? "doubt" : " doubt";
    if (cell != nullptr && cell->is_best) names += names.empty() ? "best" : " best";
    return names.empty() ? "" : fmt::format(" class=\"{}\"", names);
}

// The aside below the rest: side by side in ten columns they would be wider than a screen.
std::string text_html(const Cell& cell) {
    const std::string text = marked_text(cell), suffix = " " + cell.aside;
    const std::size_t at = cell.aside.empty() ? std::string::npos : text.rfind(suffix);
    if (at == std::string::npos) return html_escaped(text);
    return html_escaped(text.substr(0, at)) + "<br><small>" + html_escaped(text.substr(at + 1)) + "</small>";
}

// Why its value must not be taken at face value.
std::string hint_of(const Cell& cell) {
    const std::string stale = cell.stale.empty() ? "" : "stale: " + cell.stale;
    if (!cell.flag.empty()) return cell.flag + (stale.empty() ? "" : "; " + stale);
    if (!stale.empty()) return stale;
    if (cell.stated) return "as stated in the sweep's file, not measured";
    return cell.doubt.empty() ? "" : "not verified: " + cell.doubt;
}

std::string cell_html(const Column& column, const std::string& alignment, const Cell& cell, bool names_row) {
    std::string text = text_html(cell);
    if (!cell.trace.empty() && cell.text != "-")
        text = fmt::format("<a href=\"#{}\">{}</a>", trace_id(cell.trace), text);
    const std::string why = hint_of(cell);
    const std::string hint = why.empty() ? "" : fmt::format(" title=\"{}\"", html_escaped(why));
    const std::string names = classes(column, alignment, &cell);
    if (names_row) return fmt::format("<th scope=\"row\"{}{}>{}</th>", names, hint, text);
    return fmt::format("<td{}{}>{}", names, hint, text);  // the next cell or the row's end closes it
}

}  // namespace

std::string table_begin_html(const Table& table) {
    std::string out = fmt::format(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n<table{1}>\n"
        "<caption><span>{0}</span></caption>\n<thead><tr>",
        html_escaped(table.caption), is_all_left(table) ? " class=\"l\"" : "");
    const std::vector<std::string> names = alignments(table);
    for (std::size_t at = 0; at < table.columns.size(); ++at)
        out += fmt::format("<th scope=\"col\"{}>{}</th>", classes(table.columns[at], names[at], nullptr),
                           title_html(marked_title(table.columns[at])));
    return out + "</tr></thead>\n";
}

std::string rows_html(const Table& table) {
    const std::vector<std::string> names = alignments(table);
    std::string out;
    for (const std::vector<Cell>& row : table.rows) {
        out += "<tr>";
        for (std::size_t at = 0; at < table.columns.size(); ++at)
            out += cell_html(table.columns[at], names[at], at < row.size() ? row[at] : Cell(), at < table.key_columns);
        out += "</tr>\n";
    }
    return out;
}

std::string table_end_html() {
    return "</table>\n</div>\n";
}

std::string render_html(const Table& table) {
    const std::string out = table_begin_html(table) + "<tbody>\n" + rows_html(table) + "</tbody>\n" + table_end_html();
    return table.notes.empty() ? out : out + notes_html(table.notes);
}

namespace {

extern const char* const kPageStyle;

// Line colours: Okabe and Ito, without yellow and with a brown, lightened where a dark ground asks for it.
const char* const kPageStyle = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--muted:#57606a;--line:#d4d9df;--soft:#f4f6f8;--link:#0b57a4;
--pub:#eef4fb;--warn:#8a4600;--good:#00664b;--c0:#1b1f24;--c1:#0072b2;--c2:#d55e00;--c3:#009e73;
--c4:#b0528a;--c5:#b57b00;--c6:#2f89bd;--c7:#7b5a3c}
@media (prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e6e9ed;--muted:#a3acb7;--line:#39414a;--soft:#1d2227;
--link:#7ab8f5;--pub:#1a2a3a;--warn:#f0b26b;--good:#5fd9b4;
--c0:#e6e9ed;--c1:#56b4e9;--c2:#ff8a45;--c3:#2fc69a;--c4:#e39cc4;
--c5:#e69f00;--c6:#8fd0f5;--c7:#c4a484}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"DejaVu Sans",sans-serif}
main{max-width:1240px;margin:0 auto;padding:28px 20px 60px}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 6px}
h2{font-size:1.15rem;margin:40px 0 10px;padding-top:14px;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:26px 0 6px}
p{margin:8px 0;max-width:78ch}
.facts{color:var(--muted)}
.scale{display:inline-block;border:1px solid var(--warn);color:var(--warn);border-radius:4px;padding:1px 9px;
font-weight:600}
.caution{border-left:4px solid var(--warn);background:var(--soft);padding:8px 12px}
.verdicts{border:1px solid var(--line);border-radius:4px;padding:4px 14px 8px;margin:14px 0}
.verdicts p{color:var(--muted);font-size:.9rem}
.verdicts ul{list-style:none;margin:0;padding:0}
.verdicts li{padding:6px 0;border-top:1px solid var(--line)}
.verdicts strong{display:inline-block;min-width:6.2em}
.verdicts small{display:block;color:var(--muted);font-size:.84rem;overflow-wrap:anywhere}
.verdicts .holds strong{color:var(--good)}.verdicts .fails strong{color:var(--warn)}
.verdicts .unclear strong,.verdicts .missing strong{color:var(--muted)}
a{color:var(--link)}
.scroll{overflow-x:auto;margin:12px 0;max-width:100%}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--muted);padding:0 0 6px;font-size:.85rem}
caption span{position:sticky;left:0;display:inline-block;max-width:min(100%,calc(100vw - 28px))}
tbody th:first-child,thead th:first-child{position:sticky;left:0;background:var(--bg)}
th,td{padding:5px 8px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
thead th{vertical-align:bottom;line-height:1.3;font-weight:600;border-bottom:2px solid var(--muted)}
thead small{font-weight:400;color:var(--muted);font-size:.82em}
td small{color:var(--muted);font-size:.9em}td{line-height:1.3}
tbody th{font-weight:600}
.l,.l th,.l td,th:first-child,td:first-child{text-align:left}
th.r,td.r{text-align:right}
.pub{background:var(--pub);font-style:italic}
.doubt,.stale{color:var(--warn)}
.flag{color:var(--muted)}
.best{font-weight:700}
td a,th a{color:inherit;text-decoration:underline;text-decoration-style:dotted;text-decoration-color:var(--muted);
text-underline-offset:3px}
td a:hover,th a:hover,a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--link)}
.notes{color:var(--muted);font-size:.88rem;padding-left:20px;max-width:100ch}
.notes li,pre,td{overflow-wrap:anywhere}
figure{margin:12px 0 4px}
.chart svg{display:block;width:100%;min-width:720px;height:auto}
svg text{font-size:13px;fill:var(--fg)}
svg .muted{fill:var(--muted)}
.grid{stroke:var(--line);fill:none}
.frame{stroke:var(--muted);fill:none}
.line{fill:none;stroke-width:1.3;stroke-linejoin:round;stroke:currentColor}
.band{fill:currentColor;opacity:.11;stroke:none}
.leader{stroke:currentColor;fill:none;opacity:.55}
svg circle,svg rect,svg g path:not([class]){fill:currentColor}
.cross{stroke:currentColor;stroke-width:2;fill:none}
.bar{stroke:currentColor;stroke-width:1.4;fill:none}
svg path.published{fill:var(--bg);stroke:var(--fg);stroke-width:1.6}
.mark circle,.mark rect,.mark path:not([class]){fill:var(--bg);stroke:currentColor;stroke-width:2}
.s0{color:var(--c0)}.s1{color:var(--c1)}.s2{color:var(--c2)}.s3{color:var(--c3)}.s4{color:var(--c4)}
.s5{color:var(--c5)}.s6{color:var(--c6)}.s7{color:var(--c7)}
figcaption{color:var(--muted);font-size:.88rem;max-width:100ch}
details{border:1px solid var(--line);border-radius:4px;margin:8px 0;padding:0 12px}
summary{cursor:pointer;padding:7px 0;font-weight:600}
.trace tbody:target{outline:2px solid var(--link)}
.trace td{white-space:normal;overflow-wrap:anywhere;min-width:8ch;max-width:25ch;vertical-align:top}
.trace td[colspan]{max-width:none}
.trace tbody th{vertical-align:top}
.trace th[colspan]{padding-top:14px}
.trace code{white-space:pre-wrap}
pre{background:var(--soft);padding:10px 12px;overflow-x:auto;font-size:.85rem;margin:8px 0 12px}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,330px),1fr));gap:14px}
.panel{margin:0;border:1px solid var(--line);border-radius:4px;padding:10px 12px;min-width:0}
.panel h3{margin:0;font-size:.95rem;overflow-wrap:anywhere}
.panel p{margin:0 0 4px;font-size:.82rem;overflow-wrap:anywhere}
.panel svg{display:block;width:100%;height:auto}
.panel svg text{font-size:12px}
.panel figcaption{font-size:.82rem;overflow-wrap:anywhere}
.level{stroke:var(--muted);fill:none;stroke-width:5;opacity:.28}
.spread{stroke:currentColor;fill:none;stroke-width:1.2;opacity:.45}
.change{fill:none;stroke-width:1.5;stroke-dasharray:4 3}
path.slower{stroke:var(--c2)}path.faster{stroke:var(--c3)}
svg text.slower,strong.slower{fill:var(--warn);color:var(--warn);font-weight:600}
svg text.faster,strong.faster{fill:var(--good);color:var(--good);font-weight:600}
@media (max-width:560px){main{padding:18px 12px 40px}h1{font-size:1.3rem}th,td{padding:5px 8px}}
@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--muted:#444;--line:#bbb;--soft:#f4f4f4;--link:#000;
--pub:#f0f0f0;--warn:#6b3600;--good:#004d38;
--c0:#000;--c1:#0072b2;--c2:#d55e00;--c3:#009e73;--c4:#b0528a;--c5:#b57b00;--c6:#2f89bd;--c7:#7b5a3c}
@page{margin:14mm}main{max-width:none;padding:0}.scroll{overflow:visible}table{font-size:7.5pt}th,td{padding:2px 4px;
white-space:normal}figure,tr,details{break-inside:avoid}h2,h3{break-after:avoid}.chart svg{min-width:0}}
)css";

// The parts of a page that no picture has: pictures that are files of their own carry the style above.
const char* const kPageOnlyStyle = R"css(main{overflow-wrap:break-word}
.answer p{margin:4px 0;max-width:100ch}
.answer strong{display:inline-block;min-width:5.2em}
#recipes,.bar-of-controls{display:flex;flex-wrap:wrap;gap:4px 12px;align-items:center;margin:8px 0;font-size:.88rem}
#recipes[hidden]{display:none}
.bar-of-controls button{font:inherit;background:none;border:1px solid currentColor;border-radius:4px;padding:0 7px;
cursor:pointer}
.bar-of-controls button[aria-pressed=false]{opacity:.45;text-decoration:line-through}
.bar-of-controls select,.filter{font:inherit;color:var(--fg);background:var(--bg);border:1px solid var(--line);
border-radius:4px;padding:2px 6px}
.filter{margin:10px 0 -6px;max-width:100%}
.values{color:var(--muted);font-size:.88rem;min-height:3em;overflow-wrap:anywhere;max-width:none}
th.sorts{cursor:pointer}
th[aria-sort=ascending]::after{content:" \2191"}th[aria-sort=descending]::after{content:" \2193"}
.live{position:sticky;top:0;z-index:2;background:var(--soft);border-bottom:1px solid var(--line);padding:4px 20px;
font-size:.88rem}
svg path.margin{fill:var(--soft);stroke:none}
g.better{color:var(--good)}g.worse{color:var(--warn)}g.open{color:var(--muted)}
.code{stroke:var(--muted);fill:none}
.host{stroke:var(--fg);fill:none;stroke-width:1.5;stroke-dasharray:1.5 3}
.filter+.panels{margin-top:16px}
.rooflines{grid-template-columns:repeat(auto-fill,minmax(min(100%,520px),1fr))}
.rooflines .panel svg text{font-size:11px}
.roof{fill:none;stroke:currentColor;stroke-width:1.8}
.kernels{fill-opacity:.75}
@media (max-width:560px){.rooflines .panel{padding:8px}.rooflines .panel svg text{font-size:13px}}
@media print{.filter,.bar-of-controls,.values,.live,#recipes{display:none}}
)css";

}  // namespace

std::string page_head(const std::string& title, const std::string& body) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "img-src data:; script-src {}; connect-src {}\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body{}>\n<main>\n",
        script_policy(), body.empty() ? "'none'" : "'self'", html_escaped(title), kPageStyle, kPageOnlyStyle, body);
}

std::string page_end() {
    return "</main>\n" + page_script() + "</body>\n</html>\n";
}

std::string svg_file(const std::string& inline_svg) {
    constexpr std::string_view kOpening = "<svg ";
    const std::size_t content = inline_svg.find('>') + 1;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {}\n<style>{}svg{{background:var(--bg);font-family:system-ui,"
        "\"DejaVu Sans\",sans-serif}}</style>{}",
        inline_svg.substr(kOpening.size(), content - kOpening.size()), kPageStyle, inline_svg.substr(content));
}

std::string figure_html(const Figure& figure) {
    std::string out = "<h3>" + html_escaped(figure.title) + "</h3>\n<figure>\n";
    out += fmt::format("<div class=\"scroll chart\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>\n",
                       html_escaped(figure.title), render_svg(figure));
    return out + "<figcaption>" + html_escaped(description(figure)) + "</figcaption>\n</figure>\n";
}

std::string render_figures_page(const std::string& title, const std::string& about,
                                const std::vector<Figure>& figures) {
    std::string out = page_head(title) + "<h1>" + html_escaped(title) + "</h1>\n<p>" + html_escaped(about) + "</p>\n";
    for (const Figure& figure : figures) out += figure_html(figure);
    return out + page_end();
}

}  // namespace deft::reporting
