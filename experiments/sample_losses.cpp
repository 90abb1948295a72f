#include "experiments/sample_losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "engine/core/exec.h"
#include "engine/io/npy.h"

namespace deft::experiments {

std::vector<double> sample_losses(TrainedModel& trained, const PackedDataset& dataset, std::int64_t seqlen,
                                  const PrepareProgress& progress) {
    engine::Transformer& model = *trained.model;
    const engine::Tokenizer& tokenizer = text_tokenizer(trained);
    if (tokenizer.sha256() != dataset.tokenizer.sha256())
        throw Error(ErrorKind::config,
                    fmt::format("the corpus is of tokenizer {} (sha256 {}), and the model of {} (sha256 {})",
                                dataset.tokenizer.name(), short_hash(dataset.tokenizer.sha256()), tokenizer.name(),
                                short_hash(tokenizer.sha256())),
                    "name the tokenizer folder of the checkpoint with --tokenizer");
    if (seqlen > model.config().max_seqlen)
        throw Error(
            ErrorKind::config,
            fmt::format("samples of {} tokens, and the model takes {} at most", seqlen, model.config().max_seqlen),
            fmt::format("take a sample length of at most {}", model.config().max_seqlen));
    const std::int64_t samples = dataset.train.samples(seqlen), batch = trained.config.train.micro_batch_size;
    std::vector<std::int32_t> token(static_cast<std::size_t>(batch * seqlen)), target(token.size());  // (B, T)
    std::vector<double> losses;
    losses.reserve(static_cast<std::size_t>(samples));
    for (std::int64_t first = 0; first < samples; first += batch) {
        const std::int64_t B = std::min(batch, samples - first);
        for (std::int64_t b = 0; b < B; ++b)
            engine::copy_sample(dataset.train, first + b, seqlen, seqlen, token.data() + b * seqlen,
                                target.data() + b * seqlen);
        model.load(trained.exec, {B, seqlen, token.data(), target.data()});
        model.evaluate(trained.exec, B, seqlen);
        const auto loss = engine::host_copy<float>(trained.exec, model.loss.view({B, seqlen}));  // (B, T)
        for (std::int64_t b = 0; b < B; ++b) {
            double sum = 0;
            for (std::int64_t t = 0; t < seqlen; ++t)
                sum += static_cast<double>(loss[static_cast<std::size_t>(b * seqlen + t)]);
            losses.push_back(sum / static_cast<double>(seqlen));
        }
        if (progress) progress("measuring perplexity", static_cast<double>(first + B) / static_cast<double>(samples));
    }
    return losses;
}

std::filesystem::path perplexity_column(TrainedModel& trained, const PackedDataset& dataset, std::int64_t seqlen,
                                        const PrepareProgress& progress) {
    const std::filesystem::path folder = dataset.folder / "difficulty";
    const std::filesystem::path file =
        folder / fmt::format("perplexity-{}-{}.npy", trained.model_sha256.substr(0, 8), seqlen);
    if (std::filesystem::exists(file)) return file;
    make_folder(folder);
    const std::vector<double> losses = sample_losses(trained, dataset, seqlen, progress);
    engine::write_npy(file, std::span(losses));
    return file;
}

}  // namespace deft::experiments
