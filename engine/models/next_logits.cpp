// Next-token logits of a model that generates, from a text's cached keys and values.

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "engine/core/exec.h"
#include "engine/models/transformer.h"

namespace deft::engine {

void Transformer::next_logits(Exec& exec, KeyValueCache& cache, std::span<const std::int32_t> ids, Tensor logits) {
    const auto M = static_cast<std::int64_t>(ids.size());
    const bool begins = cache.held == 0;
    if (M == 0 || cache.held + (begins ? M : 1) > cache.T || (!begins && M != cache.samples))
        throw std::logic_error("tokens that do not fit the cache of what they follow");
    require_in_vocabulary(ids, 0, "token");
    length_ = {};
    packed_ = {};
    shape_ = {1, M};
    write_tensor(exec, loaded(token), ids.data());
    if (!begins) {  // else the positions are those of the rows
        packed_.position = position_.view({1, M});
        std::fill(cache.position.begin(), cache.position.end(), static_cast<std::int32_t>(cache.held));
        std::fill(cache.lengths.begin(), cache.lengths.end(), static_cast<std::int32_t>(cache.held + 1));
        write_tensor(exec, packed_.position, cache.position.data());
        write_tensor(exec, cache.length, cache.lengths.data());
    }
    const auto pass = [&] {
        StreamRows rows = stream_rows(1, M, {}, {});
        rows.cache = &cache;
        embedding_->forward(exec, stack_.input(rows), loaded_ids(), rows);
        const Tensor states = forward(exec, rows);
        const std::int64_t C = config_.width, asked = begins ? 1 : M;
        const Tensor last = begins ? states.view({M, C}).slice(M - 1) : states;
        head_->next_logits(exec, logits.view({1, asked, config_.vocab}), last.view({1, asked, C}));
    };
    if (begins || !evaluation_graphs_.records)  // ranks exchange experts' rows from the host
        pass();
    else
        cache.graphs.run(exec, {M, reinterpret_cast<std::intptr_t>(logits.data)}, pass);
    cache.held += begins ? M : 1;
}

void require_generates(const TransformerConfig& config) {
    const auto refuse = [](const std::string& what) {
        throw Error(ErrorKind::config, "the model cannot continue a text: " + what,
                    "name the checkpoint of a model of packed text, as of kind gpt or llama");
    };
    if (config.input.patches || !config.head) refuse("it has no tokens to put out");
    if (!config.is_causal()) refuse("its positions look to later ones too, as BERT's do");
    if (config.input.segments > 0) refuse("it has segment embeddings");
}

}  // namespace deft::engine
