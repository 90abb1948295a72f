#pragma once
// How files of others call and lay out a model's weights: one table for each family of names. No other file knows a
// foreign name of a weight.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/models/transformer_config.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

enum class WeightNames {
    own,      // of a model that Hugging Face has not: ours after "transformer.", laid out as its GPT-2
    plain,    // ours, laid out as the engine has them: what the reader of llm.c's files calls their tensors
    gpt2,     // Hugging Face's GPT2LMHeadModel
    bert,     // BertForPreTraining, BertForMaskedLM, BertForSequenceClassification
    vit,      // ViTForImageClassification
    llama,    // LlamaForCausalLM, whose rotary pairs (i, i + d/2) are ours, so that no row changes its place
    mixtral,  // MixtralForCausalLM: a Llama of experts
};

// The family's name for people, as in "BERT of Hugging Face".
const char* family_name(WeightNames names);

// How a file lays out rows (rows, columns) of one of our weights.
enum class StoredAs {
    rows,         // (rows, columns)
    transposed,   // (columns, rows)
    convolution,  // (rows, channels, P, P), where our columns are (P, P, channels)
    batched,      // (1, rows, columns)
    token,        // (1, 1, columns) of one row
};

// One tensor of a file: rows [first_row, first_row + rows) of a weight, or of what one expert has of it.
struct StoredPart {
    std::string name;
    std::vector<std::string> doubles;  // names under which a file may hold the same values once more, or instead
    std::int64_t first_row = 0, rows = 0;
    StoredAs as = StoredAs::rows;
    std::vector<std::int64_t> shape;  // in the file
    std::int64_t expert = -1;         // whose rows they are, of a weight (E, rows, columns); -1: the weight's own
};
// The rows of that part.
Tensor rows_of_part(const Tensor& weight, const StoredPart& part);
// Elements of the whole of a divided weight that they are.
Share elements_of_part(const Parameter& parameter, const StoredPart& part);

// A whole weight as the engine has it: (rows), or (rows, columns), or of experts (E, rows, columns).
struct OwnWeight {
    std::string name;
    ParameterKind kind = ParameterKind::matrix;
    std::vector<std::int64_t> shape;
};
OwnWeight own_weight(const Parameter& parameter);

// The location of that weight in such a model: three tensors where queries, keys and values are apart; none, of a head
// that the family has not. Errors: std::logic_error, for another weight that the family has no name for; of a
// counterpart it has one for all.
std::vector<StoredPart> stored_parts(WeightNames names, const TransformerConfig& model, const OwnWeight& weight);

// Every way in which files have spelled that name: without the prefix of the model, gamma and beta of older norms.
std::vector<std::string> spellings(WeightNames names, const std::string& name);

// Heads may be newly initialized in a model, and ignored in a file. The arguments are our names and a file's.
bool is_head(std::string_view own_name);
bool is_foreign_head(WeightNames names, std::string_view name);
// Whether it is the head of classes alone, which another task replaces.
bool is_class_head(std::string_view own_name);

// Tensors that are no weights: masks, positions by their number, frequencies.
bool is_no_weight(WeightNames names, std::string_view name);

// How the weights of such a file are called, by its tensors' names: `family`, that of the model, or `own`, as deft
// named all weights before it took the names of others. has: whether the file has a tensor of that name.
WeightNames names_in_file(WeightNames family, const std::function<bool(const std::string&)>& has);

}  // namespace deft::engine
