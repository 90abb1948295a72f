// A trial on images, from files to scores.

#include <map>

#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "experiments/datasets/dataset.h"
#include "experiments/datasets/difficulty.h"
#include "experiments/debug_state.h"
#include "experiments/evaluate_checkpoint.h"
#include "experiments/evaluation/validation.h"
#include "tests/catch.h"
#include "tests/experiments/trial_config.h"
#include "tests/experiments/whole_trial.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::experiments;
namespace fs = std::filesystem;

namespace {

constexpr int kImages = 120, kTest = 24;  // every fifth is for testing

std::string idx_of(std::initializer_list<int> sizes, const std::string& values) {
    std::string file{0, 0, 8, static_cast<char>(sizes.size())};
    for (const int size : sizes) file += {0, 0, 0, static_cast<char>(size)};
    return file + values;
}

// A data set "greys": 6 x 4 pixels, the class being how bright they are beneath their noise.
struct Greys {
    test::TemporaryFolder folder;
    test::WithVariable mirror{"DEFT_DATA_MIRROR", folder.path().string()};
    test::WithVariable files{"DEFT_FILES", folder.path().string()};
    TrialConfig config;

    explicit Greys(const std::string& more = "") {
        std::string pixels, labels;
        for (int i = 0; i < kImages; ++i) {
            const int label = i * 7 % 4;
            labels += static_cast<char>(label);
            for (int p = 0; p < 24; ++p) pixels += static_cast<char>(20 + 20 * label + (p * p + 7) * (i + 3) * i % 150);
        }
        write_file_atomically(folder / "images", idx_of({kImages, 6, 4}, pixels));
        write_file_atomically(folder / "labels", idx_of({kImages}, labels));
        fs::create_directories(folder / "experiments");
        write_file_atomically(folder / "experiments/datasets.toml",
                              "[greys]\nkind = \"images\"\ntitle = \"Greys\"\nlicence = \"none\"\nsource = \"here\"\n"
                              "height = 6\nwidth = 4\nchannels = 1\nclasses = 4\n[[greys.forms]]\nname = \"all\"\n"
                              "reader = \"idx\"\nimages = 120\nfiles = [{ path = \"images\", sha256 = \"unknown\" },"
                              " { path = \"labels\", sha256 = \"unknown\" }]\n");
        config = parse(more);
        resolve_data(config);
    }

    TrialConfig parse(const std::string& more) const {
        return parse_trial_config(
            parse_toml("[data]\nsamples = \"images\"\ncorpus = \"greys\"\nimages = { crop_padding = 1 }\n"
                       "[model]\nlayers = 3\nwidth = 16\nheads = 2\npatch = 2\ninit_std = 0.1\n"
                       "[train]\nbatch_size = 8\nmicro_batch_size = 3\nepochs = 10\nlearning_rate = 3e-3\n"
                       "[random_ltd]\nmin = 4\nstep = 1\nduration = 0.5\n"
                       "[eval]\nevery = \"4 times\"\nselect = \"best\"\nmetric = \"acc\"\n" +
                           more,
                       "t.toml"),
            1, folder.path());
    }

    std::vector<Json> lines(const fs::path& run, const char* kind) const { return test::journal_records(run, kind); }
};

}  // namespace

TEST_CASE("a trial on images trains, keeps its best weights and is scored on all images for testing", "[bare]") {
    const Greys trial;
    const fs::path& folder = trial.folder.path();
    CHECK(trial.config.train.budget_tokens == 10 * (kImages - kTest) * 7);
    test::train_and_score(trial.config, folder);
    std::map<std::string, std::vector<double>> scores;
    for (const Json& score : trial.lines(folder, "evaluation")) {
        CHECK(score.at("task") == "validation");
        CHECK(score.at("n") == kTest);
        scores[score.at("metric")].push_back(score.at("value"));
        if (score.at("metric") == "acc") {
            const double p = score.at("value");
            CHECK(score.at("chance") == 0.25);
            CHECK(score.at("better") == "higher");
            CHECK(score.at("standard_error") == Approx(std::sqrt(p * (1 - p) / kTest)));
        }
    }
    const std::vector<double> accuracy = scores["acc"];
    REQUIRE(accuracy.size() >= 4);
    CHECK(accuracy.back() > 0.4);  // of four classes
    // The best of those on the way is what is scored at the end, and here it is neither the first nor the last.
    CHECK(accuracy.back() == *std::max_element(accuracy.begin(), accuracy.end()));
    CHECK(accuracy.back() > accuracy.front());
    // Each of four classes is nearly a quarter of the images for testing.
    CHECK(scores["unigram_entropy"].back() == Approx(1.386).epsilon(0.03));
    const Json last = trial.lines(folder, "train").back();
    CHECK(last.at("layer_tokens") >= trial.config.train.budget_tokens);
    CHECK(last.at("unique_tokens") == (kImages - kTest) * 7);

    const fs::path checkpoint = result_checkpoint(folder / "checkpoints").value();
    CHECK_FALSE(fs::exists(checkpoint / "vocab.txt"));
    TrainedModel trained = load_trained_model(checkpoint, {});
    const Dataset dataset = load_dataset(trial.config.data, 7, trial.config.base_folder, folder / "data");
    const auto again = validation_scores(dataset, *trained.model, trained.exec, 1, 3, 0);
    CHECK(again[1].value == accuracy.back());
    CHECK_THAT(test::refusal(ErrorKind::config, [&] { text_tokenizer(trained); }),
               ContainsSubstring("trained on images"));
}

