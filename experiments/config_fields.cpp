#include "experiments/config_fields.h"

#include <algorithm>
#include <map>

#include "engine/data_efficiency/token_dropping/token_dropping.h"
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
    return {"enabled", apart<bool>, "false: as if the table were absent", {.by_default = "true"}};
}

// A key's row stays together.
// clang-format off

// Fields of a quantity that grows over the steps; `Outer` leads to its Growth.
template <auto... Outer>
Fields growth_fields(const char* multiple_key, const char* min, const char* max, const char* multiple) {
    return {
        {"min", at<Outer..., &Growth::min>, "the value that it begins with", {.at_least = 1, .by_default = min}},
        {"max", at<Outer..., &Growth::max>, "the value that it ends with", {.by_default = max}},
        {multiple_key, at<Outer..., &Growth::multiple>, "it grows in multiples of this",
         {.at_least = 1, .by_default = multiple}},
        {"pacing", at<Outer..., &Growth::pacing>,
         "how it grows; discrete holds the value of the last point, points goes straight from one to the next",
         {.one_of = {"linear", "root", "step", "exponential", "discrete", "points", "constant"}}},
        {"root_degree", at<Outer..., &Growth::root_degree>, "of pacing root: 2 grows by the square root",
         {.at_least = 1}},
        {"stages", at<Outer..., &Growth::stages>, "of pacing step: how many equal rises", {.at_least = 1}},
        {"points", apart<std::vector<double>>, "of pacing discrete and points, in place of min and max",
         {.takes = "[[0, value], ..., [1, value]]: fractions of the duration, and values", .schema = kPointsSchema}},
        {"duration", at<Outer..., &Growth::duration>,
         "how long it grows, as a share of the baseline's steps at this budget",
         {.at_least = 0, .at_most = kMostDuration, .by_default = "this or steps, unless constant"}},
        {"steps", at<Outer..., &Growth::steps>, "how long it grows",
         {.unit = "steps", .at_least = 0, .at_most = kMostSteps, .by_default = "this or duration, unless constant"}},
    };
}

// A dropper's own keys, found in the configuration that holds its settings.
Fields settings_fields(const engine::TokenDropper& dropper) {
    Fields fields = dropper.keys;
    for (Field& field : fields)
        field.in = [in = field.in](void* record) { return in(static_cast<TokenDroppingConfig*>(record)->settings.get()); };
    return fields;
}

Fields dropping_fields(const engine::TokenDropper& dropper) {
    const Fields common = joined(
        {enabled(),
         {"layers", at<&TokenDroppingConfig::layers>,
          "layers that take only some tokens, counted from 0, ascending",
          {.by_default = dropper.default_layers_text, .takes = "[1, 2, 5] or \"1-22\"", .schema = kLayersSchema,
           .apart = true}},
         {"keep_first", at<&TokenDroppingConfig::keep_first>, "positions that are kept always",
          {.unit = "tokens", .at_least = 0, .by_default = "1 where a head reads the first for all, as of BERT, images and labelled texts; else 0"}}},
        growth_fields<&TokenDroppingConfig::growth>("step", "", "model.seqlen", ""));
    return joined(common, settings_fields(dropper));
}

std::vector<KeyTable> dropping_tables() {
    std::vector<KeyTable> tables;
    for (const engine::TokenDropper& dropper : engine::token_droppers()) {
        TokenDroppingConfig defaults;
        defaults.dropper = dropper.name;
        defaults.settings = dropper.new_settings();
        tables.push_back(key_table(dropper.name, dropper.meaning, defaults));
    }
    return tables;
}

}  // namespace

const Fields& fields_of(const TrialConfig&) {
    static const Fields fields = {{"log_every", at<&TrialConfig::log_every>, "logging interval",
                                   {.unit = "steps", .at_least = 1, .role = FieldRole::local}}};
    return fields;
}

