#include "engine/core/ops.h"

#include <algorithm>

#include "engine/core/dispatch.h"
#include "kernels/cpu/cpu.h"
#include "kernels/reference/reference.h"

namespace deft::engine {

namespace {

const std::int32_t* index_pointer(const Tensor& index) {
    return index.as<std::int32_t>();
}

}  // namespace

void embedding_forward(Exec& exec, Tensor out, Tensor token, Tensor wte, Tensor wpe) {
    const std::int64_t B = out.dim(0), T = out.dim(1), C = out.dim(2), V = wte.dim(0);
    check_shape(token, {B, T}, "embedding token");
    check_shape(wte, {V, C}, "wte");
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        embedding_forward(backend, out.as<T_>(), token.as<std::int32_t>(), wte.as<T_>(), wpe.as<T_>(), B, T, C, V);
    });
}

void embedding_backward(Exec& exec, Tensor dwte, Tensor dwpe, Tensor dout, Tensor token, Accumulate accumulate) {
    const std::int64_t B = dout.dim(0), T = dout.dim(1), C = dout.dim(2);
    check_shape(token, {B, T}, "embedding token");
    dispatch(exec, dout.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        embedding_backward(backend, dwte.as<T_>(), dwpe.as<T_>(), dout.as<T_>(), token.as<std::int32_t>(), B, T, C,
                           dwpe.dim(0), accumulate);
    });
}

void layernorm_forward(Exec& exec, Tensor y, Tensor gathered, Tensor mean, Tensor rstd, Tensor stream, Tensor index,
                       Tensor weight, Tensor bias) {
    const std::int64_t B = stream.dim(0), T = stream.dim(1), K = y.dim(1), C = stream.dim(2);
    check_shape(y, {B, K, C}, "layernorm y");
    if (index) {
        check_shape(index, {B, K}, "layernorm index");
        check_shape(gathered, {B, K, C}, "layernorm gathered");
    }
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        layernorm_forward(backend, y.as<T_>(), gathered.as<T_>(), mean.as<T_>(), rstd.as<T_>(), stream.as<T_>(),
                          index_pointer(index), weight.as<T_>(), bias.as<T_>(), B, T, K, C);
    });
}

void residual_layernorm_forward(Exec& exec, Tensor y, Tensor sum, Tensor mean, Tensor rstd, Tensor a, Tensor delta,
                                Tensor weight, Tensor bias) {
    const std::int64_t rows = y.rows(), C = y.columns();
    check_shape(sum, {y.dim(0), y.dim(1), C}, "residual_layernorm sum");
    check_shape(delta, {y.dim(0), y.dim(1), C}, "residual_layernorm delta");
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        residual_layernorm_forward(backend, y.as<T_>(), sum.as<T_>(), mean.as<T_>(), rstd.as<T_>(), a.as<T_>(),
                                   delta.as<T_>(), weight.as<T_>(), bias.as<T_>(), rows, C);
    });
}

void residual_forward(Exec& exec, Tensor out, Tensor index, Tensor a, Tensor delta) {
    const std::int64_t B = out.dim(0), T = out.dim(1), K = a.dim(1), C = out.dim(2);
    check_shape(delta, {B, K, C}, "residual delta");
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        residual_forward(backend, out.as<T_>(), index_pointer(index), a.as<T_>(), delta.as<T_>(), B, T, K, C);
    });
}

void layernorm_backward(Exec& exec, Tensor dx, Tensor index, Tensor dweight, Tensor dbias, Tensor dy, Tensor dresidual,
                        Tensor x, Tensor mean, Tensor rstd, Tensor weight, Accumulate accumulate) {
    const std::int64_t B = dx.dim(0), T = dx.dim(1), K = dy.dim(1), C = dx.dim(2);
    check_shape(x, {B, K, C}, "layernorm x");
    dispatch(exec, dx.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        layernorm_backward(backend, dx.as<T_>(), index_pointer(index), dweight.as<T_>(), dbias.as<T_>(), dy.as<T_>(),
                           dresidual.as<T_>(), x.as<T_>(), mean.as<T_>(), rstd.as<T_>(), weight.as<T_>(), B, T, K, C,
                           accumulate);
    });
}

void gather_rows(Exec& exec, Tensor out, Tensor stream, Tensor index) {
    const std::int64_t B = stream.dim(0), T = stream.dim(1), K = out.dim(1), C = stream.dim(2);
    check_shape(index, {B, K}, "gather_rows index");
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        gather_rows(backend, out.as<T_>(), stream.as<T_>(), index_pointer(index), B, T, K, C);
    });
}

void linear_forward(Exec& exec, Tensor y, Tensor pre, Tensor x, Tensor weight, Tensor bias, Activation activation) {
    const std::int64_t rows = x.rows(), in = x.columns(), out = y.columns();
    check_shape(weight, {out, in}, "linear weight");
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        linear_forward(backend, y.as<T_>(), pre.as<T_>(), x.as<T_>(), weight.as<T_>(), bias.as<T_>(), rows, in, out,
                       activation);
    });
}

