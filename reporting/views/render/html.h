#pragma once
// Text made fit for HTML and SVG.

#include <string>
#include <string_view>
#include <vector>

#include "reporting/table.h"
#include "reporting/views/render/figure.h"

namespace deft::reporting {

// For element content and for attribute values in double quotes.
std::string html_escaped(std::string_view text);

// The parts of render_html(): to the end of the head, rows without a body around them, and the end.
std::string table_begin_html(const Table& table);
std::string rows_html(const Table& table);
std::string table_end_html();

std::string notes_html(const std::vector<std::string>& notes);

// Letters, digits and dashes stay, the rest is spelled in hex: fit for an id, and different for different texts.
std::string html_id(std::string_view text);
// The anchor of a row's provenance. That of a long name is a part of its hash: each number of the row links to it.
std::string trace_id(std::string_view row);

// Figures as HTML: the parts that all pages share, and a page of figures alone.

// From <!DOCTYPE html> to <main>: no network, and no script but the page's own. `body`: attributes of the body.
std::string page_head(const std::string& title, const std::string& body = {});
// From </main> on.
std::string page_end();

// An inline picture as a file of its own, with the pages' style sheet in it: light or dark as its reader's machine is.
std::string svg_file(const std::string& inline_svg);

// The figure with its heading and its description.
std::string figure_html(const Figure& figure);

// One self-contained page. The same figures give the same bytes.
std::string render_figures_page(const std::string& title, const std::string& about, const std::vector<Figure>& figures);

}  // namespace deft::reporting
