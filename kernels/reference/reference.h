#pragma once
// All reference kernels.

#include "kernels/reference/attention.h"
#include "kernels/reference/embedding.h"
#include "kernels/reference/exec.h"
#include "kernels/reference/head_loss.h"
#include "kernels/reference/layernorm.h"
#include "kernels/reference/linear.h"
#include "kernels/reference/optimizer.h"
#include "kernels/reference/token_importance.h"
#include "kernels/reference/token_selection.h"
