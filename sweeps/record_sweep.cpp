#include "sweeps/record_sweep.h"

#include "base/json.h"
#include "sweeps/price.h"
#include "sweeps/provenance.h"
#include "sweeps/provenance_json.h"
#include "sweeps/sweep_note.h"

namespace deft::sweeps {

namespace {

std::string overrides_json(const Spec& spec) {
    Json overrides = Json::array();
    for (const Override& change : spec.overrides)
        overrides.push_back({{"path", change.path}, {"value", to_json(change.value)}});
    return canonical_json(overrides);
}

}  // namespace

RecordedSweep record_sweep(results_db::Writer& writer, const Spec& spec, const std::vector<Point>& points,
                           const DriverOptions& options) {
    RecordedSweep recorded;
    const results_db::Code code = describe_code(DEFT_SOURCE_DIR);
    const results_db::Host host = describe_host();
    recorded.code = writer.add_code(code);
    recorded.host = writer.add_host(host);
    recorded.provenance = {{"code", code_json(code)}, {"host", host_json(host)}};
    if (const auto price = price_for(spec)) writer.add_price(*price);
    results_db::Sweep sweep;
    sweep.name = spec.name;
    sweep.spec_sha256 = spec.sha256;
    sweep.spec_toml = spec.text;
    sweep.overrides_json = overrides_json(spec);
    write_sweep_note(options.root, spec, sweep_note(spec, options.fill_with, options.points));
    const std::int64_t sweep_id = writer.add_sweep(sweep);
    for (const Point& point : points) {
        recorded.experiments.push_back(
            writer.add_experiment({point.config_hash, point.variant_hash, point.seed,
                                   canonical_json(experiments::to_json(point.config)), point.label}));
        writer.add_member(sweep_id, recorded.experiments.back(),
                          {point.ordinal, point.case_name, canonical_json(point.axes)});
    }
    return recorded;
}

}  // namespace deft::sweeps
