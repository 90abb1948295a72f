#include "sweeps/gate/record_comparison.h"

#include "base/files.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "results_db/host_key.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/gate/arm.h"
#include "sweeps/gate/record_bench.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

void add_arms(const ComparedCase& one, const Measurement& measurement, int threads, std::int64_t base_id,
              std::int64_t head_id, std::vector<results_db::BenchSamples>& results) {
    if (one.trouble != Trouble::none || measurement.pairs.empty()) return;
    results_db::BenchSamples base = bench_series(one.name, one.backend, one.state, threads);
    base.flops = one.flops;
    base.bytes = one.bytes;
    base.verified = true;
    results_db::BenchSamples head = base;
    base.code_id = base_id;
    head.code_id = head_id;
    head.arm = "B";
    for (const reporting::TimedPair& pair : measurement.pairs) {
        base.seconds.push_back(pair.base);
        head.seconds.push_back(pair.head);
    }
    results.push_back(std::move(base));
    results.push_back(std::move(head));
}

}  // namespace

Json settings_json(const ComparisonSettings& settings) {
    return {{"threads", settings.threads},    {"seed", settings.seed},
            {"launches", settings.launches},  {"sample_seconds", settings.sample_seconds},
            {"margin", settings.rule.margin}, {"alpha", settings.rule.alpha},
            {"looks", settings.rule.looks},   {"false_discovery_rate", settings.false_discovery_rate}};
}

ComparisonRecorder::ComparisonRecorder(const fs::path& root)
    : file_(database_in(root)), writer_(file_), started_ms_(now_ms()) {}

void ComparisonRecorder::record(std::span<const ComparedCase> cases, const KnownArms& arms,
                                const ComparisonSettings& settings) {
    const std::int64_t base_id = writer_.add_code(arms.base), head_id = writer_.add_code(arms.head);
    results_db::BenchSession session;
    session.mode = "ab";
    const results_db::Host host = describe_host();
    session.host_id = writer_.add_host(host);
    session.started_ms = started_ms_;
    session.ended_ms = now_ms();
    session.env_json = canonical_json(Json{{"load", load_average()},
                                           {"processors", processors_for(settings.threads)},
                                           {"machine", Json::parse(results_db::machine_json(host))}});
    for (const bool again : {false, true}) {
        Json of_phase = settings_json(settings);
        of_phase["phase"] = again ? "confirmation" : "first";
        session.settings_json = canonical_json(of_phase);
        session.results.clear();
        for (const ComparedCase& one : cases)
            if (!again || one.again)
                add_arms(one, again ? *one.again : one.first, settings.threads, base_id, head_id, session.results);
        if (!session.results.empty()) writer_.add_bench_session(session);
    }
    started_ms_ = session.ended_ms;
}

}  // namespace deft::sweeps
