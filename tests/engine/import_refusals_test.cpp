// The weights of a model that may be unused or new, and every mismatch between two models.

#include <cmath>
#include <limits>

#include "base/files.h"
#include "engine/data/bpe/bpe_trainer.h"
#include "kernels/f16.h"
#include "tests/engine/exported_folder.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;
namespace fs = std::filesystem;

TEST_CASE("all tensors that are missing, extra or misshapen are all listed, and nothing is loaded", "[bare][python]") {
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
    for (const char* part :
         {"bert.embeddings.LayerNorm.bias is missing", "bert.encoder.layer.1.attention.self.key.weight is missing",
          "bert.encoder.layer.1.extra.weight is not a weight of the model",
          "bert.encoder.layer.0.output.dense.weight is (24, 16), and (16, 24) is wanted",
          "bert.encoder.layer.0.output.dense.bias is (16) i32, and (16) f32, bf16 or f16 is wanted",
          "unchanged: the model"})
        CHECK_THAT(said, ContainsSubstring(part));
}

TEST_CASE("infinite weights and NaN are refused by their tensors' names", "[bare][python]") {
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

TEST_CASE("heads that a file lacks are new and reported, those that the model lacks are left", "[bare][python]") {
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

    // A head of classes that the family has not.
    const ExportedFolder gpt2(tiny_gpt2_json());
    TransformerConfig classifier = gpt2.model.transformer->config();
    classifier.class_head = ClassHeadConfig{.classes = 3, .pooler = true};
    OpenedModel telling(classifier);
    report = import_weights(telling.exec, *telling.transformer, open_model(gpt2.folder.path()));
    CHECK(report.fresh ==
          std::vector<std::string>{"pooler.weight", "pooler.bias", "class_head.weight", "class_head.bias"});
    CHECK(telling.weight("ln_f.bias") == gpt2.model.weight("ln_f.bias"));

    // A value in place of classes, as for STS-B after a head for the order of sentences.
    TransformerConfig valuing = bert.model.transformer->config();
    valuing.class_head = ClassHeadConfig{.classes = 1, .pooler = true, .value = true};
    OpenedModel value(valuing);
    report = import_weights(value.exec, *value.transformer, open_model(bert.folder.path()), {.new_class_head = true});
    CHECK(report.fresh == std::vector<std::string>{"class_head.weight", "class_head.bias"});
    CHECK(value.weight("pooler.weight") == bert.model.weight("pooler.weight"));

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

TEST_CASE("a longer table of positions is cut, a shorter one and other parts are refused", "[bare][python]") {
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

TEST_CASE("the tokenizer beside the weights is that of the model's data", "[bare][python]") {
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

TEST_CASE("a configuration that its weights could not fill is refused before memory is asked for", "[bare][python]") {
    const ExportedFolder gpt2(tiny_gpt2_json());
    Json json = Json::parse(read_file(gpt2.folder / "config.json"));
    json["n_layer"] = 10'000;
    json["n_embd"] = 1 << 20;
    write_file_atomically(gpt2.folder / "config.json", json.dump());
    CHECK_THAT(refusal(ErrorKind::config, [&] { open_model(gpt2.folder.path()); }),
               ContainsSubstring("of which its files hold"));
}
