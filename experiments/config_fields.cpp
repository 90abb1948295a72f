#include "experiments/config_fields.h"

#include <algorithm>
#include <map>

#include "base/metric.h"
#include "engine/data_efficiency/token_dropping/token_dropping.h"
#include "experiments/curriculum_entries.h"
#include "experiments/model_kinds.h"
#include "experiments/size_limits.h"

namespace deft::experiments {

namespace {

constexpr const char* kPointsSchema = R"({"type": "array", "minItems": 2, "items": {"type": "array",
    "minItems": 2, "maxItems": 2, "items": [{"type": "number"}, {"type": "integer"}]}})";
constexpr const char* kLayersSchema = R"({"anyOf": [{"type": "string", "pattern": "^[0-9]+-[0-9]+$"},
    {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}}]})";
constexpr const char* kCountsSchema = R"({"anyOf": [{"type": "integer", "minimum": 1},
    {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 1}}]})";
constexpr const char* kExpertLayersSchema =
    R"({"anyOf": [{"type": "string", "pattern": "^(every [0-9]+|[0-9]+-[0-9]+)$"},
    {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}}]})";
constexpr const char* kSplitSchema =
    R"({"type": "array", "minItems": 3, "maxItems": 3, "items": {"type": "integer", "minimum": 0}})";

Field enabled() {
    return {"enabled", apart<bool>, "false: disables the table, as if it were absent.", {.by_default = "true"}};
}

// Each key's row stays together.
// clang-format off

// Fields of a quantity that grows over the steps; `Outer` is the path to its Growth.
template <auto... Outer>
Fields growth_fields(const char* multiple_key, const char* min, const char* max, const char* multiple) {
    return {
        {"min", at<Outer..., &Growth::min>, "Initial value.", {.at_least = 1, .by_default = min}},
        {"max", at<Outer..., &Growth::max>, "Final value.", {.by_default = max}},
        {multiple_key, at<Outer..., &Growth::multiple>,
         "Increment: values are rounded down to a multiple of it. Ignored for discrete and points pacing.",
         {.at_least = 1, .by_default = multiple}},
        choice<Outer..., &Growth::pacing>("pacing",
         "Pacing function from min to max. constant: stays at min. discrete: holds the value of the last point. "
         "points: interpolates linearly between points."),
        {"root_degree", at<Outer..., &Growth::root_degree>,
         "Degree of the root: 2 is the square root. Root pacing only.",
         {.at_least = 1}},
        {"stages", at<Outer..., &Growth::stages>, "Number of equal rises. Step pacing only.", {.at_least = 1}},
        {"points", apart<std::vector<double>>,
         "Points of the pacing function, in place of min and max. Discrete and points pacing only.",
         {.takes = "[[0, value], ..., [1, value]]: pairs of a duration fraction and a value", .schema = kPointsSchema}},
        {"duration", at<Outer..., &Growth::duration>,
         "Duration of the growth, as a fraction of the baseline's steps at this budget.",
         {.at_least = 0, .at_most = kMostDuration, .by_default = "required, or steps; not for constant pacing"}},
        {"steps", at<Outer..., &Growth::steps>, "Duration of the growth in steps.",
         {.unit = "steps", .at_least = 0, .at_most = kMostSteps,
          .by_default = "required, or duration; not for constant pacing"}},
    };
}

// A dropper's own keys, read from the configuration that has its settings.
Fields settings_fields(const engine::TokenDropper& dropper) {
    Fields fields = dropper.keys;
    for (Field& field : fields)
        field.in = [in = field.in](void* record) {
            return in(static_cast<TokenDroppingConfig*>(record)->settings.get());
        };
    return fields;
}

Fields dropping_fields(const engine::TokenDropper& dropper) {
    const Fields common = joined(
        {enabled(),
         {"layers", at<&TokenDroppingConfig::layers>,
          "Layers that drop tokens: indices from 0, ascending.",
          {.by_default = dropper.default_layers_text, .takes = "[1, 2, 5] or \"1-22\"", .schema = kLayersSchema,
           .apart = true}},
         {"keep_first", at<&TokenDroppingConfig::keep_first>,
          "Number of leading tokens that are always kept.",
          {.unit = "tokens", .at_least = 0,
           .by_default = "1 if a head reads the first token (BERT pairs, images, labelled texts), else 0"}}},
        growth_fields<&TokenDroppingConfig::growth>("step", "", "model.seqlen", ""));
    return joined(common, settings_fields(dropper));
}

