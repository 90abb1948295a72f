// engine/data/llmc_tokens.h

#include "engine/data/llmc_tokens.h"

#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::write("tokens.bin", fuzz::view(data, size));
    return fuzz::read_or_refuse([&] {
        (void)engine::is_llmc_shard(file);
        for (const std::vector<std::filesystem::path>& files : {std::vector{file}, {file, file}}) {
            const auto shards = std::make_shared<const engine::LlmcTokens>(files, 7);
            fuzz::touch(shards->tokens().data,
                        static_cast<std::size_t>(shards->tokens().size * shards->tokens().width));
            for (std::int64_t d = 0; d < shards->documents(); ++d) {
                const engine::TokenCorpus corpus = engine::corpus_of_range(shards, d, d + 1);
                fuzz::touch(corpus.tokens.data, static_cast<std::size_t>(corpus.tokens.size * corpus.tokens.width));
            }
        }
    });
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> seeds;
    for (const auto& [magic, version, width] : {std::tuple{20240520, 1, 2}, {20240801, 7, 4}}) {
        std::vector<std::int32_t> header(256);
        header[0] = magic;
        header[1] = version;
        header[2] = 6;
        std::string seed(reinterpret_cast<const char*>(header.data()), 1024);
        for (const int token : {7, 1, 2, 7, 3, 4}) {
            seed += static_cast<char>(token);
            seed.append(static_cast<std::size_t>(width - 1), '\0');
        }
        seeds.push_back(seed);
    }
    return seeds;
}
