// The gate against DeepSpeed's on random logits, where a Python has it: DEFT_PYTHON, or python3.

#include <random>

#include "base/json.h"
#include "engine/core/arena.h"
#include "engine/core/expert_ops.h"
#include "engine/core/workspace.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"
#include "tests/python.h"
#include "tests/temporary_folder.h"

using namespace deft::engine;
using deft::Json;
using deft::test::TemporaryFolder;
using deft::test::write_text;

namespace {

struct GateCase {
    std::int64_t N, E, k;
    CapacitySpec capacity;
    std::vector<float> logits;       // (N, E)
    std::vector<std::int64_t> draw;  // (1)
};

GateCase random_case(std::mt19937_64& random, std::int64_t k) {
    GateCase gate;
    gate.k = k;
    gate.N = 5 + static_cast<std::int64_t>(random() % 60);
    gate.E = 2 + static_cast<std::int64_t>(random() % 7);  // DeepSpeed takes no capacity of more rows than there are
    gate.capacity.factor = 0.25 * static_cast<double>(1 + random() % 8);
    gate.capacity.least = static_cast<std::int64_t>(random() % 5);
    gate.capacity.selects_at_random = k == 1 && random() % 2 == 0;
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < gate.N * gate.E; ++i)
        gate.logits.push_back(normal(random) + (i % gate.E == 0 ? 1.0f : 0.0f));  // one expert has too many
    gate.draw = {static_cast<std::int64_t>(random() % 1000)};
    return gate;
}

RoutingRows rows_of(GateCase& gate) {
    return {
        .B = 1, .K = gate.N, .seed = 3, .step = 5, .layer = 2, .draw = make_tensor(gate.draw.data(), DType::i64, {1})};
}

// The order in which an expert keeps rows, the first have the highest.
std::vector<double> ranks(GateCase& gate) {
    const deft::kernels::RoutedRows rows{
        .N = gate.N, .B = 1, .K = gate.N, .seed = 3, .step = 5, .layer = 2, .draw = gate.draw.data()};
    std::vector<double> rank;
    for (std::int64_t n = 0; n < gate.N; ++n)
        rank.push_back(gate.capacity.selects_at_random
                           ? 1.0 + 0x7FFFFFFF - static_cast<double>(deft::kernels::capacity_key(rows, n, 1, 0))
                           : static_cast<double>(gate.N - n));
    return rank;
}

struct GateResult {
    std::vector<double> weight;  // (N, E)
    double balance = 0;
    std::int64_t dropped = 0;
};

GateResult gate_of(GateCase& gate) {
    const std::int64_t N = gate.N, E = gate.E, k = gate.k;
    const Backend backend{Device::cpu, DType::f32, 2};
    Arena arena;
    arena.reserve_workspace(experts_workspace(backend, N, E, k, 4, 4, 4));
    arena.commit();
    Exec exec = make_exec(backend, arena);
    const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    std::vector<float> prob(size(N * E)), lse(size(N)), weight(size(N * k)), losses(size(deft::kernels::kGateLosses));
    std::vector<std::int32_t> expert(size(N * k)), start(size(E + 1)), row(size(N * k)), slot(size(N * k)),
        chosen(size(E + 1));
    const auto floats = [](std::vector<float>& values, std::int64_t n, std::int64_t columns) {
        return make_tensor(values.data(), DType::f32, {n, columns});
    };
    const auto integers = [](std::vector<std::int32_t>& values) {
        return make_tensor(values.data(), DType::i32, {static_cast<std::int64_t>(values.size())});
    };
    const auto of_choices = [&](std::vector<std::int32_t>& values) {
        return make_tensor(values.data(), DType::i32, {N, k});
    };
    const Tensor logits = floats(gate.logits, N, E), p = floats(prob, N, E);
    const Tensor log_sum = make_tensor(lse.data(), DType::f32, {N});
    route(exec, p, log_sum, of_choices(expert), logits, rows_of(gate), false);
    place_choices(exec, integers(start), integers(row), of_choices(slot), of_choices(expert), rows_of(gate),
                  gate.capacity);
    gate_weights(exec, floats(weight, N, k), p, of_choices(expert), of_choices(slot));
    gate_losses(exec, make_tensor(losses.data(), DType::f32, {deft::kernels::kGateLosses}), integers(chosen), p,
                log_sum, logits, of_choices(expert));
    GateResult result{std::vector<double>(size(N * E)), static_cast<double>(losses[deft::kernels::kBalanceLoss]), 0};
    for (std::size_t i = 0; i < size(N * k); ++i) {
        result.weight[i / size(k) * size(E) + size(expert[i])] += static_cast<double>(weight[i]);
        result.dropped += slot[i] < 0;
    }
    return result;
}

}  // namespace

TEST_CASE(
    "rows, weights and balance loss of gates with one and two experts a row are DeepSpeed's, where it is installed",
    "[bare][python]") {
    std::mt19937_64 random(20);
    std::vector<GateCase> cases;
    for (int i = 0; i < 60; ++i) cases.push_back(random_case(random, 1 + i % 2));
    Json asked = Json::array();
    for (GateCase& gate : cases) {
        Json logits = Json::array();
        for (std::int64_t n = 0; n < gate.N; ++n)
            logits.push_back(
                std::vector<float>(gate.logits.begin() + n * gate.E, gate.logits.begin() + (n + 1) * gate.E));
        asked.push_back({{"logits", logits},
                         {"top", gate.k},
                         {"factor", gate.capacity.factor},
                         {"least", gate.capacity.least},
                         {"rank", ranks(gate)}});
    }
    const TemporaryFolder folder;
    write_text(folder / "gates.json", asked.dump());
    const deft::ProcessOutput output =
        deft::test::run_python({DEFT_SOURCE_DIR "/tests/engine/deepspeed_gate.py", (folder / "gates.json").string()});
    if (output.exit_code == 77) DEFT_SKIP("no Python with the package deepspeed (name one in DEFT_PYTHON)");
    REQUIRE(output.exit_code == 0);
    const Json answers = deft::try_parse_json(output.out);
    REQUIRE(answers.size() == cases.size());
    std::int64_t with_drops = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        INFO("case " << i << ": N " << cases[i].N << ", E " << cases[i].E << ", top " << cases[i].k);
        const GateResult ours = gate_of(cases[i]);
        CHECK(ours.balance == Approx(answers[i]["balance"].get<double>()).epsilon(1e-5));
        const auto E = static_cast<std::size_t>(cases[i].E);
        for (std::size_t at = 0; at < ours.weight.size(); ++at)
            REQUIRE(ours.weight[at] ==
                    Approx(answers[i]["weight"][at / E][at % E].get<double>()).epsilon(1e-5).margin(1e-7));
        with_drops += ours.dropped > 0;
    }
    CHECK(with_drops > 20);
}
