// Files of others: how they may spell and lay out what they hold, and which of them are damaged.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "base/files.h"
#include "engine/io/llmc_model.h"
#include "engine/io/write_weights.h"
#include "kernels/f16.h"
#include "tests/engine/exported_folder.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;
namespace fs = std::filesystem;

namespace {

// A whole model of llm.c: 2 layers, 2 heads, width 8, 5 positions, 11 of 16 tokens.
std::string llmc_bytes(std::int32_t version = 3) {
    std::vector<std::int32_t> header(256);
    const std::int32_t first[] = {kLlmcModelMagic, version, 5, 11, 2, 2, 8, 16};
    std::copy(std::begin(first), std::end(first), header.begin());
    constexpr std::size_t C = 8, L = 2;
    constexpr std::size_t kWeights = 16 * C + 5 * C + L * (12 * C * C + 13 * C) + 2 * C;
    const std::string values(kWeights * (version == 5 ? 2 : 4), '\0');
    return std::string(reinterpret_cast<const char*>(header.data()), 1024) + values;
}

}  // namespace

TEST_CASE("half precision is read exactly and rounded to nearest, ties to even", "[bare][python]") {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const kernels::f16 half{static_cast<std::uint16_t>(bits)};
        const float value = kernels::to_float(half);
        if (std::isnan(value)) {
            REQUIRE(std::isnan(kernels::to_float(kernels::to_f16(value))));
            continue;
        }
        REQUIRE(kernels::to_f16(value).bits == half.bits);
        if (!std::isfinite(value) || (bits & 0x7fff) >= 0x7bff) continue;
        // Halfway to the next one: the even one of the two; a little beyond: the next.
        const float next = kernels::to_float(kernels::f16{static_cast<std::uint16_t>(bits + 1)});
        const float middle = (value + next) / 2;
        REQUIRE(kernels::to_f16(middle).bits == bits + (bits & 1));
        REQUIRE(kernels::to_f16(std::nextafter(middle, next)).bits == bits + 1);
    }
    CHECK(kernels::to_float(kernels::f16{0x3555}) == 0.333251953125f);
    CHECK(kernels::to_f16(65519.99f).bits == 0x7bff);
    CHECK(kernels::to_f16(65520.f).bits == 0x7c00);
    CHECK(kernels::to_f16(-1e30f).bits == 0xfc00);
}

TEST_CASE("a file may lack the model's prefix, spell its norms in the old way, and hold masks and the tied head",
          "[bare][python]") {
    for (const Json& json : {tiny_gpt2_json(), tiny_bert_json(), tiny_llama_json(), tiny_vit_json()}) {
        INFO(json.at("model_type"));
        const ExportedFolder exported(json);
        const std::vector<float> whole = exported.model.weights();
        CHECK(exported.imported() == whole);
        const std::string prefix = json.at("model_type") == "gpt2"    ? "transformer."
                                   : json.at("model_type") == "llama" ? "model."
                                                                      : json.at("model_type").get<std::string>() + ".";
        exported.rewrite([&](Tensors& tensors) { drop_prefix(tensors, prefix); });
        CHECK(exported.imported() == whole);
        std::vector<float> mask(4, 1);
        exported.rewrite([&](Tensors& tensors) {
            const Tensor buffer = make_tensor(mask.data(), DType::f32, {1, 1, 2, 2});
            if (prefix == "transformer.") tensors["h.0.attn.bias"] = tensors["h.1.attn.masked_bias"] = buffer;
            if (prefix == "bert.") tensors["embeddings.position_ids"] = buffer;
            if (prefix == "model.") tensors["layers.0.self_attn.rotary_emb.inv_freq"] = buffer;
            if (prefix == "vit.") tensors["embeddings.mask_token"] = buffer;
        });
        CHECK(exported.imported() == whole);
    }
    const ExportedFolder bert(tiny_bert_json());
    bert.rewrite([](Tensors& tensors) {
        const Tensors before = tensors;
        for (const auto& [name, tensor] : before) {
            if (name.ends_with("LayerNorm.weight")) rename(tensors, name, name.substr(0, name.size() - 6) + "gamma");
            if (name.ends_with("LayerNorm.bias")) rename(tensors, name, name.substr(0, name.size() - 4) + "beta");
        }
        tensors["cls.predictions.decoder.weight"] = tensors.at("bert.embeddings.word_embeddings.weight");
        rename(tensors, "cls.predictions.bias", "cls.predictions.decoder.bias");
    });
    CHECK(bert.imported() == bert.model.weights());

    const ExportedFolder gpt2(tiny_gpt2_json());
    gpt2.rewrite([](Tensors& tensors) { tensors["lm_head.weight"] = tensors.at("transformer.wte.weight"); });
    CHECK(gpt2.imported() == gpt2.model.weights());
    std::vector<float> other(31 * 16, 0.5f);
    gpt2.rewrite([&](Tensors& tensors) { tensors["lm_head.weight"].data = other.data(); });
    CHECK_THAT(gpt2.refused(),
               ContainsSubstring("transformer.wte.weight and lm_head.weight are the same weight, and differ"));
    gpt2.rewrite([](Tensors& tensors) { tensors.erase("transformer.wte.weight"); });
    CHECK(gpt2.imported() != gpt2.model.weights());  // the one that is there
}

