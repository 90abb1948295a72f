#include "engine/nn/parameters.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "base/sha256.h"
#include "base/usable_machine.h"
#include "engine/core/exec.h"
#include "engine/core/ops.h"
#include "kernels/cpu/parallel.h"
#include "kernels/philox.h"

namespace deft::engine {

namespace {

constexpr const char* kMoments[] = {"optimizer.m", "optimizer.v"};

Side side_of(ParameterKind kind, bool is_divided) {
    if (is_divided) return is_decayed(kind) ? Side::divided_front : Side::divided_back;
    return is_decayed(kind) ? Side::front : Side::back;
}

Side side_of(const Parameter& parameter) {
    return side_of(parameter.kind, parameter.is_divided);
}

constexpr Side kAllSides[kSides] = {Side::front, Side::back, Side::divided_front, Side::divided_back};

}  // namespace

Tensor Parameter::whole() const {
    Tensor whole = value;
    whole.data = nullptr;
    if (is_divided) whole.shape[0] = experts;
    return whole;
}

bool is_decayed(ParameterKind kind) {
    return kind != ParameterKind::norm && kind != ParameterKind::bias;
}

Parameter ParameterTable::planned(const std::string& name, ParameterKind kind,
                                  std::initializer_list<std::int64_t> shape, Side side) {
    Parameter parameter;
    parameter.name = name;
    parameter.kind = kind;
    parameter.value = arena_->add(Region::parameters, name, sum_dtype(dtype_), shape, side);
    if (purpose_ == Purpose::training)
        parameter.grad = arena_->add(Region::gradients, name + ".grad", sum_dtype(dtype_), shape, side);
    parameter.compute =
        rounds() ? arena_->add(Region::rounded, name + ".rounded", dtype_, shape, side) : parameter.value;
    return parameter;
}

Parameter ParameterTable::add(const std::string& name, ParameterKind kind, std::initializer_list<std::int64_t> shape) {
    return parameters_.emplace_back(planned(name, kind, shape, side_of(kind, false)));
}

Parameter ParameterTable::add_vocabulary(const std::string& name, std::int64_t V, std::int64_t C,
                                         std::int64_t stored_rows) {
    Parameter parameter =
        planned(name, ParameterKind::embedding, {stored_rows, C}, side_of(ParameterKind::embedding, false));
    parameter.stored_rows = stored_rows;
    for (Tensor* tensor : {&parameter.value, &parameter.grad, &parameter.compute})
        if (*tensor) *tensor = tensor->view({V, C});
    return parameters_.emplace_back(parameter);
}

// Its place among the rounded ones stays: these lie as the values do.
Parameter ParameterTable::add_unrounded(const std::string& name, ParameterKind kind,
                                        std::initializer_list<std::int64_t> shape) {
    Parameter parameter = planned(name, kind, shape, side_of(kind, false));
    parameter.compute = parameter.value;
    parameter.unrounded = true;
    return parameters_.emplace_back(parameter);
}

Parameter ParameterTable::add_experts(const std::string& name, ParameterKind kind,
                                      std::initializer_list<std::int64_t> shape, const RankOf& rank) {
    const std::vector<std::int64_t> whole(shape);  // (E, n) or (E, n, m)
    const Share experts = share_of(whole[0], rank.rank, rank.ranks);
    const Side side = side_of(kind, rank.ranks > 1);
    Parameter parameter = whole.size() == 2 ? planned(name, kind, {experts.size(), whole[1]}, side)
                                            : planned(name, kind, {experts.size(), whole[1], whole[2]}, side);
    parameter.of_experts = true;
    parameter.is_divided = rank.ranks > 1;
    parameter.first = experts.begin * (parameter.value.numel() / experts.size());
    parameter.experts = whole[0];
    return parameters_.emplace_back(parameter);
}

void ParameterTable::plan_optimizer(const KeptMoments& kept, const RankOf& owner, const RankOf& owner_of_divided) {
    if (purpose_ == Purpose::inference) return;
    owner_ = owner;
    owner_of_divided_ = owner_of_divided;
    std::int64_t own = 0;
    for (const Side side : kAllSides) own += share_of_rank(side, owner_of(side).rank).size();
    for (const char* name : std::span(kMoments).first(static_cast<std::size_t>(kept.count)))
        moments_.push_back(arena_->add(Region::optimizer, name, kept.dtype(sum_dtype(dtype_)), {own}));
}

const RankOf& ParameterTable::owner_of(Side side) const {
    return side == Side::front || side == Side::back ? owner_ : owner_of_divided_;
}

const RankOf& ParameterTable::owner_of(const Parameter& parameter) const {
    return owner_of(side_of(parameter));
}

// Where a parameter begins in its group.
std::int64_t ParameterTable::first_element(const Parameter& parameter) const {
    const Tensor group = arena_->flat(Region::parameters, parameter.value.dtype, side_of(parameter));
    return (static_cast<const char*>(parameter.value.data) - static_cast<const char*>(group.data)) /
           size_of(group.dtype);
}

std::int64_t ParameterTable::count() const {
    std::int64_t elements = 0;
    for (const Parameter& parameter : parameters_) elements += parameter.value.numel();
    return elements;
}

namespace {

constexpr std::int64_t kDrawnAtOnce = 1 << 12;
constexpr std::int64_t kStaged = 1 << 20;  // values that the host holds for a device

// Values on the host's threads. On a CPU the trial's threads draw, since workers share the machine. A GPU's host has
// a team that ends with the initialization.
class Drawing {
 public:
    explicit Drawing(Exec& exec, int threads) : exec_(exec), threads_(threads) {}

