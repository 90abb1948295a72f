#pragma once
// A model of a training step on a card: the time of each op, predicted from its work (kernels/work.h), the rates of the
// card, and the share of these rates that each kind of op is expected to reach. Nothing here is measured in this run.

#include <span>
#include <string>
#include <vector>

#include "engine/bench/profile.h"
#include "engine/core/tensor.h"

namespace deft::engine {

// A rate or a time, and the source of its number.
struct SourcedRate {
    double value = 0;
    std::string source;
};

struct CardModel {
    std::string name;            // "H200"
    std::string gpu;             // the name that its driver gives; empty for a card known by its data sheet alone
    SourcedRate tensor_flops;    // FLOP/s of large bf16 products
    SourcedRate ffma_flops;      // FLOP/s of large f32 products without tensor cores
    SourcedRate copy_bytes;      // B/s read and written by a copy in memory
    SourcedRate launch_seconds;  // from a launch to the next, of empty kernels
    double peak_flops = 0;       // FLOP/s of bf16 tensor cores, data sheet; the base of utilisation
};

// Rates that a vendor states of a card; 0: not stated.
struct DataSheet {
    std::string name;         // "V100"
    std::string dtype;        // of its tensor cores: "bf16", or "fp16" of a card without bf16
    double tensor_flops = 0;  // FLOP/s of them, dense
    double f32_flops = 0;     // FLOP/s without tensor cores
    double memory_bytes = 0;  // B/s
};

// The card by its data sheet: each rate times the share of its own data sheet that an H200 measured, and the H200's
// launch time. Each source says so. A rate that the sheet lacks is 0.
CardModel card_of_data_sheet(const DataSheet& sheet);

std::span<const CardModel> card_models();
// Errors: config, for another name, with the names that there are.
const CardModel& card_model(const std::string& name);
// The card of that driver's name, as in "NVIDIA H200"; nothing for another GPU.
const CardModel* find_card_model(const std::string& gpu);

// Ops whose kernels are expected to reach the same share of their roofline in bf16.
struct OpKind {
    const char* name = "";
    double roofline_ms = 0;  // all its ops of GPT-2 124M, batch 16 x 1024, at the H200's rates
    double expected_ms = 0;  // the goal for these ops
    const char* source = "";

    double efficiency() const { return roofline_ms / expected_ms; }
};

std::span<const OpKind> op_kinds();
const OpKind& kind_of_op(const std::string& op);

// The longest of FLOPs at the product's or FFMA's rate, bytes at the copy's, both at the kind's efficiency in bf16 and
// at 1 in f32; and the time of a launch.
double predicted_seconds(const OpRecord& op, const CardModel& card, DType dtype);

// The sum of predicted_seconds() over the ops of a step, without anything between them.
double predicted_seconds(const std::vector<OpRecord>& ops, const CardModel& card, DType dtype);

struct PredictedStep {
    std::vector<double> ops;  // seconds of profile.ops, in their order
    double seconds = 0;       // their sum
};
PredictedStep predict_step(const StepProfile& profile, const CardModel& card, DType dtype);

// The ops of the first step, in order, on Device::none and without warm-up. Errors: as Trainer.
std::vector<OpRecord> record_first_step(const TrainerConfig& config, const TrainingData& data, DType dtype);

// The ops of the trial's step of that number, from 1 (the third at least), on Device::none: their shapes and work hold,
// their times mean nothing. Errors: as Trainer; usage, for a trial that ends before.
StepProfile record_step(const TrainerConfig& config, const TrainingData& data, DType dtype, std::int64_t step);

}  // namespace deft::engine