TEST_CASE("queries, keys and values of grouped heads are in the right places", "[bare][python]") {
    const ExportedFolder llama(tiny_llama_json());
    const SafetensorsFile file = read_safetensors(llama.folder / "model.safetensors");
    const std::vector<float> fused = llama.model.weight("h.1.attn.c_attn.weight");  // ((4 + 2 2) 4, 16)
    const auto rows = [&](std::size_t first, std::size_t last) {
        return std::vector<float>(fused.begin() + static_cast<std::ptrdiff_t>(first * 16),
                                  fused.begin() + static_cast<std::ptrdiff_t>(last * 16));
    };
    const std::string layer = "model.layers.1.self_attn.";
    CHECK(values<float>(file.tensors.at(layer + "q_proj.weight")) == rows(0, 16));
    CHECK(values<float>(file.tensors.at(layer + "k_proj.weight")) == rows(16, 24));
    CHECK(values<float>(file.tensors.at(layer + "v_proj.weight")) == rows(24, 32));
    CHECK(file.tensors.at(layer + "v_proj.weight").shape_text() == "(8, 16) f32");
}

TEST_CASE("shards that are absent, damaged, or not as the index has them are refused", "[bare][python]") {
    const ExportedFolder gpt2(tiny_gpt2_json(), 4000);
    std::set<fs::path> shards;
    for (const auto& entry : fs::directory_iterator(gpt2.folder.path()))
        if (entry.path().extension() == ".safetensors") shards.insert(entry.path());
    REQUIRE(shards.size() > 4);
    CHECK(gpt2.imported() == gpt2.model.weights());
    const fs::path index = gpt2.folder / kModelIndex, second = *std::next(shards.begin()), last = *shards.rbegin();
    const std::string text = read_file(index), shard = read_file(second), end = read_file(last);
    fs::remove(second);
    fs::remove(last);
    CHECK_THAT(gpt2.refused(ErrorKind::io),
               ContainsSubstring("not all of its files are there: no " + second.filename().string() + ", " +
                                 last.filename().string()));
    write_file_atomically(last, end);
    write_file_atomically(second, shard);
    CHECK(gpt2.imported() == gpt2.model.weights());
    write_file_atomically(second, shard.substr(0, shard.size() - 1));
    CHECK_THAT(gpt2.refused(ErrorKind::io), ContainsSubstring("not a whole safetensors file"));
    write_file_atomically(second, end);
    CHECK_THAT(gpt2.refused(ErrorKind::io), ContainsSubstring("is not in it, where the index has it"));
    write_file_atomically(second, shard);

    Json changed = Json::parse(text);
    changed["weight_map"]["transformer.wpe.weight"] = "../elsewhere.safetensors";
    write_file_atomically(index, changed.dump());
    CHECK_THAT(gpt2.refused(ErrorKind::io), ContainsSubstring("not one beside the index"));
    changed["weight_map"].erase("transformer.wpe.weight");
    write_file_atomically(index, changed.dump());
    CHECK_THAT(gpt2.refused(ErrorKind::io), ContainsSubstring("its files hold 28 tensors, and it names 27"));
    for (const char* bad : {"", "[]", "{}", "{\"weight_map\": {}}", "{\"weight_map\": {\"a\": 3}}"}) {
        write_file_atomically(index, bad);
        CHECK(gpt2.refused(ErrorKind::io) != "accepted");
    }
    fs::remove(index);
    CHECK_THAT(gpt2.refused(ErrorKind::io), ContainsSubstring("neither model.safetensors nor"));
}

