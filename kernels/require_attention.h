#pragma once
// Validation of an attention's arguments, once for every backend.

#include <string>

#include "base/error.h"
#include "kernels/attention.h"

namespace deft::kernels {

// Errors: config, for heads that do not divide, lengths that do not go together, a dropout outside [0, 1) or beyond its
// counter's limits.
inline void require_attention(const AttentionSpec& s) {
    const auto text = [](auto number) { return std::to_string(number); };
    const auto refuse = [](const std::string& what, const char* fix) {
        throw Error(ErrorKind::config, "attention: " + what, fix);
    };
    if (s.Hkv <= 0 || s.H % s.Hkv != 0)
        refuse(text(s.Hkv) + " heads of keys and values do not divide " + text(s.H) + " of queries",
               "choose a divisor of the number of heads");
    if (s.Tk <= 0 && s.Tq > 0) refuse(text(s.Tq) + " queries have no key", "give at least one");
    if (s.causal && s.Tq > s.Tk)
        refuse(text(s.Tq) + " causal queries have only " + text(s.Tk) + " keys, so that the first see none",
               "give a key for each query");
    if (s.start != nullptr && s.Tq != s.Tk)
        refuse("packed samples have " + text(s.Tq) + " queries and " + text(s.Tk) + " keys",
               "attend to packed samples with as many keys as queries");
    if (s.start != nullptr && s.length != nullptr)
        refuse("packed samples are given lengths too", "say where each sample starts, or how long it is");
    const AttentionDropout& dropout = s.dropout;
    if (!(dropout.p >= 0 && dropout.p < 1))
        refuse("a dropout of " + text(dropout.p) + " lies outside [0, 1)", "lower it");
    if (dropout.p != 0 && (s.H > dropout.kMostHeads || s.Tq > dropout.kMostQueries || s.Tk > dropout.kMostKeys))
        refuse("dropout knows at most " + text(dropout.kMostHeads) + " heads, " + text(dropout.kMostQueries) +
                   " queries and " + text(dropout.kMostKeys) + " keys",
               "use a dropout of 0");
}

}  // namespace deft::kernels
