#include "reporting/views/page/provenance_html.h"

#include <fmt/format.h>

#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

std::string provenance_html(const std::vector<Row>& rows, const std::vector<results_db::Checkpoint>& checkpoints,
                            const std::string& points) {
    std::string out;
    for (const Row& row : rows) {
        const std::string why = not_measured(row);
        out += fmt::format("<details><summary>{}{}</summary>\n<div class=\"trace\" id=\"trace-{}\">\n",
                           html_escaped(row.name), why.empty() ? "" : " †", html_id(row.name));
        if (!why.empty()) out += "<p>† Not measured: " + html_escaped(why) + ".</p>\n";
        if (is_imported(row))
            for (const std::string& note : imported_notes({row})) out += "<p>" + html_escaped(note) + "</p>\n";
        out += render_html(provenance_table(row, checkpoints));
        const std::vector<std::string> commands = repeat_commands(row, points);
        if (!commands.empty()) {
            out += "<p>To repeat these trials:</p>\n<pre tabindex=\"0\"><code>";
            for (const std::string& line : commands) out += html_escaped(line) + "\n";
            out += "</code></pre>\n";
        }
        out += "</div></details>\n";
    }
    return out;
}

}  // namespace deft::reporting