std::vector<KeyTable> dropping_tables() {
    std::vector<KeyTable> tables;
    for (const engine::TokenDropper& dropper : engine::token_droppers()) {
        TokenDroppingConfig defaults;
        defaults.dropper = &dropper;
        defaults.settings = dropper.new_settings();
        tables.push_back(key_table(dropper.name, dropper.meaning, defaults));
    }
    return tables;
}

}  // namespace

const Fields& fields_of(const TrialConfig&) {
    static const Fields fields = {{"log_every", at<&TrialConfig::log_every>, "Logging interval.",
                                   {.unit = "steps", .at_least = 1, .role = FieldRole::local}}};
    return fields;
}

const Fields& fields_of(const ModelConfig&) {
    static const Fields fields = {
        {"preset", apart<std::string>, "Name of a model preset. The keys below override its keys.",
         {.by_default = "none", .takes = "a name in experiments/presets"}},
        {"kind", at<&ModelConfig::kind>,
         "Family of defaults for the keys below. The keys alone determine the model.",
         {.one_of = model_kinds(), .by_default = "gpt; bert for BERT samples and labelled texts; vit for images",
          .role = FieldRole::local}},
        {"layers", at<&ModelConfig::layers>, "Number of transformer blocks.", {.at_least = 1, .at_most = kMostLayers}},
        {"width", at<&ModelConfig::width>, "Embedding dimension, a multiple of heads.",
         {.at_least = 1, .at_most = kMostWidth}},
        {"seqlen", at<&ModelConfig::seqlen>, "Full sequence length, and the number of learned positions.",
         {.unit = "tokens", .at_least = 2, .at_most = kMostSeqlen, .by_default = "64; for images, patches + 1"}},
        {"init_std", at<&ModelConfig::init_std>, "Standard deviation of initial weights.", {.at_least = 0}},
        choice<&ModelConfig::positions>("positions",
         "Position encoding. learned: position embeddings. rope: rotary position embeddings of queries and keys."),
        {"rope_theta", at<&ModelConfig::rope_theta>,
         "Base of the rotation angles. Rotary positions only.", {.above = 0}},
        {"segments", at<&ModelConfig::segments>,
         "Number of segment (token type) embeddings. 0: none. BERT samples and labelled texts only.",
         {.at_least = 0, .at_most = kMostSegments}},
        {"input_norm", at<&ModelConfig::input_norm>, "Adds a norm before the first block."},
        choice<&ModelConfig::norm>("norm", "layer: LayerNorm with a bias. rms: RMSNorm."),
        {"norm_eps", at<&ModelConfig::norm_eps>,
         "Term added to the variance or mean square for numerical stability.", {.above = 0}},
        choice<&ModelConfig::norm_placement>("norm_placement",
         "pre: normalizes the input of each attention and feed-forward sublayer, and the output of the last block. "
         "post: normalizes each residual sum."),
        {"heads", at<&ModelConfig::heads>, "Number of attention heads per layer.", {.at_least = 1}},
        {"kv_heads", at<&ModelConfig::kv_heads>,
         "Number of key and value heads, a divisor of heads (grouped-query attention).",
         {.at_least = 1, .by_default = "heads"}},
        {"causal", at<&ModelConfig::causal>, "Causal attention: a token attends only to itself and to earlier tokens."},
        {"attention_bias", at<&ModelConfig::attention_bias>, "Adds biases to the linear layers of attention."},
        {"hidden", at<&ModelConfig::hidden>, "Hidden dimension of the feed-forward sublayer.",
         {.at_least = 1, .at_most = 8 * kMostWidth,
          .by_default = "4 x width; for swiglu 8/3 x width, rounded up to a multiple of 8"}},
        choice<&ModelConfig::activation>("activation", "Activation of the feed-forward sublayer."),
        {"feed_forward_bias", at<&ModelConfig::feed_forward_bias>,
         "Adds biases to the linear layers of the feed-forward sublayer."},
        {"tied_head", at<&ModelConfig::tied_head>, "Shares the token embedding with the language-model head."},
        {"head_bias", at<&ModelConfig::head_bias>, "Adds a bias per vocabulary entry to the language-model head."},
        {"head_transform", at<&ModelConfig::head_transform>,
         "Adds a linear layer, the activation and a norm before the language-model head.", {.came_later = true}},
        {"order_head", at<&ModelConfig::order_head>,
         "Adds a head for sentence-order prediction, and its loss. The head reads the first token.",
         {.by_default = "true for kind bert with data.bert.pairs", .came_later = true}},
        {"patch", at<&ModelConfig::patch>, "Side of the square image patches. 0: a model of tokens.",
         {.unit = "pixels", .at_least = 0, .at_most = kMostImageSide, .by_default = "4 for kind vit",
          .came_later = true}},
        {"image_height", at<&ModelConfig::image_height>, "Height of the input images. Images only.",
         {.unit = "pixels", .at_least = 0, .at_most = kMostImageSide, .by_default = "from the data",
          .came_later = true}},
        {"image_width", at<&ModelConfig::image_width>, "Width of the input images. Images only.",
         {.unit = "pixels", .at_least = 0, .at_most = kMostImageSide, .by_default = "from the data",
          .came_later = true}},
        {"image_channels", at<&ModelConfig::image_channels>, "Number of channels of the input images. Images only.",
         {.at_least = 0, .at_most = kMostImageChannels, .by_default = "from the data", .came_later = true}},
        {"classes", at<&ModelConfig::classes>, "Number of classes. Images and labelled texts only.",
         {.at_least = 0, .at_most = kMostVocab, .by_default = "from the data", .came_later = true}},
        choice<&ModelConfig::pooling>("pooling",
         "Input of the classification head. first: the class token. mean: the mean of the class token and all patches. "
         "Images only.",
         {.came_later = true}),
        {"value_head", at<&ModelConfig::value_head>,
         "Regression head, trained with squared error, for numeric labels. Labelled texts only.",
         {.by_default = "from the data", .came_later = true}},
        {"head_dropout", at<&ModelConfig::head_dropout>,
         "Dropout probability of the head's input. Labelled texts only.",
         {.at_least = 0, .below = 1, .by_default = "model.dropout", .came_later = true}},
        {"dropout", at<&ModelConfig::dropout>,
         "Residual dropout probability, applied to the outputs of attention and feed-forward sublayers.",
         {.at_least = 0, .below = 1}},
        {"attention_dropout", at<&ModelConfig::attention_dropout>, "Dropout probability of attention weights.",
         {.at_least = 0, .below = 1}},
        {"input_dropout", at<&ModelConfig::input_dropout>, "Dropout probability of the first block's input.",
         {.at_least = 0, .below = 1}},
    };
    return fields;
}