TEST_CASE("tensors need not be aligned, and offsets beyond a file are refused", "[bare][python]") {
    const ExportedFolder gpt2(tiny_gpt2_json());
    const std::string whole = read_file(gpt2.folder / "model.safetensors");
    std::uint64_t length = 0;
    std::memcpy(&length, whole.data(), 8);
    const std::uint64_t longer = length + 1;
    write_file_atomically(gpt2.folder / "model.safetensors", std::string(reinterpret_cast<const char*>(&longer), 8) +
                                                                 whole.substr(8, length) + " " +
                                                                 whole.substr(8 + length));
    CHECK(gpt2.imported() == gpt2.model.weights());
    write_file_atomically(gpt2.folder / "model.safetensors", whole.substr(0, whole.size() - 4));
    CHECK_THAT(gpt2.refused(ErrorKind::io), ContainsSubstring("has bad offsets"));
    write_file_atomically(gpt2.folder / "model.safetensors", whole.substr(0, 100));
    CHECK_THAT(gpt2.refused(ErrorKind::io), ContainsSubstring("header length beyond the file"));
}

TEST_CASE("a model of llm.c that is cut, of another version, or of impossible extents is refused", "[bare][python]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "model.bin";
    const auto refused = [&](const std::string& bytes) {
        write_file_atomically(file, bytes);
        return refusal(ErrorKind::io, [&] { open_model(file); });
    };
    const auto changed = [&](std::size_t entry, std::int32_t value) {
        std::string bytes = llmc_bytes();
        std::memcpy(bytes.data() + 4 * entry, &value, 4);
        return refused(bytes);
    };
    CHECK(refused(llmc_bytes()) == "accepted");
    CHECK(refused(llmc_bytes(5)) == "accepted");
    CHECK_THAT(refused(llmc_bytes().substr(0, 5000)), ContainsSubstring("5000 bytes where its header implies"));
    CHECK_THAT(refused(llmc_bytes() + "x"), ContainsSubstring("bytes where its header implies"));
    CHECK_THAT(refused(llmc_bytes().substr(0, 1000)), ContainsSubstring("shorter than its header"));
    CHECK_THAT(refused(""), ContainsSubstring("shorter than its header"));
    CHECK_THAT(changed(0, 20240520), ContainsSubstring("it begins with 20240520"));
    CHECK_THAT(changed(1, 4), ContainsSubstring("version 4"));
    CHECK_THAT(changed(2, 0), ContainsSubstring("longest sequence"));
    CHECK_THAT(changed(3, -1), ContainsSubstring("vocabulary"));
    CHECK_THAT(changed(4, 1 << 30), ContainsSubstring("layers"));
    CHECK_THAT(changed(5, 3), ContainsSubstring("3 heads do not divide"));
    CHECK_THAT(changed(6, 1 << 30), ContainsSubstring("width"));
    CHECK_THAT(changed(7, 10), ContainsSubstring("padded vocabulary of 10"));
}

TEST_CASE("GPT-2's 124 million weights are as many bytes as llm.c's file of them has", "[bare][python]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "gpt2_124M.bin";
    std::vector<std::int32_t> header(256);
    const std::int32_t first[] = {kLlmcModelMagic, 3, 1024, 50257, 12, 12, 768, 50304};
    std::copy(std::begin(first), std::end(first), header.begin());
    write_file_atomically(file, std::string(reinterpret_cast<const char*>(header.data()), 1024));
    fs::resize_file(file, 497'904'640);  // without a block on the disk
    const LlmcModel model = read_llmc_model(std::make_shared<const MappedFile>(file));
    CHECK(model.weights.tensors.size() == 4 + 12 * 12);
    std::int64_t weights = 0;
    for (const auto& [name, found] : model.weights.tensors) weights += found.tensor.numel();
    CHECK(weights == 124'439'808);
}
