#include "engine/data/llmc_tokens.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeaderBytes = 1024;

struct ShardKind {
    std::int32_t magic, version;
    int width;  // bytes a token
};
constexpr ShardKind kShardKinds[] = {{20240520, 1, 2}, {20240801, 7, 4}};

struct ShardHeader {
    std::int32_t magic = 0, version = 0, tokens = 0;
};

ShardHeader shard_header(const MappedFile& file) {
    ShardHeader header;
    if (file.bytes().size() >= kHeaderBytes) std::memcpy(&header, file.bytes().data(), sizeof header);
    return header;
}

[[noreturn]] void refuse_shard(const MappedFile& file, const std::string& why) {
    throw Error(ErrorKind::io, fmt::format("{}: no whole token shard of llm.c: {}", file.path().string(), why),
                "make the file again, or copy it again whole");
}

int width_of_tokens(const MappedFile& file, const ShardHeader& header) {
    if (file.bytes().size() < kHeaderBytes) refuse_shard(file, "shorter than its header");
    for (const ShardKind& kind : kShardKinds) {
        if (header.magic != kind.magic) continue;
        if (header.version != kind.version)
            refuse_shard(
                file, fmt::format("version {} of {} is not read, only {}", header.version, kind.magic, kind.version));
        return kind.width;
    }
    refuse_shard(file, fmt::format("it begins with {}", header.magic));
}

}  // namespace

bool is_llmc_shard(const fs::path& file) {
    if (!fs::is_regular_file(file)) return false;
    const std::int32_t magic = shard_header(MappedFile(file)).magic;
    return magic == kShardKinds[0].magic || magic == kShardKinds[1].magic;
}

LlmcShard::LlmcShard(const fs::path& file, std::int32_t end_of_document) : file_(file) {
    const ShardHeader header = shard_header(file_);
    tokens_.width = width_of_tokens(file_, header);
    if (header.tokens < 0) refuse_shard(file_, fmt::format("it tells of {} tokens", header.tokens));
    tokens_.size = header.tokens;
    const std::int64_t wanted = static_cast<std::int64_t>(kHeaderBytes) + tokens_.size * tokens_.width;
    if (static_cast<std::int64_t>(file_.bytes().size()) != wanted)
        refuse_shard(file_, fmt::format("{} bytes where its header tells of {}", file_.bytes().size(), wanted));
    tokens_.data = file_.bytes().data() + kHeaderBytes;
    if (tokens_.size > 0) starts_.push_back(0);
    for (std::int64_t i = 0; i < tokens_.size; ++i) {
        const std::int32_t token = tokens_[i];
        if (token < 0) refuse_shard(file_, fmt::format("token {} has more than 31 bits", i));
        if (token == end_of_document && i > 0) starts_.push_back(i);
    }
    starts_.push_back(tokens_.size);
}

TokenCorpus corpus_of_range(std::shared_ptr<const LlmcShard> shard, std::int64_t first, std::int64_t last) {
    TokenCorpus corpus;
    const std::int64_t start = shard->document_start(first);
    corpus.tokens = shard->tokens().part(start, shard->document_start(last) - start);
    corpus.documents = last - first;
    corpus.owner = std::move(shard);
    return corpus;
}

}  // namespace deft::engine