const Fields& fields_of(const ExpertLayersConfig&) {
    static const Fields fields = {
        enabled(),
        {"count", at<&ExpertLayersConfig::count>,
         "Number of experts per layer. Each expert has the hidden dimension model.hidden.",
         {.by_default = "required", .takes = "a number, or a list with one number per expert layer",
          .schema = kCountsSchema,
          .apart = true}},
        {"layers", at<&ExpertLayersConfig::layers>,
         "Layers with experts in place of the feed-forward sublayer: indices from 0, ascending.",
         {.by_default = "every 2", .takes = "\"every N\" (the last of each N layers), \"1-22\" or [1, 3, 5]",
          .schema = kExpertLayersSchema, .apart = true}},
        {"top", at<&ExpertLayersConfig::top>, "Experts per token (top-k routing).", {.at_least = 1}},
        {"capacity_factor", at<&ExpertLayersConfig::capacity_factor>,
         "Capacity of an expert in training, as a multiple of its equal share of a micro-batch. Excess tokens skip the "
         "expert. 0: no limit.",
         {.at_least = 0}},
        {"min_capacity", at<&ExpertLayersConfig::min_capacity>, "Lower bound of an expert's capacity.",
         {.unit = "tokens", .at_least = 0}},
        {"random_token_selection", at<&ExpertLayersConfig::random_token_selection>,
         "true: an expert above its capacity keeps random tokens. false: it keeps the first tokens."},
        {"jitter", at<&ExpertLayersConfig::jitter>,
         "Multiplicative noise of the gate's input in training, uniform from 1 - jitter to 1 + jitter.",
         {.at_least = 0, .below = 1}},
        {"sampled_noise", at<&ExpertLayersConfig::sampled_noise>,
         "Samples experts from the gate's probabilities in training. With top above 1, the first expert is not "
         "sampled."},
        {"aux_weight", at<&ExpertLayersConfig::aux_weight>, "Weight of the load-balancing loss.", {.at_least = 0}},
        {"z_weight", at<&ExpertLayersConfig::z_weight>,
         "Weight of the router z-loss: the mean squared log-sum-exp of the gate's logits.",
         {.at_least = 0}},
        {"residual", at<&ExpertLayersConfig::residual>,
         "Adds a dense feed-forward sublayer beside the experts (PR-MoE). A second gate mixes the two outputs."},
    };
    return fields;
}

