// Indexes beside their corpus: when they are recreated, when refused; columns; perplexity under a checkpoint.

#include "experiments/datasets/difficulty.h"

#include <cmath>

#include "base/config.h"
#include "base/error.h"
#include "base/files.h"
#include "engine/data_efficiency/sampling/value_column.h"
#include "experiments/checkpoints.h"
#include "experiments/evaluation/scoring.h"
#include "experiments/sample_losses.h"
#include "experiments/trial.h"
#include "tests/catch.h"
#include "tests/experiments/text_corpus.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;
using deft::test::all;
using deft::test::read_text;
using deft::test::TemporaryFolder;
using deft::test::write_text;
namespace fs = std::filesystem;

namespace {

// Twelve short documents.
PackedDataset dataset_of(const TemporaryFolder& folder, const std::string& word = "rose") {
    std::string lines;
    for (int i = 0; i < 12; ++i)
        lines += "{\"text\": \"a " + word + " is a " + word + " number " + std::to_string(i * i) + "\"}\n";
    write_text(folder / "a.jsonl", lines);
    return load_packed_dataset(test::text_data({"a.jsonl"}), folder.path(), folder / "data");
}

}  // namespace

TEST_CASE("difficulty: an index is made once, and again where its fingerprint differs") {
    const TemporaryFolder folder;
    const PackedDataset dataset = dataset_of(folder);
    int analyses = 0;
    const auto load = [&] {
        return load_difficulty(dataset_of(dataset, 8), "voc", [&](const std::string&, double) { ++analyses; });
    };
    const std::vector<std::int64_t> values = all(load().value);
    CHECK(analyses > 0);
    CHECK(values == engine::metric_values(engine::packed_samples(dataset.train, 8, dataset.tokenizer.vocab()),
                                          engine::built_in_metric("voc")));
    analyses = 0;
    CHECK(all(load().value) == values);
    CHECK(analyses == 0);
    const fs::path file = dataset.folder / "difficulty" / "voc-8.json";
    for (const char* key :
         {"schema", "corpus", "tokenizer", "split", "seqlen", "packing", "samples", "metric", "version"}) {
        INFO(key);
        Json json = Json::parse(read_text(file));
        REQUIRE(json.contains(key));
        json[key] = "another";
        write_text(file, json.dump());
        analyses = 0;
        CHECK(all(load().value) == values);
        CHECK(analyses > 0);
    }
    write_text(file, "no JSON");
    CHECK(all(load().value) == values);
    fs::remove(dataset.folder / "difficulty" / "voc-8.order.npy");
    CHECK(all(load().value) == values);
    // Nothing is left of the parts.
    for (const auto& entry : fs::directory_iterator(dataset.folder / "difficulty")) CHECK_FALSE(entry.is_directory());
}

TEST_CASE("difficulty: an index that was altered is recreated, and reports it") {
    const TemporaryFolder folder;
    const PackedDataset dataset = dataset_of(folder);
    std::string said;
    const auto load = [&] {
        said.clear();
        return load_difficulty(dataset_of(dataset, 8), "voc",
                               [&](const std::string& what, double) { said += what + "\n"; });
    };
    const std::vector<std::int64_t> order = all(load().order);
    for (const char* name : {"voc-8.value.npy", "voc-8.order.npy"}) {
        INFO(name);
        const fs::path file = dataset.folder / "difficulty" / name;
        const std::string whole = read_text(file);
        std::string altered = whole;
        altered.back() = static_cast<char>(altered.back() ^ 1);
        write_text(file, altered);
        CHECK_THAT(test::refusal(
                       [&] { open_difficulty(dataset_of(dataset, 8), dataset.folder / "difficulty" / "voc-8.json"); }),
                   ContainsSubstring("is damaged") && ContainsSubstring(name));
        CHECK(all(load().order) == order);
        CHECK_THAT(said, ContainsSubstring("voc-8 is damaged and is recreated") && ContainsSubstring(name));
        CHECK(read_text(file) == whole);
        load();
        CHECK(said.empty());
    }
    // An older deft stored no hashes.
    const fs::path json = dataset.folder / "difficulty" / "voc-8.json";
    Json old = Json::parse(read_text(json));
    REQUIRE(old.erase("block_sha256") == 1);
    write_text(json, old.dump());
    CHECK(all(load().order) == order);
    CHECK(said.empty());
}

TEST_CASE("difficulty: an index that a user names is refused where it is of other samples, saying what differs") {
    const TemporaryFolder folder, other_folder;
    const PackedDataset dataset = dataset_of(folder), other = dataset_of(other_folder, "tulip");
    const std::vector<std::int64_t> values = all(load_difficulty(dataset_of(dataset, 8), "voc").value);
    const fs::path file = dataset.folder / "difficulty" / "voc-8.json";
    CHECK(all(open_difficulty(dataset_of(dataset, 8), file).value) == values);
    CHECK_THAT(test::refusal([&] { open_difficulty(dataset_of(dataset, 9), file); }),
               ContainsSubstring("seqlen is 8, and here it is 9") || ContainsSubstring("samples is"));
    CHECK_THAT(test::refusal([&] { open_difficulty(dataset_of(other, 8), file); }),
               ContainsSubstring("its corpus is") && ContainsSubstring("deft analyze"));
    Json json = Json::parse(read_text(file));
    json["packing"] = "padded";
    write_text(file, json.dump());
    CHECK_THAT(test::refusal([&] { open_difficulty(dataset_of(dataset, 8), file); }),
               ContainsSubstring("packing is \"padded\", and here it is \"packed\""));
    json["packing"] = "packed";
    json["version"] = 1;
    write_text(file, json.dump());
    CHECK_THAT(test::refusal([&] { open_difficulty(dataset_of(dataset, 8), file); }),
               ContainsSubstring("its version is 1"));
    write_text(file, "{\"schema\": \"\xff\"}");
    CHECK_THAT(test::refusal([&] { open_difficulty(dataset_of(dataset, 8), file); }),
               ContainsSubstring("is not of these samples"));
}

