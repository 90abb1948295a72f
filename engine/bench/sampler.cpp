#include "engine/bench/sampler.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/stopwatch.h"

namespace deft::engine {

namespace {

// Value and order of one metric: a keyed permutation is the order, and a thousand samples share a value.
DifficultyIndex invented_index(std::int64_t samples, std::uint64_t seed) {
    struct Arrays {
        std::vector<std::uint32_t> value, order;
    };
    auto arrays = std::make_shared<Arrays>();
    arrays->value.resize(static_cast<std::size_t>(samples));
    arrays->order.resize(static_cast<std::size_t>(samples));
    const Permutation shuffled(static_cast<std::uint64_t>(samples), seed, kernels::RandomPurpose::tests, 0);
    for (std::int64_t rank = 0; rank < samples; ++rank) {
        const auto id = shuffled(static_cast<std::uint64_t>(rank));
        arrays->order[static_cast<std::size_t>(rank)] = static_cast<std::uint32_t>(id);
        arrays->value[id] = static_cast<std::uint32_t>(rank / 1000);
    }
    const NumberType type = number_type<std::uint32_t>();
    return {{arrays->value.data(), samples, type}, {arrays->order.data(), samples, type}, arrays};
}

// The most bytes that the process held at once, since it was last asked; 0 where the system does not say.
std::int64_t peak_bytes_since_last() {
    std::int64_t kilobytes = 0;
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) kilobytes = std::stoll(line.substr(6));
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak counts from here
    return kilobytes * 1024;
}

std::int64_t bytes_now() {
    std::ifstream file("/proc/self/statm");
    std::int64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

// Draws a second, a batch at a time from each of `firsts`; `sum` keeps the draws from being left out.
double rate(const Sampler& sampler, const std::vector<std::int64_t>& firsts, std::int64_t batch, std::int64_t& sum) {
    std::vector<Sampler::Draw> draws(static_cast<std::size_t>(batch));
    const Clock::time_point start = Clock::now();
    for (const std::int64_t first : firsts) {
        sampler.fill(first, draws);
        for (const Sampler::Draw& draw : draws) sum += draw.sample;
    }
    return static_cast<double>(firsts.size()) * static_cast<double>(batch) / seconds_since(start);
}

std::vector<SampleCurriculum> invented_curricula(std::int64_t samples, std::int64_t metrics, std::int64_t steps) {
    std::vector<SampleCurriculum> curricula;
    for (std::int64_t m = 0; m < metrics; ++m) {
        SampleCurriculum& metric = curricula.emplace_back();
        metric.pacing = {1, 100, 1, steps / 2, 2};
        metric.index = invented_index(samples, static_cast<std::uint64_t>(m));
        metric.name = std::to_string(m);
    }
    return curricula;
}

Sampler sampler_of(const std::vector<SampleCurriculum>& curricula, std::int64_t steps, std::int64_t batch) {
    return Sampler(1, admit(curricula, steps), steps, [=](std::int64_t step) { return step * batch; });
}

}  // namespace

Sampler invented_sampler(std::int64_t samples, std::int64_t metrics, std::int64_t steps, std::int64_t batch) {
    return sampler_of(invented_curricula(samples, metrics, steps), steps, batch);
}

SamplerRates sampler_rates(std::int64_t samples, std::int64_t metrics, std::int64_t steps, std::int64_t batch,
                           std::int64_t draws) {
    const std::vector<SampleCurriculum> curricula = invented_curricula(samples, metrics, steps);
    SamplerRates rates;
    rates.samples = samples;
    rates.metrics = metrics;
    peak_bytes_since_last();
    const std::int64_t before = bytes_now();
    const Clock::time_point start = Clock::now();
    const Sampler sampler = sampler_of(curricula, steps, batch);
    std::int64_t sum = sampler.sample_at(0);
    rates.start_seconds = seconds_since(start);
    rates.start_bytes = peak_bytes_since_last() - before;

    std::vector<std::int64_t> firsts(static_cast<std::size_t>(std::max<std::int64_t>(1, draws / batch)));
    for (std::size_t i = 0; i < firsts.size(); ++i)
        firsts[i] = (steps / 4 + static_cast<std::int64_t>(i)) % steps * batch;
    rates.draws_per_second = rate(sampler, firsts, batch, sum);
    const Permutation anywhere(static_cast<std::uint64_t>(steps), 2, kernels::RandomPurpose::tests, 0);
    for (std::size_t i = 0; i < firsts.size(); ++i)
        firsts[i] = static_cast<std::int64_t>(anywhere(i % static_cast<std::uint64_t>(steps))) * batch;
    rates.scattered_per_second = rate(sampler, firsts, batch, sum);
    if (sum < 0) rates.samples = 0;  // never: ids are not negative
    return rates;
}

}  // namespace deft::engine
