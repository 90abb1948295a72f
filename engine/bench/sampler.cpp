#include "engine/bench/sampler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <random>
#include <string>

#include "engine/data_efficiency/sampling/sampler.h"

namespace deft::engine {

namespace {

using kernels::PreparedBench;

constexpr std::int64_t kSamples = 1 << 23, kSteps = 10'000, kBatch = 512;
constexpr std::int64_t kStepsARun = 64;

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

// Draws of 64 steps, one after the other, or from anywhere. Right: every draw alone gives the same, of what is
// admitted.
PreparedBench prepare_draws(std::uint64_t seed, std::int64_t metrics) {
    const auto sampler =
        std::make_shared<const Sampler>(sampler_of(invented_curricula(kSamples, metrics, kSteps), kSteps, kBatch));
    std::vector<Sampler::Draw> draws(kBatch);
    PreparedBench prepared;
    const std::int64_t first = kSteps / 4 * kBatch;
    sampler->fill(first, draws);
    for (std::int64_t i = 0; i < kBatch; ++i) {
        const Sampler::Draw& draw = draws[static_cast<std::size_t>(i)];
        if (draw.sample != sampler->sample_at(first + i))
            prepared.wrong = fmt::format("draw {} depends on those before", i);
        if (draw.rank >= sampler->pool_size(first + i) || draw.sample < 0 || draw.sample >= kSamples)
            prepared.wrong = fmt::format("draw {} is of no admitted sample", i);
    }
    auto run = [sampler, draws](std::int64_t step) mutable {
        for (std::int64_t i = 0; i < kStepsARun; ++i) sampler->fill((step + i) % kSteps * kBatch, draws);
    };
    prepared.items = static_cast<double>(kStepsARun * kBatch);
    prepared.item = "draw";
    prepared.bytes = 4 * prepared.items;  // one entry of the index each
    prepared.footprint = 4 * static_cast<double>(kSamples);
    prepared.hot = [run]() mutable { run(kSteps / 4); };
    prepared.cold = [run, random = std::mt19937_64(seed)]() mutable {
        run(static_cast<std::int64_t>(random() % kSteps));
    };
    return prepared;
}

// Right: the first draw of a fresh sampler is that of another.
PreparedBench prepare_start(std::int64_t metrics) {
    const auto curricula =
        std::make_shared<const std::vector<SampleCurriculum>>(invented_curricula(kSamples, metrics, kSteps));
    const auto first_draw = [curricula] { return sampler_of(*curricula, kSteps, kBatch).sample_at(0); };
    peak_bytes_since_last();
    const std::int64_t before = bytes_now();
    const std::int64_t draw = first_draw();
    const auto bytes = static_cast<double>(peak_bytes_since_last() - before);
    PreparedBench prepared;
    prepared.note = fmt::format("{:.1f} MB at most beside the index, {:.1f} bytes a sample", bytes / 1e6,
                                bytes / static_cast<double>(kSamples));
    if (first_draw() != draw) prepared.wrong = "the first draw is another the second time";
    prepared.items = static_cast<double>(kSamples);
    prepared.item = "sample";
    prepared.bytes = prepared.footprint = 8 * static_cast<double>(metrics * kSamples);  // value and order
    prepared.hot = first_draw;
    return prepared;
}

}  // namespace

std::vector<kernels::BenchCase> sampler_benches(std::uint64_t seed) {
    std::vector<kernels::BenchCase> benches;
    for (const std::int64_t metrics : {1, 2}) {
        const std::string size = fmt::format("{}/{}{}", kSamples, kBatch, metrics == 1 ? "" : "/2");
        benches.push_back(
            {"sampler/" + size, "cpu", 0, 4 * kStepsARun * kBatch, [=](int) { return prepare_draws(seed, metrics); }});
        benches.push_back({"sampler_start/" + size, "cpu", 0, 8 * static_cast<double>(metrics * kSamples),
                           [=](int) { return prepare_start(metrics); }});
    }
    return benches;
}

}  // namespace deft::engine
