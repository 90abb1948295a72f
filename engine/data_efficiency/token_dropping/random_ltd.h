#pragma once
// Random layerwise token dropping (Yao et al. 2022, arXiv 2211.11586): every layer that drops keeps the K positions of
// a sample with the smallest random keys. A key is drawn by (seed, step, layer, number of the sample's draw, position),
// so that the sets are independent over layers, steps and draws, be they of one sample, and the same however a batch is
// split over micro-batches and ranks. The rows of a reshaped step hold parts of several samples: row r is numbered as
// draw r of the step.
//
// Padding is kept last, which is ours: the published code draws among all positions, and so spends kept rows on
// padding.

#include "engine/data_efficiency/token_dropping/token_dropping.h"

namespace deft::engine {

TokenDropper random_ltd_dropper();

}  // namespace deft::engine
