#include "reporting/figures_page.h"

#include <fmt/format.h>

#include "reporting/html_text.h"
#include "reporting/page_style.h"

namespace deft::reporting {

std::string page_head(const std::string& title) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; img-src data:\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>{}</style>\n</head>\n",
        html_escaped(title), kPageStyle);
}

std::string figure_html(const Figure& figure) {
    std::string out = "<h3>" + html_escaped(figure.title) + "</h3>\n<figure>\n";
    out += fmt::format("<div class=\"scroll chart\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>\n",
                       html_escaped(figure.title), render_svg(figure));
    return out + "<figcaption>" + html_escaped(description(figure)) + "</figcaption>\n</figure>\n";
}

std::string render_figures_page(const std::string& title, const std::string& about,
                                const std::vector<Figure>& figures) {
    std::string out = page_head(title) + "<body>\n<main>\n<h1>" + html_escaped(title) + "</h1>\n<p>" +
                      html_escaped(about) + "</p>\n";
    for (const Figure& figure : figures) out += figure_html(figure);
    return out + "</main>\n</body>\n</html>\n";
}

}  // namespace deft::reporting
