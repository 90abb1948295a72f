#include "engine/io/huggingface_settings.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"

namespace deft::engine {

namespace {

constexpr const char* kTakeTheirs = "take the config.json that belongs to the weights";

// Settings that decide no output of a model: names, defaults of generation, how it is trained or saved.
const std::set<std::string>& neutral_settings() {
    static const std::set<std::string> names = {
        "_name_or_path", "_commit_hash", "_attn_implementation", "_attn_implementation_autoset", "architectures",
        "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "auto_map", "bad_words_ids",
        "begin_suppress_tokens", "bos_token_id", "chunk_size_feed_forward", "classifier_dropout",
        "decoder_start_token_id", "diversity_penalty", "do_sample", "dtype", "early_stopping", "embd_pdrop",
        "encoder_no_repeat_ngram_size", "encoder_stride", "eos_token_id", "exponential_decay_length_penalty",
        "finetuning_task", "forced_bos_token_id", "forced_eos_token_id", "gradient_checkpointing",
        "hidden_dropout_prob", "id2label", "initializer_range", "label2id", "length_penalty", "max_length",
        "min_length", "model_type", "n_ctx", "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_labels",
        "num_return_sequences", "output_attentions", "output_hidden_states", "output_past", "output_scores",
        "pad_token_id", "pooler_act", "pooler_output_size", "prefix", "pretraining_tp", "problem_type",
        "remove_invalid_values", "reorder_and_upcast_attn", "repetition_penalty", "resid_pdrop", "return_dict",
        "return_dict_in_generate", "sep_token_id", "summary_activation", "summary_first_dropout",
        "summary_proj_to_labels", "summary_type", "summary_use_proj", "suppress_tokens", "task_specific_params",
        "temperature", "tf_legacy_loss", "tie_encoder_decoder", "tokenizer_class", "top_k", "top_p", "torch_dtype",
        "torchscript", "transformers_version", "typical_p", "use_bfloat16", "use_cache",
        // BERT's original files describe a pooler that every BERT has.
        "directionality", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
        "pooler_size_per_head", "pooler_type"};
    return names;
}

}  // namespace

void HuggingFaceSettings::refuse(const std::string& key, const std::string& why, const std::string& fix) const {
    throw Error(ErrorKind::config, fmt::format("{}: {} {}", file_, key, why), fix, "everything");
}

bool HuggingFaceSettings::has(const std::string& key) {
    known_.insert(key);
    return json_.contains(key) && !json_.at(key).is_null();
}

std::int64_t HuggingFaceSettings::extent(const std::string& key, std::int64_t most) {
    if (!has(key)) refuse(key, "is missing", kTakeTheirs);
    const Json& found = json_.at(key);
    if (!found.is_number_integer() || found < 1 || found > most)
        refuse(key, fmt::format("is {}, and must be an integer from 1 to {}", shown(found), most), kTakeTheirs);
    return found;
}

std::int64_t HuggingFaceSettings::extent_or(const std::string& key, std::int64_t otherwise, std::int64_t most) {
    return has(key) ? extent(key, most) : otherwise;
}

double HuggingFaceSettings::number_or(const std::string& key, double otherwise, double below) {
    if (!has(key)) return otherwise;
    const Json& found = json_.at(key);
    if (!found.is_number() || !(found.get<double>() > 0 && found.get<double>() < below))
        refuse(key, fmt::format("is {}, and must be above 0 and below {}", shown(found), below), kTakeTheirs);
    return found;
}

bool HuggingFaceSettings::flag_or(const std::string& key, bool otherwise) {
    if (!has(key)) return otherwise;
    if (!json_.at(key).is_boolean())
        refuse(key, fmt::format("is {}, and must be true or false", shown(json_.at(key))), kTakeTheirs);
    return json_.at(key);
}

double HuggingFaceSettings::dropout(const std::string& key) {
    if (!has(key)) return 0;
    const Json& found = json_.at(key);
    if (!found.is_number() || !(found.get<double>() >= 0 && found.get<double>() < 1))
        refuse(key, fmt::format("is {}, and must be from 0 to below 1", shown(found)), kTakeTheirs);
    return found;
}

std::string HuggingFaceSettings::word_or(const std::string& key, const std::string& otherwise) {
    if (!has(key)) return otherwise;
    if (!json_.at(key).is_string())
        refuse(key, fmt::format("is {}, and must be a word", shown(json_.at(key))), kTakeTheirs);
    return json_.at(key);
}

const Json& HuggingFaceSettings::value(const std::string& key) const {
    return json_.at(key);
}

void HuggingFaceSettings::expect(const std::string& key, const Json& wanted) {
    if (has(key) && json_.at(key) != wanted)
        refuse(key, fmt::format("is {}, and models of deft know {} alone", shown(json_.at(key)), wanted.dump()),
               "choose a model without it");
}

void HuggingFaceSettings::finish() const {
    for (const auto& [key, found] : json_.items())
        if (!found.is_null() && !known_.contains(key) && !neutral_settings().contains(key))
            refuse(key, fmt::format("is {}, a setting that deft does not know", shown(found)),
                   "if it changes nothing of what the model puts out, take it out of the file");
}

std::string HuggingFaceSettings::shown(const Json& value) {
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

}  // namespace deft::engine
