#include "engine/core/ops.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/core/dispatch.h"
#include "engine/core/op_profile.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/op_products.h"
#include "kernels/reference/activation.h"
#include "kernels/reference/cache.h"
#include "kernels/reference/class_token.h"
#include "kernels/reference/dropout.h"
#include "kernels/reference/layers.h"
#include "kernels/reference/pooling.h"
#include "kernels/reference/rope.h"
#include "kernels/reference/training.h"
#include "kernels/work.h"

namespace deft::engine {

using kernels::Sum;

namespace {

const std::int32_t* index_pointer(const Tensor& index) {
    return index.as<std::int32_t>();
}

// Layer normalisation has a mean and a bias, or its gradient.
void check_norm(const NormSpec& spec, const Tensor& mean, const Tensor& bias) {
    if (spec.kind == NormKind::layer && !(mean && bias))
        throw std::logic_error("layer normalisation without its mean or its bias");
}

// So many rows, counted over all dimensions but the last.
void check_columns(const Tensor& tensor, std::int64_t rows, std::int64_t columns, const char* what) {
    if (tensor.columns() != columns || tensor.rows() != rows)
        throw std::logic_error(std::string(what) + " is " + tensor.shape_text() + ", not " + std::to_string(rows) +
                               " rows of " + std::to_string(columns));
}

void check_fused(Activation activation) {
    if (activation == Activation::swiglu)
        throw std::logic_error("an activation with a gate is an op of its own, not part of a linear layer");
}

template <class Real>
kernels::HeadRows<Real> head_view(const HeadColumns& heads) {
    const std::int64_t row = heads.tensor.columns();
    return {heads.tensor.as<Real>() + heads.first, row, heads.tensor.dim(1) * row};
}
template <class Real>
kernels::AttentionHeads<Real> head_views(const AttentionTensors& in) {
    return {head_view<Real>(in.q), head_view<Real>(in.k), head_view<Real>(in.v)};
}

// Errors: std::logic_error, a mistake in the program.
void check_heads(const AttentionTensors& in, const kernels::AttentionSpec& s, const Tensor& out) {
    const auto check = [&](const HeadColumns& heads, std::int64_t T, std::int64_t count, const char* what) {
        if (s.start != nullptr) T = out.dim(1);
        check_shape(heads.tensor, {out.dim(0), T, heads.tensor.columns()}, what);
        if (heads.first + count * s.d > heads.tensor.columns())
            throw std::logic_error(std::string(what) + " has too few columns: " + heads.tensor.shape_text());
    };
    check(in.q, s.Tq, s.H, "attention q");
    check(in.k, s.Tk, s.Hkv, "attention k");
    check(in.v, s.Tk, s.Hkv, "attention v");
}

kernels::AttentionSpec attention_spec(const Tensor& out, const Tensor& lse, const AttentionTensors& in,
                                      const AttentionMask& mask) {
    const SampleStarts& packed = mask.packed;
    const std::int64_t B = packed ? packed.samples() : out.dim(0), H = in.heads;
    const std::int64_t Tq = packed ? packed.longest : out.dim(1), Tk = packed ? Tq : in.k.tensor.dim(1);
    const kernels::AttentionSpec spec{.B = B,
                                      .Tq = Tq,
                                      .Tk = Tk,
                                      .H = H,
                                      .Hkv = in.kv_heads,
                                      .d = out.dim(2) / H,
                                      .causal = mask.causal,
                                      .length = mask.length.as<std::int32_t>(),
                                      .start = packed.start.as<std::int32_t>(),
                                      .dropout = {.p = mask.dropout,
                                                  .seed = mask.seed,
                                                  .step = mask.step,
                                                  .layer = mask.layer,
                                                  .draw = mask.draw.as<std::int64_t>()}};
    check_heads(in, spec, out);
    check_shape(lse, {B, H, Tq}, "attention lse");
    if (mask.length) check_shape(mask.length, {B}, "attention length");
    if (mask.dropout != 0) check_shape(mask.draw, {B}, "attention draw");
    return spec;
}

// Errors: std::logic_error, a mistake in the program.
void check_embedding(std::span<const EmbeddingSource> tables, std::int64_t B, std::int64_t T, std::int64_t C) {
    if (tables.empty() || tables.size() > static_cast<std::size_t>(kernels::kMostEmbeddingTables))
        throw std::logic_error("an embedding sums " + std::to_string(tables.size()) + " tables");
    for (const EmbeddingSource& table : tables) {
        check_shape(table.weight, {table.weight.dim(0), C}, "embedding table");
        if (table.id) check_shape(table.id, {B, T}, "embedding id");
    }
}

kernels::EmbeddingTableShapes shapes_of(std::span<const EmbeddingSource> tables) {
    kernels::EmbeddingTableShapes shapes;
    for (const EmbeddingSource& table : tables)
        shapes.table[shapes.count++] = {table.weight.dim(0), bool(table.id), table.accumulate};
    return shapes;
}

}  // namespace

void embedding_forward(Exec& exec, Tensor out, std::span<const EmbeddingSource> tables) {
    const std::int64_t B = out.dim(0), T = out.dim(1), C = out.dim(2);
    check_embedding(tables, B, T, C);
    const OpTimer timer(exec, "embedding_forward", Phase::forward, out, out.dtype,
                        kernels::embedding_forward_work(shapes_of(tables), B, T, C));
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        kernels::EmbeddingTables<T_> views;
        for (const EmbeddingSource& table : tables)
            views.table[views.count++] = {table.weight.as<T_>(), table.id.as<std::int32_t>(), table.weight.dim(0)};
        embedding_forward(backend, out.as<T_>(), views, B, T, C);
    });
}