const Fields& fields_of(const ModelConfig&) {
    static const Fields fields = {
        {"preset", apart<std::string>, "a model whose keys those below are laid over",
         {.by_default = "none", .takes = "a name in experiments/presets"}},
        {"kind", at<&ModelConfig::kind>, "whose defaults the keys below have; they alone decide what the model is",
         {.one_of = model_kinds(), .by_default = "gpt; of bert samples and labelled texts bert, of images vit",
          .role = FieldRole::local}},
        {"layers", at<&ModelConfig::layers>, "transformer blocks", {.at_least = 1, .at_most = kMostLayers}},
        {"width", at<&ModelConfig::width>, "size of a token's vector, a multiple of heads",
         {.at_least = 1, .at_most = kMostWidth}},
        {"seqlen", at<&ModelConfig::seqlen>, "full sequence length, and the number of learned positions",
         {.unit = "tokens", .at_least = 2, .at_most = kMostSeqlen, .by_default = "64; of images one more than patches"}},
        {"init_std", at<&ModelConfig::init_std>, "standard deviation of initial weights", {.at_least = 0}},
        {"positions", at<&ModelConfig::positions>,
         "how a token's place is known: learned vectors; rope, by which attention turns queries and keys; none",
         {.one_of = {"learned", "rope", "none"}}},
        {"rope_theta", at<&ModelConfig::rope_theta>, "base of the angles of rope", {.above = 0}},
        {"segments", at<&ModelConfig::segments>,
         "segments of a sample that have vectors of their own, which only samples with segments can use; 0: none",
         {.at_least = 0, .at_most = kMostSegments}},
        {"input_norm", at<&ModelConfig::input_norm>, "a norm before the first block"},
        {"norm", at<&ModelConfig::norm>, "layer: to mean 0 and deviation 1, with a bias; rms: to a root mean square of 1",
         {.one_of = {"layer", "rms"}}},
        {"norm_eps", at<&ModelConfig::norm_eps>, "added to the variance, or mean square", {.above = 0}},
        {"norm_placement", at<&ModelConfig::norm_placement>,
         "pre: norm of the input of attention and feed-forward parts, and after the last block; post: norm of their sum "
         "with the stream",
         {.one_of = {"pre", "post"}}},
        {"heads", at<&ModelConfig::heads>, "attention heads of a layer", {.at_least = 1}},
        {"kv_heads", at<&ModelConfig::kv_heads>, "heads of keys and values, a divisor of heads",
         {.at_least = 1, .by_default = "heads"}},
        {"causal", at<&ModelConfig::causal>, "a position attends to itself and those before it alone"},
        {"attention_bias", at<&ModelConfig::attention_bias>, "biases of the attention's linear layers"},
        {"hidden", at<&ModelConfig::hidden>, "width of the feed-forward part",
         {.at_least = 1, .at_most = 8 * kMostWidth,
          .by_default = "4 x width; of swiglu 8/3 x width, rounded up to a multiple of 8"}},
        {"activation", at<&ModelConfig::activation>, "of the feed-forward part",
         {.one_of = {"gelu_tanh", "gelu_erf", "swiglu"}}},
        {"feed_forward_bias", at<&ModelConfig::feed_forward_bias>, "biases of the feed-forward part"},
        {"tied_head", at<&ModelConfig::tied_head>, "the head's weight is the table of the tokens' vectors"},
        {"head_bias", at<&ModelConfig::head_bias>, "a bias for each entry of the vocabulary in the head"},
        {"head_transform", at<&ModelConfig::head_transform>,
         "a linear layer of the model's width, the activation and a norm before the head", {.came_later = true}},
        {"order_head", at<&ModelConfig::order_head>,
         "a second head predicts from the first token whether a sample's two segments were swapped; its loss is added",
         {.by_default = "true of kind bert and samples in pairs", .came_later = true}},
        {"patch", at<&ModelConfig::patch>, "side of the square patches that images are cut into; 0: a model of tokens",
         {.unit = "pixels", .at_least = 0, .at_most = kMostImageSide, .by_default = "4 of kind vit", .came_later = true}},
        {"image_height", at<&ModelConfig::image_height>, "of the images that the model takes",
         {.unit = "pixels", .at_least = 0, .at_most = kMostImageSide, .by_default = "the data's", .came_later = true}},
        {"image_width", at<&ModelConfig::image_width>, "likewise",
         {.unit = "pixels", .at_least = 0, .at_most = kMostImageSide, .by_default = "the data's", .came_later = true}},
        {"image_channels", at<&ModelConfig::image_channels>, "likewise",
         {.at_least = 0, .at_most = kMostImageChannels, .by_default = "the data's", .came_later = true}},
        {"classes", at<&ModelConfig::classes>, "classes of images, or of labelled texts",
         {.at_least = 0, .at_most = kMostVocab, .by_default = "the data's", .came_later = true}},
        {"pooling", at<&ModelConfig::pooling>,
         "input of the classification head: first, the token of the class; mean, of that and all patches",
         {.one_of = {"first", "mean"}, .came_later = true}},
        {"value_head", at<&ModelConfig::value_head>,
         "regression head for labelled texts whose labels are numbers, trained with squared error",
         {.by_default = "the data's", .came_later = true}},
        {"head_dropout", at<&ModelConfig::head_dropout>,
         "for labelled texts: dropout probability of the head's input",
         {.at_least = 0, .below = 1, .by_default = "model.dropout", .came_later = true}},
        {"dropout", at<&ModelConfig::dropout>, "share of what attention and feed-forward parts add that is dropped in training",
         {.at_least = 0, .below = 1}},
        {"attention_dropout", at<&ModelConfig::attention_dropout>, "share of attention's probabilities that is dropped in training",
         {.at_least = 0, .below = 1}},
        {"input_dropout", at<&ModelConfig::input_dropout>, "share of the first block's input that is dropped in training",
         {.at_least = 0, .below = 1}},
    };
    return fields;
}

