// deft's own checkpoints under the names of their families, and those of before.

#include <algorithm>

#include "base/files.h"
#include "engine/io/write_weights.h"
#include "engine/train/checkpoint.h"
#include "tests/engine/exported_folder.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;
namespace fs = std::filesystem;

TEST_CASE("checkpoints of deft open as models, and carry the names of their family", "[bare][python]") {
    const TemporaryFolder folder;
    for (const Json& json : {tiny_gpt2_json(), tiny_bert_json(), tiny_llama_json(), tiny_vit_json()}) {
        const std::string kind = json.at("model_type");
        INFO(kind);
        OpenedModel model(parsed(json));
        save_weights(model.exec, *model.transformer, folder.path() / kind, {{"a", 1}}, Tokenizer::bytes());
        const ImportedModel imported = open_model(folder.path() / kind);
        CHECK(imported.config == parsed(json));
        const char* names[] = {"transformer.wte.weight", "bert.pooler.dense.bias", "model.norm.weight",
                               "vit.embeddings.cls_token"};
        CHECK(std::count_if(std::begin(names), std::end(names),
                            [&](const char* name) { return imported.weights.has(name); }) == 1);
        OpenedModel other(parsed(json), 77);
        CHECK(import_weights(other.exec, *other.transformer, imported).fresh.empty());
        CHECK(other.weights() == model.weights());
        OpenedModel loaded(parsed(json), 78);
        load_weights(loaded.exec, *loaded.transformer, folder.path() / kind);
        CHECK(loaded.weights() == model.weights());
        CHECK(open_model(folder.path() / kind).sha256 == imported.sha256);
        // Other weights have another hash.
        save_weights(other.exec, *OpenedModel(parsed(json), 79).transformer, folder.path() / (kind + "_other"),
                     {{"a", 1}}, Tokenizer::bytes());
        CHECK(open_model(folder.path() / (kind + "_other")).sha256 != imported.sha256);
        fs::resize_file(folder.path() / kind / "model.safetensors", 500);
        CHECK_THAT(refusal(ErrorKind::io, [&] { open_model(folder.path() / kind); }),
                   ContainsSubstring("not what was written"));
    }
    TransformerConfig own = parsed(tiny_bert_json());
    own.input.segments = 0;
    OpenedModel model(own);
    save_weights(model.exec, *model.transformer, folder / "own", {}, Tokenizer::bytes());
    CHECK(!fs::exists(folder / "own" / "config.json"));
    const ImportedModel imported = open_model(folder / "own");
    CHECK(imported.config == own);
    CHECK(imported.weights.has("transformer.ln_e.weight"));
    OpenedModel other(own, 77);
    import_weights(other.exec, *other.transformer, imported);
    CHECK(other.weights() == model.weights());
}

TEST_CASE("a checkpoint of before the families' names is loaded", "[bare][python]") {
    const TemporaryFolder folder;
    OpenedModel model(parsed(tiny_bert_json()));
    save_weights(model.exec, *model.transformer, folder / "c", Json::object(), Tokenizer::bytes());
    fs::create_directory(folder / "old");
    Json manifest = read_manifest(folder / "c");
    manifest["schema"] = "deft-checkpoint/2";
    manifest.erase("model");
    manifest["sha256"] = write_weights(model.exec, *model.transformer, WeightNames::own, DType::f32, folder / "old");
    write_file_atomically(folder / "old" / "checkpoint.json", manifest.dump());
    CHECK(read_safetensors(folder / "old" / "model.safetensors")
              .tensors.at("transformer.h.1.attn.c_attn.weight")
              .shape_text() == "(16, 48) f32");
    OpenedModel other(parsed(tiny_bert_json()), 77);
    load_weights(other.exec, *other.transformer, folder / "old");
    CHECK(other.weights() == model.weights());
    CHECK_THAT(refusal(ErrorKind::config, [&] { open_model(folder / "old"); }),
               ContainsSubstring("an older deft wrote it"));
}
