#include "engine/train/export_model.h"

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "engine/data/bpe/bpe_files.h"
#include "engine/io/huggingface_config.h"
#include "engine/io/write_weights.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

void write_json(const fs::path& file, const Json& json) {
    write_file_atomically(file, json.dump(2) + "\n");
}

void export_text_tokenizer(const Tokenizer& tokenizer, std::int64_t longest, const fs::path& folder) {
    if (tokenizer.bpe() == nullptr) return;
    write_tokenizer(tokenizer, folder);
    write_json(folder / "tokenizer_config.json", {{"tokenizer_class", "GPT2Tokenizer"},
                                                  {"model_max_length", longest},
                                                  {"add_prefix_space", false},
                                                  {"bos_token", kEndOfText},
                                                  {"eos_token", kEndOfText},
                                                  {"unk_token", kEndOfText}});
}

void export_wordpiece(const WordPiece& wordpiece, std::int64_t longest, const fs::path& folder) {
    const WordPieceVocabulary& vocabulary = wordpiece.vocabulary();
    const auto token = [&](std::int32_t id) { return vocabulary.tokens.at(static_cast<std::size_t>(id)); };
    write_vocab_txt(vocabulary, folder / kVocabTxt);
    write_json(folder / "tokenizer_config.json", {{"tokenizer_class", "BertTokenizer"},
                                                  {"model_max_length", longest},
                                                  {"do_lower_case", wordpiece.rules().words.lower_case},
                                                  {"pad_token", token(vocabulary.pad)},
                                                  {"unk_token", token(vocabulary.unk)},
                                                  {"cls_token", token(vocabulary.cls)},
                                                  {"sep_token", token(vocabulary.sep)},
                                                  {"mask_token", token(vocabulary.mask)}});
}

}  // namespace

void export_model(Exec& exec, const Transformer& model, const AnyTokenizer& tokenizer, const fs::path& folder,
                  const ExportOptions& options) {
    const TransformerConfig& config = model.config();
    const Counterpart counterpart = huggingface_counterpart(config);
    if (counterpart.names == WeightNames::own)
        throw Error(ErrorKind::config, "Hugging Face has no such model: " + counterpart.why_not,
                    "take its weights as they are: model.safetensors of the checkpoint holds them under deft's names");
    const auto* text = std::get_if<Tokenizer>(&tokenizer);
    const auto* wordpiece = std::get_if<std::shared_ptr<const WordPiece>>(&tokenizer);
    write_weights(exec, model, counterpart.names, options.dtype, folder, options.shard_bytes);
    if (text != nullptr) export_text_tokenizer(*text, config.max_seqlen, folder);
    if (wordpiece != nullptr) export_wordpiece(**wordpiece, config.max_seqlen, folder);
    write_json(folder / "config.json",
               huggingface_config(config, options.dtype, text != nullptr ? text->end_of_document() : -1));
}

}  // namespace deft::engine
