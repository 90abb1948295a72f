#include "reporting/views/report_data.h"

namespace deft::reporting {

std::vector<ClaimFinding> claims_of(const ReportData& data) {
    if (!data.about.published) return {};
    return check_claims(*data.about.published, data.sweep, data.earlier);
}

}  // namespace deft::reporting
