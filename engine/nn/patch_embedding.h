#pragma once
// The input of the first block of a model of images: patches through one linear layer, the class token in front of
// them, and a vector of each position (Dosovitskiy et al. 2021, section 3.1 and equation 1).

#include <cstdint>

#include "engine/core/ops.h"
#include "engine/nn/linear.h"
#include "engine/nn/planner.h"
#include "engine/nn/rows.h"

namespace deft::engine {

// Images (height, width, channels), and the square patches that they are cut into.
struct PatchConfig {
    std::int64_t height = 32, width = 32, channels = 3;
    std::int64_t size = 4;  // P: pixels of a patch's side, which divides height and width

    std::int64_t patches() const { return height / size * (width / size); }
    std::int64_t values() const { return size * size * channels; }  // of a patch
    std::int64_t seqlen() const { return 1 + patches(); }           // with the class token
    bool operator==(const PatchConfig&) const = default;
};

class PatchEmbedding {
 public:
    // width: C. Errors: config, for patches that do not divide the image.
    PatchEmbedding(const Planner&, std::int64_t width, const PatchConfig&, bool has_positions, double dropout);

    // out (B, T, C) of images (B, height, width, channels) f32, T = 1 + patches
    void forward(Exec&, Tensor out, Tensor images, const StreamRows&) const;
    // dout (B, T, C) is changed; of the images that forward() was given last.
    void backward(Exec&, Tensor dout, const StreamRows&, Accumulate) const;

    // FLOPs per sample: the linear layer meets its patches, whose number is fixed.
    TrainingFlops flops() const;

 private:
    PatchConfig config_;
    double dropout_;
    Linear linear_;                      // patch values to C
    Parameter class_token_, positions_;  // (1, C), (T, C) or empty
    Tensor patches_;                     // (B, patches, values)
    Tensor embedded_;  // (B, T, C), scratch, of which (B, patches, C) are what the linear layer puts out,
                       // and then its gradient
};

}  // namespace deft::engine
