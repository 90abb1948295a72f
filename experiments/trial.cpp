#include "experiments/trial.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "base/files.h"
#include "base/journal.h"
#include "base/sha256.h"
#include "base/stopwatch.h"
#include "engine/comm/on_first_rank.h"
#include "engine/comm/require_same.h"
#include "engine/train/trainer.h"
#include "experiments/attempt.h"
#include "experiments/checkpoint_owner.h"
#include "experiments/checkpoints.h"
#include "experiments/datasets/dataset.h"
#include "experiments/engine_config.h"
#include "experiments/heartbeat.h"
#include "experiments/imported_trial.h"
#include "experiments/projection.h"
#include "experiments/start_weights.h"
#include "experiments/training_validation.h"
#include "kernels/cuda/products.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// One trial under way.
struct Run {
    const TrialConfig& config;
    const TrialPlaces& places;
    const Dataset& dataset;
    engine::Trainer& trainer;
    journal::Writer& journal;
    Heartbeat& heartbeat;
    TrainingValidation& validation;
    CheckpointOwner& owner;
    Resumed resumed;
    Projection projection;
    std::string start_note;  // what [start] did not simply copy
    RecomputeChoice recompute = RecomputeChoice::none;
};

// Beside what the heads have lost, each times its weight.
void add_auxiliary_losses(const ModelConfig& model, const engine::StepResult& result, journal::TrainPoint& point) {
    if (point.head_names.empty()) {
        point.head_names = {model.classes > 0 || model.value_head ? "labels" : "tokens"};
        point.head_losses = {result.token_loss + result.class_loss};
    }
    point.head_names.emplace_back(journal::kExpertBalance);
    point.head_losses.push_back(result.balance_loss);
    if (model.experts.z_weight == 0) return;
    point.head_names.emplace_back(journal::kGateZ);
    point.head_losses.push_back(result.z_loss);
}

journal::TrainPoint point_of(const Run& run, const engine::StepResult& result, double seconds) {
    const engine::Counts& counts = run.trainer.counts();
    journal::TrainPoint point;
    point.step = counts.steps;
    point.input_tokens = counts.input_tokens;
    point.unique_tokens = run.trainer.unique_tokens();
    point.layer_tokens = counts.layer_tokens;
    point.flops = counts.flops;
    point.wall_ms = static_cast<std::int64_t>(seconds * 1000);
    point.loss = result.loss;
    point.lr = result.lr;
    point.grad_norm = result.grad_norm;
    point.seqlen = result.plan.seqlen;
    point.kept_tokens = result.plan.kept;
    if (run.config.model.order_head) {
        point.head_names = {"masked tokens", "order"};
        point.head_losses = {result.token_loss, result.class_loss};
    }
    if (!run.config.model.experts.count.empty()) add_auxiliary_losses(run.config.model, result, point);
    return point;
}

std::vector<journal::ExpertLoad> expert_loads_of(const engine::Trainer& trainer) {
    std::vector<journal::ExpertLoad> loads;
    for (const engine::ExpertLoad& load : trainer.expert_loads())
        loads.push_back({trainer.counts().steps, load.layer, load.load, load.dropped, load.entropy, load.balance_loss,
                         load.z_loss});
    return loads;
}

journal::Sampling sampling_of(const engine::Trainer& trainer) {
    const engine::SamplingStatistics statistics = trainer.sampling();
    const engine::Counts& counts = trainer.counts();
    return {counts.steps,
            statistics.pool,
            statistics.drawn,
            statistics.repeated,
            counts.cut_tokens,
            counts.padding_tokens,
            {statistics.epochs.begin(), statistics.epochs.end()}};
}

// A crash after the checkpoint must not find it ahead of the journal.
SavedCheckpoint save(const Run& run, double seconds) {
    constexpr double kBytesAParameter = 12;  // the weight and at most two moments
    run.heartbeat.begin("saving a checkpoint", saving_seconds(run.projection.parameters, kBytesAParameter));
    run.journal.sync();
    run.owner.require_now();
    return save_trial_checkpoint(run.config, run.dataset, run.trainer, run.places.checkpoint_folder,
                                 run.validation.progress(seconds));
}

