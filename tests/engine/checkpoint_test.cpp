// A run that goes on from a checkpoint is the run that was never stopped.

#include "engine/train/checkpoint.h"
#include "base/json.h"

#include <sys/inotify.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "engine/data/bpe/bpe_trainer.h"
#include "engine/io/safetensors.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"
#include "tests/small_disk.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;
namespace fs = std::filesystem;

namespace {

TrainerConfig with_techniques() {
    TrainerConfig config = tiny_config();
    config.techniques.seqtru = Pacing{5, 13, 1, 8, 1};
    config.techniques.dropping = random_ltd(config.model.layers(), Pacing{4, 13, 1, 12, 1});
    return config;
}

void damage(const fs::path& file) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(fs::file_size(file) / 2));
    stream.put('\x7f');
}

// How often each file of a folder has been opened since.
class Openings {
 public:
    explicit Openings(const fs::path& folder) : queue_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
        watched_ = ::inotify_add_watch(queue_.number(), folder.c_str(), IN_OPEN) >= 0;
    }
    bool watched() const { return watched_; }
    std::map<std::string, int> counted() {
        std::map<std::string, int> counts;
        alignas(inotify_event) char buffer[8192];
        for (ssize_t size; (size = ::read(queue_.number(), buffer, sizeof buffer)) > 0;)
            for (const char* at = buffer; at < buffer + size;) {
                const auto* event = reinterpret_cast<const inotify_event*>(at);
                if (event->len > 0) ++counts[event->name];
                at += sizeof *event + event->len;
            }
        return counts;
    }

 private:
    Descriptor queue_;
    bool watched_ = false;
};

// A safetensors file as this program has always written one: the header's keys sorted, filled up with spaces to a
// multiple of eight bytes, then the tensors in the order given.
struct StoredBytes {
    Json header = Json::object();
    std::string data;

    template <class T>
    void add(const std::string& name, const char* dtype, const std::vector<std::int64_t>& shape,
             const std::vector<T>& values) {
        const std::size_t first = data.size();
        data.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
        header[name] = {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {first, data.size()}}};
    }
    std::string bytes() const {
        std::string text = header.dump();
        while (text.size() % 8 != 0) text += ' ';
        const std::uint64_t length = text.size();
        return std::string(reinterpret_cast<const char*>(&length), 8) + text + data;
    }
};

std::vector<std::int64_t> shape_of(const Tensor& tensor) {
    return {tensor.shape.begin(), tensor.shape.begin() + tensor.rank};
}

std::vector<float> turned(const Tensor& tensor) {
    std::vector<float> values;
    for (std::int64_t c = 0; c < tensor.dim(1); ++c)
        for (std::int64_t r = 0; r < tensor.dim(0); ++r) values.push_back(tensor.as<float>()[r * tensor.dim(1) + c]);
    return values;
}

double status_mebibytes(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(key)) return std::stod(line.substr(key.size() + 1)) / 1024;
    return 0;
}

// Peak memory of this process during `action`, beyond what it had before; nothing where the kernel does not report it.
std::optional<double> peak_mebibytes(const std::function<void()>& action) {
    {
        std::ofstream reset("/proc/self/clear_refs");
        if (!(reset << 5 << std::flush)) return {};
    }
    const double before = status_mebibytes("VmRSS:");
    action();
    return status_mebibytes("VmHWM:") - before;
}

}  // namespace