const Fields& fields_of(const DataConfig&) {
    static const Fields fields = {
        {"corpus", at<&DataConfig::corpus>, "Training corpus.",
         {.takes = "embedded, text, indexed or a name of deft data list. Images: a name of deft data list. Labelled "
                   "texts: a task of experiments/tasks with training records, or such a file beside the sweep file"}},
        {"train_files", at<&DataConfig::train_files>,
         "corpus = text: .txt files (one document each), .jsonl files (key \"text\", one document per line), folders "
         "or patterns. Files may be compressed (.gz, .zst). corpus = indexed: the prefix of one Megatron dataset, or "
         "llm.c token shards (.bin) in order. Paths are relative to DEFT_DATA_MIRROR or to the sweep file.",
         {.role = FieldRole::local}},
        {"valid_files", at<&DataConfig::valid_files>,
         "Validation files, as train_files. Without them, train_files are split.",
         {.role = FieldRole::local}},
        {"split", at<&DataConfig::split>,
         "Shares of the documents, in order, for training, validation and test.",
         {.takes = "three integers", .schema = kSplitSchema}},
        {"max_bytes", at<&DataConfig::max_bytes>,
         "Maximum size of the text. With separate validation files, it limits the training text only. 0: no limit.",
         {.unit = "bytes", .at_least = 0}},
        choice<&DataConfig::samples>("samples",
         "packed: concatenated documents in samples of equal length. bert: consecutive sentences of one document. "
         "images: images with classes. labelled: texts of a task with their labels."),
        {"tokenizer", at<&DataConfig::tokenizer>, "Tokenizer of the text.",
         {.takes = "bytes, gpt2, bpe (trained on the corpus) or a folder with vocab.json and merges.txt. BERT samples "
                   "and labelled texts: bert-base-uncased, a folder with vocab.txt or a .txt file",
          .role = FieldRole::local}},
        {"vocab", at<&DataConfig::vocab>, "Vocabulary size that bpe is trained to. tokenizer = bpe only.",
         {.unit = "tokens", .by_default = "from the tokenizer"}},
        {"embedded_seed", at<&DataConfig::embedded_seed>, "Seed of the generated embedded corpus."},
        {"embedded_bytes", at<&DataConfig::embedded_bytes>, "Size of the embedded corpus.",
         {.unit = "bytes", .at_least = 1000, .at_most = kMostEmbeddedBytes}},
        {"shuffled_facts", at<&DataConfig::shuffled_facts>,
         "Shuffles the facts of the embedded corpus. A control, because such facts cannot be learned."},
        {"sha256", at<&DataConfig::sha256>,
         "SHA-256 of everything that determines the tokens.", {.role = FieldRole::computed}},
        {"epoch_samples", at<&DataConfig::epoch_samples>, "Number of training samples. Labelled texts only.",
         {.role = FieldRole::computed}},
    };
    return fields;
}

const Fields& fields_of(const BertSamplesConfig&) {
    static const Fields fields = {
        choice<&BertSamplesConfig::sentences>("sentences", "Sentence boundaries: after punctuation, or at line ends."),
        {"lower_case", at<&BertSamplesConfig::lower_case>,
         "Lower-cases text and strips accents, for an uncased vocabulary."},
        {"pairs", at<&BertSamplesConfig::pairs>,
         "true: two segments, [CLS] A [SEP] B [SEP]. false: one segment, [CLS] A [SEP]."},
        {"short_probability", at<&BertSamplesConfig::short_probability>,
         "Probability that a sample gets a random shorter target length.",
         {.at_least = 0, .at_most = 1}},
        {"mask_fraction", at<&BertSamplesConfig::mask_fraction>,
         "Fraction of tokens that is masked. Difficulty metrics read the unmasked samples.",
         {.above = 0, .at_most = 1}},
        {"whole_words", at<&BertSamplesConfig::whole_words>,
         "Whole-word masking: masks all pieces of a word together."},
        {"seed", at<&BertSamplesConfig::seed>,
         "Seed of short samples, segment boundaries, segment order and masking.",
         {.at_least = 0}},
    };
    return fields;
}