const Fields& fields_of(const ExpertLayersConfig&) {
    static const Fields fields = {
        enabled(),
        {"count", at<&ExpertLayersConfig::count>, "experts of a layer, each as wide as model.hidden",
         {.by_default = "must be given", .takes = "a number, or a list of one for each expert layer", .schema = kCountsSchema,
          .apart = true}},
        {"layers", at<&ExpertLayersConfig::layers>, "layers whose feed-forward part is experts, counted from 0, ascending",
         {.by_default = "every 2", .takes = "\"every N\", which ends each run of N layers, \"1-22\" or [1, 3, 5]",
          .schema = kExpertLayersSchema, .apart = true}},
        {"top", at<&ExpertLayersConfig::top>, "experts that a row takes, those of the gate's highest logits", {.at_least = 1}},
        {"capacity_factor", at<&ExpertLayersConfig::capacity_factor>,
         "while training, an expert takes this many times an equal share of a micro-batch's choices, and what more choose "
         "it passes the experts by; 0: nothing is dropped",
         {.at_least = 0}},
        {"min_capacity", at<&ExpertLayersConfig::min_capacity>, "lower bound of an expert's capacity",
         {.unit = "rows", .at_least = 0}},
        {"random_token_selection", at<&ExpertLayersConfig::random_token_selection>,
         "an expert that too many choose keeps random ones, not the first ones"},
        {"jitter", at<&ExpertLayersConfig::jitter>,
         "while training, the gate sees values times a draw between 1 - jitter and 1 + jitter", {.at_least = 0, .below = 1}},
        {"sampled_noise", at<&ExpertLayersConfig::sampled_noise>,
         "while training, the expert, or of several all but the first, is drawn by the gate's probabilities"},
        {"aux_weight", at<&ExpertLayersConfig::aux_weight>, "weight of the loss that balances experts", {.at_least = 0}},
        {"z_weight", at<&ExpertLayersConfig::z_weight>, "weight of the mean square of the gate's log-sum-exp",
         {.at_least = 0}},
        {"residual", at<&ExpertLayersConfig::residual>,
         "a dense part beside the experts, mixed with them by a gate of its own"},
    };
    return fields;
}