TEST_CASE("a checkpoint's files are byte for byte what the format says", "[bare]") {
    TrainerConfig config = with_techniques();
    config.techniques.dropping = bypass_on({1, 2}, {4, 13, 1, 12, 1}, 1, {0.5, {7, 30}});
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer trainer(config, corpus, 1);
    for (int step = 0; step < 3; ++step) trainer.step();
    const std::string sha = save_checkpoint(trainer, folder / "c", {{"note", 1}}, Tokenizer::bytes());

    StoredBytes model, optimizer;
    model.header["__metadata__"] = {{"format", "pt"}};
    const ParameterTable& table = trainer.model().parameters();
    for (const Parameter& p : table.all()) {
        const bool turns = p.name.ends_with(".weight") && p.value.rank == 2 &&
                           p.name.find("wte") == std::string::npos && p.name.find("wpe") == std::string::npos;
        std::vector<std::int64_t> shape = shape_of(p.value);
        if (turns) std::swap(shape[0], shape[1]);
        model.add("transformer." + p.name, "F32", shape, turns ? turned(p.value) : values<float>(p.value));
        optimizer.add(p.name + ".m", "F32", shape_of(p.value), values<float>(table.first_moment(p)));
        optimizer.add(p.name + ".v", "F32", shape_of(p.value), values<float>(table.second_moment(p)));
    }
    const Tensor state = trainer.dropper_state();
    optimizer.add("router_state", "F32", shape_of(state), values<float>(state));
    const std::vector<std::int32_t> unique = trainer.unique_tokens_by_sample();
    optimizer.add("unique_tokens", "I32", {static_cast<std::int64_t>(unique.size())}, unique);

    CHECK((read_file(folder / "c" / "model.safetensors") == model.bytes()));  // not printed
    CHECK((read_file(folder / "c" / "optimizer.safetensors") == optimizer.bytes()));
    CHECK(sha == sha256(model.bytes()));
    const Json manifest = verify_checkpoint(folder / "c");
    CHECK(manifest.at("sha256") == Json{{"config.json", sha256_file(folder / "c" / "config.json")},
                                        {"model.safetensors", sha256(model.bytes())},
                                        {"optimizer.safetensors", sha256(optimizer.bytes())}});
    CHECK(!Json::parse(read_file(folder / "c" / "config.json")).contains("torch_dtype"));
    CHECK(read_file(folder / "c" / "checkpoint.json") == manifest.dump(2) + "\n");
}

TEST_CASE("the model is read without the optimizer's file", "[bare]") {
    const TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer saved(config, corpus, 1), other(config, corpus, 1);
    saved.step();
    save_checkpoint(saved, folder / "c", Json::object(), Tokenizer::bytes());
    damage(folder / "c" / "optimizer.safetensors");
    CHECK_THROWS_WITH(verify_checkpoint(folder / "c"),
                      ContainsSubstring("optimizer.safetensors is not what was written"));
    verify_checkpoint(folder / "c", CheckpointFiles::model);
    Openings openings(folder / "c");
    load_weights(other.exec(), other.model(), folder / "c");
    CHECK(all_parameters<float>(other) == all_parameters<float>(saved));
    if (openings.watched()) CHECK(!openings.counted().contains("optimizer.safetensors"));
    fs::remove(folder / "c" / "optimizer.safetensors");
    load_weights(other.exec(), other.model(), folder / "c");
    CHECK_THROWS_WITH(load_checkpoint(other, folder / "c"), ContainsSubstring("optimizer.safetensors"));
    damage(folder / "c" / "model.safetensors");
    CHECK_THROWS_WITH(load_weights(other.exec(), other.model(), folder / "c"),
                      ContainsSubstring("model.safetensors is not what was written"));
    CHECK_THROWS_AS(verify_checkpoint(folder / "c", CheckpointFiles::model), Error);
}

TEST_CASE("loading a checkpoint opens each of its files once", "[bare]") {
    const TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer trainer(config, corpus, 1);
    save_checkpoint(trainer, folder / "c", Json::object(), Tokenizer::bytes());
    Openings openings(folder / "c");
    if (!openings.watched()) DEFT_SKIP("no inotify");
    load_checkpoint(trainer, folder / "c");
    CHECK(openings.counted() ==
          std::map<std::string, int>{
              {"checkpoint.json", 1}, {"config.json", 1}, {"model.safetensors", 1}, {"optimizer.safetensors", 1}});
}

TEST_CASE("weights are stored in bf16 where that is asked for, and read into f32", "[bare]") {
    const TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer saved(config, corpus, 1), other(config, corpus, 1);
    saved.step();
    const std::string sha = save_weights(saved, folder / "b", Json::object(), Tokenizer::bytes(), DType::bf16);
    CHECK(sha == sha256_file(folder / "b" / "model.safetensors"));
    const SafetensorsFile file = read_safetensors(folder / "b" / "model.safetensors");
    CHECK(file.tensors.at("transformer.h.1.mlp.c_fc.weight").shape_text() == "(24, 96) bf16");
    CHECK(file.tensors.at("transformer.h.1.mlp.c_fc.bias").shape_text() == "(96) bf16");
    CHECK(Json::parse(read_file(folder / "b" / "config.json")).at("torch_dtype") == "bfloat16");
    load_weights(other.exec(), other.model(), folder / "b");
    std::vector<float> expected = all_parameters<float>(saved);
    CHECK(expected != all_parameters<float>(other));
    for (float& value : expected) value = kernels::to_float(kernels::to_bf16(value));
    CHECK(expected == all_parameters<float>(other));
    CHECK_THROWS_WITH(load_checkpoint(other, folder / "b"), ContainsSubstring("holds weights alone"));

    // Beside moments rounded weights are nobody's: training would go on to other bits.
    save_checkpoint(saved, folder / "c", Json::object(), Tokenizer::bytes());
    fs::copy_file(folder / "b" / "model.safetensors", folder / "c" / "model.safetensors",
                  fs::copy_options::overwrite_existing);
    Json manifest = read_manifest(folder / "c");
    manifest["sha256"]["model.safetensors"] = sha;
    write_file_atomically(folder / "c" / "checkpoint.json", manifest.dump());
    CHECK_THROWS_WITH(load_checkpoint(other, folder / "c"), ContainsSubstring("bf16, and (31, 24) f32 is wanted"));
    CHECK(expected == all_parameters<float>(other));
}