// False: stopped before its end.
bool validate(const Run& run, double longest_batch) {
    run.heartbeat.begin_pieces("validating", longest_batch, 1);
    run.owner.require_now();  // the best weights so far are stored
    try {
        run.validation.run(run.journal, run.heartbeat);
    } catch (const StopAsked&) {
        return false;
    }
    return true;
}

// Bytes that the ranks sent each other in a step: measured around it.
struct Traffic {
    std::int64_t all = 0, experts = 0;

    static Traffic so_far(const engine::Trainer& trainer) {
        return {trainer.bytes_sent(), trainer.expert_bytes_sent()};
    }
    Traffic operator-(const Traffic& before) const { return {all - before.all, experts - before.experts}; }
};

// All ranks call it.
void add_traffic(const engine::Communicator& ranks, const Traffic& of_rank, journal::TrainPoint& point) {
    std::int64_t of_all[2] = {of_rank.all, of_rank.experts};
    ranks.all_reduce(std::span(of_all));
    point.sent_bytes = of_all[0];
    point.expert_bytes = of_all[1];
}

// Trains to the budget, with a journal line every log_every steps, where the model is validated, and at the end. False:
// stopped before. longest_step: seconds that a step may take, promised to the driver.
bool train(const Run& run, double longest_step, journal::Ended& ended) {
    const Clock::time_point start = Clock::now();
    Clock::time_point last_save = start;
    double not_training = 0;  // seconds spent on checkpoints and validations
    double every = run.config.checkpoint.every_seconds;
    double logged_at = run.resumed.progress.train_seconds;
    std::int64_t logged_tokens = run.trainer.counts().input_tokens;
    ended.train_seconds = logged_at;
    // The next step's gradients belong to the time of training.
    const auto end_step = [&] {
        const Clock::time_point before = Clock::now();
        run.trainer.wait();
        ended.step_seconds += seconds_since(before);
    };
    const auto save_now = [&] {
        end_step();
        const Clock::time_point before = Clock::now();
        save(run, ended.train_seconds);
        run.journal.write(journal::Spent{now_ms(), run.trainer.counts().steps,
                                         ended.train_seconds - run.resumed.progress.train_seconds, ended.eval_seconds,
                                         ended.waited_seconds});
        last_save = Clock::now();
        const double took = seconds_since(before);
        not_training += took;
        // On a slow disk less often: at most about a tenth of the time goes into checkpoints.
        if (every > 0) every = std::max(run.config.checkpoint.every_seconds, 9 * took);
    };
    run.heartbeat.begin_pieces("training", longest_step, run.projection.growth);
    run.trainer.work_ahead(true);
    while (true) {
        if (run.validation.due()) {
            end_step();
            const Clock::time_point before = Clock::now();
            const bool whole = validate(run, longest_step);
            ended.eval_seconds += seconds_since(before);
            not_training += seconds_since(before);
            if (!whole) {
                save_now();
                return false;
            }
            run.heartbeat.begin_pieces("training", longest_step, run.projection.growth);
        }
        if (run.trainer.done()) return true;
        const Clock::time_point before_step = Clock::now();
        const Traffic before = Traffic::so_far(run.trainer);
        const engine::StepResult result = run.trainer.step();
        const Traffic traffic = Traffic::so_far(run.trainer) - before;
        ended.step_seconds += seconds_since(before_step);
        const engine::Counts& counts = run.trainer.counts();
        ended.train_seconds = run.resumed.progress.train_seconds + seconds_since(start) - not_training;
        if (counts.steps % run.config.log_every == 0 || run.trainer.done() || run.validation.due()) {
            journal::TrainPoint point = point_of(run, result, ended.train_seconds);
            point.tokens_per_second = static_cast<double>(counts.input_tokens - logged_tokens) /
                                      std::max(1e-9, ended.train_seconds - logged_at);
            add_traffic(run.trainer.ranks(), traffic, point);
            run.journal.write(point);
            run.journal.write(sampling_of(run.trainer));
            for (const journal::ExpertLoad& load : expert_loads_of(run.trainer)) run.journal.write(load);
            logged_at = ended.train_seconds;
            logged_tokens = counts.input_tokens;
        }
        run.heartbeat.beat();
        if (run.trainer.done()) continue;
        const bool stopping = run.heartbeat.stopping();
        const bool due = every > 0 && engine::decided_by_first(run.trainer.ranks(), seconds_since(last_save) >= every);
        if (stopping || due) save_now();
        if (stopping) return false;
        if (due) run.heartbeat.begin_pieces("training", longest_step, run.projection.growth);
    }
}

