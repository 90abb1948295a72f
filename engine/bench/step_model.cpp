#include "engine/bench/step_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace deft::engine {

namespace {

constexpr const char* kMeasured = "evidence/2026-11-26-NVIDIA-H200/kernels.json";
constexpr const char* kFromH200 = "the H200's, whose multiprocessors and clock are the same; unmeasured on an H100";

// The H200 of evidence/2026-11-26-NVIDIA-H200, and what its data sheet states.
constexpr double kTensorFlops = 795.7e12, kFfmaFlops = 51.0e12, kCopyBytes = 4.242e12, kLaunchSeconds = 1.63e-6;
constexpr double kSheetTensorFlops = 989e12, kSheetF32Flops = 67e12, kSheetBytes = 4.8e12;

const std::array<CardModel, 2>& cards() {
    static const std::array<CardModel, 2> all = {
        CardModel{"H100",
                  "NVIDIA H100 80GB HBM3",
                  {795e12, "cuBLAS on 8192 x 8192 x 8192, fast.cu's README"},
                  {kFfmaFlops, kFromH200},
                  {3.01e12, "softmax, RMSNorm and cross-entropy on an H100, quack's article of 2025-07-10"},
                  {kLaunchSeconds, kFromH200},
                  kSheetTensorFlops},
        CardModel{"H200",
                  "NVIDIA H200",
                  {kTensorFlops, kMeasured},
                  {kFfmaFlops, kMeasured},
                  {kCopyBytes, kMeasured},
                  {kLaunchSeconds, kMeasured},  // an empty kernel between two events, less nothing between them
                  kSheetTensorFlops},
    };
    return all;
}

// what: "in fp16 ", or nothing.
SourcedRate scaled(const std::string& card, const std::string& what, double stated, double measured, double sheet) {
    const double share = measured / sheet;
    return {stated * share, fmt::format("{:.4g} T/s {}of {}'s data sheet x {:.3f}, the share that an H200 measured of "
                                        "its own; unmeasured on {}",
                                        stated / 1e12, what, card, share, card)};
}

// Expected times: the goals of the project's issue on tensor cores, which no card has shown yet. Rooflines: the work of
// evidence/2026-11-26-NVIDIA-H200/steps.json, "profile 16", at the rates of the H200 above.
constexpr const char* kGoals = "goal of the tensor-core issue for GPT-2 124M, unmeasured";
constexpr std::array kKinds = {
    OpKind{"head and loss", 4.768, 6.5, kGoals},  // the two passes of the softmax are part of the share
    OpKind{"attention forward", 0.389, 1.35, kGoals},
    OpKind{"attention backward", 0.973, 6.0, kGoals},
    OpKind{"weight gradients", 3.498, 5.1, kGoals},
    OpKind{"other products", 6.995, 8.3, kGoals},
    OpKind{"norms", 1.170, 1.4, kGoals},
    OpKind{"embedding backward", 0.0304, 0.1, kGoals},
    OpKind{"the rest", 1.010, 1.4, kGoals},
};
enum KindIndex { head, attention_forward, attention_backward, weight_gradients, products, norms, embedding, rest };

KindIndex index_of(const std::string& op) {
    const auto has = [&](const char* part) { return op.find(part) != std::string::npos; };
    if (has("head_loss")) return head;
    if (has("attention_forward")) return attention_forward;
    if (has("attention_backward")) return attention_backward;
    if (has("linear_backward_weight")) return weight_gradients;
    if (has("linear_")) return products;
    if (has("norm_")) return norms;
    if (has("embedding_backward")) return embedding;
    return rest;
}

bool uses_tensor_cores(KindIndex kind) {
    return kind <= products;
}

std::string names_of_cards() {
    std::string names;
    for (const CardModel& card : cards()) names += (names.empty() ? "" : ", ") + card.name;
    return names;
}

}  // namespace

std::span<const CardModel> card_models() {
    return cards();
}

const CardModel& card_model(const std::string& name) {
    for (const CardModel& card : cards())
        if (name == card.name) return card;
    throw Error(ErrorKind::config, "the step model knows no card \"" + name + "\"",
                "choose one of: " + names_of_cards(), "nothing was predicted");
}

const CardModel* find_card_model(const std::string& gpu) {
    for (const CardModel& card : cards())
        if (gpu == card.gpu) return &card;
    return nullptr;
}

CardModel card_of_data_sheet(const DataSheet& sheet) {
    CardModel card;
    card.name = sheet.name;
    card.tensor_flops =
        scaled(sheet.name, "in " + sheet.dtype + " ", sheet.tensor_flops, kTensorFlops, kSheetTensorFlops);
    card.ffma_flops = scaled(sheet.name, "", sheet.f32_flops, kFfmaFlops, kSheetF32Flops);
    card.copy_bytes = scaled(sheet.name, "", sheet.memory_bytes, kCopyBytes, kSheetBytes);
    card.launch_seconds = {kLaunchSeconds, fmt::format("the H200's; unmeasured on {}", sheet.name)};
    card.peak_flops = sheet.tensor_flops;
    return card;
}

std::span<const OpKind> op_kinds() {
    return kKinds;
}

const OpKind& kind_of_op(const std::string& op) {
    return kKinds[index_of(op)];
}

double predicted_seconds(const OpRecord& op, const CardModel& card, DType dtype) {
    const KindIndex kind = index_of(op.op);
    const bool is_bf16 = dtype == DType::bf16;
    const double flops_rate = is_bf16 && uses_tensor_cores(kind) ? card.tensor_flops.value : card.ffma_flops.value;
    const double roofline = std::max(op.flops / flops_rate, op.bytes / card.copy_bytes.value);
    return std::max(roofline / (is_bf16 ? kKinds[kind].efficiency() : 1), card.launch_seconds.value);
}

double predicted_seconds(const std::vector<OpRecord>& ops, const CardModel& card, DType dtype) {
    double seconds = 0;
    for (const OpRecord& op : ops) seconds += predicted_seconds(op, card, dtype);
    return seconds;
}

PredictedStep predict_step(const StepProfile& profile, const CardModel& card, DType dtype) {
    std::map<std::tuple<Phase, std::string, std::string>, double> groups;
    for (const OpRecord& record : profile.records)
        groups[{record.phase, record.op, record.shape}] += predicted_seconds(record, card, dtype);
    PredictedStep step;
    for (const ProfiledOp& op : profile.ops) {
        step.ops.push_back(groups.at({op.phase, op.op, op.shape}));
        step.seconds += step.ops.back();
    }
    return step;
}

std::vector<OpRecord> record_first_step(const TrainerConfig& config, const TrainingData& data, DType dtype) {
    Trainer trainer(config, data, {Device::none, dtype, 1}, InitialWeights::later);
    OpProfile ops(trainer.exec());
    trainer.exec().profile = &ops;
    trainer.step();
    trainer.exec().profile = nullptr;
    return std::move(ops.records);
}

StepProfile record_step(const TrainerConfig& config, const TrainingData& data, DType dtype, std::int64_t step) {
    Trainer trainer(config, data, {Device::none, dtype, 1}, InitialWeights::later);
    const std::int64_t before = step - 1 - kProfileWarmUpSteps;
    for (std::int64_t done = 0; done < before && !trainer.done(); ++done) trainer.step();
    return profile_steps(trainer, 1);
}

}  // namespace deft::engine
