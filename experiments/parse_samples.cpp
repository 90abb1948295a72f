#include "experiments/parse_samples.h"

#include <fmt/format.h>

#include "experiments/config_fields.h"

namespace deft::experiments {

std::string tokenizer_problem(const DataConfig& data) {
    const bool bert = data.samples == SampleKind::bert, labelled = data.samples == SampleKind::labelled;
    const std::optional<BuiltInTokenizer> tokenizer = built_in_tokenizer(data);
    const bool is_wordpiece = tokenizer == BuiltInTokenizer::bert_base_uncased;
    const bool is_of_packed_text = tokenizer && !is_wordpiece;
    if ((bert || labelled) && is_of_packed_text)
        return labelled ? "lacks the tokens [CLS] and [SEP] that labelled texts need"
                        : "lacks the tokens [CLS], [SEP] and [MASK] that BERT samples need";
    if (!bert && !labelled && is_wordpiece) return "lacks the end-of-document token that packed samples need";
    return {};
}

namespace {

void refuse_table(const TableReader& table, const char* key, const ConfigNode* node, SampleKind samples) {
    if (node != nullptr)
        table.refuse(key, fmt::format("has no effect with data.samples = \"{}\"", name_of(samples)),
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
    refuse("tokenizer", data.samples == SampleKind::images && data.tokenizer != plain.tokenizer);
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
    if (data.samples != SampleKind::bert) refuse_table(table, "bert", tables.bert, data.samples);
    if (data.samples != SampleKind::images) refuse_table(table, "images", tables.images, data.samples);
    if (data.samples != SampleKind::labelled) refuse_table(table, "labelled", tables.labelled, data.samples);
    if (data.samples == SampleKind::images) return parse_images(table, tables.images, data);
    if (const std::string why = tokenizer_problem(data); !why.empty())
        table.refuse("tokenizer", fmt::format("= \"{}\" {}", data.tokenizer, why),
                     fmt::format("for BERT samples and labelled texts set {}, a folder with vocab.txt or a .txt file; "
                                 "for packed samples bytes,"
                                 " gpt2, bpe, or a folder with vocab.json and merges.txt",
                                 kBertVocabulary));
    if (data.samples == SampleKind::labelled) return parse_labelled(table, tables.labelled, data);
    const bool of_bert = data.samples == SampleKind::bert;
    if (of_bert && built_in_corpus(data) == BuiltInCorpus::indexed)
        table.refuse("corpus", "is \"indexed\", but BERT samples need sentences, which only text has",
                     "set corpus = \"text\" and train_files");
    if (tables.bert == nullptr) return;
    TableReader reader(*tables.bert, table.name("bert"));
    read_table(reader, data.bert);
}

}  // namespace deft::experiments
