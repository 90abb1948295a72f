// What files may leave out or spell otherwise, and every way in which they do not fit.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "engine/data/bpe/bpe_trainer.h"
#include "engine/io/huggingface_config.h"
#include "engine/io/llmc_model.h"
#include "engine/io/write_weights.h"
#include "engine/train/checkpoint.h"
#include "engine/train/export_model.h"
#include "engine/train/foreign_weights.h"
#include "kernels/f16.h"
#include "tests/catch.h"
#include "tests/engine/exchange.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;
namespace fs = std::filesystem;

namespace {

TransformerConfig parsed(const Json& json) {
    return parse_huggingface_config(json, "config.json").config;
}

Json tiny_bert_json() {
    return {{"model_type", "bert"}, {"architectures", {"BertForPreTraining"}}, {"hidden_size", 16},
            {"num_hidden_layers", 2}, {"num_attention_heads", 2}, {"intermediate_size", 24},
            {"max_position_embeddings", 9}, {"vocab_size", 31}};
}
Json tiny_llama_json() {
    return {{"model_type", "llama"}, {"hidden_size", 16}, {"num_hidden_layers", 2}, {"num_attention_heads", 4},
            {"num_key_value_heads", 2}, {"intermediate_size", 24}, {"max_position_embeddings", 9}, {"vocab_size", 31}};
}
Json tiny_gpt2_json() {
    return {{"model_type", "gpt2"}, {"n_embd", 16}, {"n_layer", 2}, {"n_head", 2}, {"n_positions", 9}, {"vocab_size", 31}};
}
Json tiny_vit_json() {
    return {{"model_type", "vit"}, {"hidden_size", 16}, {"num_hidden_layers", 2}, {"num_attention_heads", 2},
            {"intermediate_size", 24}, {"image_size", 8}, {"patch_size", 4}, {"num_channels", 3}, {"num_labels", 3}};
}

// A folder of Hugging Face that our model was exported to, whose tensors a test may change.
struct ExportedFolder {
    explicit ExportedFolder(const Json& json, std::int64_t shard_bytes = 0) : model(parsed(json)) {
        export_model(model.exec, *model.transformer, NoTokenizer{}, folder.path(), {.shard_bytes = shard_bytes});
    }
    // Writes the tensors as `change` leaves them.
    using Tensors = std::map<std::string, Tensor>;
    void rewrite(const std::function<void(Tensors&)>& change) const {
        const SafetensorsFile file = read_safetensors(folder / "model.safetensors");
        Tensors tensors = file.tensors;
        change(tensors);
        std::vector<NamedTensor> named;
        for (const auto& [name, tensor] : tensors) named.push_back({name, tensor});
        write_safetensors(folder / "model.safetensors", named, {{"format", "pt"}});
    }
    std::vector<float> imported(ImportReport* report = nullptr) const {
        OpenedModel other(model.transformer->config(), 99);
        const ImportReport said = import_weights(other.exec, *other.transformer, open_model(folder.path()));
        if (report != nullptr) *report = said;
        return other.weights();
    }
    std::string refused(ErrorKind kind = ErrorKind::config) const {
        OpenedModel other(model.transformer->config(), 99);
        const std::vector<float> before = other.weights();
        const std::string said =
            refusal(kind, [&] { import_weights(other.exec, *other.transformer, open_model(folder.path())); });
        CHECK(other.weights() == before);
        return said;
    }