const Fields& fields_of(const ImageSamplesConfig&) {
    static const Fields fields = {
        {"test_every", at<&ImageSamplesConfig::test_every>,
         "Every Nth image is a test image, if the data set has no test images.", {.at_least = 2}},
        {"crop_padding", at<&ImageSamplesConfig::crop_padding>,
         "Black padding on each side of a training image before a random crop of the image's size.",
         {.unit = "pixels", .at_least = 0, .at_most = kMostImageSide}},
        {"flip", at<&ImageSamplesConfig::flip>,
         "Flips training images horizontally with probability 0.5. Not suitable for digits."},
        {"resize", at<&ImageSamplesConfig::resize>,
         "Side to which all images are resized first, such as that of a pretrained model. 0: no resizing.",
         {.unit = "pixels", .at_least = 0, .at_most = kMostImageSide, .came_later = true}},
    };
    return fields;
}

const Fields& fields_of(const LabelledConfig&) {
    static const Fields fields = {
        {"records", at<&LabelledConfig::records>, "Number of training records: the first ones of the task. 0: all.",
         {.unit = "records", .at_least = 0}},
        {"lower_case", at<&LabelledConfig::lower_case>,
         "Lower-cases text and strips accents, for an uncased vocabulary."},
        {"truncate_labels", at<&LabelledConfig::truncate_labels>,
         "Truncates numeric labels to integers in training and evaluation. Only for comparison with scores published "
         "that way."},
        {"whole_batches", at<&LabelledConfig::whole_batches>,
         "Drops the incomplete last batch of each epoch and of each evaluated split. The value must equal "
         "train.batch_size. 0: keeps it. Only for comparison with scores published that way.",
         {.unit = "records", .at_least = 0, .at_most = kMostBatchSize, .came_later = true}},
        {"scored_records", at<&LabelledConfig::scored_records>,
         "Number of evaluated records: the first ones of each split. 0: all.",
         {.unit = "records", .at_least = 0, .came_later = true}},
    };
    return fields;
}

