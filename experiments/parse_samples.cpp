#include "experiments/parse_samples.h"

#include <fmt/format.h>

namespace deft::experiments {

namespace {

void parse_bert(TableReader table, BertSamplesConfig& bert) {
    table.optional("sentences", bert.sentences);
    table.optional("lower_case", bert.lower_case);
    table.optional("pairs", bert.pairs);
    table.optional("short_probability", bert.short_probability);
    table.optional("mask_fraction", bert.mask_fraction);
    table.optional("whole_words", bert.whole_words);
    table.optional("seed", bert.seed);
    table.finish();
    table.require_one_of("sentences", bert.sentences, {"punctuation", "lines"});
    for (const auto& [key, share] :
         {std::pair{"short_probability", bert.short_probability}, {"mask_fraction", bert.mask_fraction}})
        if (!(share >= 0 && share <= 1)) table.refuse(key, fmt::format("is {} and must be a share, 0 to 1", share));
    table.require_at_least("seed", bert.seed, 0);
}

}  // namespace

std::string tokenizer_problem(const DataConfig& data) {
    const bool bert = data.samples == "bert";
    if (bert && (data.tokenizer == "bytes" || data.tokenizer == "gpt2" || data.tokenizer == "bpe"))
        return "has none of the [CLS], [SEP] and [MASK] that BERT's samples need";
    if (!bert && data.tokenizer == kBertVocabulary) return "has no end of a document, which packed samples need";
    return {};
}

void parse_samples(TableReader& table, DataConfig& data) {
    table.optional("samples", data.samples);
    table.require_one_of("samples", data.samples, {"packed", "bert"});
    const ConfigNode* bert = table.optional_node("bert");
    if (const std::string why = tokenizer_problem(data); !why.empty())
        table.refuse(
            "tokenizer", fmt::format("= \"{}\" {}", data.tokenizer, why),
            fmt::format("of bert samples name {}, a folder with vocab.txt or a .txt file; of packed ones bytes,"
                        " gpt2, bpe, or a folder with vocab.json and merges.txt",
                        kBertVocabulary));
    if (data.samples == "bert" && data.corpus == "indexed")
        table.refuse("corpus", "is \"indexed\", and BERT's samples are cut from sentences, which are found in text",
                     "name the text: corpus = \"text\" with train_files");
    if (data.samples != "bert" && bert != nullptr)
        table.refuse("bert", "means nothing to packed samples", "set data.samples = \"bert\", or drop the table");
    if (bert != nullptr) parse_bert(TableReader(*bert, table.name("bert")), data.bert);
}

}  // namespace deft::experiments