const Fields& fields_of(const DataConfig&) {
    static const Fields fields = {
        {"corpus", at<&DataConfig::corpus>, "the text to train on",
         {.takes = "embedded, text, indexed or a name of deft data list; of images such a name; of labelled texts a task of "
                   "experiments/tasks with records to train on, or such a file beside the sweep file"}},
        {"train_files", at<&DataConfig::train_files>,
         "of text: .txt files of one document, .jsonl files of one a line (key \"text\"), each also .gz or .zst; of "
         "indexed: the prefix of one Megatron dataset, or token shards of llm.c in their order, each with its .bin; below "
         "DEFT_DATA_MIRROR or beside the sweep file",
         {.role = FieldRole::local}},
        {"valid_files", at<&DataConfig::valid_files>, "likewise, to validate on; none: train_files are split",
         {.role = FieldRole::local}},
        {"split", at<&DataConfig::split>,
         "shares of the documents, in their order, to train on, to validate on, to hold back",
         {.takes = "three integers", .schema = kSplitSchema}},
        {"max_bytes", at<&DataConfig::max_bytes>, "documents are taken until they hold as much text, of a corpus with files to validate on the training text alone; 0: all",
         {.unit = "bytes", .at_least = 0}},
        {"samples", at<&DataConfig::samples>,
         "packed: documents end to end, in samples of equal length; bert: runs of sentences of one document, padded; images: "
         "a set of images with their classes; labelled: the texts of a task with their labels",
         {.one_of = {"packed", "bert", "images", "labelled"}}},
        {"tokenizer", at<&DataConfig::tokenizer>, "how text becomes tokens",
         {.takes = "bytes, gpt2, bpe (trained here) or a folder with vocab.json and merges.txt; of bert samples and labelled texts: "
                   "bert-base-uncased, a folder with vocab.txt or a .txt file", .role = FieldRole::local}},
        {"vocab", at<&DataConfig::vocab>, "entries that bpe is to train; of no other tokenizer",
         {.unit = "tokens", .by_default = "the tokenizer's"}},
        {"embedded_seed", at<&DataConfig::embedded_seed>, "what the embedded corpus is generated from"},
        {"embedded_bytes", at<&DataConfig::embedded_bytes>, "size of the embedded corpus",
         {.unit = "bytes", .at_least = 1000, .at_most = kMostEmbeddedBytes}},
        {"shuffled_facts", at<&DataConfig::shuffled_facts>,
         "the embedded corpus as a control: its facts cannot be learnt"},
        {"sha256", at<&DataConfig::sha256>, "of everything that decides the tokens", {.role = FieldRole::computed}},
        {"epoch_samples", at<&DataConfig::epoch_samples>, "of labelled texts: how many there are to train on",
         {.role = FieldRole::computed}},
    };
    return fields;
}

const Fields& fields_of(const BertSamplesConfig&) {
    static const Fields fields = {
        {"sentences", at<&BertSamplesConfig::sentences>, "where a sentence ends", {.one_of = {"punctuation", "lines"}}},
        {"lower_case", at<&BertSamplesConfig::lower_case>, "an uncased vocabulary: text loses case and accents"},
        {"pairs", at<&BertSamplesConfig::pairs>, "[CLS] A [SEP] B [SEP]; else [CLS] A [SEP]"},
        {"short_probability", at<&BertSamplesConfig::short_probability>, "probability that a sample is drawn short",
         {.at_least = 0, .at_most = 1}},
        {"mask_fraction", at<&BertSamplesConfig::mask_fraction>,
         "share of the tokens that is masked; analysis measures the others", {.above = 0, .at_most = 1}},
        {"whole_words", at<&BertSamplesConfig::whole_words>, "the pieces of a word are masked together"},
        {"seed", at<&BertSamplesConfig::seed>, "decides what is short, where segments part and what is masked",
         {.at_least = 0}},
    };
    return fields;
}

