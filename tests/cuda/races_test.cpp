// The kernels have no data races, and every barrier of theirs is needed: where one is skipped, something turns red.
// Both run test_cuda_races, the kernels under ThreadSanitizer.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/cuda/children.h"
#include "tests/cuda/emulated_cases.h"
#include "tests/cuda/kernel_sources.h"
#include "tests/cuda/races_program.h"

namespace deft::kernels::cases {
namespace {

using cuda::emulator::Barrier;

// Of a case: under ThreadSanitizer each thread of a block costs some fifty microseconds.
constexpr std::int64_t kMostThreads = 7000;

// In order of cost.
std::vector<EmulatedCase> cases_for_races() {
    std::vector<EmulatedCase> cases = emulate(small_cases(1, 1 << 14), Activations::f32, {1});
    std::erase_if(cases, [](const EmulatedCase& one) { return one.threads() == 0 || one.threads() > kMostThreads; });
    std::sort(cases.begin(), cases.end(),
              [](const EmulatedCase& a, const EmulatedCase& b) { return a.threads() < b.threads(); });
    return cases;
}

std::string end_of(const std::string& text) {
    constexpr std::size_t kMost = 4000;
    return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

TEST_CASE("the kernels have no data races", "[surroundings]") {
    const test::Command program = test::races_program();
    if (program.empty()) DEFT_SKIP("ThreadSanitizer does not run here");
    const std::vector<EmulatedCase> cases = cases_for_races();
    std::set<std::string> kernels;
    for (const EmulatedCase& one : cases)
        for (const auto& [kernel, record] : one.kernels) kernels.insert(kernel);
    for (const auto& [kernel, file] : test::kernels_in_sources()) {
        INFO(kernel << " of " << file << " has no case of at most " << kMostThreads << " threads");
        CHECK(kernels.count(kernel) == 1);
    }

    std::uint64_t seed = std::random_device{}();
    std::vector<test::Command> commands;
    for (const char* type : {"f32", "f32", "bf16"}) {
        ++seed;
        for (std::size_t half = 0; half < 2; ++half) {
            test::Command& command = commands.emplace_back(program);
            command.insert(command.end(), {std::to_string(seed), type, "all"});
            for (std::size_t i = half; i < cases.size(); i += 2) command.push_back(cases[i].name);
        }
    }
    const std::vector<test::Ended> ended = test::run_children(commands);
    for (std::size_t i = 0; i < commands.size(); ++i) {
        INFO("seed " << commands[i][program.size()] << ", " << commands[i][program.size() + 1]);
        INFO(end_of(ended[i].printed));
        CHECK(ended[i].exit_code == 0);
    }
    std::printf("%zu kernels in %zu cases under ThreadSanitizer, twice in f32 and once in bf16\n", kernels.size(),
                cases.size());
}

// How a run with a barrier missing was seen to be wrong; empty when it was not.
std::string symptom(const test::Ended& ended) {
    switch (ended.exit_code) {
        case 0:
            return {};
        case 1:
            return "wrong: " + ended.printed.substr(0, ended.printed.find('\n'));
        case 66:
            return "a data race";
        case 124:
            return "does not end";
        default:
            return fmt::format("crashes ({})", ended.exit_code);
    }
}

TEST_CASE("every barrier is needed: without it a test turns red", "[surroundings]") {
    const test::Command program = test::races_program();
    if (program.empty()) DEFT_SKIP("ThreadSanitizer does not run here");
    const std::vector<EmulatedCase> cases = cases_for_races();
    const std::set<Barrier> barriers = test::barriers_in_sources();
    REQUIRE_FALSE(barriers.empty());
    std::vector<test::Command> commands;
    for (const Barrier& barrier : barriers) {
        test::Command& command = commands.emplace_back(program);
        command.insert(command.end(), {"1", "f32", barrier.text()});
        for (const EmulatedCase& one : cases)
            if (one.passes(barrier)) command.push_back(one.name);
        INFO(barrier.text() << " is passed by no case");
        CHECK(command.size() > program.size() + 3);
    }
    const std::vector<test::Ended> ended = test::run_children(commands);
    std::size_t i = 0;
    for (const Barrier& barrier : barriers) {
        INFO(barrier.text() << " can be left out and nobody notices; " << end_of(ended[i].printed));
        CHECK(ended[i].exit_code != 2);
        CHECK_FALSE(symptom(ended[i]).empty());
        std::printf("without %s: %s\n", barrier.text().c_str(), symptom(ended[i]).c_str());
        ++i;
    }
}

}  // namespace
}  // namespace deft::kernels::cases
