// Checkpoints of ranks: what some write others read, whatever part of the moments each has.

#include <sys/resource.h>

#include <csignal>

#include "base/json.h"
#include "engine/train/checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/distance.h"
#include "tests/ranks/rank_trainers.h"
#include "tests/refusal.h"

using namespace deft::engine;
using namespace deft::test;

namespace {

TrainerConfig small_training(int zero, OptimizerKind kind = OptimizerKind::adamw) {
    TrainerConfig config = tiny_config(4, 13, kBatch);
    keep_tokens(config, 6);
    config.optimizer.kind = kind;
    config.zero = zero;
    return config;
}

TokenCorpus small_corpus() {
    return tiny_corpus(4000, 31);
}

void train(Trainer& trainer, int steps) {
    for (int step = 0; step < steps; ++step) trainer.step();
}

std::string save(Trainer& trainer, const std::filesystem::path& folder) {
    return save_checkpoint(trainer, folder, {}, Tokenizer::bytes());
}

// The contents of all files of a checkpoint.
std::string hashes_of(const std::filesystem::path& folder) {
    return verify_checkpoint(folder).at("sha256").dump();
}

// While it lives no file of this process grows beyond that.
class FileSizeLimit {
 public:
    explicit FileSizeLimit(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
    rlimit before_{};
    void (*handler_)(int) = nullptr;
};

}  // namespace

TEST_CASE("ranks with and without ZeRO-1 write the same files, and go on from them to the same bits") {
    const TokenCorpus corpus = small_corpus();
    TrainerConfig bypass = small_training(0);
    bypass.techniques.dropping = bypass_on({1, 2}, {5, 11, 1, 6, 1}, 1, {0.5, {3, 30}});
    TrainerConfig rounded = small_training(0);
    rounded.optimizer.rounds_moments = true;
    for (const TrainerConfig& config : {small_training(0), small_training(0, OptimizerKind::sgd), bypass, rounded}) {
        const SharedFolder folder;
        Trainer whole = on_ranks(config, corpus);
        train(whole, 5);
        const std::vector<float> expected = all_parameters<float>(whole);
        for (const int zero : {0, 1}) {
            TrainerConfig saved = config;
            saved.zero = zero;
            Trainer first = on_ranks(saved, corpus);
            train(first, 3);
            const std::string sha = save(first, folder / std::to_string(zero));
            CHECK(sha == text_of_rank(all_ranks(), 0, sha));
            CHECK(sha ==
                  read_manifest(folder / std::to_string(zero)).at("sha256").at("model.safetensors").get<std::string>());
            for (const int loaded : {0, 1}) {
                INFO("saved with zero = " << zero << ", loaded with " << loaded);
                TrainerConfig again = config;
                again.zero = loaded;
                Trainer second = on_ranks(again, corpus);
                load_checkpoint(second, folder / std::to_string(zero));
                train(second, 2);
                CHECK((all_parameters<float>(second) == expected));
            }
        }
        CHECK(hashes_of(folder / "1") == hashes_of(folder / "0"));
    }
}

TEST_CASE("what ranks saved is read by one and by fewer, which save the same again and go on nearly alike") {
    const TokenCorpus corpus = small_corpus();
    const SharedFolder folder;
    Trainer first = on_ranks(small_training(1), corpus);
    train(first, 3);
    save(first, folder / "c");
    train(first, 2);
    for (int fewer = 1; fewer < all_ranks().size(); ++fewer) {
        const int part = all_ranks().rank() < fewer ? 0 : 1;  // both train it, by themselves
        const Communicator ranks = all_ranks().split(part);
        Trainer second = on_ranks(small_training(1), corpus, ranks);
        load_checkpoint(second, folder / "c");
        const std::filesystem::path own = folder / (std::to_string(fewer) + "." + std::to_string(part));
        std::filesystem::create_directories(own);  // two parts that write into one folder would be in each other's way
        save(second, own / "c");
        CHECK(hashes_of(own / "c") == hashes_of(folder / "c"));
        train(second, 2);
        CHECK(rms_distance(all_parameters<float>(second), all_parameters<float>(first)) < 1e-3);
    }
    Trainer alone = on_ranks(small_training(1), corpus, Communicator());
    load_checkpoint(alone, folder / "c");
    train(alone, 2);
    CHECK(rms_distance(all_parameters<float>(alone), all_parameters<float>(first)) < 1e-3);
}

TEST_CASE("what one rank saved is read by several") {
    const TokenCorpus corpus = small_corpus();
    const SharedFolder folder;
    Trainer alone = on_ranks(small_training(0), corpus, Communicator());
    train(alone, 3);
    if (all_ranks().rank() == 0) save(alone, folder / "c");
    all_ranks().barrier();
    Trainer many = on_ranks(small_training(1), corpus);
    load_checkpoint(many, folder / "c");
    save(many, folder / "again");
    CHECK(hashes_of(folder / "again") == hashes_of(folder / "c"));
}

TEST_CASE("weights of ranks are saved once, and all know their hash") {
    const TokenCorpus corpus = small_corpus();
    const SharedFolder folder;
    Trainer trainer = on_ranks(small_training(1), corpus);
    trainer.step();
    for (const DType dtype : {DType::f32, DType::bf16}) {
        const std::string sha = save_weights(trainer, folder / dtype_name(dtype), {}, Tokenizer::bytes(), dtype);
        CHECK(sha == text_of_rank(all_ranks(), 0, sha));
        const auto manifest = verify_checkpoint(folder / dtype_name(dtype), CheckpointFiles::model);
        CHECK(sha == manifest.at("sha256").at("model.safetensors").get<std::string>());
    }
}

TEST_CASE("a checkpoint that rank 0 cannot write fails on every rank with the same words, and training goes on") {
    const TokenCorpus corpus = small_corpus();
    const SharedFolder folder;
    if (all_ranks().rank() == 0) write_text(folder / "file", "no folder");
    for (const int zero : {0, 1}) {
        Trainer trainer = on_ranks(small_training(zero), corpus);
        trainer.step();
        const auto fails = [&](const std::filesystem::path& target, const std::string& says) {
            const std::string said = refusal(
                deft::ErrorKind::io, [&] { save(trainer, target); }, says);
            CHECK(said == text_of_rank(all_ranks(), 0, said));
            CHECK(said != "accepted");
            CHECK(!std::filesystem::exists(target));
        };
        fails(folder / "file" / "c", "file");
        {
            // Weights fit, moments do not: rank 0 ends in the middle of what it asks of the others.
            const std::int64_t weights = trainer.model().parameters().count() * 4;
            const FileSizeLimit limit(static_cast<rlim_t>(weights + weights / 2));
            fails(folder / "c", "optimizer.safetensors");
        }
        save(trainer, folder / "d");
        CHECK_NOTHROW(verify_checkpoint(folder / "d"));
        CHECK(trainer.step().loss > 0);
    }
}