const Fields& fields_of(const TrainConfig&) {
    static const Fields fields = {
        {"batch_size", at<&TrainConfig::batch_size>, "Samples per optimizer step.",
         {.unit = "samples", .at_least = 1, .at_most = kMostBatchSize}},
        {"micro_batch_size", at<&TrainConfig::micro_batch_size>,
         "Samples per forward and backward pass (gradient accumulation). 0: batch_size.",
         {.unit = "samples", .at_least = 0}},
        choice<&TrainConfig::rows>("rows",
         "packed: concatenates the samples of a micro-batch without padding. padded: one sample per row of "
         "model.seqlen. Losses and gradients differ only by rounding. BERT samples and labelled texts only.",
         {.came_later = true}),
        choice<&TrainConfig::recompute>("recompute",
         "Activation checkpointing with bit-identical results. activation: recomputes the outputs of norms and "
         "activations. block: recomputes everything except each block's input. auto: the first of none, activation and "
         "block whose plan fits the memory of a worker; none where that is unknown.",
         {.came_later = true, .role = FieldRole::local}),
        {"zero", at<&TrainConfig::zero>,
         "1: shards the optimizer's moments across ranks (ZeRO-1), with bit-identical results.",
         {.at_least = 0, .at_most = 1, .came_later = true, .role = FieldRole::local}},
        {"expert_ranks", at<&TrainConfig::expert_ranks>,
         "Number of ranks that divide the experts of each layer (expert parallelism). Further ranks replicate them.",
         {.at_least = 1, .at_most = kMostExperts, .came_later = true, .role = FieldRole::local}},
        {"budget_tokens", at<&TrainConfig::budget_tokens>,
         "Training budget at 100%, in layer-averaged tokens. 0: imports the model of start.from without training.",
         {.unit = "tokens", .at_most = kMostBudgetTokens, .by_default = "required, or epochs"}},
        {"epochs", apart<double>,
         "Training budget as passes over the training samples, in place of budget_tokens. The last step of an epoch of "
         "labelled texts may have fewer samples. Images and labelled texts only.",
         {.above = 0, .at_most = kMostEpochs, .by_default = "none"}},
        {"budget_fraction", at<&TrainConfig::budget_fraction>, "Fraction of budget_tokens at which this trial stops.",
         {.above = 0, .at_most = kMostBudgetFraction}},
        {"learning_rate", at<&TrainConfig::learning_rate>, "Peak learning rate.", {.above = 0}},
        choice<&TrainConfig::learning_rate_by_budget>("learning_rate_by_budget",
         "inverse: divides learning_rate by budget_fraction, as in the papers."),
        {"min_learning_rate", at<&TrainConfig::min_learning_rate>,
         "Final learning rate of the decay. Not for decay = step.",
         {.at_least = 0}},
        choice<&TrainConfig::decay>("decay",
         "Learning-rate decay after warm-up, over layer-averaged tokens. step: divides the learning rate by "
         "decay_factor after each stage except the last."),
        {"decay_factor", at<&TrainConfig::decay_factor>,
         "Divisor of the learning rate at each stage. Step decay only.",
         {.at_least = 1, .came_later = true}},
        {"decay_stages", at<&TrainConfig::decay_stages>, "Number of stages of equal length. Step decay only.",
         {.at_least = 1, .at_most = 1000, .came_later = true}},
        {"warmup_tokens", at<&TrainConfig::warmup_tokens>,
         "Duration of linear warm-up from 0, in layer-averaged tokens.", {.unit = "tokens", .at_least = 0}},
        {"warmup_steps", at<&TrainConfig::warmup_steps>,
         "Duration of warm-up in optimizer steps, in place of warmup_tokens.",
         {.unit = "steps", .at_least = 0, .at_most = kMostSteps, .came_later = true}},
        {"warmup_share", at<&TrainConfig::warmup_share>,
         "Duration of warm-up as a fraction of this trial's budget, in place of warmup_tokens.",
         {.at_least = 0, .below = 1, .came_later = true}},
        {"decay_tokens", at<&TrainConfig::decay_tokens>,
         "End of decay, in layer-averaged tokens from the start. 0: the budget.",
         {.unit = "tokens", .at_least = 0}},
        choice<&TrainConfig::optimizer>("optimizer", "adamw: AdamW. sgd: SGD with momentum.",
         {.came_later = true}),
        {"momentum", at<&TrainConfig::momentum>, "Momentum factor. SGD only.",
         {.at_least = 0, .below = 1, .came_later = true}},
        {"weight_decay", at<&TrainConfig::weight_decay>,
         "Weight decay: decoupled for AdamW, added to the gradient for SGD. Biases and norms are excluded.",
         {.at_least = 0}},
        {"beta1", at<&TrainConfig::beta1>, "Decay rate of the first moments. AdamW only.", {.at_least = 0, .below = 1}},
        {"beta2", at<&TrainConfig::beta2>,
         "Decay rate of the second moments. AdamW only.", {.at_least = 0, .below = 1}},
        {"eps", at<&TrainConfig::eps>,
         "Term added to the root of the second moment for numerical stability. AdamW only.", {.above = 0}},
        {"max_grad_norm", at<&TrainConfig::max_grad_norm>, "Maximum gradient norm (gradient clipping). 0: no clipping.",
         {.at_least = 0}},
        choice<&TrainConfig::moments>("moments",
         "Number format of the optimizer's moments between steps. bf16: stochastic rounding, with half of their memory. "
         "Updates use the values before rounding.",
         {.came_later = true}),
        choice<&TrainConfig::dtype>("dtype",
         "Number format of activations. Weights and gradients stay f32. bf16 requires a GPU."),
    };
    return fields;
}

const Fields& fields_of(const CurriculumConfig&) {
    static const Fields fields = {enabled()};
    return fields;
}