const Fields& fields_of(const ImageSamplesConfig&) {
    static const Fields fields = {
        {"test_every", at<&ImageSamplesConfig::test_every>,
         "one of this many images is for testing, where the data set has no test images", {.at_least = 2}},
        {"crop_padding", at<&ImageSamplesConfig::crop_padding>,
         "black laid around a training image before a crop of its size is taken at random",
         {.unit = "pixels", .at_least = 0, .at_most = kMostImageSide}},
        {"flip", at<&ImageSamplesConfig::flip>, "training images are flipped left to right at random: not digits"},
        {"resize", at<&ImageSamplesConfig::resize>,
         "the side that all images are stretched to before anything else, as a pretrained model has it; 0: as they are",
         {.unit = "pixels", .at_least = 0, .at_most = kMostImageSide, .came_later = true}},
    };
    return fields;
}

const Fields& fields_of(const LabelledConfig&) {
    static const Fields fields = {
        {"records", at<&LabelledConfig::records>, "that are trained on, the first ones of the task's; 0: all",
         {.unit = "records", .at_least = 0}},
        {"lower_case", at<&LabelledConfig::lower_case>, "an uncased vocabulary: text loses case and accents"},
        {"truncate_labels", at<&LabelledConfig::truncate_labels>,
         "numeric labels are truncated to integers, in training and evaluation: only to compare with scores that "
         "were published so"},
        {"whole_batches", at<&LabelledConfig::whole_batches>,
         "the batch_size, where records that fill no batch of it are left out at the end of each epoch and of each split that is "
         "scored: only to compare with scores that were published so; 0: none is",
         {.unit = "records", .at_least = 0, .at_most = kMostBatchSize, .came_later = true}},
        {"scored_records", at<&LabelledConfig::scored_records>, "that are scored, the first ones of each split; 0: all",
         {.unit = "records", .at_least = 0, .came_later = true}},
    };
    return fields;
}

