// The work of ops: what a shape says is what the buffers of its case hold.

#include "kernels/cases/all.h"
#include "kernels/cases/run.h"
#include "kernels/work.h"
#include "tests/catch.h"

namespace deft::kernels::cases {
namespace {

// Every buffer once for reading and once for writing.
template <class Real>
double bytes_of_buffers(const OpCase& op) {
    double bytes = 0;
    for (const Buffer& buffer : op.buffers)
        bytes += static_cast<double>(stored_bytes<Real>(buffer)) * (buffer.role == Role::update ? 2 : 1);
    return bytes;
}

// It reads or writes a part of a buffer.
bool takes_rows(const OpCase& op) {
    const auto has = [&](const char* text) { return op.name.find(text) != std::string::npos; };
    return has("indexed") || has("rope ") || has(" first");
}
bool is_without_work(const OpCase& op) {  // they count their buffers themselves
    for (const char* name : {"attention", "embedding", "head_loss", "tiled_gemm"})
        if (op.name.rfind(name, 0) == 0) return true;
    return false;
}

TEST_CASE("the bytes of an op are those of its buffers, each read once and written once") {
    int counted = 0;
    for (const OpCase& op : all_cases(1)) {
        if (takes_rows(op) || is_without_work(op)) continue;
        INFO(op.name);
        CHECK(op.bytes == bytes_of_buffers<float>(op));
        CHECK(op.bf16_bytes == bytes_of_buffers<bf16>(op));
        ++counted;
    }
    CHECK(counted > 100);
}

TEST_CASE("the work of a product and of rows taken through an index, by hand") {
    const Work linear = linear_forward_work(3, 4, 5, true, true);
    CHECK(linear.flops == 2 * 3 * 4 * 5);
    CHECK(linear.bytes(2, 4) == 2 * (3 * 4 + 4 * 5 + 5 + 2 * 3 * 5));
    const Work gradient = linear_backward_weight_work(3, 4, 5, true, Accumulate::yes);
    CHECK(gradient.bytes(2, 4) == 2 * (3 * 4 + 3 * 5) + 4 * 2 * (4 * 5 + 5));
    // 6 of a stream's rows: read, written as they are and normalised; two statistics, an index; weight and bias.
    const Work norm = norm_forward_work(6, 7, true, NormKind::layer);
    CHECK(norm.flops == 8 * 6 * 7);
    CHECK(norm.bytes(2, 4) == 2 * (3 * 6 * 7 + 2 * 7) + 4 * 2 * 6 + 4 * 6);
    const Work rms = norm_forward_work(6, 7, false, NormKind::rms);  // a square, a sum and two products a value
    CHECK(rms.flops == 4 * 6 * 7);
    CHECK(rms.bytes(2, 4) == 2 * (2 * 6 * 7 + 7) + 4 * 6);
    // Rows put back alone are read and written, and nothing is added.
    const Work put_back = residual_forward_work(6, 7, true, false), added = residual_forward_work(6, 7, false, true);
    CHECK(put_back.flops == 0);
    CHECK(put_back.bytes(2, 4) == 2 * 2 * 6 * 7 + 4 * 6);
    CHECK(added.flops == 6 * 7);
    CHECK(added.bytes(2, 4) == 2 * 3 * 6 * 7);
    CHECK(linear_flops(1 << 20, 1 << 20, 1 << 24) == std::ldexp(1.0, 65));
}

}  // namespace
}  // namespace deft::kernels::cases
