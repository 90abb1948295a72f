#pragma once
// A history of benchmarks with known steps, as sessions of five launches each left it: noise within launches, noise
// between sessions, a spike here and there.

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "results_db/writer.h"

namespace deft::test {

struct PastCase {
    std::string kernel, params_json;
    double seconds = 1e-3;
    std::vector<std::pair<int, double>> steps = {};  // from that session on, the factor of the time
};

struct Past {
    std::vector<PastCase> cases;
    int sessions = 26;
    int launches = 5;
    double session_noise = 0.006, launch_noise = 0.01, spike_chance = 0.03;
    std::uint64_t seed = 1;
    std::string hostname = "bench-box", compiler = "GNU 12.2.0";
};

inline double level_at(const PastCase& one, int session) {
    double level = one.seconds;
    for (const auto& [from, factor] : one.steps)
        if (session >= from) level *= factor;
    return level;
}

inline void write_past(results_db::Writer& writer, const Past& past) {
    std::mt19937_64 random(past.seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    results_db::Host host;
    host.hostname = past.hostname;
    host.arch = "x86_64";
    host.cpu_model = "Example CPU 9000 @ 2.40GHz";
    host.cores = host.threads = 2;
    const std::int64_t host_id = writer.add_host(host);
    constexpr std::int64_t kDayMs = 86'400'000, kEndMs = 1'716'710'400'000;  // 2024-05-26
    for (int session = 0; session < past.sessions; ++session) {
        results_db::Code code;
        code.git_sha = fmt::format("{:08x}{:032x}", std::uint32_t(2654435769u * (session + 1)), session);
        code.binary_sha256 = code.git_sha + past.compiler;
        code.compiler = past.compiler;
        const std::int64_t code_id = writer.add_code(code);
        std::vector<double> of_session;
        for (std::size_t i = 0; i < past.cases.size(); ++i) {
            const double spike = uniform(random) < past.spike_chance ? 1.15 : 1;
            of_session.push_back(spike * std::exp(past.session_noise * normal(random)));
        }
        for (int launch = 0; launch < past.launches; ++launch) {
            results_db::BenchSession one;
            one.host_id = host_id;
            one.started_ms = kEndMs - kDayMs * (past.sessions - 1 - session) + 60'000 * launch;
            one.ended_ms = one.started_ms + 30'000;
            for (std::size_t i = 0; i < past.cases.size(); ++i) {
                results_db::BenchSamples samples;
                samples.kernel = past.cases[i].kernel;
                samples.impl = "cpu";
                samples.params_json = past.cases[i].params_json;
                samples.code_id = code_id;
                samples.verified = true;
                const double level = level_at(past.cases[i], session) * of_session[i];
                for (int repetition = 0; repetition < 5; ++repetition)
                    samples.seconds.push_back(level * std::exp(past.launch_noise * normal(random)));
                one.results.push_back(std::move(samples));
            }
            writer.add_bench_session(one);
        }
    }
}

}  // namespace deft::test
