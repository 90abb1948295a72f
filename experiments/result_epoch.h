#pragma once
// The result epoch of training: which programs train to the same result.
//
// Raise it by one, in the same commit, when a change of the program makes a training of the same configuration, data
// and seed come to other losses or weights by more than the order of floating-point additions: another formula,
// default, initial value, draw, schedule, or a fixed defect of one of these. Do not raise it for speed, messages, new
// keys whose default trains as before, or code that only reads results. For evaluation raise kScoringVersion of
// base/score_key.h in the same way, and kCorpusFormat of datasets/prepared_corpus.h where the same texts give other
// tokens.
//
// It is part of every configuration's hash, so that a result of an older epoch is not taken for one of today: reports
// mark such results as stale by code, and `deft run` trains them again. Another commit of one epoch makes nothing
// stale.

namespace deft::experiments {

inline constexpr int kResultEpoch = 4;

}  // namespace deft::experiments
