#pragma once
// One thing to time, whatever it is.

#include <functional>
#include <memory>
#include <string>

namespace deft::kernels {

// Ready to run. Both closures own what they need.
struct PreparedBench {
    double flops = 0, bytes = 0;  // work and least memory traffic of one run
    double footprint = 0;         // bytes of its arguments
    double items = 0;             // that one run works off, where FLOPs say nothing: tokens, samples, draws
    std::string item;             // what one of them is: "token"
    std::string wrong;            // what the outputs of a first run have wrong; empty: they are right
    std::function<void()> hot;    // again on the same arguments
    std::function<void()> cold;   // on arguments that no cache holds any more; empty: there is no such way
};

struct BenchCase {
    std::string name;  // "linear_forward/2048/256/768/bias"
    std::string backend = "cpu";
    double flops = 0, bytes = 0;  // of one run, before it is prepared
    std::function<PreparedBench(int threads)> prepare;
};

}  // namespace deft::kernels