const Fields& fields_of(const CurriculumMetric&) {
    static const Fields fields =
        joined({enabled(),
                choice<&CurriculumMetric::difficulty>("difficulty",
                 "Whether min and max are percentiles (1 to 100) or values of the metric.",
                 {.by_default = "value for seqtru and seqres, else percentile"}),
                {"column", at<&CurriculumMetric::column>,
                 "File with one difficulty value per sample: .npy, .csv or the .json of a difficulty index. Requires a "
                 "metric name of your own.",
                 {.role = FieldRole::local}},
                {"column_sha256", at<&CurriculumMetric::column_sha256>,
                 "SHA-256 of that file.", {.role = FieldRole::computed}}},
               growth_fields<&CurriculumMetric::growth>(
                   "difficulty_step", "8 for seqtru and seqres, else 1",
                   "model.seqlen for seqtru and seqres, 100 for percentiles", "8 for seqtru and seqres, else 1"));
    return fields;
}

const Fields& fields_of(const TokenDroppingConfig& dropping) {
    static const std::map<const engine::TokenDropper*, Fields> fields = [] {
        std::map<const engine::TokenDropper*, Fields> of_all;
        for (const engine::TokenDropper& dropper : engine::token_droppers())
            of_all[&dropper] = dropping_fields(dropper);
        return of_all;
    }();
    return fields.at(dropping.dropper);
}

const Fields& fields_of(const BatchRampConfig&) {
    static const Fields fields =
        joined({enabled()}, growth_fields<&BatchRampConfig::growth>("step", "", "train.batch_size", ""));
    return fields;
}

const Fields& fields_of(const VariableBatchConfig&) {
    static const Fields fields = {
        enabled(),
        {"max_tokens", at<&VariableBatchConfig::max_tokens>, "Maximum tokens per step, at the step's sequence length.",
         {.unit = "tokens", .by_default = "train.batch_size x model.seqlen"}},
        {"min_batch_size", at<&VariableBatchConfig::min_batch_size>, "Minimum samples per step.",
         {.unit = "samples", .at_least = 1, .at_most = kMostBatchSize}},
        {"max_batch_size", at<&VariableBatchConfig::max_batch_size>, "Maximum samples per step. 0: no limit.",
         {.unit = "samples", .at_least = 0, .at_most = kMostBatchSize}},
        choice<&VariableBatchConfig::learning_rate_scaling>("learning_rate_scaling",
         "Scaling of the learning rate with samples / train.batch_size."),
    };
    return fields;
}

const Fields& fields_of(const StartConfig&) {
    static const Fields fields = {
        {"from", at<&StartConfig::from>,
         "Model to start from: a Hugging Face folder, a deft checkpoint or an llm.c file. Paths are relative to the "
         "sweep file.",
         {.required = true, .role = FieldRole::local}},
        {"tokens", at<&StartConfig::stated, &StatedTraining::tokens>,
         "Tokens that the model was trained on, as you state them. 0: not stated. Requires train.budget_tokens = 0.",
         {.unit = "tokens", .at_least = 0, .role = FieldRole::local}},
        {"flops", at<&StartConfig::stated, &StatedTraining::flops>,
         "Training FLOPs of the model. 0: not stated. Requires train.budget_tokens = 0.",
         {.unit = "FLOPs", .at_least = 0, .role = FieldRole::local}},
        {"hours", at<&StartConfig::stated, &StatedTraining::hours>,
         "Training time of the model. 0: not stated. Requires train.budget_tokens = 0.",
         {.unit = "hours", .at_least = 0, .role = FieldRole::local}},
        {"usd", at<&StartConfig::stated, &StatedTraining::usd>,
         "Training cost of the model. 0: not stated. Requires train.budget_tokens = 0.",
         {.unit = "USD", .at_least = 0, .role = FieldRole::local}},
        {"source", at<&StartConfig::stated, &StatedTraining::source>,
         "Source of these statements. The note below the results table prints it. Requires train.budget_tokens = 0.",
         {.role = FieldRole::local}},
        {"sha256", at<&StartConfig::sha256>, "SHA-256 of that model.", {.role = FieldRole::computed}},
    };
    return fields;
}

