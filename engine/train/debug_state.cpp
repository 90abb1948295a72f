#include "engine/train/debug_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>
#include <stdexcept>

#include "engine/io/safetensors.h"

namespace deft::engine {

namespace {

// Tensors with copies of their own, in the order they were taken.
class Snapshot {
 public:
    void copy(const std::string& name, const Tensor& tensor) {
        const char* bytes = static_cast<const char*>(tensor.data);
        copies_.emplace_back(bytes, bytes + tensor.bytes());
        Tensor own = tensor;
        own.data = copies_.back().data();
        tensors_.push_back({name, own});
    }
    const std::vector<NamedTensor>& tensors() const { return tensors_; }

 private:
    std::deque<std::vector<char>> copies_;
    std::vector<NamedTensor> tensors_;
};

std::map<std::string, std::string> describe(const Trainer& trainer, const StepResult& result) {
    const TrainerConfig& c = trainer.config();
    return {{"step", fmt::format("{}", trainer.counts().steps + 1)},
            {"mean_loss", fmt::format("{:.17g}", result.loss)},
            {"lr", fmt::format("{:.17g}", result.lr)},
            {"beta1", fmt::format("{:.17g}", c.optimizer.beta1)},
            {"beta2", fmt::format("{:.17g}", c.optimizer.beta2)},
            {"eps", fmt::format("{:.17g}", c.optimizer.eps)},
            {"weight_decay", fmt::format("{:.17g}", c.optimizer.weight_decay)},
            {"max_grad_norm", fmt::format("{:.17g}", c.optimizer.max_grad_norm)},
            {"layers", fmt::format("{}", c.model.layers())},
            {"heads", fmt::format("{}", c.model.heads())},
            {"kept_set_of_layer", fmt::format("{}", fmt::join(trainer.kept().set_of_layer, ","))}};
}

}  // namespace

void write_debug_state(Trainer& trainer, const std::filesystem::path& file) {
    const TrainerConfig& config = trainer.config();
    const StepPlan plan = plan_step(config.techniques, trainer.counts().steps, config.batch_size);
    if (plan.rows > rows_at_once(config, plan.seqlen))
        throw std::logic_error("a debug state needs the whole batch in one micro-batch");
    Transformer& model = trainer.model();
    const ParameterTable& table = model.parameters();
    Snapshot snapshot;
    for (const Parameter& p : table.all()) {
        snapshot.copy("weights." + p.name, p.value);
        snapshot.copy("adam_m." + p.name, table.first_moment(p));
        snapshot.copy("adam_v." + p.name, table.second_moment(p));
    }
    const StepResult result = trainer.accumulate_gradients();
    const std::int64_t B = result.plan.rows, T = result.plan.seqlen, V = config.model.vocab;
    snapshot.copy("batch.token", model.token.view({B, T}));
    snapshot.copy("batch.target", model.target.view({B, T}));
    if (trainer.kept().index) snapshot.copy("kept.index", trainer.kept().index);
    if (const Tensor state = trainer.dropper_state()) snapshot.copy("router_state", state);
    std::vector<float> logits(static_cast<std::size_t>(B * T * V));
    const Tensor logits_view = make_tensor(logits.data(), DType::f32, {B, T, V});
    model.logits(trainer.exec(), logits_view, B, T);
    snapshot.copy("logits", logits_view);
    snapshot.copy("loss", model.loss.view({B, T}));
    for (const Parameter& p : table.all()) snapshot.copy("grad." + p.name, p.grad);
    double norm = result.grad_norm;
    snapshot.copy("grad_norm", make_tensor(&norm, DType::f64, {1}));
    const auto metadata = describe(trainer, result);
    trainer.update();
    for (const Parameter& p : table.all()) snapshot.copy("updated." + p.name, p.value);
    write_safetensors(file, snapshot.tensors(), metadata);
}

}  // namespace deft::engine