void embedding_backward(Exec& exec, std::span<const EmbeddingSource> gradients, Tensor dout) {
    const std::int64_t B = dout.dim(0), T = dout.dim(1), C = dout.dim(2);
    check_embedding(gradients, B, T, C);
    const OpTimer timer(exec, "embedding_backward", Phase::backward, dout, dout.dtype,
                        kernels::embedding_backward_work(shapes_of(gradients), B, T, C));
    dispatch(exec, dout.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        kernels::EmbeddingGradients<Sum<T_>> views;
        for (const EmbeddingSource& table : gradients)
            views.table[views.count++] = {table.weight.as<Sum<T_>>(), table.id.as<std::int32_t>(), table.weight.dim(0),
                                          table.accumulate};
        embedding_backward(backend, views, dout.as<T_>(), B, T, C);
    });
}

void norm_forward(Exec& exec, Tensor y, Tensor gathered, Tensor mean, Tensor rstd, Tensor stream, Tensor index,
                  Tensor weight, Tensor bias, const NormSpec& spec) {
    const std::int64_t B = stream.dim(0), T = stream.dim(1), K = y.dim(1), C = stream.dim(2);
    check_shape(y, {B, K, C}, "norm y");
    if (index) {
        check_shape(index, {B, K}, "norm index");
        check_shape(gathered, {B, K, C}, "norm gathered");
    }
    check_norm(spec, mean, bias);
    const bool is_layer = spec.kind == NormKind::layer;
    const OpTimer timer(exec, is_layer ? "layernorm_forward" : "rmsnorm_forward", Phase::forward, y, y.dtype,
                        kernels::norm_forward_work(B * K, C, bool(index), spec.kind));
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        norm_forward(backend, y.as<T_>(), gathered.as<T_>(), mean.as<Sum<T_>>(), rstd.as<Sum<T_>>(), stream.as<T_>(),
                     index_pointer(index), weight.as<T_>(), bias.as<T_>(), B, T, K, C, spec);
    });
}