TEST_CASE("a disk that is full leaves the older checkpoint, and nothing unfinished", "[bare]") {
    const TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer trainer(config, corpus, 1);
    save_checkpoint(trainer, folder / "c", Json::object(), Tokenizer::bytes());
    const auto one = static_cast<int>(fs::file_size(folder / "c" / "model.safetensors") / 1024);  // of three
    for (const int room : {one * 7 / 2, one * 11 / 2}) {  // for the weights of a second one not, or not for its moments
        INFO(room);
        const SmallDisk disk(folder / "disk", room);
        if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
        save_checkpoint(trainer, disk / "c", {{"which", "first"}}, Tokenizer::bytes());
        trainer.step();
        try {
            save_checkpoint(trainer, disk / "c", {{"which", "second"}}, Tokenizer::bytes());
            FAIL("the disk is not full");
        } catch (const Error& error) {
            CHECK(error.kind() == ErrorKind::io);
            CHECK_THAT(error.what(), ContainsSubstring("No space left") && ContainsSubstring("free some space"));
        }
        CHECK(verify_checkpoint(disk / "c").at("about").at("which") == "first");
        CHECK(std::distance(fs::directory_iterator(folder / "disk"), fs::directory_iterator()) == 1);
    }
}

TEST_CASE("saving and loading need little memory beside the model", "[bare]") {
    if (std::getenv("DEFT_SANITIZED") != nullptr) DEFT_SKIP("a sanitiser keeps memory that was given back");
    TrainerConfig config = tiny_config(3);  // linear weights, which the file has turned, are most of it
    config.model = gpt2_config(3, 704, 4, 13, 31, 0.1);
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer trainer(config, corpus, 1);
    const double model = static_cast<double>(trainer.model().parameters().count()) * 4 / (1 << 20);
    REQUIRE(model > 50);
    constexpr double kBound = 3.0 * kPieceBytes / (1 << 20);
    save_checkpoint(trainer, folder / "c", Json::object(), Tokenizer::bytes());
    load_checkpoint(trainer, folder / "c");  // from here on the moments have their memory
    const auto check = [&](const char* what, const std::function<void()>& action) {
        const std::optional<double> peak = peak_mebibytes(action);
        if (!peak) DEFT_SKIP("/proc/self/clear_refs cannot be written");
        INFO(what);
        CHECK(*peak < kBound);
    };
    check("save", [&] { save_checkpoint(trainer, folder / "c", Json::object(), Tokenizer::bytes()); });
    check("save, bf16", [&] { save_weights(trainer, folder / "b", Json::object(), Tokenizer::bytes(), DType::bf16); });
    check("load", [&] { load_checkpoint(trainer, folder / "c"); });
    check("verify", [&] { verify_checkpoint(folder / "c"); });
    check("weights", [&] { load_weights(trainer.exec(), trainer.model(), folder / "c"); });
    check("weights, bf16", [&] { load_weights(trainer.exec(), trainer.model(), folder / "b"); });
    const std::optional<double> seen = peak_mebibytes([&] { read_file(folder / "c" / "model.safetensors"); });
    CHECK(seen.value_or(model) > model * 0.9);  // what is measured is measured
}

