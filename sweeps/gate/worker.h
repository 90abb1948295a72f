#pragma once
// One arm of a comparison: a process that prepares benchmark cases and times them on request. `deft bench serve`.
//
// A request a line, an answer a line, a JSON object each. First of all, without being asked: {"deft_bench": 1}, the
// version of this protocol.
//   describe          the code that is measured: {"git_sha", "git_branch", "dirty", "diff_sha256", "binary_sha256",
//                     "compiler", "cxx_flags", "build_type"}
//   list              {"cases": [NAME...]}
//   prepare P NAME    the case at place P of the list, from 0: makes its arguments, in place of those of the case
//                     before, and compares the outputs with the reference: {"ready": true, "backend", "flops",
//                     "bytes", "hot", "cold"}, the last two in seconds a run, about; {"wrong": what}; or
//                     {"unknown": NAME}
//   run hot|cold N    one run to wake up, then N timed together: {"seconds": of the N}
//   quit              ends it, as the end of its input does
// Anything else, and what failed: {"error": why}.

#include <iosfwd>

namespace deft::sweeps {

inline constexpr int kBenchProtocol = 1;

void serve_benches(std::istream& requests, std::ostream& answers, int threads);

}  // namespace deft::sweeps