void residual_norm_forward(Exec& exec, Tensor y, Tensor sum, Tensor mean, Tensor rstd, Tensor a, Tensor delta,
                           Tensor weight, Tensor bias, const NormSpec& spec) {
    const std::int64_t rows = y.rows(), C = y.columns();
    check_shape(sum, {y.dim(0), y.dim(1), C}, "residual_norm sum");
    check_shape(delta, {y.dim(0), y.dim(1), C}, "residual_norm delta");
    check_norm(spec, mean, bias);
    const bool is_layer = spec.kind == NormKind::layer;
    const OpTimer timer(exec, is_layer ? "residual_layernorm_forward" : "residual_rmsnorm_forward", Phase::forward, y,
                        y.dtype, kernels::residual_norm_forward_work(rows, C, spec.kind));
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        residual_norm_forward(backend, y.as<T_>(), sum.as<T_>(), mean.as<Sum<T_>>(), rstd.as<Sum<T_>>(), a.as<T_>(),
                              delta.as<T_>(), weight.as<T_>(), bias.as<T_>(), rows, C, spec);
    });
}

void residual_forward(Exec& exec, Tensor out, Tensor index, Tensor a, Tensor delta) {
    const std::int64_t B = out.dim(0), T = out.dim(1), K = a.dim(1), C = out.dim(2);
    check_shape(a, {B, K, C}, "residual a");
    if (delta) check_shape(delta, {B, K, C}, "residual delta");
    const OpTimer timer(exec, "residual_forward", Phase::forward, out, out.dtype,
                        kernels::residual_forward_work(B * K, C, bool(index), bool(delta)));
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        residual_forward(backend, out.as<T_>(), index_pointer(index), a.as<T_>(), delta.as<T_>(), B, T, K, C);
    });
}

void norm_backward(Exec& exec, Tensor dx, Tensor index, Tensor dweight, Tensor dbias, Tensor dy, Tensor dresidual,
                   Tensor x, Tensor mean, Tensor rstd, Tensor weight, Accumulate accumulate, const NormSpec& spec) {
    const std::int64_t B = dx.dim(0), T = dx.dim(1), K = dy.dim(1), C = dx.dim(2);
    check_shape(x, {B, K, C}, "norm x");
    check_norm(spec, mean, dbias);
    const bool is_layer = spec.kind == NormKind::layer;
    const OpTimer timer(exec, is_layer ? "layernorm_backward" : "rmsnorm_backward", Phase::backward, dy, dy.dtype,
                        kernels::norm_backward_work(B * K, C, bool(index), bool(dresidual), accumulate, spec.kind));
    dispatch(exec, dx.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        norm_backward(backend, dx.as<T_>(), index_pointer(index), dweight.as<Sum<T_>>(), dbias.as<Sum<T_>>(),
                      dy.as<T_>(), dresidual.as<T_>(), x.as<T_>(), mean.as<Sum<T_>>(), rstd.as<Sum<T_>>(),
                      weight.as<T_>(), B, T, K, C, accumulate, spec);
    });
}

void gather_rows(Exec& exec, Tensor out, Tensor stream, Tensor index) {
    const std::int64_t B = stream.dim(0), T = stream.dim(1), K = out.dim(1), C = stream.dim(2);
    check_shape(index, {B, K}, "gather_rows index");
    const OpTimer timer(exec, "gather_rows", Phase::forward, out, out.dtype, kernels::gather_rows_work(B * K, C));
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        gather_rows(backend, out.as<T_>(), stream.as<T_>(), index_pointer(index), B, T, K, C);
    });
}

void linear_forward(Exec& exec, Tensor y, Tensor pre, Tensor x, Tensor weight, Tensor bias, Activation activation) {
    const std::int64_t rows = x.rows(), in = x.columns(), out = y.columns();
    check_shape(weight, {out, in}, "linear weight");
    check_fused(activation);
    const OpTimer timer(exec, "linear_forward", Phase::forward, y, y.dtype,
                        kernels::linear_forward_work(rows, in, out, bool(bias), bool(pre)));
    if (exec.planned != nullptr)
        kernels::cuda::list_linear_forward(*exec.planned, product_type_of(y.dtype), rows, in, out, bool(bias),
                                           bool(pre), activation);
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        linear_forward(backend, y.as<T_>(), pre.as<T_>(), x.as<T_>(), weight.as<T_>(), bias.as<T_>(), rows, in, out,
                       activation);
    });
}

