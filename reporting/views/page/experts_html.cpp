#include "reporting/views/page/experts_html.h"

#include <fmt/format.h>

#include "reporting/analysis/experts/dense_multiple.h"
#include "reporting/views/page/validation_curves.h"
#include "reporting/views/render/html.h"

namespace deft::reporting {

std::string experts_html(const std::vector<Row>& rows, const Curves& curves, const std::string& base_recipe,
                         const std::string& id, const std::string& suffix) {
    const std::optional<ExpertsAgainstDense> compared = experts_against_dense(rows, base_recipe);
    if (!compared) return {};
    std::string out = fmt::format("<h2 id=\"dense{}\">Experts against dense models</h2>\n", id);
    const std::vector<std::string> sentences = multiple_sentences(*compared);
    for (std::size_t i = 0; i + 1 < sentences.size(); ++i) out += "<p>" + html_escaped(sentences[i]) + "</p>\n";
    std::vector<Figure> figures = {multiple_figure(*compared)};
    const std::vector<Figure> validation = validation_figures(rows, curves);
    figures.insert(figures.end(), validation.begin(), validation.end());
    for (Figure& figure : figures) {
        figure.title += suffix;
        figure.id += id;
        out += figure_html(figure);
    }
    std::vector<std::string> notes = {sentences.back()};
    if (validation.empty())
        notes.push_back(
            "No validation losses on the way: eval.every in the sweep file takes them, and the training losses below "
            "represent them.");
    return out + notes_html(notes);
}

}  // namespace deft::reporting
