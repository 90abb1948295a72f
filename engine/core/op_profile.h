#pragma once
// What each op of a step took: filled while an Exec points to it. For the CPU, whose ops have ended when they return.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "engine/core/exec.h"
#include "engine/core/tensor.h"

namespace deft::engine {

enum class Phase { forward, backward, update };
const char* phase_name(Phase phase);

struct OpRecord {
    const char* op = "";
    Phase phase = Phase::forward;
    std::string shape;              // of its first output
    double start = 0, seconds = 0;  // since the profile's start
    double flops = 0, bytes = 0;    // work, and each operand once
};

struct OpProfile {
    Clock::time_point start = Clock::now();
    std::vector<OpRecord> records;
};

// Times one op while it lives. Without a profile it does nothing.
class OpTimer {
 public:
    // bytes: of the operands, empty tensors among them.
    OpTimer(Exec& exec, const char* op, Phase phase, double flops, std::initializer_list<Tensor> operands);
    ~OpTimer();
    OpTimer(const OpTimer&) = delete;
    OpTimer& operator=(const OpTimer&) = delete;

 private:
    OpProfile* profile_;
    Clock::time_point begin_;
};

}  // namespace deft::engine
