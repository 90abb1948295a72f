#pragma once
// Time per op of a step, recorded while an Exec points to it. Uses the host's clock on a CPU, whose ops have ended when
// they return; by events in its stream on a GPU, whose ops have not.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "engine/core/exec.h"
#include "engine/core/tensor.h"
#include "kernels/cuda/product_log.h"
#include "kernels/work.h"

namespace deft::kernels::cuda {
class Event;
}

namespace deft::engine {

enum class Phase { forward, backward, update };
const char* phase_name(Phase phase);

struct OpRecord {
    const char* op = "";
    Phase phase = Phase::forward;
    std::string shape;                                        // of its first output
    double start = 0, seconds = 0;                            // since the profile's start
    double flops = 0, bytes = 0;                              // kernels/work.h
    std::vector<kernels::cuda::ProductRecord> products = {};  // of a GPU's op: each of its calls, with its path
};

class OpProfile {
 public:
    // Profiles the device's ops from here on.
    explicit OpProfile(Exec& exec);
    ~OpProfile();
    OpProfile(const OpProfile&) = delete;
    OpProfile& operator=(const OpProfile&) = delete;
    // Its seconds until here, after all ops. The times of a GPU's records are known from here on. Errors: device.
    double finish();

    std::vector<OpRecord> records;

 private:
    friend class OpTimer;
    // A point in time on the device: an event after the ops so far, or the host's clock.
    struct Moment {
        Clock::time_point host;
        std::shared_ptr<kernels::cuda::Event> event;
    };
    Moment now() const;
    static double seconds_between(const Moment& first, const Moment& last);
    kernels::cuda::ProductLog* product_log() const;  // null on a CPU

    Exec& exec_;
    Moment start_;
    std::vector<Moment> begins_, ends_;  // of the records
};

// Times one op while it lives. Without a profile it does nothing.
class OpTimer {
 public:
    // out: the first output. dtype: of activations, or of what the op works on.
    OpTimer(Exec& exec, const char* op, Phase phase, const Tensor& out, DType dtype, const kernels::Work& work);
    ~OpTimer();
    OpTimer(const OpTimer&) = delete;
    OpTimer& operator=(const OpTimer&) = delete;

 private:
    OpProfile* profile_;
    std::size_t first_product_ = 0;  // in the trace of products
};

}  // namespace deft::engine
