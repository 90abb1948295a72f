// Routings of a layer of experts that are worked out by hand, on the CPU and in the reference.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu/cpu.h"
#include "kernels/reference/experts.h"
#include "tests/catch.h"

namespace deft::kernels {
namespace {

using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

struct Placed {
    Ints start, row, slot;
    bool operator==(const Placed&) const = default;
};

// Places expert (N, k) on the CPU, which must agree with the reference.
Placed place(const Ints& expert, std::int64_t E, std::int64_t k, const CapacitySpec& capacity, const RoutedRows& rows) {
    const auto run = [&](auto exec) {
        Placed placed{Ints(static_cast<std::size_t>(E + 1), 99), Ints(expert.size(), 99), Ints(expert.size(), 99)};
        std::vector<std::byte> workspace(cpu::place_choices_workspace(rows.N, E, k) + 64);
        void* data = workspace.data();
        std::size_t space = workspace.size();
        exec.workspace = {static_cast<std::byte*>(std::align(64, space - 64, data, space)), workspace.size() - 64};
        exec.threads = 2;
        place_choices(exec, placed.start.data(), placed.row.data(), placed.slot.data(), expert.data(), rows, E, k,
                      capacity);
        return placed;
    };
    const Placed placed = run(cpu::Exec{});
    CHECK((placed == run(reference::Exec{})));
    return placed;
}
Placed place(const Ints& expert, std::int64_t E, std::int64_t k, const CapacitySpec& capacity = {}) {
    const auto N = static_cast<std::int64_t>(expert.size()) / k;
    return place(expert, E, k, capacity, {.N = N, .B = 1, .K = N});
}

TEST_CASE("rows are grouped by expert in their own order") {
    const Placed placed = place({2, 0, 2, 0, 0}, 4, 1);
    CHECK(placed.start == Ints{0, 3, 3, 5, 5});
    CHECK(placed.row == Ints{1, 3, 4, 0, 2});
    CHECK(placed.slot == Ints{3, 0, 4, 1, 2});
}

TEST_CASE("an expert that is full takes no more rows, and min_capacity is the least that it takes") {
    const Ints expert = {0, 0, 1, 0, 0, 1};  // 6 rows, 2 experts: an equal share is 3
    const Placed placed = place(expert, 2, 1, {1, 0, false});
    CHECK(placed.start == Ints{0, 3, 5});
    CHECK(placed.row == Ints{0, 1, 3, 2, 5, 0});
    CHECK(placed.slot == Ints{0, 1, 3, 2, -1, 4});
    CHECK(place(expert, 2, 1, {0.4, 0, false}).slot == Ints{0, 1, 2, -1, -1, 3});  // ceil(1.2) = 2
    CHECK(place(expert, 2, 1, {0.1, 3, false}) == placed);
    CHECK(place(expert, 2, 1, {2, 0, false}) == place(expert, 2, 1));
}

TEST_CASE("all first choices come before the second ones where an expert is full") {
    // Rows choose (1, 0), (0, 1), (1, 0), (0, 1); of 8 choices 2 experts take 3 each.
    const Placed placed = place({1, 0, 0, 1, 1, 0, 0, 1}, 2, 2, {0.75, 0, false});
    CHECK(placed.slot == Ints{3, 0, 1, 4, 5, -1, 2, -1});
    CHECK(placed.row == Ints{0, 1, 3, 0, 1, 2, 0, 0});
    CHECK(placed.start == Ints{0, 3, 6});
}

TEST_CASE("capacity counts the rows that are there") {
    const std::int32_t length[] = {3, 1};
    const RoutedRows rows{.N = 8, .B = 2, .K = 4, .length = length};
    CHECK(rows.real_rows() == 4);
    CHECK(place({0, 0, 0, -1, 0, -1, -1, -1}, 2, 1, {1, 0, false}, rows).slot == Ints{0, 1, -1, -1, -1, -1, -1, -1});
    const std::int32_t start[] = {0, 0, 3, 3, 5};
    const RoutedRows packed{.N = 7, .B = 4, .K = 7, .start = start};
    CHECK(packed.real_rows() == 5);
    CHECK(packed.place(2).sample == 1);
    CHECK(packed.place(2).position == 2);
    CHECK(packed.place(3).sample == 3);
    CHECK(packed.place(3).position == 0);
    CHECK(packed.place(4).is_real);
    CHECK_FALSE(packed.place(5).is_real);
    CHECK(expert_capacity({1.25, 4, false}, 10, 3, 1) == 5);
    CHECK(expert_capacity({1.5, 0, false}, 10, 3, 1) == 5);  // 5, not the 6 of a product that was rounded up
    CHECK(expert_capacity({1, 4, false}, 10, 5, 1) == 4);
    CHECK(expert_capacity({1e300, 0, false}, 10, 5, 1) == 10);
}

TEST_CASE("capacity is the ceiling of the decimal product, whatever the factor is in binary") {
    CHECK(expert_capacity({1.1, 0, false}, 100, 2, 1) == 55);
    for (std::int64_t percent = 1; percent <= 300; ++percent) {
        const double factor = std::strtod((std::to_string(percent) + "e-2").c_str(), nullptr);
        for (std::int64_t k = 1; k <= 2; ++k)
            for (const std::int64_t rows : {1, 2, 7, 50, 96, 100, 1000, 32'760, 1'048'576})
                for (const std::int64_t E : {1, 2, 3, 7, 10, 64, 100, 128}) {
                    const std::int64_t exact = std::min(rows, (rows * k * percent + 100 * E - 1) / (100 * E));
                    if (expert_capacity({factor, 0, false}, rows, E, k) == exact) continue;
                    INFO(rows << " rows, " << k << " choices, " << E << " experts, factor " << factor);
                    CHECK(expert_capacity({factor, 0, false}, rows, E, k) == exact);
                }
    }
}

TEST_CASE("random selection keeps the largest draws, whatever the order of rows") {
    constexpr std::int64_t N = 40, E = 3;
    const std::int64_t draw[] = {7};
    const RoutedRows rows{.N = N, .B = 1, .K = N, .seed = 3, .step = 2, .layer = 1, .draw = draw};
    Ints expert;
    for (std::int32_t n = 0; n < N; ++n) expert.push_back(n % 5 == 0 ? 2 : 0);  // 32 rows of expert 0
    const Placed placed = place(expert, E, 1, {0.75, 0, true}, rows);           // 10 each
    CHECK(placed.start == Ints{0, 10, 10, 18});
    std::vector<std::uint32_t> kept, left;
    for (std::int32_t n = 0; n < N; ++n) {
        const auto i = static_cast<std::size_t>(n);
        const std::uint32_t word =
            philox_u32(3, RandomPurpose::expert_capacity, 2, 1, 7, static_cast<std::uint32_t>(n));
        if (expert[i] == 0) (placed.slot[i] >= 0 ? kept : left).push_back(word);
        if (expert[i] == 2) CHECK(placed.slot[i] >= 10);
    }
    CHECK(kept.size() == 10);
    CHECK(*std::min_element(kept.begin(), kept.end()) > *std::max_element(left.begin(), left.end()));
    CHECK(std::is_sorted(placed.row.begin(), placed.row.begin() + 10));
}

// expert (1, k) of one row of logits.
Ints choose(const Floats& logits, std::int64_t k) {
    const auto E = static_cast<std::int64_t>(logits.size());
    Floats prob(logits.size()), lse(1);
    Ints expert(static_cast<std::size_t>(k));
    cpu::Exec exec;
    cpu::route(exec, prob.data(), lse.data(), expert.data(), logits.data(), {.N = 1, .B = 1, .K = 1}, {E, k});
    return expert;
}

TEST_CASE("of equal logits the lower expert is chosen, and none twice") {
    CHECK(choose({1, 3, 3, 2}, 1) == Ints{1});
    CHECK(choose({1, 3, 3, 2}, 4) == Ints{1, 2, 3, 0});
    CHECK(choose({0, 0, 0}, 3) == Ints{0, 1, 2});
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const std::int32_t expert : choose({nan, nan, nan}, 2)) CHECK((expert >= 0 && expert < 3));
}

TEST_CASE("sampled choices follow the softmax, and of two choices the second alone is sampled") {
    constexpr std::int64_t N = 20000, E = 3;
    const std::int64_t draw[] = {1};
    const RoutedRows rows{.N = N, .B = 1, .K = N, .seed = 8, .draw = draw};
    Floats logits, prob(N * E), lse(N);
    for (std::int64_t n = 0; n < N; ++n) logits.insert(logits.end(), {0.0f, std::log(2.0f), std::log(5.0f)});
    cpu::Exec exec;
    Ints expert(N);
    cpu::route(exec, prob.data(), lse.data(), expert.data(), logits.data(), rows, {E, 1, true});
    const double expected[] = {1 / 8.0, 2 / 8.0, 5 / 8.0};
    for (std::int32_t e = 0; e < E; ++e)
        CHECK(static_cast<double>(std::count(expert.begin(), expert.end(), e)) / N ==
              Approx(expected[e]).margin(0.015));  // four deviations
    CHECK(prob[2] == Approx(5 / 8.0));
    Ints both(2 * N);
    cpu::route(exec, prob.data(), lse.data(), both.data(), logits.data(), rows, {E, 2, true});
    std::int64_t lowest = 0;
    for (std::size_t n = 0; n < N; ++n) {
        REQUIRE(both[2 * n] == 2);
        REQUIRE(both[2 * n + 1] != 2);
        lowest += both[2 * n + 1] == 0 ? 1 : 0;
    }
    CHECK(static_cast<double>(lowest) / N == Approx(1 / 3.0).margin(0.015));
}

TEST_CASE("one weight is the probability, several are shares of what was kept") {
    const Floats prob = {0.5f, 0.125f, 0.375f};
    const auto weights = [&](const Ints& expert, const Ints& slot) {
        Floats weight(expert.size());
        cpu::Exec exec;
        cpu::gate_weights(exec, weight.data(), prob.data(), expert.data(), slot.data(), 1, 3,
                          static_cast<std::int64_t>(expert.size()));
        return weight;
    };
    CHECK(weights({2}, {0}) == Floats{0.375f});
    CHECK(weights({2}, {-1}) == Floats{0});
    CHECK(weights({0, 1}, {3, 4}) == Floats{0.8f, 0.2f});
    CHECK(weights({0, 1}, {-1, 4}) == Floats{0, 1});
    CHECK(weights({0, 1}, {-1, -1}) == Floats{0, 0});
}

TEST_CASE("the gate's losses by hand") {
    // Rows choose 0, 0 and 1 of two experts; a fourth is padding. Probabilities are quarters and halves.
    const Floats prob = {0.75f, 0.25f, 0.5f, 0.5f, 0.25f, 0.75f, 0, 0}, lse = {1, 2, 3, 0};
    Floats logits(8);
    for (std::size_t i = 0; i < 6; ++i) logits[i] = std::log(prob[i]) + lse[i / 2];
    const auto losses = [&](const Ints& expert, std::int64_t k) {
        Floats values(kGateLosses);
        Ints chosen(3);
        std::vector<double> workspace(cpu::gate_losses_workspace(4, 2) / sizeof(double));
        cpu::Exec exec{2, std::as_writable_bytes(std::span(workspace))};
        cpu::gate_losses(exec, values.data(), chosen.data(), prob.data(), lse.data(), logits.data(), expert.data(), 4,
                         2, k);
        CHECK(chosen == Ints{2, 1, 3});
        return values;
    };
    for (const Floats& values : {losses({0, 0, 1, -1}, 1), losses({0, 1, 0, 1, 1, 0, -1, -1}, 2)}) {
        // Both experts have a mean probability of a half; 2 (1/2 2/3 + 1/2 1/3).
        CHECK(values[kBalanceLoss] == Approx(1));
        CHECK(values[kZLoss] == Approx((1 + 4 + 9) / 3.0));
        const double quarters = -(0.75 * std::log(0.75) + 0.25 * std::log(0.25));
        CHECK(values[kGateEntropy] == Approx((2 * quarters + std::log(2.0)) / 3));
    }
}

TEST_CASE("a gradient whose kept probability is too small to divide by stays finite") {
    const Floats logits = {100, 0, -1};
    const Ints expert = {0, 1}, slot = {-1, 0}, chosen = {1, 0, 0, 1};
    const Floats dweight = {3, 2};
    Floats dlogits(3);
    cpu::Exec exec;
    cpu::gate_backward(exec, dlogits.data(), dweight.data(), logits.data(), expert.data(), slot.data(), chosen.data(),
                       1, 3, 2, 0, 0);
    for (const float d : dlogits) CHECK(std::isfinite(d));
    CHECK(std::abs(dlogits[1]) < 1e-6f);
}

}  // namespace
}  // namespace deft::kernels
