#pragma once
// Linear layers of few rows, as one that a model meets when it generates: bound by the reading of the weights, which a
// library's product packs first.

#include <cstdint>

#include "kernels/cpu/exec.h"
#include "kernels/cpu/parallel.h"
#include "kernels/types.h"

namespace deft::kernels::cpu {

// Up to this many rows, products of vectors are faster than the library's (kernels/cpu/what_was_tried.md).
inline constexpr std::int64_t kFewRows = 8;

// Outputs of an item: enough that threads seldom meet, few enough that they finish together.
inline constexpr std::int64_t kFewRowsOutputs = 32;

// As linear_forward (kernels/ops.h), of any number of rows. The bits of a row depend on no other row.
struct FewRows {
    float *y, *pre;
    const float *x, *w, *bias;
    std::int64_t rows, in, out;
    Activation act;

    std::int64_t items() const { return ceil_div(out, kFewRowsOutputs); }
};
void linear_of_few_rows(Exec&, const FewRows&);
// One item on the calling thread, which must be inside a WorkerScope.
void linear_of_few_rows(const FewRows&, std::int64_t item);

}  // namespace deft::kernels::cpu
