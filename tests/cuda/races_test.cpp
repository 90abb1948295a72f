// The kernels have no data races, and every barrier of theirs is needed: where one is skipped, something turns red.
// Both run test_cuda_races, the kernels under ThreadSanitizer.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
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

// Work of a case: under ThreadSanitizer each thread of a block costs some fifty microseconds.
constexpr std::int64_t kMostThreads = 7000;

const char* name(Activations type) {
    return type == Activations::bf16 ? "bf16" : "f32";
}

// In order of cost.
std::vector<EmulatedCase> cases_for_races(Activations type) {
    std::vector<EmulatedCase> cases = emulate(small_cases(1, 1 << 14), type, {1});
    std::erase_if(cases, [](const EmulatedCase& one) { return one.threads() == 0 || one.threads() > kMostThreads; });
    std::sort(cases.begin(), cases.end(),
              [](const EmulatedCase& a, const EmulatedCase& b) { return a.threads() < b.threads(); });
    return cases;
}

std::string end_of(const std::string& text) {
    constexpr std::size_t kMost = 4000;
    return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

TEST_CASE("the kernels have no data races", "[slow][bare]") {
    const test::Command program = test::races_program();
    if (program.empty()) DEFT_SKIP("ThreadSanitizer does not run here");
    std::map<Activations, std::vector<EmulatedCase>> cases;
    std::set<std::string> kernels;
    for (const Activations type : {Activations::f32, Activations::bf16}) {
        cases[type] = cases_for_races(type);
        for (const EmulatedCase& one : cases[type])
            for (const auto& [kernel, record] : one.kernels) kernels.insert(kernel);
    }
    for (const auto& [kernel, file] : test::kernels_in_sources()) {
        INFO(kernel << " of " << file << " has no case of at most " << kMostThreads << " threads");
        CHECK(kernels.count(kernel) == 1);
    }

    std::uint64_t seed = std::random_device{}();
    std::vector<test::Command> commands;
    for (const Activations type : {Activations::f32, Activations::f32, Activations::bf16}) {
        ++seed;
        for (std::size_t half = 0; half < 2; ++half) {
            test::Command& command = commands.emplace_back(program);
            command.insert(command.end(), {std::to_string(seed), name(type), "all"});
            for (std::size_t i = half; i < cases[type].size(); i += 2) command.push_back(cases[type][i].name);
        }
    }
    const std::vector<test::Ended> ended = test::run_children(commands);
    for (std::size_t i = 0; i < commands.size(); ++i) {
        INFO("seed " << commands[i][program.size()] << ", " << commands[i][program.size() + 1]);
        INFO(end_of(ended[i].printed));
        CHECK(ended[i].exit_code == 0);
    }
    std::printf("%zu kernels in %zu cases under ThreadSanitizer, twice in f32 and once in bf16\n", kernels.size(),
                cases[Activations::f32].size());
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

TEST_CASE("every barrier is needed: without it a test turns red", "[slow][bare]") {
    const test::Command program = test::races_program();
    if (program.empty()) DEFT_SKIP("ThreadSanitizer does not run here");
    const std::set<Barrier> barriers = test::barriers_in_sources();
    REQUIRE_FALSE(barriers.empty());
    // A barrier that both types pass is left out in float.
    std::map<Barrier, test::Command> commands;
    for (const Activations type : {Activations::f32, Activations::bf16})
        for (const EmulatedCase& one : cases_for_races(type))
            for (const Barrier& barrier : barriers) {
                if (!one.passes(barrier)) continue;
                test::Command& command = commands[barrier];
                if (command.empty()) {
                    command = program;
                    command.insert(command.end(), {"1", name(type), barrier.text()});
                }
                if (command[program.size() + 1] == name(type)) command.push_back(one.name);
            }
    for (const Barrier& barrier : barriers) {
        INFO(barrier.text() << " is passed by no case");
        CHECK(commands.count(barrier) == 1);
    }
    std::vector<test::Command> in_order;
    for (const auto& [barrier, command] : commands) in_order.push_back(command);
    const std::vector<test::Ended> ended = test::run_children(in_order);
    std::size_t i = 0;
    for (const auto& [barrier, command] : commands) {
        INFO(barrier.text() << " can be left out and nobody notices; " << end_of(ended[i].printed));
        CHECK(ended[i].exit_code != 2);
        CHECK_FALSE(symptom(ended[i]).empty());
        std::printf("without %s: %s\n", barrier.text().c_str(), symptom(ended[i]).c_str());
        ++i;
    }
}

}  // namespace
}  // namespace deft::kernels::cases
