// Initial weights on the CUDA device, real or emulated, against those of the CPU.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/usable_machine.h"
#include "engine/core/arena.h"
#include "engine/core/exec.h"
#include "engine/nn/parameters.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::engine;

namespace {

struct Drawn {
    std::vector<float> large, norm, bias;
    friend bool operator==(const Drawn&, const Drawn&) = default;
};

// Two pieces of 2^20 values and a part of a third, which ends within a thread's item.
constexpr std::int64_t kRows = 3, kColumns = 700'001;

Drawn drawn(Device device, int threads) {
    Arena arena(device);
    const auto table = plan_and_commit(arena, [](Arena& planned) {
        auto result = std::make_unique<ParameterTable>(planned, DType::f32, Purpose::inference);
        result->add("large", ParameterKind::matrix, {kRows, kColumns});
        result->add("norm", ParameterKind::norm, {5});
        result->add("bias", ParameterKind::bias, {5});
        return result;
    });
    Exec exec = make_exec({device, DType::f32, 1}, arena);
    initialise(exec, *table, 7, 0.02, 2, threads);
    const auto copy = [&](std::size_t i) { return host_copy<float>(exec, (*table)[i].value); };
    return {copy(0), copy(1), copy(2)};
}

}  // namespace

TEST_CASE("weights drawn for a GPU have the CPU's bits on any number of threads") {
    const Drawn expected = drawn(Device::cpu, 1);
    CHECK(expected.norm == std::vector<float>(5, 1.0f));
    CHECK(expected.bias == std::vector<float>(5, 0.0f));
    for (const int threads : {1, 2, 5}) CHECK((drawn(Device::cuda, threads) == expected));
}

TEST_CASE("weights of a GPU are drawn on all cores that the process may use") {
    Arena arena(Device::cuda);
    const auto table = plan_and_commit(arena, [](Arena& planned) {
        auto result = std::make_unique<ParameterTable>(planned, DType::f32, Purpose::inference);
        result->add("weight", ParameterKind::matrix, {4});
        return result;
    });
    CHECK(initialisation_threads(make_exec({Device::cuda, DType::f32, 1}, arena)) == usable_cores());
}
