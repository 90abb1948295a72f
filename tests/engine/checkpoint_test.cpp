// A run that goes on from a checkpoint is the run that was never stopped.

#include "base/json.h"
#include "engine/train/checkpoint.h"

#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "engine/data/bpe/bpe_trainer.h"
#include "engine/io/safetensors.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;
namespace fs = std::filesystem;

namespace {

TrainerConfig with_techniques() {
    TrainerConfig config = tiny_config();
    config.techniques.seqtru = Pacing{5, 13, 1, 8, 1};
    config.techniques.routing = random_ltd(config.model.layers, Pacing{4, 13, 1, 12, 1});
    return config;
}

void damage(const fs::path& file) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(fs::file_size(file) / 2));
    stream.put('\x7f');
}

}  // namespace

TEST_CASE("a resumed run has the same bits as one that was never stopped") {
    const TrainerConfig config = with_techniques();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer whole(config, corpus, 2), first(config, corpus, 1);
    for (int step = 0; step < 7; ++step) {
        whole.step();
        first.step();
    }
    save_checkpoint(first, folder / "c", {{"note", "seven"}}, Tokenizer::bytes());
    Trainer second(config, corpus, 1);
    second.step();  // what is restored must not depend on what was there
    CHECK(load_checkpoint(second, folder / "c").at("note") == "seven");
    CHECK(second.counts().steps == 7);
    for (int step = 0; step < 9; ++step) {
        const StepResult a = whole.step(), b = second.step();
        REQUIRE(a.loss == b.loss);
        REQUIRE(a.grad_norm == b.grad_norm);
    }
    CHECK(all_parameters<float>(whole) == all_parameters<float>(second));
    CHECK(whole.unique_tokens() == second.unique_tokens());
    CHECK(whole.counts().layer_tokens == second.counts().layer_tokens);
    CHECK(whole.counts().flops == second.counts().flops);
}

TEST_CASE("a resumed run with token bypass has the same bits, and needs what was learnt") {
    TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer plain(config, corpus, 1);
    save_checkpoint(plain, folder / "plain", {}, Tokenizer::bytes());
    config.techniques.routing = Routing{{4, 13, 1, 12, 1}, {1, 2}, 1, TokenBypass{0.5, {7, 30}}};
    Trainer whole(config, corpus, 2), first(config, corpus, 1);
    for (int step = 0; step < 4; ++step) {
        whole.step();
        first.step();
    }
    save_checkpoint(first, folder / "c", {}, Tokenizer::bytes());
    Trainer second(config, corpus, 1);
    second.step();
    load_checkpoint(second, folder / "c");
    CHECK(values<float>(second.router_state()) == values<float>(first.router_state()));
    for (int step = 0; step < 5; ++step) {
        REQUIRE(whole.step().loss == second.step().loss);
        REQUIRE(values<std::int32_t>(whole.kept().index) == values<std::int32_t>(second.kept().index));
    }
    CHECK(all_parameters<float>(whole) == all_parameters<float>(second));
    CHECK(values<float>(whole.router_state()) == values<float>(second.router_state()));
    CHECK_THROWS_WITH(load_checkpoint(second, folder / "plain"), ContainsSubstring("router_state is missing"));
    CHECK(second.counts().steps == 9);
}

TEST_CASE("weights are stored as Hugging Face's GPT-2 has them") {
    const TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer trainer(config, corpus, 1);
    save_checkpoint(trainer, folder / "c", Json::object(), Tokenizer::bytes());
    const SafetensorsFile file = read_safetensors(folder / "c" / "model.safetensors");
    const Tensor& stored = file.tensors.at("transformer.h.1.mlp.c_fc.weight");
    const Tensor own = parameter_of(trainer, "h.1.mlp.c_fc.weight").value;
    CHECK(stored.shape_text() == "(24, 96) f32");
    CHECK(own.shape_text() == "(96, 24) f32");
    CHECK(stored.as<float>()[5 * 96 + 17] == own.as<float>()[17 * 24 + 5]);
    CHECK(file.tensors.at("transformer.wte.weight").shape_text() == "(31, 24) f32");
    const Json about = Json::parse(read_file(folder / "c" / "config.json"));
    CHECK(about.at("n_layer") == 4);
    CHECK(about.at("n_head") == 3);
    CHECK(about.at("vocab_size") == 31);
    CHECK(about.at("eos_token_id") == 256);
}

