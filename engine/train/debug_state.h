#pragma once
// One training step laid open, so that any other framework can check it.

#include <filesystem>
#include <map>
#include <string>

#include "engine/train/trainer.h"

namespace deft::engine {

// Errors: config, for a model with dropout, which no other framework draws alike.
void require_checkable(const TransformerConfig& model);

// Runs the trainer's next step and writes a safetensors file:
//   weights.NAME, adam_m.NAME, adam_v.NAME   before the step; linear weights are (out, in): y = x W^T + b
//   momentum.NAME                            in place of Adam's moments, of SGD; moments are f32, or bf16 if stored so
//   batch.token, batch.target                (B, T) i32; a target of -1 counts in no mean
//   batch.image                              in place of these (B, height, width, channels) f32, of a model of images
//   batch.length, batch.segment              (B), (B, T) i32, only where samples are padded or have segments
//   batch.class_target                       (B) i32, likewise, of a model with a class head; class_logits (B, classes)
//   batch.value_target                       in place of these (B) f32, of a regression head; value (B), its prediction
//   kept.index                               (sets, B, K) i32, only where tokens are dropped
//   experts.LAYER                            (rows, k) i32: the experts that each real row of an expert layer chose;
//                                            rounding decides between two of equal probability
//   router_state                             what a token dropper has learnt, only where it learns
//   logits                                   (B, T, V); loss (B, T), nats, of a head of tokens; class_loss (B)
//                                            packed samples are written so too: token, segment, logits and loss of
//                                            padding are then 0
//   grad.NAME                                of the sum of the heads' mean losses, before clipping; grad_norm (1) f64
//   updated.NAME                             after the optimizer's update
// The metadata holds step, lr, the optimizer's name and constants, what the model's parts are, as JSON, and for each
// layer which set of kept.index it takes, or -1 for every token. All rows of the step must be in one micro-batch: see
// rows_at_once(). Errors: as require_checkable().
void write_debug_state(Trainer& trainer, const std::filesystem::path& file);

}  // namespace deft::engine
