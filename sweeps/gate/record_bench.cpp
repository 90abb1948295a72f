#include "sweeps/gate/record_bench.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/files.h"
#include "base/installed_files.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "results_db/host_key.h"
#include "sweeps/driver/driver.h"
#include "sweeps/driver/provenance.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

Json peaks_json(const kernels::Peaks& peaks) {
    Json json = {{"avx2_flops", peaks.fma.avx2_flops},
            {"avx512_flops", peaks.fma.avx512_flops},
            {"memory_read", peaks.memory.read},
            {"memory_copy", peaks.memory.copy},
            {"memory_update", peaks.memory.update},
            {"cached_read", peaks.memory.cached_read}};
    if (const auto& device = peaks.device)
        json["cuda"] = {{"device", device->device},
                        {"f32_flops", device->f32_flops},
                        {"bf16_flops", device->bf16_flops},
                        {"memory_read", device->read},
                        {"memory_copy", device->copy},
                        {"cached_read", device->cached_read},
                        {"cache_bytes", device->cache_bytes},
                        {"nothing_seconds", device->nothing_seconds},
                        {"empty_kernel_seconds", device->empty_kernel_seconds}};
    return json;
}

results_db::BenchSamples samples_of(const kernels::BenchResult& row, int threads, std::int64_t code_id) {
    results_db::BenchSamples samples = bench_series(row.name, row.backend, row.state, threads);
    samples.flops = row.flops;
    samples.bytes = row.bytes;
    samples.code_id = code_id;
    samples.seconds = row.seconds;
    samples.verified = true;
    return samples;
}

}  // namespace

double load_average() {
    double load = -1;
    return getloadavg(&load, 1) == 1 ? load : -1;
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

fs::path database_in(const fs::path& root) {
    make_folder(root);
    return database_file(root);
}

BenchRecorder::BenchRecorder(const fs::path& root)
    : file_(database_in(root)), writer_(file_), code_(describe_code(files_folder())), started_ms_(now_ms()) {}

void BenchRecorder::record(std::span<const kernels::BenchResult> results, const kernels::BenchSettings& settings,
                           const kernels::Peaks& peaks) {
    results_db::BenchSession session;
    const results_db::Host host = describe_host();
    session.host_id = writer_.add_host(host);
    session.started_ms = started_ms_;
    session.ended_ms = now_ms();
    session.env_json = canonical_json(Json{{"peaks", peaks_json(peaks)},
                                           {"load", load_average()},
                                           {"machine", Json::parse(results_db::machine_json(host))}});
    session.settings_json = canonical_json(Json{
        {"threads", settings.threads}, {"min_seconds", settings.min_seconds}, {"repetitions", settings.repetitions}});
    const std::int64_t code_id = writer_.add_code(code_);
    for (const kernels::BenchResult& row : results)
        if (row.wrong.empty()) session.results.push_back(samples_of(row, settings.threads, code_id));
    writer_.add_bench_session(session);
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
