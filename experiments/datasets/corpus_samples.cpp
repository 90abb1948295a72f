#include "experiments/datasets/corpus_samples.h"

#include <fmt/format.h>

namespace deft::experiments {

CorpusSamples samples_of(const Dataset& dataset, std::int64_t seqlen) {
    return {dataset.name,
            dataset.sha256,
            dataset.tokenizer.sha256(),
            seqlen,
            engine::packed_samples(dataset.train, seqlen, dataset.tokenizer.vocab()),
            nullptr,
            dataset.folder,
            dataset.note};
}

CorpusSamples samples_of(const BertDataset& dataset, const BertSamplesConfig& config, std::int64_t seqlen) {
    const engine::SampleShape shape{seqlen, config.pairs, config.short_probability};
    const engine::MaskingRule masking{.fraction = config.mask_fraction, .whole_words = config.whole_words};
    const auto samples = std::make_shared<const engine::BertSamples>(dataset.train, dataset.wordpiece, shape, masking,
                                                                     static_cast<std::uint64_t>(config.seed));
    return {dataset.name, dataset.sha256, dataset.wordpiece->sha256(), seqlen, engine::bert_samples(samples),
            samples,      dataset.folder, dataset.note};
}

CorpusSamples load_samples(const DataConfig& data, std::int64_t seqlen, const std::string& base_folder,
                           const std::filesystem::path& data_folder, const PrepareProgress& progress) {
    const bool bert = data.samples == "bert";
    CorpusSamples samples =
        bert ? samples_of(load_bert_dataset(data, base_folder, data_folder, progress), data.bert, seqlen)
             : samples_of(load_dataset(data, base_folder, data_folder, progress), seqlen);
    if (samples.source.samples < 1)
        throw Error(ErrorKind::config,
                    bert ? fmt::format("the training text of {} has no sentence", samples.corpus)
                         : fmt::format("the training text of {} has fewer tokens than one sample of {} and its last"
                                       " target",
                                       samples.corpus, seqlen),
                    bert ? "supply text" : "take a shorter length, or more text");
    return samples;
}

}  // namespace deft::experiments
