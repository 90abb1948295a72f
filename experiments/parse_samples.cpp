#include "experiments/parse_samples.h"

#include <fmt/format.h>

#include "experiments/config_fields.h"

namespace deft::experiments {

SampleKind sample_kind(const DataConfig& data) {
    if (data.samples == "images") return SampleKind::images;
    if (data.samples == "labelled") return SampleKind::labelled;
    return data.samples == "bert" ? SampleKind::bert : SampleKind::packed;
}

std::string tokenizer_problem(const DataConfig& data) {
    const bool bert = sample_kind(data) == SampleKind::bert, labelled = sample_kind(data) == SampleKind::labelled;
    if ((bert || labelled) && (data.tokenizer == "bytes" || data.tokenizer == "gpt2" || data.tokenizer == "bpe"))
        return labelled ? "lacks the tokens [CLS] and [SEP] that labelled texts need"
                        : "lacks the tokens [CLS], [SEP] and [MASK] that BERT samples need";
    if (!bert && !labelled && data.tokenizer == kBertVocabulary)
        return "lacks the end-of-document token that packed samples need";
    return {};
}

namespace {

void refuse_table(const TableReader& table, const char* key, const ConfigNode* node, const std::string& samples) {
    if (node != nullptr)
        table.refuse(key, fmt::format("has no effect with data.samples = \"{}\"", samples),
                     fmt::format("set data.samples = \"{}\", or drop the table", key));
}

// Keys of text that is cut into samples. why: what has none of it.
void refuse_text_keys(const TableReader& table, const DataConfig& data, const char* why) {
    const DataConfig plain;
    const auto refuse = [&](const char* key, bool is_set) {
        if (is_set) table.refuse(key, why, "drop the key");
    };
    refuse("train_files", !data.train_files.empty());
    refuse("valid_files", !data.valid_files.empty());
    refuse("split", data.split != plain.split);
    refuse("max_bytes", data.max_bytes != plain.max_bytes);
    refuse("tokenizer", sample_kind(data) == SampleKind::images && data.tokenizer != plain.tokenizer);
    refuse("vocab", data.vocab != plain.vocab);
    refuse("embedded_seed", data.embedded_seed != plain.embedded_seed);
    refuse("embedded_bytes", data.embedded_bytes != plain.embedded_bytes);
    refuse("shuffled_facts", data.shuffled_facts);
}

void parse_images(const TableReader& table, const ConfigNode* images, DataConfig& data) {
    refuse_text_keys(table, data, "has no effect with data.samples = \"images\"");
    if (images == nullptr) return;
    TableReader reader(*images, table.name("images"));
    read_table(reader, data.images);
}

void parse_labelled(const TableReader& table, const ConfigNode* labelled, DataConfig& data) {
    refuse_text_keys(table, data, "has no effect with data.samples = \"labelled\", which reads the records of a task");
    if (labelled == nullptr) return;
    TableReader reader(*labelled, table.name("labelled"));
    read_table(reader, data.labelled);
}

}  // namespace

void parse_samples(const TableReader& table, const SampleTables& tables, DataConfig& data) {
    if (sample_kind(data) != SampleKind::bert) refuse_table(table, "bert", tables.bert, data.samples);
    if (sample_kind(data) != SampleKind::images) refuse_table(table, "images", tables.images, data.samples);
    if (sample_kind(data) != SampleKind::labelled) refuse_table(table, "labelled", tables.labelled, data.samples);
    if (sample_kind(data) == SampleKind::images) return parse_images(table, tables.images, data);
    if (const std::string why = tokenizer_problem(data); !why.empty())
        table.refuse("tokenizer", fmt::format("= \"{}\" {}", data.tokenizer, why),
                     fmt::format("for BERT samples and labelled texts set {}, a folder with vocab.txt or a .txt file; "
                                 "for packed samples bytes,"
                                 " gpt2, bpe, or a folder with vocab.json and merges.txt",
                                 kBertVocabulary));
    if (sample_kind(data) == SampleKind::labelled) return parse_labelled(table, tables.labelled, data);
    const bool of_bert = sample_kind(data) == SampleKind::bert;
    if (of_bert && data.corpus == "indexed")
        table.refuse("corpus", "is \"indexed\", but BERT samples need sentences, which only text has",
                     "set corpus = \"text\" and train_files");
    if (tables.bert == nullptr) return;
    TableReader reader(*tables.bert, table.name("bert"));
    read_table(reader, data.bert);
}

}  // namespace deft::experiments
