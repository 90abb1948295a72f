#pragma once
// All reference kernels.

#include "kernels/reference/activation.h"
#include "kernels/reference/cache.h"
#include "kernels/reference/class_token.h"
#include "kernels/reference/dropout.h"
#include "kernels/reference/exec.h"
#include "kernels/reference/experts.h"
#include "kernels/reference/layers.h"
#include "kernels/reference/pooling.h"
#include "kernels/reference/rope.h"
#include "kernels/reference/sum_ranks.h"
#include "kernels/reference/training.h"
#include "kernels/reference/value_loss.h"
