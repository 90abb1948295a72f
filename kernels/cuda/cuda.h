#pragma once
// All CUDA kernels.

#include "kernels/cuda/attention.h"
#include "kernels/cuda/embedding.h"
#include "kernels/cuda/exec.h"
#include "kernels/cuda/head_loss.h"
#include "kernels/cuda/layernorm.h"
#include "kernels/cuda/linear.h"
#include "kernels/cuda/optimizer.h"
#include "kernels/cuda/token_importance.h"
#include "kernels/cuda/token_selection.h"
#include "kernels/cuda/workspace_sizes.h"
