#pragma once
// A sweep's report as one HTML file that needs nothing else: no network, and no script to show everything.

#include <string>

#include "reporting/views/report_data.h"

namespace deft::reporting {

// The same data give the same bytes.
// `body`: attributes of the body, for a page that is served.
std::string render_page(const ReportData& data, const std::string& body = {});

// The comparison, and every trial's stored values, in one JSON object.
std::string render_report_json(const ReportData& data);

}  // namespace deft::reporting
