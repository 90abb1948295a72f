#include "sweeps/gate/import_bench.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <set>
#include <tuple>

#include "base/date.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/stopwatch.h"
#include "results_db/writer.h"
#include "sweeps/driver/announced_lock.h"
#include "sweeps/driver/foreign_json.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/root.h"
#include "sweeps/gate/bench_records.h"
#include "sweeps/gate/google_benchmark.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

std::string either(const std::string& first, const std::string& second) {
    return first.empty() ? second : first;
}

// `deft bench run` says in its context what the schema of Google Benchmark has no place for.
bool is_ours(const Json& context) {
    return context.contains("deft_code") && context.contains("deft_host") && context.contains("deft_threads");
}

Json embedded(const Json& context, const char* key) {
    return try_parse_json(text_of(context, key));
}

std::string program_of(const Json& context, const ImportNames& names) {
    if (!names.program.empty()) return names.program;
    if (is_ours(context)) return "deft";
    const std::string program = fs::path(text_of(context, "executable")).filename().string();
    if (program.empty())
        throw Error(ErrorKind::usage, "the file does not say which program it is from", "name it with --name PROGRAM",
                    "the database");
    return program;
}

results_db::Host host_of_file(const Json& context, const ImportNames& names) {
    results_db::Host host = host_of(is_ours(context) ? embedded(context, "deft_host") : Json());
    if (!is_ours(context)) {
        host.hostname = either(text_of(context, "host_name"), "unknown");
        const auto cpus = context.find("num_cpus");
        if (cpus != context.end() && cpus->is_number_integer()) host.threads = cpus->get<std::int64_t>();
        host.cores = host.threads;
        // The clock rate is left out, since it changes from moment to moment.
        if (context.contains("caches")) host.extra_json = canonical_json(Json{{"caches", context["caches"]}});
    }
    if (!names.host.empty()) {
        host.hostname = names.host;
        Json extra = parse_json(host.extra_json);
        extra["name"] = names.host;  // given by its owner; identifies such hosts
        host.extra_json = canonical_json(extra);
    }
    return host;
}

results_db::Code code_of_file(const Json& context, const std::string& program, const ImportNames& names) {
    results_db::Code code = code_of(is_ours(context) ? embedded(context, "deft_code") : Json());
    if (!names.commit.empty()) code.git_sha = names.commit;
    if (!names.compiler.empty()) code.compiler = names.compiler;
    if (is_ours(context)) return code;
    code.compiler = either(code.compiler, "unknown");
    code.build_type = either(text_of(context, "library_build_type"), "unknown");
    // The hash of the program's file is unknown. Known facts replace it, to distinguish builds of one commit.
    code.binary_sha256 = sha256("import|" + program + '|' + code.compiler + '|' + code.build_type);
    return code;
}

// The series of a name that `deft bench run` gave, as in "gather_rows/16/128/cpu/hot/real_time" or
// ".../cuda-f32/rotating/manual_time". Nothing for other names.
std::optional<results_db::BenchSamples> our_series(const std::string& name, const Json& context) {
    std::string rest = name;
    const auto take_last = [&] {
        const std::size_t slash = rest.rfind('/');
        std::string part = slash == std::string::npos ? "" : rest.substr(slash + 1);
        if (slash != std::string::npos) rest.resize(slash);
        return part;
    };
    std::string caches = take_last();
    if (caches == "real_time" || caches == "manual_time") caches = take_last();
    const std::string backend = take_last(), threads_text = text_of(context, "deft_threads");
    int threads = 0;
    std::from_chars(threads_text.data(), threads_text.data() + threads_text.size(), threads);
    const std::optional<kernels::CacheState> state = kernels::cache_state(caches);
    if (!state || backend.empty() || threads < 1) return std::nullopt;
    return bench_series(rest, backend, *state, threads);
}

results_db::BenchSamples foreign_series(const ImportedBenchmark& benchmark, const std::string& program) {
    results_db::BenchSamples samples;
    const std::size_t slash = benchmark.name.find('/');
    samples.kernel = benchmark.name.substr(0, slash);
    samples.impl = program;
    samples.params_json = canonical_json(Json{
        {"case", slash == std::string::npos ? "" : benchmark.name.substr(slash + 1)}, {"threads", benchmark.threads}});
    return samples;
}

results_db::BenchSamples samples_of(const ImportedBenchmark& benchmark, const Json& context, const std::string& program,
                                    const ImportNames& names) {
    std::optional<results_db::BenchSamples> ours;
    if (is_ours(context) && names.program.empty()) ours = our_series(benchmark.name, context);
    results_db::BenchSamples samples = ours ? *ours : foreign_series(benchmark, program);
    samples.verified = ours.has_value();  // a wrong output has no time there
    samples.flops = benchmark.flops;
    samples.bytes = benchmark.bytes;
    samples.seconds = benchmark.seconds;
    return samples;
}

}  // namespace

ImportedSession import_bench(const fs::path& file, const fs::path& root, const ImportNames& names) {
    const std::string text = read_google_benchmark(file);
    GoogleBenchmarkFile parsed = parse_google_benchmark(text, file);
    const Json& context = parsed.context;
    if (parsed.benchmarks.empty())
        throw Error(ErrorKind::missing,
                    parsed.left_out.empty() ? fmt::format("{} has no benchmarks", file.string())
                                            : fmt::format("{} has no benchmark with a time: of {}, {}", file.string(),
                                                          parsed.left_out[0].first, parsed.left_out[0].second),
                    "run the program again", "the database");
    ImportedSession imported;
    imported.program = program_of(context, names);
    imported.host = host_of_file(context, names);
    imported.code = code_of_file(context, imported.program, names);
    const std::optional<std::int64_t> date = parse_timestamp(text_of(context, "date"));
    imported.dated = date.has_value();
    imported.measured_ms = date.value_or(now_ms());
    imported.left_out = std::move(parsed.left_out);

    results_db::Writer writer(database_in(root), announced_lock());
    results_db::BenchSession session;
    session.uid = "import-" + sha256(imported.program + '\0' + text);
    session.mode = "import";
    session.host_id = writer.add_host(imported.host);
    session.started_ms = session.ended_ms = imported.measured_ms;
    session.env_json = canonical_json(context);
    session.settings_json = canonical_json(Json{{"program", imported.program}});
    const std::int64_t code_id = writer.add_code(imported.code);
    std::set<std::tuple<std::string, std::string, std::string>> seen;
    for (const ImportedBenchmark& benchmark : parsed.benchmarks) {
        results_db::BenchSamples samples = samples_of(benchmark, context, imported.program, names);
        if (!seen.insert({samples.kernel, samples.impl, samples.params_json}).second) {
            imported.left_out.emplace_back(benchmark.name, "its series has another benchmark of this file");
            continue;
        }
        samples.code_id = code_id;
        imported.samples += samples.seconds.size();
        imported.summarised += benchmark.summarised;
        session.results.push_back(std::move(samples));
    }
    imported.series = session.results.size();
    imported.is_new = writer.add_bench_session(session);
    return imported;
}

}  // namespace deft::sweeps