void write_started(const Run& run, Clock::time_point process_started) {
    journal::Started started;
    started.time_ms = now_ms();
    started.start_seconds = seconds_since(process_started);
    started.pid = getpid();
    started.dataset_name = run.dataset.name;
    started.dataset_sha256 = run.dataset.sha256;
    started.dataset_bytes = run.dataset.train_bytes;
    started.dataset_tokens = run.dataset.train_tokens;
    started.total_steps = run.projection.steps;
    started.parameters = run.projection.parameters;
    if (run.projection.active_parameters != run.projection.parameters)
        started.active_parameters = run.projection.active_parameters;
    started.start_note = run.start_note;
    started.recompute = name_of(run.recompute);
    started.config_hash = config_hash(run.config);
    started.resume_step = run.resumed.step;
    started.note = run.dataset.note;
    if (!started.note.empty() && !run.resumed.note.empty()) started.note += "; ";
    started.note += run.resumed.note;
    started.resume_seconds = run.resumed.progress.train_seconds;
    run.journal.write(started);
}

// Before anything is computed together.
void require_same_program(const engine::Communicator& ranks, const TrialConfig& config) {
    if (ranks.size() == 1) return;
    engine::require_same(ranks, "the program's sha256", sha256_file("/proc/self/exe"),
                         "install the same build for all ranks");
    engine::require_same(ranks, "the configuration's hash", config_hash(config), "give all ranks the same run folder");
}

// Checkpoints are written by rank 0 and read by all.
void require_shared_folder(const engine::Communicator& ranks, const fs::path& folder) {
    if (ranks.size() == 1) return;
    const fs::path mark = folder / "seen_by_all_ranks";
    engine::on_first_rank(ranks, [&] {
        make_folder(folder);
        write_file_atomically(mark, "");
    });
    engine::require_same(ranks, fmt::format("the folder {} in which rank 0 has written", folder.string()),
                         fs::exists(mark) ? "there" : "not there", "put --root on a file system that all ranks share");
    engine::on_first_rank(ranks, [&] { fs::remove(mark); });
}

std::string chosen_note(RecomputeChoice chosen, const TrialSlot& slot) {
    if (slot.memory_bytes == 0)
        return fmt::format("train.recompute: auto takes {}: the memory of a worker is not known", name_of(chosen));
    return fmt::format("train.recompute: auto takes {}: a rank may plan {:.4g} GiB", name_of(chosen),
                       static_cast<double>(slot.memory_bytes) / (1 << 30));
}

