#include "reporting/views/page/validation_curves.h"

#include <fmt/format.h>

#include <utility>

namespace deft::reporting {

namespace {

using results_db::TrialCurve;

constexpr std::size_t kFewestPoints = 3;

}  // namespace

std::vector<Figure> validation_figures(const std::vector<Row>& rows, const Curves& curves) {
    const RecipeStyles styles(rows);
    std::vector<Figure> figures;
    for (const Abscissa& abscissa : {kByLayerTokens, kByFlops}) {
        Figure figure;
        figure.id = std::string("validation-") + abscissa.id;
        figure.title = fmt::format("Validation loss by {}", abscissa.name);
        figure.x_title = abscissa.name;
        figure.y_title = "Validation loss (nats)";
        for (const Row& row : rows) {
            const std::vector<const TrialCurve*> seeds = curves_with(&TrialCurve::validation_losses, row, curves);
            Series series = loss_series(row, seeds, abscissa);
            series.points = std::exchange(series.marks, {});
            if (seeds.size() != row.ok.size() || series.points.size() < kFewestPoints) continue;
            if (figure.series.size() == kMostSeries) {
                figure.not_drawn.push_back(row.name);
                continue;
            }
            styles.give(row, series);
            if (!row.axes.has_budget) series.dash = series.style;
            figure.series.push_back(std::move(series));
        }
        if (figure.series.size() > 1) figures.push_back(std::move(figure));
    }
    return figures;
}

}  // namespace deft::reporting