TEST_CASE("a resumed run has the same bits as one that was never stopped", "[bare]") {
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

TEST_CASE("a resumed run of SGD, warmed up in steps, has the same bits, and one moment to restore", "[bare]") {
    TrainerConfig config = with_techniques();
    config.optimizer.kind = OptimizerKind::sgd;
    config.budget_layer_tokens = 1000;
    config.learning_rate = {.max = 0.1, .decay_tokens = 1000, .decay = Decay::step, .warmup_steps = 6};
    config.learning_rate.warmup_tokens = layer_tokens_after(config, 6);
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    for (const int stopped_at : {3, 8}) {  // while it warms up and while it decays
        INFO(stopped_at);
        Trainer whole(config, corpus, 2), first(config, corpus, 1);
        for (int step = 0; step < stopped_at; ++step) {
            whole.step();
            first.step();
        }
        save_checkpoint(first, folder / "c", {}, Tokenizer::bytes());
        const SafetensorsFile stored = read_safetensors(folder / "c" / "optimizer.safetensors");
        for (const Parameter& p : first.model().parameters().all()) {
            CHECK(stored.tensors.contains(p.name + ".m"));
            CHECK(!stored.tensors.contains(p.name + ".v"));
        }
        Trainer second(config, corpus, 1);
        second.step();
        load_checkpoint(second, folder / "c");
        std::vector<double> rates;
        while (!whole.done()) {
            const StepResult a = whole.step(), b = second.step();
            REQUIRE(a.lr == b.lr);
            REQUIRE(a.loss == b.loss);
            REQUIRE(a.grad_norm == b.grad_norm);
            rates.push_back(b.lr);
        }
        CHECK(second.done());
        CHECK(rates.back() == Approx(0.001));
        if (stopped_at == 3) {
            CHECK(rates[0] == 0.1 * 3 / 6);
            CHECK(rates[3] == 0.1);
        }
        CHECK(all_parameters<float>(whole) == all_parameters<float>(second));
    }
    TrainerConfig adamw = config;
    adamw.optimizer.kind = OptimizerKind::adamw;
    Trainer other(adamw, corpus, 1);
    CHECK_THROWS_WITH(load_checkpoint(other, folder / "c"), ContainsSubstring(".v is missing"));
}

TEST_CASE("a resumed run with token bypass has the same bits, and needs what was learnt", "[bare]") {
    TrainerConfig config = tiny_config();
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    const TemporaryFolder folder;
    Trainer plain(config, corpus, 1);
    save_checkpoint(plain, folder / "plain", {}, Tokenizer::bytes());
    config.techniques.dropping = bypass_on({1, 2}, {4, 13, 1, 12, 1}, 1, {0.5, {7, 30}});
    Trainer whole(config, corpus, 2), first(config, corpus, 1);
    for (int step = 0; step < 4; ++step) {
        whole.step();
        first.step();
    }
    save_checkpoint(first, folder / "c", {}, Tokenizer::bytes());
    Trainer second(config, corpus, 1);
    second.step();
    load_checkpoint(second, folder / "c");
    CHECK(values<float>(second.dropper_state()) == values<float>(first.dropper_state()));
    for (int step = 0; step < 5; ++step) {
        REQUIRE(whole.step().loss == second.step().loss);
        REQUIRE(values<std::int32_t>(whole.kept().index) == values<std::int32_t>(second.kept().index));
    }
    CHECK(all_parameters<float>(whole) == all_parameters<float>(second));
    CHECK(values<float>(whole.dropper_state()) == values<float>(second.dropper_state()));
    CHECK_THROWS_WITH(load_checkpoint(second, folder / "plain"), ContainsSubstring("router_state is missing"));
    CHECK(second.counts().steps == 9);
}

TEST_CASE("weights are stored as Hugging Face's GPT-2 has them", "[bare]") {
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

TEST_CASE("a checkpoint has its tokenizer's files, under its hashes", "[bare]") {
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

TEST_CASE("a damaged checkpoint is refused and changes nothing", "[bare]") {
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

TEST_CASE("a damaged checkpoint.json is reported in our own words", "[bare]") {
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

TEST_CASE("a checkpoint of another version is refused by its name", "[bare]") {
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

TEST_CASE("a checkpoint of another model is refused", "[bare]") {
    const TokenCorpus corpus = tiny_corpus(900, 31);
    const TemporaryFolder folder;
    Trainer four(tiny_config(4), corpus, 1), three(tiny_config(3), corpus, 1), five(tiny_config(5), corpus, 1);
    save_checkpoint(four, folder / "c", Json::object(), Tokenizer::bytes());
    CHECK_THROWS_WITH(load_checkpoint(five, folder / "c"), ContainsSubstring("of another model"));
    CHECK_THROWS_WITH(load_weights(five.exec(), five.model(), folder / "c"), ContainsSubstring("h.4."));
    CHECK(five.counts().steps == 0);
}