TEST_CASE("a trial on images goes on to the same bits after it was stopped, on any threads", "[bare]") {
    const Greys trial;
    std::vector<std::string> weights;
    for (const bool stopped : {false, true}) {
        const fs::path run = trial.folder / (stopped ? "stopped" : "whole");
        fs::create_directories(run);
        const TrialPlaces places{run, trial.folder / "data", run / "checkpoints"};
        int asked = 0;
        if (stopped) REQUIRE(run_trial(trial.config, places, {}, [&] { return ++asked == 40; }) == 75);
        TrialSlot slot;
        slot.threads = stopped ? 2 : 1;
        REQUIRE(run_trial(trial.config, places, slot, [] { return false; }) == 0);
        weights.push_back(trial.lines(run, "artifact").back().at("sha256"));
    }
    CHECK(weights[0] == weights[1]);
}

TEST_CASE("the images of a trial are divided and normalised as its configuration says, and named by their files",
          "[bare]") {
    const Greys trial;
    const Dataset dataset = load_dataset(trial.config.data, 7, trial.config.base_folder, trial.folder / "data");
    const auto train = std::get<std::shared_ptr<const engine::ImageSamples>>(dataset.train);
    const auto valid = std::get<std::shared_ptr<const engine::ImageSamples>>(dataset.valid);
    CHECK(train->size() == kImages - kTest);
    CHECK(valid->size() == kTest);
    CHECK(train->augmentation.crop_padding == 1);
    CHECK(valid->augmentation.crop_padding == 0);  // shown as they are
    CHECK_FALSE(valid->augmentation.flip);
    // Normalised by the statistics of the training images.
    CHECK(valid->augmentation.channels.mean == engine::channel_statistics(train->images).mean);
    CHECK(valid->augmentation.channels.mean == train->augmentation.channels.mean);
    CHECK(dataset.sha256 == trial.config.data.sha256);
    CHECK(dataset.train_tokens == (kImages - kTest) * 7);

    TrialConfig other = trial.parse("");
    other.data.images.test_every = 7;
    resolve_data(other);
    CHECK(other.data.sha256 != trial.config.data.sha256);
    CHECK_THAT(test::refusal([&] { analyse_difficulty(dataset, std::vector<std::string>{"voc"}, {}); }),
               ContainsSubstring("images have no tokens"));
    std::string labels = read_file(trial.folder / "labels");
    labels[20] = static_cast<char>((labels[20] + 1) % 4);
    write_file_atomically(trial.folder / "labels", labels);
    CHECK_THROWS(load_dataset(trial.config.data, 7, trial.config.base_folder, trial.folder / "data"));
}

TEST_CASE("a column orders images: the easy ones come first", "[bare]") {
    Greys trial;
    std::string column;
    for (int i = 0; i < kImages - kTest; ++i) column += std::to_string(i % 10 == 0 ? 0 : 1) + "\n";
    write_file_atomically(trial.folder / "hard.csv", column);
    TrialConfig config = trial.parse(
        "[curriculum.hard]\ncolumn = \"hard.csv\"\nmin = 10\nduration = 0.9\npacing = \"step\"\nstages = 1\n");
    config.log_every = 1;
    resolve_data(config);
    const fs::path& folder = trial.folder.path();
    REQUIRE(run_trial(config, {folder, folder / "data", folder / "checkpoints"}, {}, [] { return false; }) == 0);
    const std::vector<Json> points = trial.lines(folder, "train");
    // A tenth of the images, 7 tokens each, is all there is while the curriculum lasts.
    CHECK(points.at(5).at("unique_tokens") <= 10 * 7);
    CHECK(points.back().at("unique_tokens").get<std::int64_t>() > 10 * 7);
}

TEST_CASE("a step on images is laid open", "[bare]") {
    Greys trial;
    const fs::path file = trial.folder / "step.safetensors";
    write_debug_state(trial.config, trial.folder / "data", 2, 1, file);
    const std::string state = read_file(file);
    CHECK_THAT(state.substr(0, 20'000), ContainsSubstring("batch.image") && ContainsSubstring("class_logits"));
}
