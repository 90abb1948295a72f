#include "experiments/evaluation/masked_loss.h"

#include <algorithm>

#include "base/error.h"
#include "experiments/evaluation/head_sums.h"

namespace deft::experiments {

MaskedLoss masked_loss(engine::Transformer& model, engine::Exec& exec,
                       const std::shared_ptr<const engine::BertSamples>& samples, std::int64_t max_tokens,
                       std::int64_t batch, const BatchLoop& loop) {
    const std::int64_t T = model.config().max_seqlen;
    const std::int64_t count = std::min(samples->size(), std::max<std::int64_t>(1, max_tokens / T));
    HeadSums masked, order;
    const auto add = [&](const engine::ModelInput& input, const BatchOutcome& outcome) {
        masked.add(outcome.loss, outcome.greedy, input.target);
        order.add(outcome.class_loss, outcome.class_greedy, input.class_target);
    };
    evaluate_samples(model, exec, samples, count, batch, add, loop);
    if (masked.targets == 0)
        throw Error(ErrorKind::config, "the validation text has no token that could be masked",
                    "supply more validation text");
    return {masked.loss(), masked.accuracy(), masked.target_entropy(), masked.targets,
            count * T,     order.loss(),      order.accuracy(),        order.targets};
}

}  // namespace deft::experiments