TEST_CASE("a checkpoint has its tokenizer's files, under its hashes") {
    const TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer trainer(config, corpus, 1);
    const std::vector<std::string_view> text = {"the cat sat on the mat, the cat"};
    const Tokenizer tokenizer(std::make_shared<const Bpe>(train_bpe(text, 260)), "bytes");  // a name says nothing
    save_checkpoint(trainer, folder / "c", Json::object(), tokenizer);
    CHECK(read_stored_tokenizer(folder / "c", "bytes").sha256() == tokenizer.sha256());
    verify_checkpoint(folder / "c");
    for (const char* name : {"vocab.json", "merges.txt", "tokenizer.json"}) {
        INFO(name);
        save_checkpoint(trainer, folder / "c", Json::object(), tokenizer);
        damage(folder / "c" / name);
        CHECK_THROWS_WITH(verify_checkpoint(folder / "c"), ContainsSubstring(name));
        fs::remove(folder / "c" / name);
        CHECK_THROWS_WITH(verify_checkpoint(folder / "c"), ContainsSubstring(name));
    }
    save_checkpoint(trainer, folder / "c", Json::object(), Tokenizer::bytes());
    CHECK(!fs::exists(folder / "c" / "vocab.json"));
    CHECK(read_stored_tokenizer(folder / "c", "bytes").sha256() == Tokenizer::bytes().sha256());
}

TEST_CASE("a damaged checkpoint is refused and changes nothing") {
    const TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer saved(config, corpus, 1), other(config, corpus, 1);
    saved.step();
    const std::vector<float> before = all_parameters<float>(other);
    for (const char* name : {"config.json", "model.safetensors", "optimizer.safetensors", "checkpoint.json"}) {
        INFO(name);
        save_checkpoint(saved, folder / "c", Json::object(), Tokenizer::bytes());
        damage(folder / "c" / name);
        CHECK_THROWS_AS(load_checkpoint(other, folder / "c"), Error);
        save_checkpoint(saved, folder / "c", Json::object(), Tokenizer::bytes());
        fs::resize_file(folder / "c" / name, fs::file_size(folder / "c" / name) - 3);
        CHECK_THROWS_AS(load_checkpoint(other, folder / "c"), Error);
        fs::remove(folder / "c" / name);
        CHECK_THROWS_AS(load_checkpoint(other, folder / "c"), Error);
    }
    CHECK(all_parameters<float>(other) == before);
    CHECK(other.counts().steps == 0);
}

TEST_CASE("a damaged checkpoint.json is told in words of ours") {
    const TokenCorpus corpus = tiny_corpus(900, 31);
    const TemporaryFolder folder;
    Trainer trainer(tiny_config(), corpus, 1);
    save_checkpoint(trainer, folder / "c", Json::object(), Tokenizer::bytes());
    const fs::path file = folder / "c" / "checkpoint.json";
    const std::string whole = read_file(file);
    for (const std::string& text : {whole.substr(0, whole.size() / 2), std::string("[]"), std::string("{}"),
                                    std::string("{\"schema\": 7}"), std::string(500, '\0')}) {
        write_file_atomically(file, text);
        CHECK_THROWS_WITH(verify_checkpoint(folder / "c"),
                          ContainsSubstring("checkpoint.json") && !ContainsSubstring("json.exception"));
    }
}

TEST_CASE("a checkpoint of another version is refused by its name") {
    const TokenCorpus corpus = tiny_corpus(900, 31);
    const TemporaryFolder folder;
    Trainer trainer(tiny_config(), corpus, 1);
    save_checkpoint(trainer, folder / "c", Json::object(), Tokenizer::bytes());
    Json manifest = Json::parse(read_file(folder / "c" / "checkpoint.json"));
    manifest["schema"] = "deft-checkpoint/1";
    write_file_atomically(folder / "c" / "checkpoint.json", manifest.dump());
    CHECK_THROWS_WITH(load_checkpoint(trainer, folder / "c"), ContainsSubstring("written by another version of deft") &&
                                                                  ContainsSubstring("deft-checkpoint/1"));
}

TEST_CASE("a checkpoint of another model is refused") {
    const TokenCorpus corpus = tiny_corpus(900, 31);
    const TemporaryFolder folder;
    Trainer four(tiny_config(4), corpus, 1), three(tiny_config(3), corpus, 1), five(tiny_config(5), corpus, 1);
    save_checkpoint(four, folder / "c", Json::object(), Tokenizer::bytes());
    CHECK_THROWS_WITH(load_checkpoint(five, folder / "c"), ContainsSubstring("of another model"));
    CHECK_THROWS_WITH(load_weights(five.exec(), five.model(), folder / "c"), ContainsSubstring("h.4."));
    CHECK(five.counts().steps == 0);
}