const Fields& fields_of(const TrainConfig&) {
    static const Fields fields = {
        {"batch_size", at<&TrainConfig::batch_size>, "samples of an optimizer step",
         {.unit = "samples", .at_least = 1, .at_most = kMostBatchSize}},
        {"micro_batch_size", at<&TrainConfig::micro_batch_size>, "samples computed at a time; 0: batch_size",
         {.unit = "samples", .at_least = 0}},
        {"rows", at<&TrainConfig::rows>,
         "of BERT samples and labelled texts: packed, the tokens of a micro-batch one after the other without padding; padded, one sample a "
         "row of model.seqlen; losses and gradients differ by rounding alone",
         {.one_of = {"packed", "padded"}, .came_later = true}},
        {"recompute", at<&TrainConfig::recompute>,
         "what a backward pass computes again where memory is short, to the same bits: activation, the outputs of norms "
         "and activations; block, all but each block's input",
         {.one_of = {"none", "activation", "block"}, .came_later = true, .role = FieldRole::local}},
        {"zero", at<&TrainConfig::zero>,
         "1: each of several ranks keeps the optimizer's moments of its share of the weights alone (ZeRO-1), to the same bits",
         {.at_least = 0, .at_most = 1, .came_later = true, .role = FieldRole::local}},
        {"expert_ranks", at<&TrainConfig::expert_ranks>,
         "number of ranks that divide the experts of each layer (expert parallelism); the next ranks replicate them",
         {.at_least = 1, .at_most = kMostExperts, .came_later = true, .role = FieldRole::local}},
        {"budget_tokens", at<&TrainConfig::budget_tokens>,
         "layer-averaged tokens at which the baseline stops, at 100%; 0: the model of start.from is taken as it is",
         {.unit = "tokens", .at_most = kMostBudgetTokens, .by_default = "must be given, or epochs"}},
        {"epochs", apart<double>,
         "of images and labelled texts: the budget as passes over those to train on, in place of budget_tokens; the last "
         "step of an epoch of texts takes what is left of them",
         {.above = 0, .at_most = kMostEpochs, .by_default = "none"}},
        {"budget_fraction", at<&TrainConfig::budget_fraction>, "share of budget_tokens at which this trial stops",
         {.above = 0, .at_most = kMostBudgetFraction}},
        {"learning_rate", at<&TrainConfig::learning_rate>, "the learning rate at its highest", {.above = 0}},
        {"learning_rate_by_budget", at<&TrainConfig::learning_rate_by_budget>,
         "inverse: learning_rate is divided by budget_fraction, as the papers do", {.one_of = {"same", "inverse"}}},
        {"min_learning_rate", at<&TrainConfig::min_learning_rate>, "the learning rate that decay ends with",
         {.at_least = 0}},
        {"decay", at<&TrainConfig::decay>,
         "how the learning rate falls from the end of the warm-up, over layer-averaged tokens; step: it is divided by "
         "decay_factor at the end of each stage but the last",
         {.one_of = {"cosine", "linear", "constant", "step"}}},
        {"decay_factor", at<&TrainConfig::decay_factor>, "of decay step: what the learning rate is divided by",
         {.at_least = 1, .came_later = true}},
        {"decay_stages", at<&TrainConfig::decay_stages>, "of decay step: how many stages of equal length it has",
         {.at_least = 1, .at_most = 1000, .came_later = true}},
        {"warmup_tokens", at<&TrainConfig::warmup_tokens>,
         "layer-averaged tokens over which the learning rate rises from 0", {.unit = "tokens", .at_least = 0}},
        {"warmup_steps", at<&TrainConfig::warmup_steps>, "the warm-up in optimizer steps, in place of warmup_tokens",
         {.unit = "steps", .at_least = 0, .at_most = kMostSteps, .came_later = true}},
        {"warmup_share", at<&TrainConfig::warmup_share>,
         "the warm-up as a share of this trial's budget, budget_fraction included, in place of warmup_tokens",
         {.at_least = 0, .below = 1, .came_later = true}},
        {"decay_tokens", at<&TrainConfig::decay_tokens>, "layer-averaged tokens until decay ends; 0: the budget",
         {.unit = "tokens", .at_least = 0}},
        {"optimizer", at<&TrainConfig::optimizer>, "sgd: with momentum",
         {.one_of = {"adamw", "sgd"}, .came_later = true}},
        {"momentum", at<&TrainConfig::momentum>, "of sgd: decay of its momentum",
         {.at_least = 0, .below = 1, .came_later = true}},
        {"weight_decay", at<&TrainConfig::weight_decay>,
         "of adamw decoupled, of sgd a part of the gradient; of neither for biases and norms", {.at_least = 0}},
        {"beta1", at<&TrainConfig::beta1>, "of adamw: decay of the first moments", {.at_least = 0, .below = 1}},
        {"beta2", at<&TrainConfig::beta2>, "of adamw: decay of the second moments", {.at_least = 0, .below = 1}},
        {"eps", at<&TrainConfig::eps>, "of adamw: added to the root of the second moment", {.above = 0}},
        {"max_grad_norm", at<&TrainConfig::max_grad_norm>, "gradients are scaled down to this norm; 0: never",
         {.at_least = 0}},
        {"dtype", at<&TrainConfig::dtype>,
         "number format of activations; weights, gradients and moments stay f32; bf16 on GPUs only",
         {.one_of = {"f32", "bf16"}}},
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
                {"difficulty", at<&CurriculumMetric::difficulty>,
                 "whether min and max are percentiles, 1 to 100, or values of the metric",
                 {.one_of = {"percentile", "value"}, .by_default = "value of a length, else percentile"}},
                {"column", at<&CurriculumMetric::column>,
                 "a metric of your own, under any name: .npy, .csv or an index's .json, one value a sample",
                 {.role = FieldRole::local}},
                {"column_sha256", at<&CurriculumMetric::column_sha256>, "of that file", {.role = FieldRole::computed}}},
               growth_fields<&CurriculumMetric::growth>("difficulty_step", "8 of a length, else 1",
                                                        "model.seqlen of a length, 100 of percentiles",
                                                        "8 of a length, else 1"));
    return fields;
}

