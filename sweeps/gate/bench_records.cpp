#include "sweeps/gate/bench_records.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/json.h"
#include "base/stopwatch.h"
#include "results_db/host_key.h"
#include "sweeps/driver/announced_lock.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/root.h"
#include "sweeps/gate/arm.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

}  // namespace

Json peaks_json(const kernels::Peaks& peaks) {
    Json json = {{"avx2_flops", peaks.fma.avx2_flops},   {"avx512_flops", peaks.fma.avx512_flops},
                 {"memory_read", peaks.memory.read},     {"memory_copy", peaks.memory.copy},
                 {"memory_update", peaks.memory.update}, {"cached_read", peaks.memory.cached_read}};
    if (const auto& device = peaks.device)
        json["cuda"] = {{"device", device->device},
                        {"f32_flops", device->f32_flops},
                        {"bf16_flops", device->bf16_flops},
                        {"memory_read", device->read},
                        {"memory_copy", device->copy},
                        {"cached_read", device->cached_read},
                        {"cache_bytes", device->cache_bytes},
                        {"nothing_seconds", device->nothing_seconds},
                        {"empty_kernel_seconds", device->empty_kernel_seconds},
                        {"launch_seconds", device->launch_seconds},
                        {"exponentials", device->exponentials}};
    return json;
}

namespace {

results_db::BenchSamples samples_of(const kernels::BenchResult& row, int threads, std::int64_t code_id) {
    results_db::BenchSamples samples = bench_series(row.name, row.backend, row.state, threads);
    samples.flops = row.flops;
    samples.bytes = row.bytes;
    samples.code_id = code_id;
    samples.seconds = row.seconds;
    samples.verified = true;
    return samples;
}

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

double load_average() {
    double load = -1;
    return getloadavg(&load, 1) == 1 ? load : -1;
}

kernels::BenchResult cpu_result(const std::string& name, double flops, const std::vector<double>& seconds) {
    kernels::BenchResult result;
    result.name = name;
    result.backend = kernels::kCpu;
    result.flops = flops;
    result.seconds = seconds;
    return result;
}

results_db::BenchSamples bench_series(const std::string& name, const std::string& backend, kernels::CacheState state,
                                      int threads) {
    results_db::BenchSamples samples;
    const std::size_t slash = name.find('/');
    samples.kernel = name.substr(0, slash);
    samples.impl = backend;
    Json params = {{"case", slash == std::string::npos ? "" : name.substr(slash + 1)}, {"caches", to_string(state)}};
    if (backend != kernels::kCudaF32 && backend != kernels::kCudaBf16) params["threads"] = threads;
    samples.params_json = canonical_json(params);
    return samples;
}

BenchRecorder::BenchRecorder(const fs::path& root)
    : file_(database_in(root)), writer_(file_, announced_lock()), started_ms_(now_ms()) {}

void BenchRecorder::record(std::span<const kernels::BenchResult> results, const kernels::BenchSettings& settings,
                           const kernels::Peaks& peaks, const results_db::Code& code) {
    results_db::BenchSession session;
    const results_db::Host host = describe_host();
    session.host_id = writer_.add_host(host);
    session.started_ms = started_ms_;
    session.ended_ms = now_ms();
    session.env_json = canonical_json(Json{{"peaks", peaks_json(peaks)},
                                           {"load", load_average()},
                                           {"machine", parse_json(results_db::machine_json(host))}});
    session.settings_json = canonical_json(Json{
        {"threads", settings.threads}, {"min_seconds", settings.min_seconds}, {"repetitions", settings.repetitions}});
    const std::int64_t code_id = writer_.add_code(code);
    for (const kernels::BenchResult& row : results)
        if (row.wrong.empty()) session.results.push_back(samples_of(row, settings.threads, code_id));
    writer_.add_bench_session(session);
}

Json settings_json(const ComparisonSettings& settings) {
    return {{"threads", settings.threads},    {"seed", settings.seed},
            {"launches", settings.launches},  {"sample_seconds", settings.sample_seconds},
            {"margin", settings.rule.margin}, {"alpha", settings.rule.alpha},
            {"looks", settings.rule.looks},   {"false_discovery_rate", settings.false_discovery_rate}};
}

void BenchRecorder::record(std::span<const ComparedCase> cases, const KnownArms& arms,
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
                                           {"machine", parse_json(results_db::machine_json(host))}});
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

std::vector<std::pair<std::string, std::string>> bench_context(const results_db::Code& code,
                                                               const kernels::Peaks& peaks, int threads) {
    return {{"deft_code", canonical_json(code_json(code))},
            {"deft_host", canonical_json(host_json(describe_host()))},
            {"deft_commit", code.git_sha + (code.dirty ? " with changes" : "")},
            {"deft_build", code.compiler + " " + code.build_type},
            {"deft_threads", std::to_string(threads)},
            {"deft_peaks", canonical_json(peaks_json(peaks))}};
}

}  // namespace deft::sweeps