void linear_backward_input(Exec& exec, Tensor dx, Tensor dy, Tensor weight, Tensor pre, Activation activation,
                           Accumulate accumulate) {
    const std::int64_t rows = dy.rows(), in = dx.columns(), out = dy.columns();
    check_shape(weight, {out, in}, "linear weight");
    check_fused(activation);
    const OpTimer timer(exec, "linear_backward_input", Phase::backward, dx, dx.dtype,
                        kernels::linear_backward_input_work(rows, in, out, bool(pre), accumulate));
    if (exec.planned != nullptr)
        kernels::cuda::list_linear_backward_input(*exec.planned, product_type_of(dx.dtype), rows, in, out, activation,
                                                  accumulate);
    dispatch(exec, dx.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        linear_backward_input(backend, dx.as<T_>(), dy.as<T_>(), weight.as<T_>(), pre.as<T_>(), rows, in, out,
                              activation, accumulate);
    });
}

void linear_backward_weight(Exec& exec, Tensor dweight, Tensor dbias, Tensor dy, Tensor x, Accumulate accumulate) {
    const std::int64_t rows = dy.rows(), in = x.columns(), out = dy.columns();
    check_shape(dweight, {out, in}, "linear dweight");
    const OpTimer timer(exec, "linear_backward_weight", Phase::backward, dweight, dy.dtype,
                        kernels::linear_backward_weight_work(rows, in, out, bool(dbias), accumulate));
    if (exec.planned != nullptr)
        kernels::cuda::list_linear_backward_weight(*exec.planned, product_type_of(dy.dtype), rows, in, out);
    dispatch(exec, dy.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        linear_backward_weight(backend, dweight.as<Sum<T_>>(), dbias.as<Sum<T_>>(), dy.as<T_>(), x.as<T_>(), rows, in,
                               out, accumulate);
    });
}

void activation_forward(Exec& exec, Tensor y, Tensor pre, Activation activation) {
    const std::int64_t rows = y.rows(), columns = y.columns();
    check_columns(pre, rows, kernels::columns_before(activation, columns), "activation pre");
    const OpTimer timer(exec, "activation_forward", Phase::forward, y, y.dtype,
                        kernels::activation_forward_work(rows, columns, activation));
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        activation_forward(backend, y.as<T_>(), pre.as<T_>(), rows, columns, activation);
    });
}

void activation_backward(Exec& exec, Tensor dpre, Tensor dy, Tensor pre, Activation activation) {
    const std::int64_t rows = dy.rows(), columns = dy.columns();
    check_columns(pre, rows, kernels::columns_before(activation, columns), "activation pre");
    check_columns(dpre, rows, pre.columns(), "activation dpre");
    const OpTimer timer(exec, "activation_backward", Phase::backward, dpre, dy.dtype,
                        kernels::activation_backward_work(rows, columns, activation));
    dispatch(exec, dy.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        activation_backward(backend, dpre.as<T_>(), dy.as<T_>(), pre.as<T_>(), rows, columns, activation);
    });
}

void dropout(Exec& exec, Tensor y, Tensor x, Tensor residual, const Dropout& dropout_) {
    const SampleStarts& packed = dropout_.packed;
    const std::int64_t B = packed ? packed.samples() : y.dim(0);
    const std::int64_t N = packed ? packed.longest * y.columns() : y.numel() / std::max<std::int64_t>(1, B);
    check_columns(x, y.rows(), y.columns(), "dropout x");
    if (residual) check_columns(residual, y.rows(), y.columns(), "dropout residual");
    check_shape(dropout_.draw, {B}, "dropout draw");
    if (!(dropout_.p >= 0 && dropout_.p < 1)) throw std::logic_error("a dropout outside [0, 1)");
    const kernels::DropoutKey key{dropout_.seed,
                                  dropout_.step,
                                  static_cast<std::uint32_t>(dropout_.layer),
                                  dropout_.draw.as<std::int64_t>(),
                                  dropout_.p,
                                  packed.start.as<std::int32_t>(),
                                  y.columns()};
    const OpTimer timer(exec, "dropout", Phase::forward, y, y.dtype,
                        kernels::dropout_work(B, y.numel(), bool(residual), bool(packed)));
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        dropout(backend, y.as<T_>(), x.as<T_>(), residual.as<T_>(), B, N, key);
    });
}

