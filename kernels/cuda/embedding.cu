#include "kernels/cuda/cuda.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "kernels/cuda/block_reduce.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector.h"

namespace deft::kernels::cuda {

namespace {

// Which row of a table the position `row` of (B, T) takes.
__device__ inline std::int64_t table_row(const std::int32_t* id, std::int64_t row, std::int64_t T) {
    return id == nullptr ? row % T : id[row];
}

template <class Real, int kWidth>
__global__ void embed_rows(Real* out, EmbeddingTables<Real> tables, std::int64_t rows, std::int64_t T, std::int64_t C) {
    const std::int64_t row = warp_row();
    if (row >= rows) return;
    const Real* from[kMostEmbeddingTables];
    bool known = true;
    for (int i = 0; i < kMostEmbeddingTables; ++i) {
        if (i >= tables.count) continue;
        const std::int64_t id = table_row(tables[i].id, row, T);
        known = known && id >= 0 && id < tables[i].V;
        from[i] = tables[i].weight + id * C;
    }
    for (std::int64_t c = warp_lane() * kWidth; c < C; c += kWarpSize * kWidth) {
        float sum[kWidth];
        for (float& value : sum) value = NAN;
        if (known) load(sum, from[0] + c);
        for (int i = 1; i < kMostEmbeddingTables; ++i) {
            if (!known || i >= tables.count) continue;
            float more[kWidth];
            load(more, from[i] + c);
            for (int j = 0; j < kWidth; ++j) sum[j] += more[j];
        }
        store(out + row * C + c, sum);
    }
}

}  // namespace

template <class Real>
void embedding_forward(Exec& exec, Real* out, const EmbeddingTables<Real>& tables, std::int64_t B, std::int64_t T,
                       std::int64_t C) {
    bool wide = rows_are_wide<Real>(C, out);
    for (int i = 0; i < tables.count; ++i) {
        wide = wide && rows_are_wide<Real>(C, tables[i].weight);
        if (tables[i].id == nullptr && T > tables[i].V)
            throw Error(ErrorKind::config,
                        "samples have " + std::to_string(T) + " positions, but embedding table " + std::to_string(i) +
                            " has " + std::to_string(tables[i].V) + " rows",
                        "use shorter samples, or a table with more rows");
    }
    with_width<Real>(wide, [&](auto width) {
        launch(exec, over_rows("embed_rows", B * T), embed_rows<Real, width>, out, tables, B * T, T, C);
    });
}

template void embedding_forward<float>(Exec&, float*, const EmbeddingTables<float>&, std::int64_t, std::int64_t,
                                       std::int64_t);
template void embedding_forward<bf16>(Exec&, bf16*, const EmbeddingTables<bf16>&, std::int64_t, std::int64_t,
                                      std::int64_t);
}  // namespace deft::kernels::cuda
