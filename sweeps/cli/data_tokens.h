#pragma once
// The subcommands of `deft data` that make tokens and tokenizers, and the options that name a corpus.

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config.h"
#include "sweeps/cli/commands.h"

namespace deft::cli {

// --corpus NAME or --text FILE...: which text is meant without a sweep.
struct CorpusArguments {
    std::string corpus;
    std::vector<std::string> text;

    void add_to(CLI::App& command);
    bool given() const { return !corpus.empty() || !text.empty(); }
    // Errors: usage, where none or both are given.
    experiments::DataConfig data() const;
};

// Sets the tokenizer and, for bpe, the vocabulary. Errors: usage, for bpe without one or one without bpe.
void set_tokenizer(experiments::DataConfig& data, const std::string& tokenizer, std::int64_t vocab);

// How samples are cut: packed or bert, by the defaults of [data.bert]. The tokenizer is set already. Errors: usage.
void set_samples(experiments::DataConfig& data, const std::string& samples);

void add_data_tokenize(CLI::App& data, Context& context);
void add_data_train_tokenizer(CLI::App& data, Context& context);
void add_data_dump_samples(CLI::App& data, Context& context);  // data_samples.cpp

}  // namespace deft::cli