void rope(Exec& exec, Tensor y, Tensor x, const Rope& rope_, RopeTurn turn) {
    const std::int64_t B = y.dim(0), K = y.dim(1), width = y.numel() / std::max<std::int64_t>(1, B * K);
    check_columns(x, y.rows(), y.columns(), "rope x");
    if (rope_.position) check_shape(rope_.position, {B, K}, "rope position");
    if (rope_.d % 2 != 0 || rope_.first < 0 || rope_.first + rope_.heads * rope_.d > width)
        throw std::logic_error("rope of heads that are odd, or not in their row");
    const kernels::RopeShape shape{B, K, rope_.heads, rope_.d, rope_.theta, index_pointer(rope_.position)};
    const OpTimer timer(exec, "rope", turn == RopeTurn::forward ? Phase::forward : Phase::backward, y, y.dtype,
                        kernels::rope_work(B * K, rope_.heads, rope_.d, bool(rope_.position)));
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        rope(backend, y.as<T_>() + rope_.first, width, x.as<T_>() + rope_.first, width, shape, turn);
    });
}

void pool_forward(Exec& exec, Tensor y, Tensor x, Pooling pooling) {
    const std::int64_t B = x.dim(0), K = x.dim(1), C = x.dim(2);
    check_shape(y, {B, C}, "pool y");
    const OpTimer timer(exec, "pool_forward", Phase::forward, y, y.dtype, kernels::pool_forward_work(B, K, C, pooling));
    dispatch(exec, y.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        pool_forward(backend, y.as<T_>(), x.as<T_>(), B, K, C, pooling);
    });
}

void pool_backward(Exec& exec, Tensor dx, Tensor dy, Pooling pooling, Accumulate accumulate) {
    const std::int64_t B = dx.dim(0), K = dx.dim(1), C = dx.dim(2);
    check_shape(dy, {B, C}, "pool dy");
    const OpTimer timer(exec, "pool_backward", Phase::backward, dx, dx.dtype,
                        kernels::pool_backward_work(B, K, C, pooling, accumulate));
    dispatch(exec, dx.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        pool_backward(backend, dx.as<T_>(), dy.as<T_>(), B, K, C, pooling, accumulate);
    });
}

void patchify(Exec& exec, Tensor out, Tensor images, std::int64_t P, double scale, double shift) {
    const kernels::PatchShape shape{images.dim(0), images.dim(1), images.dim(2), images.dim(3), P, scale, shift};
    if (P <= 0 || shape.H % P != 0 || shape.W % P != 0)
        throw std::logic_error("patches of " + std::to_string(P) + " pixels in images " + images.shape_text());
    check_shape(out, {shape.B, shape.H / P * (shape.W / P), shape.patch_values()}, "patches");
    const OpTimer timer(exec, "patchify", Phase::forward, out, out.dtype,
                        kernels::patchify_work(shape, size_of(images.dtype)));
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        if (images.dtype == DType::u8)
            patchify(backend, out.as<T_>(), images.as<std::uint8_t>(), shape);
        else
            patchify(backend, out.as<T_>(), images.as<float>(), shape);
    });
}

namespace {

// Checks out or its gradient (B, 1 + K, C); x (B, K, C).
void check_class_token(const Tensor& out, const Tensor& token, const Tensor& x, const Tensor& position) {
    const std::int64_t B = x.dim(0), K = x.dim(1), C = x.dim(2);
    check_shape(out, {B, K + 1, C}, "rows after a class token");
    check_shape(token, {1, C}, "class token");
    if (position) check_shape(position, {K + 1, C}, "positions");
}

}  // namespace

