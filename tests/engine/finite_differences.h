#pragma once
// Gradients against central differences, and against each other.

#include <algorithm>
#include <vector>

#include "tests/catch.h"
#include "tests/engine/tiny.h"

namespace deft::engine {

// Some elements of every parameter of a double model; `loss` also leaves the gradients in the table.
template <class Loss>
void check_finite_differences(const ParameterTable& table, double margin, const Loss& loss) {
    loss();
    std::vector<std::vector<double>> gradients;
    for (const Parameter& p : table.all()) gradients.push_back(values<double>(p.grad));
    constexpr double h = 1e-5;
    for (std::size_t i = 0; i < table.all().size(); ++i) {
        const Parameter& p = table[i];
        for (std::int64_t e = 0; e < p.value.numel(); e += std::max<std::int64_t>(1, p.value.numel() / 3)) {
            double& weight = p.value.as<double>()[e];
            const double saved = weight;
            weight = saved + h;
            const double up = loss();
            weight = saved - h;
            const double down = loss();
            weight = saved;
            INFO(p.name << " element " << e);
            CHECK(gradients[i][static_cast<std::size_t>(e)] ==
                  Approx((up - down) / (2 * h)).epsilon(1e-6).margin(margin));
        }
    }
}

// Compares double models, where only the order of sums differs.
inline void check_close(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == Approx(b[i]).epsilon(1e-9).margin(1e-12));
}

}  // namespace deft::engine
