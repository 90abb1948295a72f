#pragma once
// The largest sizes that a trial may have: far beyond what anybody trains, and small enough that no count of bytes,
// tokens or FLOPs overflows and that a plan is made in seconds.

#include <cstdint>

#include "engine/train/accounting.h"

namespace deft::experiments {

inline constexpr std::int64_t kMostLayers = 10'000;
inline constexpr std::int64_t kMostWidth = 1 << 20;
inline constexpr std::int64_t kMostExperts = 1 << 16;  // of a layer
inline constexpr std::int64_t kMostSegments = 1 << 16;
inline constexpr std::int64_t kMostSeqlen = 1 << 24;
inline constexpr std::int64_t kMostBatchSize = 1 << 24;
inline constexpr std::int64_t kMostVocab = 1'000'000;  // that is trained here
inline constexpr std::int64_t kMostBudgetTokens = 1'000'000'000'000'000;
inline constexpr double kMostBudgetFraction = 1000;
inline constexpr double kMostDuration = 1000;  // of what grows, in baselines
inline constexpr std::int64_t kMostImageSide = 1 << 14, kMostImageChannels = 1024;
inline constexpr double kMostEpochs = 1e6;
inline constexpr std::int64_t kMostSteps = engine::kMostSteps;
inline constexpr std::int64_t kMostEmbeddedBytes = 10'000'000'000;
inline constexpr std::int64_t kMostDocuments = 10'000'000;  // of a task
inline constexpr double kMostBufferBytes = 1e15;            // that one trial plans

}  // namespace deft::experiments