void class_token_forward(Exec& exec, Tensor out, Tensor token, Tensor x, Tensor position) {
    check_class_token(out, token, x, position);
    const std::int64_t B = x.dim(0), K = x.dim(1), C = x.dim(2);
    const OpTimer timer(exec, "class_token_forward", Phase::forward, out, out.dtype,
                        kernels::class_token_forward_work(B, K, C, bool(position)));
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        class_token_forward(backend, out.as<T_>(), token.as<T_>(), x.as<T_>(), position.as<T_>(), B, K, C);
    });
}

void class_token_backward(Exec& exec, Tensor dtoken, Tensor dx, Tensor dposition, Tensor dout, Accumulate accumulate) {
    check_class_token(dout, dtoken, dx, dposition);
    const std::int64_t B = dx.dim(0), K = dx.dim(1), C = dx.dim(2);
    const OpTimer timer(exec, "class_token_backward", Phase::backward, dout, dout.dtype,
                        kernels::class_token_backward_work(B, K, C, bool(dposition), accumulate));
    dispatch(exec, dout.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        class_token_backward(backend, dtoken.as<Sum<T_>>(), dx.as<T_>(), dposition.as<Sum<T_>>(), dout.as<T_>(), B, K,
                             C, accumulate);
    });
}

void cache_rows(Exec& exec, Tensor cache, Tensor position, Tensor x, std::int64_t column) {
    const kernels::CacheRows shape{
        cache.dim(0), cache.dim(1), cache.dim(2), x.dim(0), x.dim(1), x.dim(2), position.as<std::int32_t>()};
    if (shape.B != 1 && shape.B != shape.samples)
        throw std::logic_error("a cache " + cache.shape_text() + " of other samples than " + x.shape_text());
    if (position) check_shape(position, {shape.samples}, "positions in a cache");
    if (shape.K > shape.T || column < 0 || column + shape.C > shape.x_stride)
        throw std::logic_error("rows " + x.shape_text() + " do not fit the cache " + cache.shape_text());
    const OpTimer timer(exec, "cache_rows", Phase::forward, cache, cache.dtype,
                        kernels::cache_rows_work(shape, bool(position)));
    dispatch(exec, cache.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        cache_rows(backend, cache.as<T_>(), x.as<T_>() + column, shape);
    });
}

AttentionTensors fused_heads(Tensor qkv, std::int64_t heads, std::int64_t kv_heads) {
    const std::int64_t d = qkv.columns() / (heads + 2 * kv_heads);
    return {{qkv, 0}, {qkv, heads * d}, {qkv, (heads + kv_heads) * d}, heads, kv_heads};
}

void attention_forward(Exec& exec, Tensor out, Tensor lse, const AttentionTensors& in, const AttentionMask& mask) {
    const kernels::AttentionSpec spec = attention_spec(out, lse, in, mask);
    const OpTimer timer(exec, "attention_forward", Phase::forward, out, out.dtype,
                        kernels::attention_forward_work(spec, bool(mask.length), mask.packed ? out.dim(1) : 0));
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        attention_forward(backend, out.as<T_>(), lse.as<Sum<T_>>(), kernels::read_only(head_views<T_>(in)), spec);
    });
}

void attention_backward(Exec& exec, const AttentionTensors& gradients, Tensor dout, Tensor out,
                        const AttentionTensors& in, Tensor lse, const AttentionMask& mask) {
    const kernels::AttentionSpec spec = attention_spec(out, lse, in, mask);
    check_heads(gradients, spec, out);
    const OpTimer timer(exec, "attention_backward", Phase::backward, gradients.q.tensor, out.dtype,
                        kernels::attention_backward_work(spec, bool(mask.length), mask.packed ? out.dim(1) : 0));
    dispatch(exec, out.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        attention_backward(backend, head_views<T_>(gradients), dout.as<T_>(), out.as<T_>(),
                           kernels::read_only(head_views<T_>(in)), lse.as<Sum<T_>>(), spec);
    });
}

