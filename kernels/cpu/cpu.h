#pragma once
// All CPU kernels.

#include "kernels/cpu/attention.h"
#include "kernels/cpu/embedding.h"
#include "kernels/cpu/exec.h"
#include "kernels/cpu/head_loss.h"
#include "kernels/cpu/layernorm.h"
#include "kernels/cpu/linear.h"
#include "kernels/cpu/optimizer.h"
#include "kernels/cpu/token_importance.h"
#include "kernels/cpu/token_selection.h"
