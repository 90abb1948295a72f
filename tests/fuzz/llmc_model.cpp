// engine/io/llmc_model.h

#include "engine/io/llmc_model.h"

#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::write("model.bin", fuzz::view(data, size));
    return fuzz::read_or_refuse([&] {
        const engine::LlmcModel model = engine::read_llmc_model(std::make_shared<const MappedFile>(file));
        for (const auto& [name, found] : model.weights.tensors)
            fuzz::touch(found.tensor.data, static_cast<std::size_t>(found.tensor.bytes()));
    });
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> seeds;
    for (const std::int32_t version : {3, 5}) {
        // 1 layer, 2 heads, width 4, 3 positions, 5 of 6 tokens.
        std::vector<std::int32_t> header(256);
        const std::int32_t first[] = {engine::kLlmcModelMagic, version, 3, 5, 1, 2, 4, 6};
        std::copy(std::begin(first), std::end(first), header.begin());
        const std::size_t weights = 6 * 4 + 3 * 4 + 12 * 4 * 4 + 13 * 4 + 2 * 4;
        seeds.push_back(std::string(reinterpret_cast<const char*>(header.data()), 1024) +
                        std::string(weights * (version == 5 ? 2 : 4), '\1'));
    }
    return seeds;
}