const Fields& fields_of(const TokenDroppingConfig& dropping) {
    static const std::map<std::string, Fields> fields = [] {
        std::map<std::string, Fields> of_all;
        for (const engine::TokenDropper& dropper : engine::token_droppers())
            of_all[dropper.name] = dropping_fields(dropper);
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
        {"max_tokens", at<&VariableBatchConfig::max_tokens>, "tokens of a step, at its length",
         {.unit = "tokens", .by_default = "train.batch_size x model.seqlen"}},
        {"min_batch_size", at<&VariableBatchConfig::min_batch_size>, "fewest samples of a step",
         {.unit = "samples", .at_least = 1, .at_most = kMostBatchSize}},
        {"max_batch_size", at<&VariableBatchConfig::max_batch_size>, "most samples of a step; 0: no bound",
         {.unit = "samples", .at_least = 0, .at_most = kMostBatchSize}},
        {"learning_rate_scaling", at<&VariableBatchConfig::learning_rate_scaling>,
         "how the learning rate follows samples / train.batch_size", {.one_of = {"linear", "sqrt", "none"}}},
    };
    return fields;
}

const Fields& fields_of(const StartConfig&) {
    static const Fields fields = {
        {"from", at<&StartConfig::from>,
         "whose weights the model starts from: a folder of Hugging Face, a checkpoint of deft or a file of llm.c, beside "
         "the sweep file",
         {.required = true, .role = FieldRole::local}},
        {"tokens", at<&StartConfig::stated, &StatedTraining::tokens>,
         "of train.budget_tokens = 0: the tokens that the model was trained on, as you state them; 0: not stated",
         {.unit = "tokens", .at_least = 0, .role = FieldRole::local}},
        {"flops", at<&StartConfig::stated, &StatedTraining::flops>, "likewise: the FLOPs of its training",
         {.unit = "FLOPs", .at_least = 0, .role = FieldRole::local}},
        {"hours", at<&StartConfig::stated, &StatedTraining::hours>, "likewise: the hours from its start to its end",
         {.unit = "hours", .at_least = 0, .role = FieldRole::local}},
        {"usd", at<&StartConfig::stated, &StatedTraining::usd>, "likewise: what it cost",
         {.unit = "USD", .at_least = 0, .role = FieldRole::local}},
        {"source", at<&StartConfig::stated, &StatedTraining::source>, "where that is written, for the note below the table",
         {.role = FieldRole::local}},
        {"sha256", at<&StartConfig::sha256>, "of that model", {.role = FieldRole::computed}},
    };
    return fields;
}

const Fields& fields_of(const EvalConfig&) {
    static const Fields fields = {
        {"validation_tokens", at<&EvalConfig::validation_tokens>,
         "tokens of the validation text that are scored, at most; of images and labelled texts all are", {.unit = "tokens", .at_least = 1}},
        {"every", at<&EvalConfig::every>, "when the model is validated while it trains, outside the training clock",
         {.by_default = "never", .takes = "\"20 times\", \"500 steps\" or \"5%\" of the run in layer-averaged tokens",
          .schema = R"({"type": "string", "pattern": "^([0-9]+ *times|[0-9]+ *steps|[0-9.]+ *%)?$"})",
          .came_later = true}},
        {"select", at<&EvalConfig::select>, "which weights are the result: those at the end, or the best validated ones",
         {.one_of = {"last", "best"}, .came_later = true}},
        {"metric", at<&EvalConfig::metric>,
         "validation metric of the best weights: the lowest value, or for acc (accuracy) and the other metrics "
         "of a task of labelled texts, most; of several splits that of all records together",
         {.one_of = {"loss", "bits_per_byte", "acc", "mcc", "f1", "pearson", "spearman"}, .came_later = true}},
        {"tasks", at<&EvalConfig::tasks>,
         "what is scored: names in experiments/tasks, or task files beside the sweep file"},
        {"shots", at<&EvalConfig::shots>, "few-shot examples in front of each prompt, once for each number of them",
         {.by_default = "as each task's file says", .takes = "numbers from 0 on",
          .schema = R"({"type": "array", "items": {"type": "integer", "minimum": 0}})"}},
        {"documents", at<&EvalConfig::documents>, "documents of each task, the first ones of its order; 0: all",
         {.at_least = 0, .at_most = kMostDocuments}},
        {"capacity", at<&EvalConfig::capacity>,
         "of a model with experts, how many rows each takes while the model is scored and validated. none: all that choose it; "
         "reference: as many as in training, as the published models did, in the order of a micro-batch's rows",
         {.one_of = {"none", "reference"}, .came_later = true}},
        {"asked", at<&EvalConfig::asked>, "one a task and number of shots", {.role = FieldRole::computed}},
        {"task_sha256", at<&EvalConfig::task_sha256>, "likewise", {.role = FieldRole::computed}},
        {"asked_shots", at<&EvalConfig::asked_shots>, "likewise", {.role = FieldRole::computed}},
    };
    return fields;
}

