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

// The tokens of a shard, which lie in the file. Errors: io.
TokenSpan tokens_of_shard(const MappedFile& file) {
    const ShardHeader header = shard_header(file);
    TokenSpan tokens;
    tokens.width = width_of_tokens(file, header);
    if (header.tokens < 0) refuse_shard(file, fmt::format("its header declares {} tokens", header.tokens));
    tokens.size = header.tokens;
    const std::int64_t wanted = static_cast<std::int64_t>(kHeaderBytes) + tokens.size * tokens.width;
    if (static_cast<std::int64_t>(file.bytes().size()) != wanted)
        refuse_shard(file, fmt::format("{} bytes where its header implies {}", file.bytes().size(), wanted));
    tokens.data = file.bytes().data() + kHeaderBytes;
    for (std::int64_t i = 0; i < tokens.size; ++i)
        if (tokens[i] < 0) refuse_shard(file, fmt::format("token {} has more than 31 bits", i));
    return tokens;
}

std::vector<std::int64_t> document_starts(TokenSpan tokens, std::int32_t end_of_document) {
    std::vector<std::int64_t> starts;
    if (tokens.size > 0) starts.push_back(0);
    for (std::int64_t i = 1; i < tokens.size; ++i)
        if (tokens[i] == end_of_document) starts.push_back(i);
    starts.push_back(tokens.size);
    return starts;
}

}  // namespace

bool is_llmc_shard(const fs::path& file) {
    if (!fs::is_regular_file(file)) return false;
    const std::int32_t magic = shard_header(MappedFile(file)).magic;
    return magic == kShardKinds[0].magic || magic == kShardKinds[1].magic;
}

LlmcTokens::LlmcTokens(std::span<const fs::path> files, std::int32_t end_of_document) {
    if (files.size() == 1) {
        only_.emplace(files.front());
        tokens_ = tokens_of_shard(*only_);
    } else {
        std::size_t bytes_in_all = 0;
        for (const fs::path& path : files) bytes_in_all += MappedFile(path).bytes().size();
        joined_.reserve(bytes_in_all);
        for (const fs::path& path : files) {
            const MappedFile file(path);
            const TokenSpan part = tokens_of_shard(file);
            if (joined_.empty()) tokens_.width = part.width;
            if (part.width != tokens_.width)
                throw Error(ErrorKind::io,
                            fmt::format("{} has tokens of {} bytes, and {} of {}", path.string(), part.width,
                                        files.front().string(), tokens_.width),
                            "name shards of one kind");
            const auto* bytes = static_cast<const std::byte*>(part.data);
            joined_.insert(joined_.end(), bytes, bytes + part.size * part.width);
            tokens_.size += part.size;
        }
        tokens_.data = joined_.data();
    }
    starts_ = document_starts(tokens_, end_of_document);
}

}  // namespace deft::engine
