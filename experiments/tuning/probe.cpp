#include "experiments/tuning/probe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/stopwatch.h"
#include "engine/train/trainer.h"
#include "experiments/engine_config.h"
#include "experiments/evaluation/validation.h"
#include "experiments/start_weights.h"

namespace deft::experiments {

namespace {

// FLOPs of a forward pass alone, which takes a third of a step's, with every token in every layer.
double evaluation_flops_a_token(const engine::TrainerConfig& trainer) {
    const engine::StepPlan whole = engine::plan_step(trainer.model.extents(), {}, 0);
    const double step = engine::sample_flops(engine::model_size(trainer.model).flops, {}, whole);
    return step / 3 / static_cast<double>(whole.seqlen);
}

// One probe under way.
struct ProbeRun {
    const TrialConfig& config;
    const Dataset& dataset;
    const ProbeSettings& settings;
    const std::function<bool(double)>& go_on;
    engine::Trainer trainer;
    Probe probe;

    double warmups() const {
        return static_cast<double>(trainer.counts().layer_tokens) / static_cast<double>(settings.warmup_tokens);
    }
    bool watched() { return !(probe.stopped = !go_on(std::min(1.0, warmups() / settings.rule.warmups))); }

    // Adds a point; false where it is a fluctuation.
    bool add_point(double at, double loss) {
        probe.curve.push_back({at, trainer.counts().steps, loss});
        probe.fluctuation = find_fluctuation(probe.curve, settings.rule);
        return !probe.fluctuation;
    }

    bool evaluate(double at) {
        const ValidationLoss valid = validation_loss(dataset, trainer.model(), trainer.exec(),
                                                     settings.validation_tokens, config.train.micro_batch_size);
        probe.evaluated_tokens += valid.tokens;
        return add_point(at, valid.loss);
    }

    // To that many warm-ups, or the budget. False: the end of the probe came before.
    bool train_until(double target) {
        while (warmups() < target && !trainer.done()) {
            try {
                trainer.step();
            } catch (const Error& error) {
                if (error.kind() != ErrorKind::nonfinite) throw;
                return add_point(std::min(target, warmups()), std::numeric_limits<double>::quiet_NaN());
            }
            if (!watched()) return false;
        }
        return true;
    }

    void to_the_end() {
        if (!watched() || !evaluate(0)) return;
        const int marks = settings.rule.warmups * settings.rule.evaluations;
        // A step longer than a mark passes several marks: they are evaluated as one.
        for (int mark = 1; mark <= marks && !trainer.done(); ++mark) {
            const auto position = [&](int m) { return static_cast<double>(m) / settings.rule.evaluations; };
            if (!train_until(position(mark))) return;
            while (mark < marks && position(mark + 1) <= warmups()) ++mark;
            if (!evaluate(std::min(position(mark), warmups()))) return;
        }
    }
};

}  // namespace

Probe run_probe(const TrialConfig& config, const Dataset& dataset, const ProbeSettings& settings,
                const std::function<bool(double)>& go_on) {
    if (settings.warmup_tokens < 1)
        throw Error(ErrorKind::config, "a probe is measured in warm-ups, but this trial has no warm-up",
                    "set train.warmup_tokens, warmup_steps or warmup_share");
    const Clock::time_point start = Clock::now();
    engine::TrainerConfig trainer = trainer_config(config);
    add_curriculum(trainer, config, dataset);
    ProbeRun run{config,
                 dataset,
                 settings,
                 go_on,
                 engine::Trainer(trainer, dataset.train, backend_of(config, settings.device, settings.threads)),
                 {}};
    if (config.start) load_start_weights(config, dataset, run.trainer, {});
    run.to_the_end();

    Probe probe = std::move(run.probe);
    const engine::Counts& counts = run.trainer.counts();
    probe.steps = counts.steps;
    probe.input_tokens = counts.input_tokens;
    probe.flops = counts.flops + static_cast<double>(probe.evaluated_tokens) * evaluation_flops_a_token(trainer);
    probe.seconds = seconds_since(start);
    return probe;
}

std::optional<Fluctuation> find_fluctuation(std::span<const LossPoint> curve, const FluctuationRule& rule) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double minimum = kInfinity;
    for (std::size_t i = 0; i < curve.size() && curve[i].warmups <= rule.warmups; ++i) {
        const double loss = curve[i].loss;
        if (!std::isfinite(loss)) return Fluctuation{i, minimum, kInfinity};
        if (loss > minimum * (1 + rule.threshold)) return Fluctuation{i, minimum, loss / minimum - 1};
        minimum = std::min(minimum, loss);
    }
    return {};
}

}  // namespace deft::experiments