const Fields& fields_of(const CheckpointConfig&) {
    static const Fields fields = {
        {"every_seconds", at<&CheckpointConfig::every_seconds>,
         "time of training between checkpoints, longer where saving would take more than a tenth of it; 0: only at "
         "the end and when stopped",
         {.unit = "seconds", .at_least = 0, .role = FieldRole::local}},
        {"keep", at<&CheckpointConfig::keep>, "how many of the newest checkpoints are kept",
         {.at_least = 1, .role = FieldRole::local}},
        {"grace_seconds", at<&CheckpointConfig::grace_seconds>,
         "time that a trial which is asked to stop has for its step and its checkpoint",
         {.unit = "seconds", .at_least = 0, .role = FieldRole::local}},
    };
    return fields;
}

std::vector<KeyTable> trial_tables() {
    std::vector<KeyTable> tables = {
        key_table<TrialConfig>("", "a trial"),
        key_table<ModelConfig>("model", "the model"),
        key_table<ExpertLayersConfig>("model.experts", "mixture-of-experts layers: each token is routed to a few experts"),
        key_table<DataConfig>("data", "the corpus, its tokens and samples"),
        key_table<BertSamplesConfig>("data.bert", "how BERT's samples are cut from text and masked"),
        key_table<ImageSamplesConfig>("data.images", "how images are divided, and shown in training"),
        key_table<LabelledConfig>("data.labelled", "how labelled texts are read"),
        key_table<TrainConfig>("train", "budget, batch, optimizer and schedule"),
        key_table<StartConfig>("start", "a model of others, or of before, whose weights training starts from in place of drawn ones"),
        key_table<CurriculumConfig>("curriculum", "easy samples first: a table a difficulty metric"),
        key_table<CurriculumMetric>(
            "curriculum.METRIC",
            "seqtru cuts samples to a length, seqres cuts them into rows of it, voc and voc_per_token bring rare words "
            "later; of BERT's samples seqreo brings long ones later, seqreo_voc of a length those of rare words; any "
            "other name with a column"),
        key_table<BatchRampConfig>("batch_ramp", "samples of a step grow to train.batch_size"),
        key_table<VariableBatchConfig>("variable_batch",
                                       "as many samples a step as hold max_tokens; in place of batch_ramp"),
        key_table<EvalConfig>("eval", "what a model is validated and scored by; of these keys only select = \"best\" trains anything again"),
        key_table<CheckpointConfig>("checkpoint", "what is kept to go on from")};
    const auto batches = std::ranges::find(tables, "batch_ramp", &KeyTable::path);
    const std::vector<KeyTable> dropping = dropping_tables();
    tables.insert(batches, dropping.begin(), dropping.end());
    return tables;
}

// clang-format on

}  // namespace deft::experiments