    TemporaryFolder folder;
    OpenedModel model;
};

using Tensors = ExportedFolder::Tensors;

void rename(Tensors& tensors, const std::string& from, const std::string& to) {
    tensors[to] = tensors.at(from);
    tensors.erase(from);
}

// Names without that beginning.
void drop_prefix(Tensors& tensors, const std::string& prefix) {
    Tensors renamed;
    for (const auto& [name, tensor] : tensors)
        renamed[name.starts_with(prefix) ? name.substr(prefix.size()) : name] = tensor;
    tensors = renamed;
}

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

TEST_CASE("half precision is read exactly and rounded to nearest, ties to even") {
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

TEST_CASE("a file may lack the model's prefix, spell its norms in the old way, and hold masks and the tied head") {
    for (const Json& json : {tiny_gpt2_json(), tiny_bert_json(), tiny_llama_json(), tiny_vit_json()}) {
        INFO(json.at("model_type"));
        const ExportedFolder exported(json);
        const std::vector<float> whole = exported.model.weights();
        CHECK(exported.imported() == whole);
        const std::string prefix = json.at("model_type") == "gpt2" ? "transformer." : json.at("model_type") == "llama"
                                       ? "model." : json.at("model_type").get<std::string>() + ".";
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
    CHECK_THAT(gpt2.refused(), ContainsSubstring("transformer.wte.weight and lm_head.weight stand for one weight, and differ"));
    gpt2.rewrite([](Tensors& tensors) { tensors.erase("transformer.wte.weight"); });
    CHECK(gpt2.imported() != gpt2.model.weights());  // the one that is there
}

TEST_CASE("queries, keys and values of grouped heads stand where they belong") {
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

TEST_CASE("all tensors that are missing, extra or misshapen are told at once, and nothing is loaded") {
    const ExportedFolder bert(tiny_bert_json());
    std::vector<float> zeros(1000);
    bert.rewrite([&](Tensors& tensors) {
        tensors.erase("bert.embeddings.LayerNorm.bias");
        tensors.erase("bert.encoder.layer.1.attention.self.key.weight");
        tensors["bert.encoder.layer.1.extra.weight"] = make_tensor(zeros.data(), DType::f32, {3});
        tensors["bert.encoder.layer.0.output.dense.weight"] = make_tensor(zeros.data(), DType::f32, {24, 16});
        tensors["bert.encoder.layer.0.output.dense.bias"] = make_tensor(zeros.data(), DType::i32, {16});
    });
    const std::string said = bert.refused();
    for (const char* part : {"bert.embeddings.LayerNorm.bias is missing",
                             "bert.encoder.layer.1.attention.self.key.weight is missing",
                             "bert.encoder.layer.1.extra.weight is no weight of the model",
                             "bert.encoder.layer.0.output.dense.weight is (24, 16), and (16, 24) is wanted",
                             "bert.encoder.layer.0.output.dense.bias is (16) i32, and (16) f32, bf16 or f16 is wanted",
                             "unchanged: the model"})
        CHECK_THAT(said, ContainsSubstring(part));
}

TEST_CASE("infinite weights and NaN are refused by their tensors' names") {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
        const ExportedFolder gpt2(tiny_gpt2_json());
        std::vector<float> values(9 * 16, 0.25f);
        values.back() = bad;
        gpt2.rewrite([&](Tensors& tensors) { tensors.at("transformer.wpe.weight").data = values.data(); });
        CHECK_THAT(gpt2.refused(), ContainsSubstring("infinite or NaN, in transformer.wpe.weight\n"));
        std::vector<kernels::f16> halves(9 * 16);
        halves[77] = kernels::to_f16(bad);
        gpt2.rewrite([&](Tensors& tensors) {
            tensors.at("transformer.wpe.weight") = make_tensor(halves.data(), DType::f16, {9, 16});
        });
        CHECK_THAT(gpt2.refused(), ContainsSubstring("infinite or NaN, in transformer.wpe.weight\n"));
    }
}

TEST_CASE("heads that a file lacks are new and told, those that the model lacks are left") {
    const ExportedFolder bert(tiny_bert_json());
    bert.rewrite([](Tensors& tensors) {
        std::erase_if(tensors, [](const auto& entry) { return entry.first.starts_with("cls.seq_relationship"); });
    });
    ImportReport report;
    bert.imported(&report);
    CHECK(report.fresh == std::vector<std::string>{"class_head.weight", "class_head.bias"});
    CHECK(report.unused.empty());

    TransformerConfig without = bert.model.transformer->config();
    without.class_head.reset();
    OpenedModel model(without);
    report = import_weights(model.exec, *model.transformer, open_model(bert.folder.path()));
    CHECK(report.fresh.empty());
    CHECK(report.unused == std::vector<std::string>{"bert.pooler.dense.bias", "bert.pooler.dense.weight"});

    // Another task's classes.
    const ExportedFolder vit(tiny_vit_json());
    TransformerConfig ten = vit.model.transformer->config();
    ten.class_head->classes = 10;
    OpenedModel other(ten, 12);
    const std::vector<float> initial = other.weight("class_head.weight");
    CHECK_THAT(refusal(ErrorKind::config,
                       [&] { import_weights(other.exec, *other.transformer, open_model(vit.folder.path())); }),
               ContainsSubstring("classes is 10, and 3 there"));
    report = import_weights(other.exec, *other.transformer, open_model(vit.folder.path()), {.new_class_head = true});
    CHECK(report.fresh == std::vector<std::string>{"class_head.weight", "class_head.bias"});
    CHECK(report.unused == std::vector<std::string>{"classifier.bias", "classifier.weight"});
    CHECK(other.weight("class_head.weight") == initial);
    CHECK(other.weight("h.1.mlp.c_fc.weight") == vit.model.weight("h.1.mlp.c_fc.weight"));
}

TEST_CASE("a longer table of positions is cut, a shorter one and other parts are refused") {
    const ExportedFolder gpt2(tiny_gpt2_json());
    const auto import = [&](const TransformerConfig& config, ImportOptions options = {}) {
        OpenedModel model(config);
        return import_weights(model.exec, *model.transformer, open_model(gpt2.folder.path()), options);
    };
    const TransformerConfig own = gpt2.model.transformer->config();
    TransformerConfig shorter = own, longer = own;
    shorter.max_seqlen = 7;
    longer.max_seqlen = 10;
    OpenedModel cut(shorter);
    CHECK(import_weights(cut.exec, *cut.transformer, open_model(gpt2.folder.path())).positions_cut == 2);
    std::vector<float> table = gpt2.model.weight("wpe.weight");
    table.resize(7 * 16);
    CHECK(cut.weight("wpe.weight") == table);
    CHECK_THAT(refusal(ErrorKind::config, [&] { import(longer); }),
               ContainsSubstring("has 9 positions, and the model has 10"));
    CHECK_THAT(refusal(ErrorKind::config, [&] { import(gpt2_config(3, 32, 4, 9, 33)); }),
               ContainsSubstring("layers is 3, and 2 there") && ContainsSubstring("width is 32, and 16 there") &&
                   ContainsSubstring("vocab is 33, and 31 there") && ContainsSubstring("heads is 4, and 2 there"));
    TransformerConfig untied = own;
    untied.head->tied = false;
    CHECK_THAT(refusal(ErrorKind::config, [&] { import(untied); }), ContainsSubstring("tied_head"));
    TransformerConfig dropout = own;
    for (BlockConfig& block : dropout.blocks) block.dropout = 0.3;
    CHECK(import(dropout).fresh.empty());
}

TEST_CASE("the tokenizer beside the weights is that of the model's data") {
    const ExportedFolder gpt2(tiny_gpt2_json());
    const std::vector<std::string_view> text = {"the cat sat on the mat, the cat"};
    const Tokenizer one(std::make_shared<const Bpe>(train_bpe(text, 260)), "one");
    const Tokenizer two(std::make_shared<const Bpe>(train_bpe(text, 261)), "two");
    write_tokenizer(one, gpt2.folder.path());
    OpenedModel model(gpt2.model.transformer->config());
    const auto import = [&](const AnyTokenizer& tokenizer) {
        import_weights(model.exec, *model.transformer, open_model(gpt2.folder.path()), {.tokenizer = &tokenizer});
    };
    import(one);
    CHECK_THAT(refusal(ErrorKind::config, [&] { import(two); }), ContainsSubstring("its tokenizer is not two"));
    CHECK_THAT(refusal(ErrorKind::config, [&] { import(Tokenizer::bytes()); }), ContainsSubstring("not bytes"));

    const ExportedFolder bert(tiny_bert_json());
    const std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n";
    write_file_atomically(bert.folder / "vocab.txt", words);
    write_file_atomically(bert.folder / "tokenizer_config.json", "{\"do_lower_case\": false}");
    OpenedModel other(bert.model.transformer->config());
    const auto import_bert = [&](const std::string& vocabulary, bool lower_case) {
        WordPieceRules rules;
        rules.words.lower_case = lower_case;
        const AnyTokenizer tokenizer =
            std::make_shared<const WordPiece>(parse_vocab_txt(vocabulary, "vocab.txt"), rules);
        import_weights(other.exec, *other.transformer, open_model(bert.folder.path()), {.tokenizer = &tokenizer});
    };
    import_bert(words, false);
    CHECK_THAT(refusal(ErrorKind::config, [&] { import_bert(words, true); }), ContainsSubstring("is cased"));
    CHECK_THAT(refusal(ErrorKind::config, [&] { import_bert(words + "c\n", false); }), ContainsSubstring("vocab.txt"));
}

TEST_CASE("shards that are absent, damaged, or not as the index has them are refused") {
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
    CHECK_THAT(gpt2.refused(ErrorKind::io), ContainsSubstring("not all of its files are there: no " + second.filename().string() +
                                                              ", " + last.filename().string()));
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

TEST_CASE("tensors need not be aligned, and offsets beyond a file are refused") {
    const ExportedFolder gpt2(tiny_gpt2_json());
    const std::string whole = read_file(gpt2.folder / "model.safetensors");
    std::uint64_t length = 0;
    std::memcpy(&length, whole.data(), 8);
    const std::uint64_t longer = length + 1;
    write_file_atomically(gpt2.folder / "model.safetensors",
                          std::string(reinterpret_cast<const char*>(&longer), 8) + whole.substr(8, length) + " " +
                              whole.substr(8 + length));
    CHECK(gpt2.imported() == gpt2.model.weights());
    write_file_atomically(gpt2.folder / "model.safetensors", whole.substr(0, whole.size() - 4));
    CHECK_THAT(gpt2.refused(ErrorKind::io), ContainsSubstring("has bad offsets"));
    write_file_atomically(gpt2.folder / "model.safetensors", whole.substr(0, 100));
    CHECK_THAT(gpt2.refused(ErrorKind::io), ContainsSubstring("header length beyond the file"));
}

TEST_CASE("settings that no model of deft has are refused by name") {
    const auto refused = [](Json json, const char* key, const Json& value, ErrorKind kind = ErrorKind::config) {
        json[key] = value;
        const std::string said = refusal(kind, [&] { parsed(json); });
        INFO(key);
        CHECK_THAT(said, ContainsSubstring(key));
        return said;
    };
    refused(tiny_llama_json(), "rope_scaling", {{"type", "linear"}, {"factor", 2.0}});
    refused(tiny_llama_json(), "hidden_act", "gelu");
    refused(tiny_llama_json(), "head_dim", 8);
    refused(tiny_llama_json(), "num_key_value_heads", 3);
    refused(tiny_llama_json(), "rope_parameters", {{"rope_type", "llama3"}});
    refused(tiny_gpt2_json(), "activation_function", "relu");
    refused(tiny_gpt2_json(), "scale_attn_by_inverse_layer_idx", true);
    refused(tiny_gpt2_json(), "scale_attn_weights", false);
    refused(tiny_gpt2_json(), "n_head", 3);
    refused(tiny_gpt2_json(), "n_embd", "sixteen");
    refused(tiny_gpt2_json(), "n_layer", 0);
    refused(tiny_gpt2_json(), "n_layer", 10'001);
    refused(tiny_gpt2_json(), "n_positions", nullptr);
    refused(tiny_gpt2_json(), "attn_pdrop", 1.5);
    refused(tiny_gpt2_json(), "add_cross_attention", true);
    refused(tiny_gpt2_json(), "pruned_heads", {{"0", {1}}});
    refused(tiny_bert_json(), "position_embedding_type", "relative_key");
    refused(tiny_bert_json(), "is_decoder", true);
    refused(tiny_vit_json(), "qkv_bias", false);
    refused(tiny_vit_json(), "patch_size", 3);
    refused(tiny_vit_json(), "image_size", {8, 8, 8});
    CHECK_THAT(refused(tiny_bert_json(), "some_new_idea", 3), ContainsSubstring("a setting that deft does not know"));
    refused(tiny_bert_json(), "model_type", "mamba");
    refused(tiny_bert_json(), "model_type", 7, ErrorKind::io);
    Json with_null = tiny_bert_json();
    with_null["some_new_idea"] = nullptr;
    CHECK(parsed(with_null) == parsed(tiny_bert_json()));

    Json newer = tiny_llama_json();
    newer["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 5000.0}};
    CHECK(parsed(newer).blocks[1].attention.rope_theta == 5000.0);
    Json older = tiny_llama_json();
    older["rope_theta"] = 500000;
    older["rms_norm_eps"] = 1e-5;
    older["tie_word_embeddings"] = true;
    CHECK(parsed(older).blocks[1].attention.rope_theta == 500000.0);
    CHECK(parsed(older).blocks[1].norm == NormSpec{NormKind::rms, 1e-5});
    CHECK(parsed(older).head->tied);
    CHECK_FALSE(parsed(tiny_llama_json()).head->tied);
}

TEST_CASE("a configuration that its weights could not fill is refused before memory is asked for") {
    const ExportedFolder gpt2(tiny_gpt2_json());
    Json json = Json::parse(read_file(gpt2.folder / "config.json"));
    json["n_layer"] = 10'000;
    json["n_embd"] = 1 << 20;
    write_file_atomically(gpt2.folder / "config.json", json.dump());
    CHECK_THAT(refusal(ErrorKind::config, [&] { open_model(gpt2.folder.path()); }), ContainsSubstring("of which its files hold"));
}

TEST_CASE("a model of llm.c that is cut, of another version, or of impossible extents is refused") {
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
    CHECK_THAT(refused(llmc_bytes().substr(0, 5000)), ContainsSubstring("5000 bytes where its header tells of"));
    CHECK_THAT(refused(llmc_bytes() + "x"), ContainsSubstring("bytes where its header tells of"));
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

TEST_CASE("what Hugging Face has not is not exported, and the reason names its parts") {
    TransformerConfig rotary = parsed(tiny_bert_json());
    rotary.input.positions = Positions::none;
    for (BlockConfig& block : rotary.blocks) block.attention.rope_theta = 10000;
    OpenedModel model(rotary);
    const TemporaryFolder folder;
    CHECK_THAT(refusal(ErrorKind::config,
                       [&] { export_model(model.exec, *model.transformer, NoTokenizer{}, folder.path(), {}); }),
               ContainsSubstring("BERT of Hugging Face is made of other parts") &&
                   ContainsSubstring("learned_positions is false, and true there") &&
                   ContainsSubstring("rope_theta is 10000.0, and absent there"));
    CHECK(fs::is_empty(folder.path()));

    OpenedModel large(parsed(tiny_gpt2_json()));
    for (const Parameter& p : large.transformer->parameters().all())
        if (p.name == "h.1.mlp.c_fc.weight") p.value.as<float>()[5] = 1e6f;
    CHECK_THAT(refusal(ErrorKind::config,
                       [&] {
                           export_model(large.exec, *large.transformer, NoTokenizer{}, folder.path(),
                                        {.dtype = DType::f16});
                       }),
               ContainsSubstring("transformer.h.1.mlp.c_fc.weight has a value beyond 65504"));
}

TEST_CASE("checkpoints of deft open as models, and carry the names of their family") {
    const TemporaryFolder folder;
    for (const Json& json : {tiny_gpt2_json(), tiny_bert_json(), tiny_llama_json(), tiny_vit_json()}) {
        const std::string kind = json.at("model_type");
        INFO(kind);
        OpenedModel model(parsed(json));
        save_weights(model.exec, *model.transformer, folder.path() / kind, {{"a", 1}}, Tokenizer::bytes());
        const ImportedModel imported = open_model(folder.path() / kind);
        CHECK(imported.config == parsed(json));
        const char* names[] = {"transformer.wte.weight", "bert.pooler.dense.bias", "model.norm.weight", "vit.embeddings.cls_token"};
        CHECK(std::count_if(std::begin(names), std::end(names), [&](const char* name) { return imported.weights.has(name); }) == 1);
        OpenedModel other(parsed(json), 77);
        CHECK(import_weights(other.exec, *other.transformer, imported).fresh.empty());
        CHECK(other.weights() == model.weights());
        OpenedModel loaded(parsed(json), 78);
        load_weights(loaded.exec, *loaded.transformer, folder.path() / kind);
        CHECK(loaded.weights() == model.weights());
        CHECK(open_model(folder.path() / kind).sha256 == imported.sha256);
        // Other weights have another hash.
        save_weights(other.exec, *OpenedModel(parsed(json), 79).transformer, folder.path() / (kind + "_other"), {{"a", 1}},
                     Tokenizer::bytes());
        CHECK(open_model(folder.path() / (kind + "_other")).sha256 != imported.sha256);
        fs::resize_file(folder.path() / kind / "model.safetensors", 500);
        CHECK_THAT(refusal(ErrorKind::io, [&] { open_model(folder.path() / kind); }), ContainsSubstring("not what was written"));
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

TEST_CASE("a checkpoint of before the families' names is loaded") {
    const TemporaryFolder folder;
    OpenedModel model(parsed(tiny_bert_json()));
    save_weights(model.exec, *model.transformer, folder / "c", Json::object(), Tokenizer::bytes());
    fs::create_directory(folder / "old");
    Json manifest = read_manifest(folder / "c");
    manifest["schema"] = "deft-checkpoint/2";
    manifest.erase("model");
    manifest["sha256"] = write_weights(model.exec, *model.transformer, WeightNames::own, DType::f32, folder / "old");
    write_file_atomically(folder / "old" / "checkpoint.json", manifest.dump());
    CHECK(read_safetensors(folder / "old" / "model.safetensors").tensors.at("transformer.h.1.attn.c_attn.weight").shape_text() ==
          "(16, 48) f32");
    OpenedModel other(parsed(tiny_bert_json()), 77);
    load_weights(other.exec, *other.transformer, folder / "old");
    CHECK(other.weights() == model.weights());
    CHECK_THAT(refusal(ErrorKind::config, [&] { open_model(folder / "old"); }), ContainsSubstring("an older deft wrote it"));
}