void select_random_tokens(Exec& exec, Tensor index, std::uint64_t seed, std::int64_t step, Tensor layer_id, Tensor draw,
                          std::int64_t T, std::int64_t keep_first, Tensor length) {
    const std::int64_t layers = index.dim(0), B = index.dim(1), K = index.dim(2);
    check_shape(layer_id, {layers}, "layer_id");
    check_shape(draw, {B}, "draw");
    if (length) check_shape(length, {B}, "length");
    const kernels::KeepRules rules{keep_first, length.as<std::int32_t>()};
    const auto clock = static_cast<std::uint64_t>(step);
    const kernels::RandomKeys keys{seed, clock, layer_id.as<std::int32_t>(), draw.as<std::int64_t>(), B, rules};
    const OpTimer timer(exec, "select_random_tokens", Phase::forward, index, DType::f32,
                        kernels::select_random_tokens_work(layers, B, K, bool(length)));
    dispatch(exec, DType::f32, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        select_kept_tokens(backend, index.as<std::int32_t>(), keys, layers * B, T, K);
    });
}

void select_important_tokens(Exec& exec, Tensor index, Tensor importance, Tensor token, std::int64_t keep_first,
                             Tensor length, const SampleStarts& packed) {
    const std::int64_t B = packed ? packed.samples() : token.dim(0), T = packed ? packed.longest : token.dim(1);
    const std::int64_t K = index.dim(2);
    if (packed && !length) throw std::logic_error("tokens are chosen of packed samples without their lengths");
    check_shape(index, {1, B, K}, "kept index");
    if (length) check_shape(length, {B}, "length");
    const kernels::KeepRules rules{keep_first, length.as<std::int32_t>()};
    const kernels::ImportanceKeys keys{importance.as<float>(), token.as<std::int32_t>(), rules,
                                       packed.start.as<std::int32_t>()};
    const OpTimer timer(exec, "select_important_tokens", Phase::forward, index, DType::f32,
                        kernels::select_important_tokens_work(B, T, K, importance.dim(0), bool(length), bool(packed)));
    dispatch(exec, DType::f32, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        select_kept_tokens(backend, index.as<std::int32_t>(), keys, B, T, K);
    });
}

void pack_kept_tokens(Exec& exec, Tensor index, Tensor position, Tensor kept, const SampleStarts& packed,
                      const SampleStarts& of_kept) {
    const std::int64_t layers = kept.dim(0), B = kept.dim(1), K = kept.dim(2), rows = index.dim(2);
    check_shape(index, {layers, 1, rows}, "packed kept index");
    check_shape(position, {layers, 1, rows}, "packed kept position");
    check_shape(packed.start, {B + 1}, "start");
    check_shape(of_kept.start, {B + 1}, "kept start");
    const OpTimer timer(exec, "pack_kept_tokens", Phase::forward, index, DType::f32,
                        kernels::pack_kept_tokens_work(layers, B, K, rows));
    dispatch(exec, DType::f32, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        pack_kept_tokens(backend, index.as<std::int32_t>(), position.as<std::int32_t>(), kept.as<std::int32_t>(),
                         packed.start.as<std::int32_t>(), of_kept.start.as<std::int32_t>(), layers, B, K, rows);
    });
}

void add_entry_losses(Exec& exec, Tensor loss_sum, Tensor count, Tensor loss, Tensor target, Accumulate accumulate) {
    const std::int64_t V = loss_sum.dim(0);
    check_shape(count, {V}, "entry count");
    check_shape(target, {loss.dim(0), loss.dim(1)}, "target");
    const OpTimer timer(exec, "add_entry_losses", Phase::backward, loss_sum, loss.dtype,
                        kernels::add_entry_losses_work(loss.numel(), V, accumulate));
    dispatch(exec, loss.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        add_entry_losses(backend, loss_sum.as<std::int64_t>(), count.as<std::int64_t>(), loss.as<Sum<T_>>(),
                         target.as<std::int32_t>(), loss.numel(), V, accumulate);
    });
}