const Fields& fields_of(const EvalConfig&) {
    static const Fields fields = {
        {"validation_tokens", at<&EvalConfig::validation_tokens>,
         "Maximum number of validation tokens. Images and labelled texts are always validated in full.",
         {.unit = "tokens", .at_least = 1}},
        {"every", at<&EvalConfig::every>, "Validation interval during training. Training time excludes validation.",
         {.by_default = "never",
          .takes = "\"20 times\", \"500 steps\", or \"5%\" of the budget in layer-averaged tokens",
          .schema = R"({"type": "string", "pattern": "^([0-9]+ *times|[0-9]+ *steps|[0-9.]+ *%)?$"})",
          .came_later = true}},
        choice<&EvalConfig::select>("select",
         "Weights to evaluate: those of the last step, or those with the best validation.",
         {.came_later = true}),
        {"metric", at<&EvalConfig::metric>,
         "Validation metric that selects the best weights. loss and bits_per_byte: the lowest value. Other metrics: "
         "the highest value. Several splits are validated together. Requires select = best.",
         {.one_of = validation_metrics(), .came_later = true}},
        {"tasks", at<&EvalConfig::tasks>,
         "Evaluation tasks: names in experiments/tasks, or task files beside the sweep file. Packed samples only."},
        {"shots", at<&EvalConfig::shots>,
         "Numbers of few-shot examples. Each task is evaluated once per number.",
         {.by_default = "from each task file", .takes = "integers, at least 0",
          .schema = R"({"type": "array", "items": {"type": "integer", "minimum": 0}})"}},
        {"documents", at<&EvalConfig::documents>,
         "Number of documents per task: the first ones of its order. 0: all.",
         {.at_least = 0, .at_most = kMostDocuments}},
        choice<&EvalConfig::capacity>("capacity",
         "Capacity of experts in evaluation and validation. none: no limit. reference: the training capacity, as in "
         "the published models; the first tokens of a micro-batch are kept. Requires model.experts.",
         {.came_later = true}),
    };
    return fields;
}

const Fields& fields_of(const CheckpointConfig&) {
    static const Fields fields = {
        {"every_seconds", at<&CheckpointConfig::every_seconds>,
         "Training time between checkpoints. It grows so that saving takes at most a tenth of the time. 0: only at the "
         "end and when stopped.",
         {.unit = "seconds", .at_least = 0, .role = FieldRole::local}},
        {"keep", at<&CheckpointConfig::keep>, "Number of newest checkpoints to keep.",
         {.at_least = 1, .role = FieldRole::local}},
        {"grace_seconds", at<&CheckpointConfig::grace_seconds>,
         "Time for a stopped trial to finish its step and save a checkpoint. Then it is killed.",
         {.unit = "seconds", .at_least = 0, .role = FieldRole::local}},
    };
    return fields;
}

std::vector<KeyTable> trial_tables() {
    std::vector<KeyTable> tables = {
        key_table<TrialConfig>("", "A trial."),
        key_table<ModelConfig>("model", "Architecture of the model."),
        key_table<ExpertLayersConfig>("model.experts",
                                      "Mixture-of-experts layers: a gate routes each token to a few experts."),
        key_table<DataConfig>("data", "Corpus, tokenizer and samples."),
        key_table<BertSamplesConfig>("data.bert", "BERT samples: sentences, segments and masking."),
        key_table<ImageSamplesConfig>("data.images", "Images: test split, resizing and augmentation."),
        key_table<LabelledConfig>("data.labelled", "Labelled texts for classification and regression."),
        key_table<TrainConfig>("train", "Training budget, batch size, optimizer and learning-rate schedule."),
        key_table<StartConfig>("start",
                               "Existing model whose weights replace random initialization."),
        key_table<CurriculumConfig>("curriculum",
                                    "Curriculum learning: easy samples first. Each difficulty metric has a table."),
        key_table<CurriculumMetric>(
            "curriculum.METRIC",
            curriculum_meanings() + "Any other name requires column."),
        key_table<BatchRampConfig>("batch_ramp",
                                   "Batch-size ramp: the samples per step grow to train.batch_size."),
        key_table<VariableBatchConfig>("variable_batch",
                                       "Variable batch size: the samples per step fill max_tokens. Cannot be combined "
                                       "with batch_ramp."),
        key_table<EvalConfig>("eval",
                              "Validation and evaluation. Only select = \"best\" requires training again."),
        key_table<CheckpointConfig>("checkpoint", "Checkpoints for resuming interrupted trials.")};
    const auto batches = std::ranges::find(tables, "batch_ramp", &KeyTable::path);
    const std::vector<KeyTable> dropping = dropping_tables();
    tables.insert(batches, dropping.begin(), dropping.end());
    return tables;
}

// clang-format on

}  // namespace deft::experiments
