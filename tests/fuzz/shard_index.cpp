// engine/io/sharded_safetensors.h: the index, beside two whole shards

#include "engine/io/sharded_safetensors.h"

#include "engine/io/write_weights.h"
#include "tests/fuzz/target.h"

using namespace deft;

namespace {

bool write_shards() {
    std::vector<float> weights = {1, 2, 3, 4};
    for (const char* name : {"a", "b"})
        engine::write_safetensors(fuzz::scratch().path() / (std::string(name) + ".safetensors"),
                                  {{name, engine::make_tensor(weights.data(), engine::DType::f32, {2, 2})}}, {});
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const bool shards_are_there = write_shards();
    (void)shards_are_there;
    fuzz::write(engine::kModelIndex, fuzz::view(data, size));
    return fuzz::read_or_refuse([&] {
        std::vector<std::shared_ptr<const MappedFile>> files;
        for (const auto& [name, found] : engine::open_safetensors(fuzz::scratch().path(), files))
            fuzz::touch(found.tensor.data, static_cast<std::size_t>(found.tensor.bytes()));
    });
}

std::vector<std::string> fuzz::seeds() {
    return {R"({"metadata": {"total_size": 32}, "weight_map": {"a": "a.safetensors", "b": "b.safetensors"}})",
            R"({"weight_map": {"a": "a.safetensors"}})"};
}
