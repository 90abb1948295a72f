#pragma once
namespace deft::kernels { struct bf16; }
#include "kernels/cuda/exec.h"
namespace deft::kernels::cuda { void round_to(Exec&, bf16*, const float*, long); }