// False: stopped before its end.
bool train_to_end(const TrialConfig& config, const TrialPlaces& places, const TrialSlot& slot, journal::Writer& journal,
                  CheckpointOwner& owner, const std::function<bool()>& stop, journal::Ended& ended) {
    const engine::Communicator& ranks = slot.ranks;
    meet_ranks(slot, ended.waited_seconds, [&] { require_same_program(ranks, config); });
    require_ranks(config, ranks.size());
    const Dataset dataset = load_dataset(config.data, config.model.seqlen, config.base_folder, places.data_folder);
    if (!dataset.note.empty()) fmt::print(stderr, "{}\n", dataset.note);
    ended.waited_seconds += dataset.waited_seconds;
    meet_ranks(slot, ended.waited_seconds, [&] {
        engine::require_same(ranks, "the data's sha256", dataset.sha256, "give all ranks the same data folder");
    });
    require_shared_folder(ranks, places.checkpoint_folder);
    TrialConfig chosen = config;
    chosen.train.recompute = chosen_recompute(config, slot.device, ranks.size(), slot.memory_bytes);
    if (chosen.train.recompute != config.train.recompute)
        fmt::print(stderr, "{}\n", chosen_note(chosen.train.recompute, slot));
    engine::TrainerConfig settings = trainer_config(chosen);
    ended.waited_seconds += add_curriculum(settings, config, dataset);
    engine::Trainer trainer(settings, dataset.train, backend_of(config, slot.device, slot.threads),
                            engine::InitialWeights::later, ranks);
    const Resumed resumed =
        places.resume ? resume_trial(config, trainer, places.checkpoint_folder, places.covered_step) : Resumed{};
    std::string start_note;
    if (resumed.checkpoint.folder.empty()) {
        trainer.draw_initial_weights();
        if (config.start) start_note = load_start_weights(config, dataset, trainer, places.start);
    }
    meet_ranks(slot, ended.waited_seconds, [&] {
        engine::require_same(ranks, "the checkpoint to resume from",
                             resumed.checkpoint.folder.string() + resumed.checkpoint.model_sha256,
                             "see what each rank passed over, in its log");
    });
    if (resumed.step == 0)  // the training is repeated
        engine::on_first_rank(ranks, [&] { remove_best_weights(places.checkpoint_folder); });
    TrainingValidation validation(config, dataset, trainer, places.checkpoint_folder, resumed);
    for (const std::string& note : {resumed.note, start_note})
        if (!note.empty()) fmt::print(stderr, "{}\n", note);
    if (resumed.step > 0) fmt::print(stderr, "going on from step {}\n", resumed.step);

    Heartbeat heartbeat(journal, stop, ranks.size());
    const Run run{config,     places, dataset, trainer,         journal,    heartbeat,
                  validation, owner,  resumed, project(config), start_note, chosen.train.recompute};
    write_started(run, slot.started);
    const double longest_step = longest_step_seconds(run.projection, slot);
    const bool whole = train(run, longest_step, ended);
    ended.flops = trainer.counts().flops;
    if (const kernels::cuda::Products* const products = trainer.exec().cuda.products)
        if (const std::string note = fallback_note(products->log.records()); !note.empty())
            fmt::print(stderr, "{}\n", note);
    for (const engine::StepGraphs* graphs : {&trainer.graphs(), &trainer.model().evaluation_graphs()})
        if (const std::string note = graphs->note(); !note.empty()) fmt::print(stderr, "{}\n", note);
    if (!whole) return false;
    const bool saved_before = resumed.step == trainer.counts().steps;
    const SavedCheckpoint saved = saved_before ? resumed.checkpoint : save(run, ended.train_seconds);
    engine::on_first_rank(ranks, [&] {
        keep_newest_checkpoints(places.checkpoint_folder, 1);
        if (!validation.best()) remove_best_weights(places.checkpoint_folder);  // the last ones are better
    });
    const std::optional<BestWeights>& best = validation.best();
    const SavedCheckpoint& result = best ? best->checkpoint : saved;
    const fs::path file = result.folder / "model.safetensors";
    journal.write(journal::Artifact{"checkpoint", fs::relative(file, places.run_folder).string(), result.model_sha256,
                                    result.model_bytes, best ? "best" : "final",
                                    best ? best->step : trainer.counts().steps});
    return true;
}

}  // namespace

int run_trial(const TrialConfig& config, const TrialPlaces& places, const TrialSlot& slot,
              const std::function<bool()>& stop) {
    CheckpointOwner owner(places.checkpoint_folder, places.run_folder.filename().string());
    return run_attempt(places.run_folder, slot, [&](journal::Writer& journal, journal::Ended& ended) {
        journal.set_guard([&owner] { owner.require(); });
        if (is_imported(config)) {
            owner.require_now();
            import_trial(config, places, journal, stop);
            return true;
        }
        return train_to_end(config, places, slot, journal, owner, stop, ended);
    });
}

}  // namespace deft::experiments
