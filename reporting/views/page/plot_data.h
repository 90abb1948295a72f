#pragma once
// The values of line charts for the page's script, which draws them with other axes and shows values on hover.

#include <string>
#include <vector>

#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/figure.h"

namespace deft::reporting {

// A data block of the page: the figures' common lines, with one horizontal axis per figure, then train time and dollars
// where the rows have them. The figures show the same lines by other axes. Empty without figures.
std::string plot_data_html(const std::vector<Figure>& figures, const std::vector<Row>& rows, const Curves& curves);

}  // namespace deft::reporting
