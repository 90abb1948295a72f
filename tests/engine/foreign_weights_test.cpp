// Models of Hugging Face and of llm.c are ours: their outputs, there and back, and every way in which they do not fit.

#include "engine/train/foreign_weights.h"

#include <cmath>
#include <cstring>
#include <random>

#include "base/files.h"
#include "base/json.h"
#include "engine/io/huggingface_config.h"
#include "engine/train/checkpoint.h"
#include "engine/train/export_model.h"
#include "tests/catch.h"
#include "tests/engine/exchange.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;
namespace fs = std::filesystem;

namespace {

void check_outputs(const fs::path& path, const fs::path& expected, double bound = 1e-10) {
    INFO(path.string());
    const ImportedModel imported = open_model(path);
    OpenedModel model(imported.config);
    const ImportReport report = import_weights(model.exec, *model.transformer, imported);
    CHECK(report.fresh.empty());
    CHECK(report.unused.empty());
    const SafetensorsFile file = read_safetensors(expected);
    const Outputs out = outputs_for(model, file);
    for (const auto& [name, ours] : {std::pair{"logits", &out.logits}, {"class_logits", &out.class_logits}}) {
        if (!file.tensors.contains(name)) continue;
        INFO(name);
        CHECK(normalised_squared_error(*ours, values<float>(file.tensors.at(name))) < bound);
    }
}

std::map<std::string, FileTensor> tensors_in(const fs::path& folder) {
    return open_model(folder).weights.tensors;
}

std::string bytes_of(const Tensor& tensor) {
    return {static_cast<const char*>(tensor.data), static_cast<std::size_t>(tensor.bytes())};
}

// Every tensor of the export is one of the original, byte for byte.
void check_same_tensors(const fs::path& exported, const fs::path& original) {
    const auto ours = tensors_in(exported), theirs = tensors_in(original);
    const ImportedModel model = open_model(original);
    std::size_t weights = 0;
    for (const auto& [name, found] : theirs) weights += is_no_weight(model.weights.names, name) ? 0 : 1;
    CHECK(ours.size() == weights);
    for (const auto& [name, found] : ours) {
        INFO(name);
        REQUIRE(theirs.contains(name));
        CHECK(found.tensor.shape_text() == theirs.at(name).tensor.shape_text());
        CHECK((bytes_of(found.tensor) == bytes_of(theirs.at(name).tensor)));
    }
}

void export_to(const fs::path& folder, const fs::path& from, const ExportOptions& options) {
    const ImportedModel imported = open_model(from);
    OpenedModel model(imported.config);
    import_weights(model.exec, *model.transformer, imported);
    fs::create_directory(folder);
    export_model(model.exec, *model.transformer, NoTokenizer{}, folder, options);
}

// Our own models of each family, small, with weights as large as a trained model's.
TransformerConfig config_of_family(const char* architecture, const Json& more) {
    Json json = {{"architectures", {architecture}}, {"initializer_range", 0.2}};
    json.update(more);
    if (json.at("model_type") != "vit") json["vocab_size"] = 37;
    TransformerConfig config = parse_huggingface_config(json, "config.json").config;
    config.init_std = 0.2;
    return config;
}
const Json kEncoder = {
    {"hidden_size", 24}, {"num_hidden_layers", 3}, {"num_attention_heads", 3}, {"intermediate_size", 40}};
Json with(Json json, const Json& more) {
    json.update(more);
    return json;
}
TransformerConfig exported_gpt2() {
    return config_of_family(
        "GPT2LMHeadModel",
        {{"model_type", "gpt2"}, {"n_embd", 24}, {"n_layer", 3}, {"n_head", 3}, {"n_positions", 11}});
}
TransformerConfig exported_bert(const char* architecture = "BertForPreTraining") {
    return config_of_family(architecture, with(kEncoder, {{"model_type", "bert"}, {"max_position_embeddings", 11}}));
}
TransformerConfig small_image_model() {
    return config_of_family(
        "ViTForImageClassification",
        with(kEncoder, {{"model_type", "vit"}, {"image_size", {12, 8}}, {"patch_size", 4}, {"num_labels", 5}}));
}
TransformerConfig exported_llama() {
    return config_of_family("LlamaForCausalLM",
                            with(kEncoder, {{"model_type", "llama"}, {"max_position_embeddings", 11}}));
}

// Random inputs for the model, and its outputs, as the script reads them.
void write_outputs(OpenedModel& model, const fs::path& file) {
    std::mt19937 random(std::random_device{}());
    const TransformerConfig& config = model.transformer->config();
    std::vector<float> image;
    std::vector<std::int32_t> token, segment;
    std::vector<NamedTensor> tensors;
    if (const auto& patches = config.input.patches) {
        image.resize(static_cast<std::size_t>(2 * patches->height * patches->width * patches->channels));
        std::normal_distribution<float> normal;
        for (float& value : image) value = normal(random);
        tensors.push_back(
            {"image", make_tensor(image.data(), DType::f32, {2, patches->height, patches->width, patches->channels})});
    } else {
        for (int i = 0; i < 2 * 11; ++i) {
            token.push_back(static_cast<std::int32_t>(random() % 37));
            segment.push_back(static_cast<std::int32_t>(random() % 2));
        }
        tensors.push_back({"token", make_tensor(token.data(), DType::i32, {2, 11})});
        if (config.input.segments > 0) tensors.push_back({"segment", make_tensor(segment.data(), DType::i32, {2, 11})});
    }
    write_safetensors(file, tensors, {});
    Outputs out = outputs_for(model, read_safetensors(file));
    if (config.head) tensors.push_back({"logits", make_tensor(out.logits.data(), DType::f32, {2, 11, 37})});
    if (config.class_head)
        tensors.push_back(
            {"class_logits", make_tensor(out.class_logits.data(), DType::f32, {2, config.class_head->classes})});
    write_safetensors(file, tensors, {});
}

}  // namespace

