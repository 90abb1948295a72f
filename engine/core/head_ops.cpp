// The ops of heads: losses over a vocabulary or classes, and of one value a sample.

#include <type_traits>

#include "engine/core/dispatch.h"
#include "engine/core/op_profile.h"
#include "engine/core/ops.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/op_products.h"
#include "kernels/reference/layers.h"
#include "kernels/reference/value_loss.h"
#include "kernels/work.h"

namespace deft::engine {

using kernels::Sum;

void head_loss_train(Exec& exec, Tensor loss, Tensor dx, Tensor dweight, Tensor dbias, Tensor x, Tensor weight,
                     Tensor bias, Tensor target, std::int64_t target_rows, StepValue<double> scale,
                     Accumulate accumulate, std::int64_t weight_rows) {
    const std::int64_t rows = x.rows(), C = x.columns(), V = weight.dim(0);
    check_shape(dweight, {V, C}, "head dweight");
    if (bias) check_shape(bias, {V}, "head bias");
    if (dbias) check_shape(dbias, {V}, "head dbias");
    const OpTimer timer(exec, "head_loss_train", Phase::backward, dx, dx.dtype,
                        kernels::head_loss_train_work(rows, target_rows, C, V, bool(bias), accumulate));
    if (exec.planned != nullptr)
        kernels::cuda::list_head_loss(*exec.planned, product_type_of(x.dtype), target_rows, C, V, weight_rows, true);
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        const auto train = [&](const auto&... layout) {
            head_loss_train(backend, loss.as<Sum<T_>>(), dx.as<T_>(), dweight.as<Sum<T_>>(), dbias.as<Sum<T_>>(),
                            x.as<T_>(), weight.as<T_>(), bias.as<T_>(), target.as<std::int32_t>(), rows, target_rows, C,
                            V, scale, accumulate, layout...);
        };
        if constexpr (std::is_same_v<X, kernels::cuda::Exec>)
            train(kernels::cuda::HeadLayout{.weight_rows = weight_rows});
        else
            train();
    });
}

void head_loss(Exec& exec, Tensor loss, Tensor greedy, Tensor x, Tensor weight, Tensor bias, Tensor target,
               std::int64_t target_rows, std::int64_t weight_rows) {
    const std::int64_t rows = x.rows(), C = x.columns(), V = weight.dim(0);
    if (bias) check_shape(bias, {V}, "head bias");
    const OpTimer timer(exec, "head_loss", Phase::forward, loss, x.dtype,
                        kernels::head_loss_work(rows, target_rows, C, V, bool(bias), bool(greedy)));
    if (exec.planned != nullptr)
        kernels::cuda::list_head_loss(*exec.planned, product_type_of(x.dtype), target_rows, C, V, weight_rows, false);
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        const auto evaluate = [&](const auto&... layout) {
            head_loss(backend, loss.as<Sum<T_>>(), greedy.as<std::int32_t>(), x.as<T_>(), weight.as<T_>(),
                      bias.as<T_>(), target.as<std::int32_t>(), rows, target_rows, C, V, layout...);
        };
        if constexpr (std::is_same_v<X, kernels::cuda::Exec>)
            evaluate(kernels::cuda::HeadLayout{.weight_rows = weight_rows});
        else
            evaluate();
    });
}

namespace {

void check_value_loss(const Tensor& loss, const Tensor& value, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, const Tensor& target) {
    const std::int64_t B = x.dim(0), C = x.dim(1);
    check_shape(loss, {B}, "value loss");
    check_shape(value, {B}, "value");
    check_shape(target, {B}, "value target");
    check_shape(weight, {1, C}, "value weight");
    check_shape(bias, {1}, "value bias");
}

}  // namespace

void value_loss_train(Exec& exec, Tensor loss, Tensor value, Tensor dx, Tensor dweight, Tensor dbias, Tensor x,
                      Tensor weight, Tensor bias, Tensor target, StepValue<double> scale, Accumulate accumulate) {
    const std::int64_t B = x.dim(0), C = x.dim(1);
    check_value_loss(loss, value, x, weight, bias, target);
    check_shape(dx, {B, C}, "value dx");
    check_shape(dweight, {1, C}, "value dweight");
    check_shape(dbias, {1}, "value dbias");
    const OpTimer timer(exec, "value_loss_train", Phase::backward, dx, dx.dtype,
                        kernels::value_loss_train_work(B, C, accumulate));
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        value_loss_train(backend, loss.as<Sum<T_>>(), value.as<Sum<T_>>(), dx.as<T_>(), dweight.as<Sum<T_>>(),
                         dbias.as<Sum<T_>>(), x.as<T_>(), weight.as<T_>(), bias.as<T_>(), target.as<float>(), B, C,
                         scale, accumulate);
    });
}

void value_loss(Exec& exec, Tensor loss, Tensor value, Tensor x, Tensor weight, Tensor bias, Tensor target) {
    const std::int64_t B = x.dim(0), C = x.dim(1);
    check_value_loss(loss, value, x, weight, bias, target);
    const OpTimer timer(exec, "value_loss", Phase::forward, loss, x.dtype, kernels::value_loss_work(B, C));
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        value_loss(backend, loss.as<Sum<T_>>(), value.as<Sum<T_>>(), x.as<T_>(), weight.as<T_>(), bias.as<T_>(),
                   target.as<float>(), B, C);
    });
}

}  // namespace deft::engine
