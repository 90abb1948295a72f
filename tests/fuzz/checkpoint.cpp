// The manifest of engine/train/checkpoint.h: checkpoint.json over files that stay as they are

#include "engine/train/checkpoint.h"
#include "base/json.h"
#include "base/sha256.h"
#include "tests/fuzz/target.h"

using namespace deft;

namespace {

constexpr const char* kFiles[] = {"config.json", "model.safetensors", "optimizer.safetensors"};

std::string manifest() {
    Json json = {{"schema", "deft-checkpoint/2"},
                 {"counts",
                  {{"steps", 3},
                   {"samples", 24},
                   {"input_tokens", 1536},
                   {"layer_tokens", 1500},
                   {"flops", 1e9},
                   {"cut_tokens", 12},
                   {"padding_tokens", 0},
                   {"draws_by_tenth", {24, 0, 0, 0, 0, 0, 0, 0, 0, 0}}}},
                 {"about", {{"trial", {{"seed", 1}}}}}};
    for (const char* name : kFiles) json["sha256"][name] = sha256_file(fuzz::write(name, name));
    return json.dump(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::string files_are_there = manifest();
    fuzz::write("checkpoint.json", fuzz::view(data, size));
    return fuzz::read_or_refuse([&] { (void)engine::verify_checkpoint(fuzz::scratch().path()); });
}

std::vector<std::string> fuzz::seeds() {
    return {manifest()};
}
