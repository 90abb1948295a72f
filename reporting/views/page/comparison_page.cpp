#include <fmt/format.h>

#include "reporting/analysis/compare/compare.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

namespace {

// Without its sweep, for which a picture has no room.
std::string row_of(const std::string& name) {
    return name.substr(name.find(':') + 1);
}

std::string losses_html(const RowComparison& rows, std::size_t number) {
    if (!rows.losses.missing.empty()) return {};
    Figure figure = equal_cost_figure(rows.curves, "A: " + row_of(rows.a), "B: " + row_of(rows.b));
    figure.id += fmt::format("-{}", number);  // a page may have several
    return figure_html(figure);
}

}  // namespace

std::string render_comparison_page(const Comparison& comparison) {
    const std::string title = fmt::format("{} beside {}", comparison.b, comparison.a);
    std::string out = page_head(title) + "<h1>" + html_escaped(title) + "</h1>\n";
    for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
        const RowComparison& rows = comparison.rows[i];
        if (comparison.rows.size() > 1)
            out += "<h2>" + html_escaped(row_of(rows.b) + " beside " + row_of(rows.a)) + "</h2>\n";
        out += losses_html(rows, i + 1);
        Comparison one{comparison.a, comparison.b, {rows}, {}, {}, {}};
        if (i + 1 == comparison.rows.size()) {
            one.only_a = comparison.only_a;
            one.only_b = comparison.only_b;
            one.same = comparison.same;
        }
        for (const Table& table : comparison_tables(one)) out += render_html(table);
    }
    return out + page_end();
}

}  // namespace deft::reporting
