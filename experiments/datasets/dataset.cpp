#include "experiments/datasets/dataset.h"

#include <fmt/format.h>

namespace deft::experiments {

Dataset dataset_of(const PackedDataset& corpus, std::int64_t seqlen) {
    Dataset dataset;
    dataset.name = corpus.name;
    dataset.sha256 = corpus.sha256;
    dataset.tokenizer = corpus.tokenizer;
    dataset.seqlen = seqlen;
    dataset.train = corpus.train;
    dataset.valid = corpus.valid;
    dataset.source = engine::packed_samples(corpus.train, seqlen, corpus.tokenizer.vocab());
    dataset.train_bytes = corpus.train.bytes;
    dataset.train_tokens = corpus.train.tokens.size;
    dataset.folder = corpus.folder;
    dataset.note = corpus.note;
    dataset.waited_seconds = corpus.waited_seconds;
    return dataset;
}

Dataset dataset_of(const BertDataset& corpus, const BertSamplesConfig& config, std::int64_t seqlen) {
    const engine::SampleShape shape{seqlen, config.pairs, config.short_probability};
    const engine::MaskingRule masking{.fraction = config.mask_fraction, .whole_words = config.whole_words};
    const auto samples_of = [&](const engine::SentenceCorpus& text) {
        return std::make_shared<const engine::BertSamples>(text, corpus.wordpiece, shape, masking,
                                                           static_cast<std::uint64_t>(config.seed));
    };
    const auto train = samples_of(corpus.train);
    Dataset dataset;
    dataset.name = corpus.name;
    dataset.sha256 = corpus.sha256;
    dataset.tokenizer = corpus.wordpiece;
    dataset.seqlen = seqlen;
    dataset.train = train;
    dataset.valid = samples_of(corpus.valid);
    dataset.source = engine::bert_samples(train);
    dataset.train_bytes = corpus.train.bytes;
    dataset.train_tokens = corpus.train.tokens.size;
    dataset.folder = corpus.folder;
    dataset.note = corpus.note;
    dataset.waited_seconds = corpus.waited_seconds;
    return dataset;
}

namespace {

// Images have no tokens; asking for them is an error of the caller.
engine::TokenSpan no_tokens(std::int64_t, std::vector<std::int32_t>&) {
    throw Error(ErrorKind::config, "images have no tokens to measure", "order them by a column of your own");
}

}  // namespace

Dataset dataset_of(const ImageDataset& images, const DataConfig& data, std::int64_t seqlen,
                   const std::filesystem::path& folder) {
    const engine::ChannelStatistics channels = engine::channel_statistics(images.training);
    Dataset dataset;
    dataset.name = data.corpus;
    dataset.sha256 = images.sha256;
    dataset.tokenizer = engine::NoTokenizer{};
    dataset.seqlen = seqlen;
    dataset.train = std::make_shared<const engine::ImageSamples>(engine::ImageSamples{
        images.training, {data.images.crop_padding, data.images.flip, channels, data.images.resize}});
    dataset.valid = std::make_shared<const engine::ImageSamples>(
        engine::ImageSamples{images.testing, {0, false, channels, data.images.resize}});
    dataset.source = {images.training.count(), seqlen, 0, "images", no_tokens};
    dataset.train_bytes = images.training.count() * images.training.image_pixels();
    dataset.train_tokens = images.training.count() * seqlen;
    dataset.folder = folder;
    return dataset;
}

Dataset dataset_of(LabelledDataset texts, std::int64_t seqlen, const std::filesystem::path& folder) {
    const auto labelled = std::make_shared<const LabelledDataset>(std::move(texts));
    const LabelledSamplesPointer training = labelled->training;
    Dataset dataset;
    dataset.name = labelled->task.name;
    dataset.sha256 = labelled->sha256;
    dataset.tokenizer = labelled->wordpiece;
    dataset.seqlen = seqlen;
    dataset.train = training;
    dataset.valid = labelled->splits.front().samples;
    dataset.labelled = labelled;
    dataset.source = {training->size(), seqlen, labelled->wordpiece->vocab(), "labelled texts",
                      [training](std::int64_t sample, std::vector<std::int32_t>&) -> engine::TokenSpan {
                          const auto tokens = training->tokens(sample);
                          return {tokens.data(), static_cast<std::int64_t>(tokens.size()), 4};
                      }};
    dataset.train_bytes = labelled->train_bytes;
    for (std::int64_t i = 0; i < training->size(); ++i) dataset.train_tokens += training->length(i);
    dataset.folder = folder;
    dataset.note = labelled->note;
    return dataset;
}

DatasetIdentity dataset_identity(const DataConfig& data, const std::string& base_folder, SeenFiles* seen) {
    if (data.samples == SampleKind::labelled) return labelled_identity(data, base_folder);
    if (data.samples == SampleKind::images) return image_identity(data, base_folder);
    return data.samples == SampleKind::bert ? bert_identity(data, base_folder, seen)
                                            : packed_identity(data, base_folder, seen);
}

Dataset load_dataset(const DataConfig& data, std::int64_t seqlen, const std::string& base_folder,
                     const std::filesystem::path& data_folder, const PrepareProgress& progress) {
    if (data.samples == SampleKind::images) {
        const ImageDataset images = load_image_dataset(data, base_folder);
        return dataset_of(images, data, seqlen, prepared_folder(data_folder, images.sha256));
    }
    if (data.samples == SampleKind::labelled) {
        LabelledDataset texts = load_labelled_dataset(data, seqlen, base_folder);
        const std::filesystem::path folder = prepared_folder(data_folder, texts.sha256);
        return dataset_of(std::move(texts), seqlen, folder);
    }
    const bool bert = data.samples == SampleKind::bert;
    Dataset dataset = bert ? dataset_of(load_bert_dataset(data, base_folder, data_folder, progress), data.bert, seqlen)
                           : dataset_of(load_packed_dataset(data, base_folder, data_folder, progress), seqlen);
    if (dataset.source.samples < 1)
        throw Error(ErrorKind::config,
                    bert ? fmt::format("the training text of {} has no sentence", dataset.name)
                         : fmt::format("the training text of {} has fewer tokens than one sample of {} and its last"
                                       " target",
                                       dataset.name, seqlen),
                    bert ? "supply text" : "take a shorter length, or more text");
    if (bert && engine::sample_count(dataset.valid, seqlen) < 1)
        throw Error(ErrorKind::config, fmt::format("the validation text of {} has no sentence", dataset.name),
                    "supply data.valid_files, or give data.split a larger second share");
    return dataset;
}

}  // namespace deft::experiments