void update_importance(Exec& exec, Tensor importance, Tensor loss_sum, Tensor count, Tensor norm, Tensor loss,
                       double decay) {
    const std::int64_t V = importance.dim(0);
    check_shape(loss_sum, {V}, "entry loss_sum");
    check_shape(count, {V}, "entry count");
    const OpTimer timer(exec, "update_importance", Phase::update, importance, DType::f32,
                        kernels::update_importance_work(V));
    dispatch(exec, DType::f32, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        update_importance(backend, importance.as<float>(), loss_sum.as<std::int64_t>(), count.as<std::int64_t>(),
                          norm.as<double>(), loss.as<double>(), V, decay);
    });
}

void sum_of_squares(Exec& exec, Tensor total, Tensor x, Accumulate accumulate) {
    const OpTimer timer(exec, "sum_of_squares", Phase::update, x, x.dtype,
                        kernels::sum_of_squares_work(x.numel(), accumulate));
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        sum_of_squares(backend, total.as<double>(), x.as<Sum<T_>>(), x.numel(), accumulate);
    });
}

void square_root(Exec& exec, Tensor x) {
    const OpTimer timer(exec, "square_root", Phase::update, x, x.dtype, kernels::square_root_work());
    // Double whatever the model computes in, and of every backend.
    dispatch(exec, DType::f32,
             [&]<class X, class T_>(X& backend, TypeTag<T_>) { square_root(backend, x.as<double>()); });
}

namespace {

// f(TypeTag<Moment>{}) for the type in which moments of weights of type Weight are stored.
template <class Weight, class F>
void with_moment(const Tensor& m, const F& f) {
    if (m.dtype == DType::bf16)
        f(TypeTag<kernels::bf16>{});
    else
        f(TypeTag<Weight>{});
}

}  // namespace

void adamw_update(Exec& exec, Tensor param, Tensor rounded, Tensor m, Tensor v, Tensor grad, Tensor norm, Tensor loss,
                  const AdamW& settings) {
    const OpTimer timer(exec, "adamw_update", Phase::update, param, param.dtype,
                        kernels::adamw_update_work(param.numel(), bool(rounded), size_of(m.dtype)));
    dispatch(exec, param.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        with_moment<Sum<T_>>(m, [&]<class Moment>(TypeTag<Moment>) {
            adamw_update(backend, param.as<Sum<T_>>(), rounded.as<kernels::bf16>(), m.as<Moment>(), v.as<Moment>(),
                         grad.as<Sum<T_>>(), norm.as<double>(), loss.as<double>(), param.numel(), settings);
        });
    });
}

void sgd_update(Exec& exec, Tensor param, Tensor rounded, Tensor m, Tensor grad, Tensor norm, Tensor loss,
                const Sgd& settings) {
    const OpTimer timer(exec, "sgd_update", Phase::update, param, param.dtype,
                        kernels::sgd_update_work(param.numel(), bool(rounded), size_of(m.dtype)));
    dispatch(exec, param.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        with_moment<Sum<T_>>(m, [&]<class Moment>(TypeTag<Moment>) {
            sgd_update(backend, param.as<Sum<T_>>(), rounded.as<kernels::bf16>(), m.as<Moment>(), grad.as<Sum<T_>>(),
                       norm.as<double>(), loss.as<double>(), param.numel(), settings);
        });
    });
}

void sum(Exec& exec, Tensor total, Tensor x, Accumulate accumulate) {
    const OpTimer timer(exec, "sum", Phase::forward, x, x.dtype, kernels::sum_work(x.numel(), accumulate));
    dispatch(exec, x.dtype, [&]<class X, class T_>(X& backend, TypeTag<T_>) {
        sum(backend, total.as<double>(), x.as<Sum<T_>>(), x.numel(), accumulate);
    });
}

void round_to(Exec& exec, Tensor to, Tensor from) {
    if constexpr (kernels::cuda::kBuilt)
        if (exec.device == Device::cuda && to.dtype == DType::bf16)
            return round_to(exec.cuda, to.as<kernels::bf16>(), from.as<float>(), to.numel());
    throw std::logic_error("no backend rounds to " + std::string(dtype_name(to.dtype)));
}

}  // namespace deft::engine
