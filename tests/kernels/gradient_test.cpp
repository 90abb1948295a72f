// Central finite differences of the double reference forward passes against the reference backward passes.

#include <deque>
#include <map>

#include "kernels/cases/all.h"
#include "kernels/cases/run.h"
#include "tests/catch.h"

namespace deft::kernels::reference {
namespace {

using cases::Arguments;
using Doubles = std::vector<double>;

// Deterministic inputs: finite differences are about formulas, not about luck.
Doubles draw(std::uint64_t number, std::int64_t n, double deviation = 1, double mean = 0) {
    Doubles values;
    for (std::int64_t i = 0; i < n; ++i)
        values.push_back(mean + deviation * philox_normal(philox_block(11, RandomPurpose::tests, 0, 0, number,
                                                                       static_cast<std::uint32_t>(i))));
    return values;
}

constexpr double kTolerance = 1e-6;

std::string op_of(const cases::OpCase& op) {
    return op.name.substr(0, op.name.find(' '));
}

// It writes a gradient: a buffer whose name begins with d.
bool is_backward(const cases::OpCase& op) {
    return std::any_of(op.buffers.begin(), op.buffers.end(), [](const cases::Buffer& buffer) {
        return buffer.role != cases::Role::input && buffer.name.front() == 'd';
    });
}

bool lacks_check(const cases::OpCase& op) {
    return is_backward(op) && !op.derivative.loss;
}

// A case of a backward op in double. Gradients that are added to, or written in part, begin at 0.
class BackwardRun {
 public:
    explicit BackwardRun(const cases::OpCase& op) : op_(op) {
        for (const cases::Buffer& buffer : op.buffers) {
            cases::GuardedBytes& bytes = stored_.emplace_back(cases::store_buffer<double>(buffer));
            if (buffer.role == cases::Role::update) std::fill_n(bytes.data(), bytes.size(), 0);
            data_.push_back(bytes.data());
        }
        for (const auto& [gradient, variable] : op.derivative.gradients) {
            const std::size_t items = op.buffers[gradient].value.size();
            if (!variable) invented_.push_back(draw(1000 + gradient, static_cast<std::int64_t>(items)));
            variable_.push_back(variable ? static_cast<double*>(data_[*variable]) : invented_.back().data());
        }
        loss();
        op.reference(exec_, Arguments<double>(op.buffers, data_));
    }
    double loss() { return op_.derivative.loss(exec_, Arguments<double>(op_.buffers, data_), variable_); }

    // Error of gradient `which`, over its length: the largest difference between the slope of the loss along a random
    // direction and the gradient's product with it.
    double error(std::size_t which) {
        constexpr int kDirections = 2;
        constexpr double kStep = 1e-5;
        const std::size_t buffer = op_.derivative.gradients[which].gradient;
        const auto* const gradient = static_cast<const double*>(data_[buffer]);
        const auto n = static_cast<std::int64_t>(op_.buffers[buffer].value.size());
        double* const x = variable_[which];
        const Doubles kept(x, x + n);
        double worst = 0;
        for (std::uint64_t d = 0; d < kDirections; ++d) {
            const Doubles direction = draw(2000 + d, n);
            const auto loss_at = [&](double step) {
                for (std::size_t i = 0; i < kept.size(); ++i) x[i] = kept[i] + step * direction[i];
                return loss();
            };
            const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
            std::copy(kept.begin(), kept.end(), x);
            worst = std::max(worst, std::abs(slope - dot(gradient, direction.data(), n)));
        }
        // Where values cancel, such as those of a norm over one value, differences keep about 1e-10.
        const double length = std::sqrt(dot(gradient, gradient, n));
        return worst / std::max(length, 1e-3);
    }

 private:
    const cases::OpCase& op_;
    Exec exec_;
    std::deque<cases::GuardedBytes> stored_;
    std::vector<void*> data_;
    std::deque<Doubles> invented_;
    std::vector<double*> variable_;
};

TEST_CASE("every backward op of the table is the derivative of its forward op") {
    std::map<std::string, int> checked;
    for (const cases::OpCase& op : cases::all_cases(11)) {
        if (is_backward(op)) ++checked[op_of(op)];
        INFO(op.name << ": name its derivative, see Derivative in kernels/cases/op_case.h");
        CHECK_FALSE(lacks_check(op));
        if (!op.derivative.loss) continue;
        BackwardRun run(op);
        for (std::size_t i = 0; i < op.derivative.gradients.size(); ++i) {
            INFO("gradient " << op.buffers[op.derivative.gradients[i].gradient].name);
            CHECK(run.error(i) < kTolerance);
        }
    }
    for (const char* op : {"linear_backward_input", "linear_backward_weight", "layernorm_backward", "rmsnorm_backward",
                           "embedding_backward", "head_loss_train", "attention_backward"})
        CHECK(checked[op] > 10);
}

TEST_CASE("a backward op without a derivative is seen, and so is a wrong sign in a gradient") {
    cases::OpCase op = cases::linear_backward_weight_case(cases::Draw(11, 0), {33, 17, 5}, true, Accumulate::yes);
    REQUIRE_FALSE(lacks_check(op));
    CHECK(BackwardRun(op).error(0) < kTolerance);
    op.reference = [right = op.reference](Exec& exec, const Arguments<double>& b) {
        right(exec, b);
        b.sum(0)[7] = -b.sum(0)[7];
    };
    CHECK(BackwardRun(op).error(0) > kTolerance);
    CHECK(BackwardRun(op).error(1) < kTolerance);
    op.derivative.loss = nullptr;
    CHECK(lacks_check(op));
    const Activation act = Activation::gelu_tanh;
    CHECK_FALSE(lacks_check(cases::linear_forward_case(cases::Draw(11, 0), {1, 1, 1}, true, true, act)));
}

}  // namespace
}  // namespace deft::kernels::reference