TEST_CASE("models that Hugging Face saved have its outputs here, and go back as the same bytes", "[bare][python]") {
    const TemporaryFolder folder;
    const std::vector<std::string> cases = {"gpt2",
                                            "gpt2_other",
                                            "bert",
                                            "bert_masked",
                                            "vit",
                                            "llama",
                                            "bert_classes",
                                            "gpt2:bfloat16",
                                            "vit:float16",
                                            "bert:float32:20KB",
                                            "llama:bfloat16:9KB"};
    std::vector<std::string> words = {"save", folder.path().string()};
    words.insert(words.end(), cases.begin(), cases.end());
    const ProcessOutput said = exchange(words);
    if (said.exit_code == 77) DEFT_SKIP("no Python with torch and transformers (name one in DEFT_PYTHON)");
    INFO(said.out);
    REQUIRE(said.exit_code == 0);
    for (const std::string& name : cases) {
        const fs::path saved = folder.path() / name;
        const DType dtype = name.find("bfloat16") != std::string::npos  ? DType::bf16
                            : name.find("float16") != std::string::npos ? DType::f16
                                                                        : DType::f32;
        CHECK(open_model(saved).dtype == dtype);
        if (name == "bert_classes") continue;  // no model of deft without a head of tokens
        check_outputs(saved, folder.path() / (name + ".safetensors"));
        const fs::path exported = folder.path() / (name + "_exported");
        export_to(exported, saved, {.dtype = dtype, .shard_bytes = name.ends_with("KB") ? 7000 : 0});
        CHECK(fs::exists(exported / "model.safetensors") == !name.ends_with("KB"));
        check_same_tensors(exported, saved);
    }
    CHECK(fs::exists(folder.path() / "bert:float32:20KB" / "model.safetensors.index.json"));

    // A classifier of texts: its head is the file's, the one of tokens is new.
    TransformerConfig classifier = open_model(folder.path() / "bert").config;
    classifier.class_head->classes = 5;
    OpenedModel model(classifier);
    const ImportReport report = import_weights(model.exec, *model.transformer, open_model(folder / "bert_classes"));
    CHECK(report.fresh == std::vector<std::string>{"lm_head.dense.weight", "lm_head.dense.bias", "lm_head.ln.weight",
                                                   "lm_head.ln.bias", "lm_head.bias"});
    const SafetensorsFile expected = read_safetensors(folder / "bert_classes.safetensors");
    CHECK(normalised_squared_error(outputs_for(model, expected).class_logits,
                                   values<float>(expected.tensors.at("class_logits"))) < 1e-10);
}

TEST_CASE("Hugging Face loads what is exported, without a key too many or too few, and has its outputs",
          "[bare][python]") {
    const TemporaryFolder folder;
    std::vector<std::string> words = {"load"};
    std::uint64_t seed = std::random_device{}();
    INFO(seed);
    for (const TransformerConfig& config :
         {exported_gpt2(), exported_bert(), exported_bert("BertForMaskedLM"), small_image_model(), exported_llama()}) {
        const std::string name = (folder.path() / std::to_string(words.size())).string();
        OpenedModel model(config, seed++);
        fs::create_directory(name);
        export_model(model.exec, *model.transformer, NoTokenizer{}, name,
                     {.dtype = DType::f32, .shard_bytes = words.size() % 4 == 1 ? 0 : 9000});
        write_outputs(model, name + ".safetensors");
        words.push_back(name);
        words.push_back(name + ".safetensors");
    }
    const ProcessOutput said = exchange(words);
    if (said.exit_code == 77) DEFT_SKIP("no Python with torch and transformers (name one in DEFT_PYTHON)");
    INFO(said.out);
    CHECK(said.exit_code == 0);
    // The check can fail: of another model's outputs.
    CHECK(exchange({"load", words[1], words[4]}).exit_code != 0);
}

TEST_CASE("models that llm.c saved have their outputs here", "[bare][python]") {
    const TemporaryFolder folder;
    for (const char* version : {"3", "5"}) {
        const fs::path file = folder.path() / (std::string("model_") + version + ".bin");
        const fs::path expected = folder.path() / (std::string(version) + ".safetensors");
        const ProcessOutput said = exchange({"llmc", version, file.string(), expected.string()});
        if (said.exit_code == 77) DEFT_SKIP("no Python with torch and transformers (name one in DEFT_PYTHON)");
        INFO(said.out);
        REQUIRE(said.exit_code == 0);
        const ImportedModel model = open_model(file);
        CHECK(model.config == gpt2_config(3, 24, 3, 11, 37));
        CHECK(model.dtype == (version[0] == '5' ? DType::bf16 : DType::f32));
        CHECK(model.weights.tensors.at("wte.weight").tensor.shape_text().starts_with("(37, 24)"));
        check_outputs(file, expected);
        // And goes on to Hugging Face.
        export_to(folder / "exported", file, {});
        CHECK(exchange({"load", (folder / "exported").string(), expected.string()}).exit_code == 0);
        fs::remove_all(folder / "exported");
    }
}