    // Shape of `to`: any, n elements. to[i] = value_of(i), rounded to float, so that a double model starts from the
    // float model's values.
    template <class Real, class ValueOf>
    void write(const Tensor& to, const ValueOf& value_of) {
        const std::int64_t n = to.numel();
        if (exec_.device == Device::cpu)
            return draw(kernels::cpu::Team::of_this_thread(), to.as<Real>(), 0, n, value_of);
        staged_.resize(static_cast<std::size_t>(std::min(n, kStaged)) * sizeof(Real));
        auto* staged = reinterpret_cast<Real*>(staged_.data());
        for (std::int64_t first = 0; first < n; first += kStaged) {
            const std::int64_t count = std::min(n - first, kStaged);
            draw(team_, staged, first, count, value_of);
            write_tensor(exec_, to.part(first, count), staged);
        }
    }

 private:
    // values: (count); of elements [first, first + count)
    template <class Real, class ValueOf>
    void draw(kernels::cpu::Team& team, Real* values, std::int64_t first, std::int64_t count, const ValueOf& value_of) {
        kernels::cpu::parallel_items(team, threads_, kernels::ceil_div(count, kDrawnAtOnce),
                                     [&](std::int64_t item, int) {
                                         const std::int64_t end = std::min(count, (item + 1) * kDrawnAtOnce);
                                         for (std::int64_t i = item * kDrawnAtOnce; i < end; ++i)
                                             values[i] = static_cast<float>(value_of(first + i));
                                     });
    }