void linear_backward_input(Exec& exec, Tensor dx, Tensor dy, Tensor weight, Tensor pre, Activation activation) {
    const std::int64_t rows = dy.rows(), in = dx.columns(), out = dy.columns();
    check_shape(weight, {out, in}, "linear weight");
    dispatch(exec, dx.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        linear_backward_input(backend, dx.as<T_>(), dy.as<T_>(), weight.as<T_>(), pre.as<T_>(), rows, in, out,
                              activation);
    });
}

void linear_backward_weight(Exec& exec, Tensor dweight, Tensor dbias, Tensor dy, Tensor x, Accumulate accumulate) {
    const std::int64_t rows = dy.rows(), in = x.columns(), out = dy.columns();
    check_shape(dweight, {out, in}, "linear dweight");
    dispatch(exec, dy.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        linear_backward_weight(backend, dweight.as<T_>(), dbias.as<T_>(), dy.as<T_>(), x.as<T_>(), rows, in, out,
                               accumulate);
    });
}

void attention_forward(Exec& exec, Tensor out, Tensor lse, Tensor qkv, bool causal) {
    const std::int64_t B = out.dim(0), T = out.dim(1), C = out.dim(2), H = lse.dim(1);
    check_shape(qkv, {B, T, 3 * C}, "attention qkv");
    check_shape(lse, {B, H, T}, "attention lse");
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        attention_forward(backend, out.as<T_>(), lse.as<T_>(), qkv.as<T_>(), B, T, H, C / H, causal);
    });
}

void attention_backward(Exec& exec, Tensor dqkv, Tensor dout, Tensor out, Tensor qkv, Tensor lse, bool causal) {
    const std::int64_t B = out.dim(0), T = out.dim(1), C = out.dim(2), H = lse.dim(1);
    check_shape(dqkv, {B, T, 3 * C}, "attention dqkv");
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        attention_backward(backend, dqkv.as<T_>(), dout.as<T_>(), out.as<T_>(), qkv.as<T_>(), lse.as<T_>(), B, T, H,
                           C / H, causal);
    });
}

void head_loss_train(Exec& exec, Tensor loss, Tensor dx, Tensor dweight, Tensor x, Tensor weight, Tensor target,
                     double scale, Accumulate accumulate) {
    const std::int64_t rows = x.rows(), C = x.columns(), V = weight.dim(0);
    check_shape(dweight, {V, C}, "head dweight");
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        head_loss_train(backend, loss.as<T_>(), dx.as<T_>(), dweight.as<T_>(), x.as<T_>(), weight.as<T_>(),
                        target.as<std::int32_t>(), rows, C, V, scale, accumulate);
    });
}

void head_loss(Exec& exec, Tensor loss, Tensor greedy, Tensor x, Tensor weight, Tensor target) {
    const std::int64_t rows = x.rows(), C = x.columns(), V = weight.dim(0);
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        head_loss(backend, loss.as<T_>(), greedy.as<std::int32_t>(), x.as<T_>(), weight.as<T_>(),
                  target.as<std::int32_t>(), rows, C, V);
    });
}

void select_kept_tokens(Exec& exec, Tensor index, std::uint64_t seed, std::int64_t step, Tensor layer_id,
                        Tensor sample_id, std::int64_t T) {
    const std::int64_t layers = index.dim(0), B = index.dim(1), K = index.dim(2);
    check_shape(layer_id, {layers}, "layer_id");
    check_shape(sample_id, {B}, "sample_id");
    dispatch(exec, DType::f32, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        select_kept_tokens(backend, index.as<std::int32_t>(), seed, step, layer_id.as<std::int32_t>(), layers,
                           sample_id.as<std::int64_t>(), B, T, K);
    });
}

void global_norm(Exec& exec, Tensor norm, Tensor x) {
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        global_norm(backend, norm.as<double>(), x.as<T_>(), x.numel());
    });
}

void adamw_update(Exec& exec, Tensor param, Tensor rounded, Tensor m, Tensor v, Tensor grad, Tensor norm, Tensor loss,
                  const AdamW& settings) {
    dispatch(exec, param.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        adamw_update(backend, param.as<T_>(), rounded.as<kernels::bf16>(), m.as<T_>(), v.as<T_>(), grad.as<T_>(),
                     norm.as<double>(), loss.as<double>(), param.numel(), settings);
    });
}

void sum(Exec& exec, Tensor total, Tensor x, Accumulate accumulate) {
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        sum(backend, total.as<double>(), x.as<T_>(), x.numel(), accumulate);
    });
}

std::size_t workspace_bytes(const WorkspaceNeed& need) {
    using namespace kernels::cpu;
    const std::int64_t rows = need.B * need.T, d = need.C / need.H;
    return std::max({layernorm_backward_workspace(rows, need.C),
                     linear_backward_weight_workspace(rows, need.C, 3 * need.C),
                     linear_backward_weight_workspace(rows, need.C, need.C),
                     linear_backward_weight_workspace(rows, need.C, need.hidden),
                     linear_backward_weight_workspace(rows, need.hidden, need.C),
                     attention_forward_workspace(need.threads, need.T, d),
                     attention_backward_workspace(need.threads, need.T, d), head_loss_workspace(rows, need.C, need.V),
                     select_kept_tokens_workspace(need.threads, need.T), global_norm_workspace(need.parameters)});
}

}  // namespace deft::engine
