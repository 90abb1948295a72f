#include "reporting/check_json.h"

#include "reporting/table_json.h"

namespace deft::reporting {

namespace {

OrderedJson or_null(const std::optional<double>& value) {
    return value ? json_number(*value) : OrderedJson(nullptr);
}

}  // namespace

std::string render_json(const CheckReport& report, bool strict) {
    OrderedJson findings = OrderedJson::array();
    for (const CheckFinding& one : report.findings)
        findings.push_back({{"check", one.check},
                            {"name", one.name},
                            {"where", one.where},
                            {"outcome", name(one.outcome)},
                            {"text", one.text},
                            {"effect", or_null(one.effect)},
                            {"lower", or_null(one.lower)},
                            {"upper", or_null(one.upper)},
                            {"limit", or_null(one.limit)},
                            {"seconds", one.seconds > 0 ? json_number(one.seconds) : OrderedJson(nullptr)}});
    return json_text({{"schema", "deft-check/1"},
                      {"caption", report.caption},
                      {"exit_code", exit_code_of(report, strict)},
                      {"findings", std::move(findings)}});
}

}  // namespace deft::reporting