    Exec& exec_;
    int threads_;
    kernels::cpu::Team team_;
    std::vector<std::byte> staged_;
};

// The key of one weight's random draws: 48 bits of its name's sha256, as many as a counter has room
// for.
std::uint64_t key_of(const std::string& name) {
    return std::stoull(sha256(name).substr(0, 12), nullptr, 16);
}

void fill(Drawing& drawing, const Parameter& parameter, std::uint64_t seed, double std) {
    const std::uint64_t key = key_of(parameter.name);
    const auto value_of = [&](std::int64_t i) -> double {
        if (parameter.kind == ParameterKind::norm) return 1;
        if (parameter.kind == ParameterKind::bias) return 0;
        const std::int64_t element = parameter.first + i;  // of the whole weight
        return std * kernels::philox_normal(kernels::philox_block(
                         seed, kernels::RandomPurpose::init, key & 0xFFFFFFFFu, static_cast<std::uint32_t>(key >> 32),
                         static_cast<std::uint64_t>(element >> 32), static_cast<std::uint32_t>(element)));
    };
    if (parameter.value.dtype == DType::f64)
        drawing.write<double>(parameter.value, value_of);
    else
        drawing.write<float>(parameter.value, value_of);
}

}  // namespace

std::vector<ParameterTable::Group> ParameterTable::groups() const {
    const DType dtype = sum_dtype(dtype_);
    std::vector<Group> result;
    for (const Side side : kAllSides) {
        const Tensor value = arena_->flat(Region::parameters, dtype, side);
        if (value.numel() == 0) continue;
        const bool is_divided = side == Side::divided_front || side == Side::divided_back;
        result.push_back({value, arena_->flat(Region::gradients, dtype, side), share_of_rank(side, owner_of(side).rank),
                          moment(side, 0), moment(side, 1),
                          rounds() ? arena_->flat(Region::rounded, dtype_, side) : Tensor{},
                          side == Side::front || side == Side::divided_front, is_divided});
    }
    return result;
}

void ParameterTable::refresh_rounded(Exec& exec) const {
    if (rounds()) round_to(exec, arena_->flat(Region::rounded, dtype_), arena_->flat(Region::parameters, DType::f32));
}

std::int64_t ParameterTable::elements(Side side) const {
    return arena_->flat(Region::parameters, sum_dtype(dtype_), side).numel();
}

Share ParameterTable::share_of_rank(Side side, int rank) const {
    return share_of(elements(side), rank, owner_of(side).ranks);
}

Tensor ParameterTable::moment(Side side, int which) const {
    if (which >= moments()) return {};
    const auto own = [&](Side of) { return share_of_rank(of, owner_of(of).rank).size(); };
    std::int64_t first = 0;
    for (const Side before : kAllSides)
        if (before < side) first += own(before);
    return moments_[static_cast<std::size_t>(which)].part(first, own(side));
}

Share ParameterTable::elements_of_rank(const Parameter& parameter, int rank) const {
    const std::int64_t first = first_element(parameter);
    const Share common = common_part(share_of_rank(side_of(parameter), rank), {first, first + parameter.value.numel()});
    if (common.size() == 0) return {};
    return {common.begin - first, common.end - first};
}

Tensor ParameterTable::own_moment(const Parameter& parameter, int which) const {
    const Side side = side_of(parameter);
    const Tensor of_side = moment(side, which);
    if (!of_side) return {};
    const int rank = owner_of(side).rank;
    const Share own = elements_of_rank(parameter, rank);
    if (own.size() == 0) return of_side.part(0, 0);
    return of_side.part(first_element(parameter) + own.begin - share_of_rank(side, rank).begin, own.size());
}

Tensor ParameterTable::whole_moment(const Parameter& parameter, int which) const {
    Tensor moment = own_moment(parameter, which);
    if (!moment) return {};
    if (moment.numel() != parameter.value.numel())
        throw std::logic_error("moments of " + parameter.name + " are shared");
    moment.rank = parameter.value.rank;
    moment.shape = parameter.value.shape;
    return moment;
}

int initialisation_threads(const Exec& exec) {
    return exec.device == Device::cuda ? usable_cores() : exec.cpu.threads;
}

void initialise(Exec& exec, ParameterTable& table, std::uint64_t seed, double std, std::int64_t layers) {
    initialise(exec, table, seed, std, layers, initialisation_threads(exec));
}

void initialise(Exec& exec, ParameterTable& table, std::uint64_t seed, double std, std::int64_t layers, int threads) {
    Drawing drawing(exec, threads);
    for (const Parameter& parameter : table.all()) {
        // GPT-2 (Radford et al. 2019, section 2.3): residual projections are scaled by 1/sqrt(number of residual
        // layers).
        const double scale =
            parameter.kind == ParameterKind::residual ? 1 / std::sqrt(2.0 * static_cast<double>(layers)) : 1.0;
        fill(drawing, parameter, seed, std * scale);
    }
    table.refresh_rounded(exec);
}

}  // namespace deft::engine
