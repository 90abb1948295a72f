#include "experiments/parse_samples.h"

#include <fmt/format.h>

#include "experiments/config_fields.h"

namespace deft::experiments {

SampleKind sample_kind(const DataConfig& data) {
    return data.samples == "bert" ? SampleKind::bert : SampleKind::packed;
}

std::string tokenizer_problem(const DataConfig& data) {
    const bool bert = sample_kind(data) == SampleKind::bert;
    if (bert && (data.tokenizer == "bytes" || data.tokenizer == "gpt2" || data.tokenizer == "bpe"))
        return "has none of the [CLS], [SEP] and [MASK] that BERT's samples need";
    if (!bert && data.tokenizer == kBertVocabulary) return "has no end of a document, which packed samples need";
    return {};
}

void parse_samples(const TableReader& table, const ConfigNode* bert, DataConfig& data) {
    if (const std::string why = tokenizer_problem(data); !why.empty())
        table.refuse(
            "tokenizer", fmt::format("= \"{}\" {}", data.tokenizer, why),
            fmt::format("of bert samples name {}, a folder with vocab.txt or a .txt file; of packed ones bytes,"
                        " gpt2, bpe, or a folder with vocab.json and merges.txt",
                        kBertVocabulary));
    const bool of_bert = sample_kind(data) == SampleKind::bert;
    if (of_bert && data.corpus == "indexed")
        table.refuse("corpus", "is \"indexed\", and BERT's samples are cut from sentences, which are found in text",
                     "name the text: corpus = \"text\" with train_files");
    if (!of_bert && bert != nullptr)
        table.refuse("bert", "means nothing to packed samples", "set data.samples = \"bert\", or drop the table");
    if (bert == nullptr) return;
    TableReader reader(*bert, table.name("bert"));
    read_table(reader, data.bert);
}

}  // namespace deft::experiments
