#include "engine/data/bpe/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "engine/data/bpe/bpe_files.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
    throw Error(ErrorKind::config, Place{file.string(), 0, 0}, why,
                "deft reads byte-level byte-pair encodings with GPT-2's split rules, as in GPT2Tokenizer");
}

bool is_byte_level(const Json& rule) {
    return rule.is_object() && rule.value("type", "") == "ByteLevel" && !rule.value("add_prefix_space", true) &&
           rule.value("use_regex", true);
}

void require_gpt2_rules(const fs::path& file, const Json& json) {
    const auto is_set = [&](const Json& object, const char* key) {
        return object.contains(key) && !object.at(key).is_null();
    };
    if (is_set(json, "normalizer")) refuse(file, "its normalizer changes the text");
    if (!json.contains("pre_tokenizer") || !is_byte_level(json.at("pre_tokenizer")))
        refuse(file, "its pre_tokenizer is not ByteLevel with add_prefix_space = false and use_regex = true");
    const Json& model = json.at("model");
    if (model.value("type", "BPE") != "BPE")
        refuse(file, fmt::format("its model is {}, not BPE", model.at("type").dump()));
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (is_set(model, key) && model.at(key) != "") refuse(file, fmt::format("its model has a {}", key));
}

// "left right", or the newer ["left", "right"].
std::string merge_line(const Json& merge) {
    if (merge.is_string()) return merge.get<std::string>() + "\n";
    return merge.at(0).get<std::string>() + " " + merge.at(1).get<std::string>() + "\n";
}

}  // namespace

TokenizerJson read_tokenizer_json(const fs::path& file) {
    std::string problem;
    const Json json = try_parse_object(read_text_file(file), problem);
    if (json.is_discarded()) refuse(file, problem);
    try {
        require_gpt2_rules(file, json);
        TokenizerJson read;
        for (const auto& [spelling, id] : json.at("model").at("vocab").items())
            read.vocab.emplace_back(spelling, id.get<std::int64_t>());
        if (json.contains("added_tokens") && !json.at("model").at("vocab").contains(kEndOfText))
            for (const Json& token : json.at("added_tokens"))
                if (token.at("content") == kEndOfText)
                    read.vocab.emplace_back(kEndOfText, token.at("id").get<std::int64_t>());
        std::sort(read.vocab.begin(), read.vocab.end(),
                  [](const auto& a, const auto& b) { return a.second < b.second; });
        for (const Json& merge : json.at("model").at("merges")) read.merges += merge_line(merge);
        return read;
    } catch (const Json::exception& error) {
        refuse(file, fmt::format("it is not laid out as `tokenizers` does: {}", error.what()));
    }
}

}  // namespace deft::engine