TEST_CASE("difficulty: a column of another tool has a value for each sample of this corpus at this length") {
    const TemporaryFolder folder;
    const PackedDataset dataset = dataset_of(folder);
    const std::int64_t samples = dataset.train.samples(8);
    std::string lines;
    for (std::int64_t i = 0; i < samples; ++i) lines += std::to_string(samples - i) + ".5\n";
    write_text(folder / "c.csv", lines);
    CHECK(open_difficulty(dataset_of(dataset, 8), folder / "c.csv").order[0] == samples - 1);
    CHECK_THAT(test::refusal([&] { open_difficulty(dataset_of(dataset, 9), folder / "c.csv"); }),
               ContainsSubstring("values, and the corpus"));
}

TEST_CASE("difficulty: shards on one data folder give the index of one machine") {
    const TemporaryFolder folder;
    const PackedDataset dataset = dataset_of(folder);
    const std::vector<std::string> metrics = {"voc", "seqreo_voc"};
    const auto bytes = [&] {
        std::string text;
        for (const char* name :
             {"voc-8.value.npy", "voc-8.order.npy", "seqreo_voc-8.value.npy", "seqreo_voc-8.order.npy", "voc-8.json"})
            text += read_file(dataset.folder / "difficulty" / name);
        return text;
    };
    CHECK(analyse_difficulty(dataset_of(dataset, 8), metrics, {}) == metrics);
    CHECK(analyse_difficulty(dataset_of(dataset, 8), metrics, {}).empty());
    const std::string whole = bytes();
    fs::remove_all(dataset.folder / "difficulty");
    AnalysisOptions options;
    CHECK_THAT(test::refusal(ErrorKind::io, [&] { reduce_shards(dataset_of(dataset, 8), metrics, options); }),
               ContainsSubstring("not measured yet"));
    for (int round = 0; round < 2; ++round)
        for (std::int64_t shard = 0; shard < 3; ++shard) {
            options.shard = {shard, 3};
            analyse_shard(dataset_of(dataset, 8), metrics, options);
        }
    reduce_shards(dataset_of(dataset, 8), metrics, {});
    CHECK(bytes() == whole);
}

TEST_CASE("difficulty: parts that an earlier analysis of another corpus left are not taken for this one's",
          "[reference-defect]") {
    const TemporaryFolder folder, other_folder;
    PackedDataset dataset = dataset_of(folder);
    const PackedDataset other = dataset_of(other_folder, "tulip");
    const std::string metric = "voc";
    REQUIRE(analyse_shard(dataset_of(dataset, 8), {&metric, 1}, {}).none());
    dataset.train = other.train;
    dataset.sha256 = other.sha256;
    CHECK(all(load_difficulty(dataset_of(dataset, 8), metric).value) ==
          all(load_difficulty(dataset_of(other, 8), metric).value));
}

TEST_CASE("difficulty: the perplexity under a checkpoint is the model's own loss") {
    const TemporaryFolder folder;
    const ConfigNode node = parse_toml(
        "[model]\nlayers = 1\nwidth = 16\nheads = 2\nseqlen = 16\n"
        "[data]\nembedded_bytes = 3000\n"
        "[train]\nbatch_size = 4\nbudget_tokens = 512\n"
        "[eval]\ntasks = []\nvalidation_tokens = 100\n",
        "t.toml");
    TrialConfig config = parse_trial_config(node, 1, folder.path());
    resolve_data(config);
    REQUIRE(run_trial(config, {folder.path(), folder / "data", folder / "checkpoints"}, {}, [] { return false; }) == 0);
    TrainedModel trained = load_trained_model(newest_checkpoint(folder / "checkpoints").value(), {});
    const PackedDataset dataset = load_packed_dataset(config.data, folder.path(), folder / "data");
    const std::vector<double> losses = sample_losses(trained, dataset, 16);
    REQUIRE(static_cast<std::int64_t>(losses.size()) == dataset.train.samples(16));
    double sum = 0;
    for (const double loss : losses) sum += loss;
    const CorpusLoss corpus = corpus_loss(*trained.model, trained.exec, dataset.train, dataset.tokenizer, 1 << 30, 4);
    CHECK(sum / static_cast<double>(losses.size()) == Approx(corpus.loss).epsilon(1e-6));

    const fs::path column = perplexity_column(trained, dataset, 16);
    const engine::ValueColumn read = engine::read_value_column(column);
    CHECK(read.floats);
    for (std::size_t i = 0; i < losses.size(); ++i) REQUIRE(engine::of_ordered_key(read.value[i]) == losses[i]);
    const engine::DifficultyIndex index = open_difficulty(dataset_of(dataset, 16), column);
    for (std::int64_t rank = 1; rank < index.samples(); ++rank)
        CHECK(losses[static_cast<std::size_t>(index.order[rank - 1])] <=
              losses[static_cast<std::size_t>(index.order[rank])]);
    CHECK_THAT(test::refusal([&] { sample_losses(trained, dataset, 17); }),
               ContainsSubstring("17 tokens, and the model takes 16"));
}
