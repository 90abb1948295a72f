// The global memory that memory-bound kernels move, beside the least that their op needs (kernels/work.h).

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/cases/all.h"
#include "kernels/cases/run_cuda.h"
#include "kernels/cuda/column_sums.h"
#include "tests/catch.h"
#include "tests/cuda_traffic/traffic.h"

namespace deft::kernels::cases {
namespace {

using Traffic = std::map<std::string, cuda::traffic::KernelTraffic>;

Traffic traffic_of(const OpCase& op, Activations type) {
    const cuda::Context context;
    cuda::traffic::take();
    run_cuda(context.exec(), op, type);
    return cuda::traffic::take();
}

double sector_bytes(const Traffic& kernels) {
    double bytes = 0;
    for (const auto& [name, kernel] : kernels) bytes += static_cast<double>(kernel.sector_bytes());
    return bytes;
}

double wide_share(const Traffic& kernels) {
    double bytes = 0;
    for (const auto& [name, kernel] : kernels) bytes += static_cast<double>(kernel.wide_sector_bytes());
    return bytes / sector_bytes(kernels);
}

std::string text(const Traffic& kernels) {
    std::string lines;
    for (const auto& [name, kernel] : kernels)
        lines += fmt::format("  {:<28} {:>12} bytes read, {:>12} written\n", name, kernel.read.sector_bytes(),
                             kernel.written.sector_bytes());
    return lines;
}

constexpr double kLeastWide = 0.9;  // share of bytes in 16-byte accesses

// again: bytes that a run may read or write besides each operand once, where no cache keeps them.
void check_traffic(const OpCase& op, Activations type, double again = 0, double least_wide = kLeastWide) {
    constexpr double kMost = 1.1;
    const double least = type == Activations::bf16 ? op.bf16_bytes : op.bytes;
    const Traffic kernels = traffic_of(op, type);
    const double ratio = (sector_bytes(kernels) - again) / least;
    const std::string report =
        fmt::format("{} {}: {:.3f} of the least traffic, {:.1f}% in 16-byte accesses\n{}", op.name,
                    type == Activations::bf16 ? "bf16" : "f32", ratio, 100 * wide_share(kernels), text(kernels));
    std::printf("%s", report.c_str());
    INFO(report);
    CHECK(ratio <= kMost);
    CHECK(ratio > 0.95);  // no access is missed
    CHECK(wide_share(kernels) > least_wide);
}

constexpr Activations kBoth[] = {Activations::f32, Activations::bf16};
const NormSpec kRms{NormKind::rms, kLayerNormEps};

TEST_CASE("norm backward moves at most 1.1 times the least bytes") {
    for (const Activations type : kBoth) {
        check_traffic(norm_backward_case(Draw(1, 0), {16, 1024, 1024, 512}, false, true, true, Accumulate::no), type);
        check_traffic(norm_backward_case(Draw(1, 1), {8, 2048, 1024, 768}, true, true, false, Accumulate::yes, kRms),
                      type);
    }
}

TEST_CASE("norm forward reads and writes each row once") {
    for (const Activations type : kBoth) {
        // Each row reads the weight and the bias, which the cache next to the multiprocessor keeps.
        const auto parameters = [&](std::int64_t rows, std::int64_t C) {
            return product(rows - 1, 2 * C, type == Activations::bf16 ? sizeof(bf16) : sizeof(float));
        };
        check_traffic(norm_forward_case(Draw(1, 0), {1, 256, 256, 768}, false), type, parameters(256, 768));
        check_traffic(norm_forward_case(Draw(1, 1), {2, 256, 128, 1024}, true), type, parameters(256, 1024));
        check_traffic(residual_norm_forward_case(Draw(1, 2), {1, 256, 256, 768}), type, parameters(256, 768));
    }
}

TEST_CASE("gather and scatter of rows move at most 1.1 times the least bytes") {
    for (const Activations type : kBoth) {
        check_traffic(gather_rows_case(Draw(1, 0), {2, 256, 128, 768}), type);
        check_traffic(residual_forward_case(Draw(1, 1), {2, 256, 128, 768}, true), type);
    }
}

TEST_CASE("embedding backward moves at most 1.1 times the least bytes") {
    const EmbeddingShape shape{4, 1024, 768, 8192, 0, 1, false};
    OpCase op = embedding_backward_case(Draw(1, 0), shape, {Accumulate::yes});
    const std::vector<float>& ids = op.buffers[2].value;
    EmbeddingTableShapes taken_rows = table_shapes(shape, {Accumulate::yes});
    taken_rows.table[0].V = static_cast<std::int64_t>(std::set<float>(ids.begin(), ids.end()).size());
    op.set_work(embedding_backward_work(taken_rows, shape.B, shape.T, shape.C));
    for (const Activations type : kBoth) check_traffic(op, type);
}

TEST_CASE("the optimizer moves at most 1.1 times the least bytes") {
    constexpr std::int64_t kValues = 200'003;
    const AdamW adamw{
        .rates = adamw_rates(1e-2, 0.9, 0.95, 2), .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .weight_decay = 0.1};
    check_traffic(adamw_update_case(Draw(1, 0), kValues, adamw, true), Activations::bf16);
    const Sgd sgd{.rates = SgdRates{1e-2}, .momentum = 0.9};
    check_traffic(sgd_update_case(Draw(1, 1), kValues, sgd, false), Activations::f32);
    // Moments in bf16 come 8 bytes at a time beside 16 of weights: neighbouring lanes fill each sector together.
    check_traffic(adamw_update_case(Draw(1, 5), kValues, adamw, true, MomentItem::rounded), Activations::bf16, 0, 0.5);
    check_traffic(sgd_update_case(Draw(1, 6), kValues, sgd, false, MomentItem::rounded), Activations::f32, 0, 0.7);
    check_traffic(sum_of_squares_case(Draw(1, 2), kValues, Accumulate::yes), Activations::f32);
    check_traffic(sum_case(Draw(1, 3), kValues, Accumulate::no), Activations::f32);
    check_traffic(round_to_case(Draw(1, 4), kValues), Activations::f32);
    for (const Item item : {Item::sum, Item::wide})
        check_traffic(sum_ranks_case(Draw(1, 5), item, 4096, 1, 4), Activations::f32);
}

TEST_CASE("activations, rope, dropout and the cache move at most 1.1 times the least bytes") {
    for (const Activations type : kBoth) {
        for (const Activation act : {Activation::gelu_erf, Activation::swiglu}) {
            check_traffic(activation_forward_case(Draw(1, 0), {64, 1536}, act), type);
            check_traffic(activation_backward_case(Draw(1, 1), {64, 1536}, act), type);
        }
        check_traffic(rope_case(Draw(1, 2), {2, 64, 12, 64, 768}, false, RopeForm::forward), type);
        check_traffic(dropout_case(Draw(1, 3), {4, 64 * 768}, 0.1, true, false), type);
        check_traffic(cache_rows_case(Draw(1, 4), {{4, 128, 768, 4, 64, 3 * 768}, 9}), type);
    }
}

TEST_CASE("column sums move at most 1.1 times the least bytes") {
    constexpr std::int64_t kRows = 4096, kCols = 768;
    for (const Activations type : kBoth) {
        OpCase op;
        op.name = shape_text("column_sums", kRows, kCols);
        Draw draw(1, 0);
        op.buffers = {gradient(draw, "sums", kCols, Accumulate::no), draw.input("y", kRows * kCols)};
        const auto run = [=](cuda::Exec& exec, const auto& b) {
            cuda::column_sums(exec, b.sum(0), b[1], kRows, kCols, Accumulate::no);
        };
        op.cuda_f32 = run;
        op.cuda_bf16 = run;
        op.set_cuda_workspace([=](auto) { return cuda::column_sums_workspace(kRows, kCols); });
        Work work;
        work.reals = product(kRows, kCols);
        work.sums = product(kCols);
        op.set_work(work);
        check_traffic(op, type);
    }
}

}  // namespace
}  // namespace deft::kernels::cases
