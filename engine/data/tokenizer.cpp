#include "engine/data/tokenizer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "engine/data/bpe/bpe_files.h"
#include "engine/data/bpe/splitter.h"

namespace deft::engine {

namespace {

constexpr std::int32_t kByteVocab = 257;
constexpr std::int32_t kByteEndOfDocument = 256;

// Everything that decides the encoding, as text: one tokenizer, one spelling, whatever its files look like.
std::string canonical_text(const BpeVocabulary& vocabulary) {
    std::string text = fmt::format("byte-level BPE, GPT-2 split, Unicode 14\n{} tokens, {} ends a document\n",
                                   vocabulary.tokens.size(), vocabulary.end_of_document);
    for (const std::string& token : vocabulary.tokens) text += spell(token) + '\n';
    for (const Merge& merge : vocabulary.merges)
        text += fmt::format("{} {} {}\n", merge.left, merge.right, merge.result);
    return text;
}

void append_bytes(std::string_view text, std::vector<std::int32_t>& out) {
    for (const char c : text) out.push_back(static_cast<unsigned char>(c));
}

}  // namespace

Tokenizer::Tokenizer(State state) : state_(std::make_shared<const State>(std::move(state))) {}

Tokenizer Tokenizer::bytes() {
    return Tokenizer(State{nullptr, "bytes", deft::sha256("bytes, 256 ends a document\n")});
}

Tokenizer::Tokenizer(std::shared_ptr<const Bpe> bpe, std::string name)
    : Tokenizer(State{bpe, std::move(name), deft::sha256(canonical_text(bpe->vocabulary()))}) {}

std::int32_t Tokenizer::vocab() const {
    return bpe() == nullptr ? kByteVocab : static_cast<std::int32_t>(bpe()->vocabulary().tokens.size());
}

std::int32_t Tokenizer::end_of_document() const {
    return bpe() == nullptr ? kByteEndOfDocument : bpe()->vocabulary().end_of_document;
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
    std::vector<std::int32_t> tokens;
    if (bpe() == nullptr)
        append_bytes(text, tokens);
    else
        for_each_piece(text, [&](std::string_view piece) { bpe()->encode_piece(piece, tokens); });
    return tokens;
}

std::string Tokenizer::decode(std::span<const std::int32_t> tokens) const {
    std::string text;
    for (const std::int32_t id : tokens) {
        const std::int32_t bytes = token_bytes(id);
        if (bpe() != nullptr)
            text += bpe()->vocabulary().tokens[id];
        else if (bytes > 0)
            text += static_cast<char>(id);
    }
    return text;
}

std::int32_t Tokenizer::token_bytes(std::int32_t id) const {
    if (id < 0 || id >= vocab())
        throw Error(ErrorKind::config,
                    fmt::format("token {} is not of the tokenizer {}, whose ids are 0 to {}", id, name(), vocab() - 1),
                    "use the tokenizer that the tokens were made with");
    if (bpe() == nullptr) return id == kByteEndOfDocument ? 0 : 1;
    return static_cast<std::int32_t>(bpe()->vocabulary().tokens[id].size());
}

const std::string& Tokenizer::sha256() const {
    return state_->sha256;
}

const std::string& Tokenizer::name() const {
    return state_->name;
}

const Bpe* Tokenizer::bpe() const {
    return state_->bpe.get();
}

void Encoder::encode(std::string_view text, std::vector<std::int32_t>& out) {
    if (tokenizer_.bpe() == nullptr)
        append_bytes(text, out);
    else
        for_each_piece(text, [&](std::string_view piece) { encode_piece(piece, out); });
}

void Encoder::encode_piece(std::string_view piece, std::vector<std::int32_t>& out) {
    if (piece.size() > PieceCache::kMaxBytes) return tokenizer_.bpe()->encode_piece(piece, out);
    const PieceCache::Found found = cache_.find(piece);
    if (found.known) {
        out.insert(out.end(), found.entry.tokens.begin(), found.entry.tokens.begin() + found.entry.count);
        return;
    }
    const std::size_t before = out.size();
    tokenizer_.bpe()->encode_piece(piece, out);
    PieceCache::keep(found, piece, std::span(out).subspan(before));
}

Tokenizer load_tokenizer(const std::filesystem::path& folder) {
    const std::filesystem::path plain = std::filesystem::absolute(folder).lexically_normal();
    const std::filesystem::path name = plain.has_filename() ? plain.filename() : plain.parent_path().filename();
    return Tokenizer(std::make_shared<const Bpe>(read_bpe(folder)), name.string());
}

Tokenizer read_stored_tokenizer(const std::filesystem::path& folder, const std::string& name) {
    if (bpe_files_in(folder).empty()) return Tokenizer::bytes();
    return Tokenizer(std::make_shared<const Bpe>(read_bpe(folder)), name);
}

void write_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder) {
    if (tokenizer.bpe() == nullptr)
        throw Error(ErrorKind::config, "the byte tokenizer has no files",
                    "name it \"bytes\" wherever a tokenizer is named");
    write_bpe(tokenizer.bpe()->vocabulary(), folder);
}

}  // namespace deft::engine
