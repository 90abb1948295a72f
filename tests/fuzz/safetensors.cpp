// engine/io/safetensors.h

#include "engine/io/safetensors.h"

#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::write("x.safetensors", fuzz::view(data, size));
    return fuzz::read_or_refuse([&] {
        const engine::SafetensorsFile read = engine::read_safetensors(file);
        for (const auto& [name, tensor] : read.tensors) {
            fuzz::touch(tensor.data, static_cast<std::size_t>(tensor.bytes()));
            (void)tensor.shape_text();
        }
    });
}

std::vector<std::string> fuzz::seeds() {
    std::vector<float> weights = {1, 2, 3, 4, 5, 6};
    std::vector<std::int64_t> ids = {7, 8};
    std::vector<kernels::bf16> rounded = {{0x3f80}, {0x4000}};
    const auto file = scratch() / "seed.safetensors";
    engine::write_safetensors(file,
                              {{"w", engine::make_tensor(weights.data(), engine::DType::f32, {2, 3})},
                               {"ids", engine::make_tensor(ids.data(), engine::DType::i64, {2})},
                               {"r", engine::make_tensor(rounded.data(), engine::DType::bf16, {2})}},
                              {{"format", "pt"}});
    std::vector<std::string> seeds = {read(file)};
    engine::write_safetensors(file, {{"none", engine::make_tensor(weights.data(), engine::DType::f32, {0, 3})}}, {});
    seeds.push_back(read(file));
    return seeds;
}
