// data.samples = "images", [data.images] and the model of them: what they mean, and what is refused with its place.

#include "base/json.h"
#include "experiments/datasets/image_dataset.h"
#include "experiments/engine_config.h"
#include "experiments/projection.h"
#include "tests/catch.h"
#include "tests/experiments/known_data.h"
#include "tests/experiments/trial_config.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::experiments;
using test::trial_of;
using test::wrong_trial;

namespace {

// Lines 1 to 3, then the keys of [train].
const std::string kData = "[data]\ncorpus = \"cifar10\"\nsamples = \"images\"\n";
const std::string kTrain = "[train]\nbatch_size = 10\nbudget_tokens = 1_000_000\n";
const std::string kModel = "[model]\nlayers = 3\nwidth = 24\nheads = 2\n";

// Where no file of any data set is.
struct NoData {
    test::WithVariable mirror{"DEFT_DATA_MIRROR", "/nowhere"}, data{"DEFT_DATA", "/nowhere"};
};

}  // namespace

TEST_CASE("a model of images follows from its data and its patches", "[bare]") {
    const NoData nothing;
    const TrialConfig plain = trial_of(kData + kTrain + kModel);
    CHECK(plain.model.kind == "vit");
    CHECK(plain.model.seqlen == 65);  // 8 x 8 patches of 4 x 4 pixels, and the token of the class
    CHECK(plain.data.images == ImageSamplesConfig{5, 0, false});
    const engine::TransformerConfig model = trainer_config(plain).model;
    CHECK(model.input.patches == engine::PatchConfig{32, 32, 3, 4});
    CHECK(model.class_head == engine::ClassHeadConfig{10, engine::Pooling::first, false});
    CHECK_FALSE(model.head);
    CHECK(model.vocab == 0);
    CHECK_FALSE(model.is_causal());
    CHECK(model.blocks[0].placement == engine::NormPlacement::pre);
    CHECK(model.blocks[0].norm.eps == 1e-6);
    CHECK(model.blocks[0].feed_forward.activation == engine::Activation::gelu_erf);
    CHECK(project(plain).steps == 1539);  // of 650 tokens

    const TrialConfig other = trial_of(kData + "images = { crop_padding = 4, flip = true, test_every = 7 }\n" + kTrain +
                                       kModel + "patch = 8\npooling = \"mean\"\nseqlen = 17\n");
    CHECK(other.data.images == ImageSamplesConfig{7, 4, true});
    CHECK(other.model.seqlen == 17);
    CHECK(trainer_config(other).model.class_head->pooling == engine::Pooling::mean);
}

TEST_CASE("images are resized to what the model takes", "[bare]") {
    const NoData nothing;
    const auto resized = [](const std::string& side) {
        return kData + "images = { resize = " + side + " }\n" + kTrain + kModel;
    };
    const TrialConfig config = trial_of(resized("48"));
    CHECK(config.model.image_height == 48);
    CHECK(config.model.image_width == 48);
    CHECK(config.model.seqlen == 145);
    CHECK(to_json(config).at("data").at("images").at("resize") == 48);
    CHECK(to_json(from_json(to_json(config))) == to_json(config));
    CHECK_FALSE(to_json(trial_of(resized("0"))).at("data").at("images").contains("resize"));
    CHECK(trial_of(resized("32")).model.image_height == 32);
    CHECK_THAT(wrong_trial(resized("31")), ContainsSubstring("would be 31 after data.images.resize"));
    CHECK_THAT(wrong_trial(resized("48") + "image_height = 32\n"), ContainsSubstring("image_height"));
}

TEST_CASE("the configuration of images goes through JSON, and names what decides the result", "[bare]") {
    const NoData nothing;
    const auto of = [](const std::string& images, const std::string& model = "") {
        return test::with_known_data(kData + images + kTrain + kModel + model);
    };
    const TrialConfig plain = of("");
    CHECK(to_json(from_json(to_json(plain))) == to_json(plain));
    CHECK(to_json(plain).at("data").at("images").at("test_every") == 5);
    CHECK_FALSE(to_json(plain).at("data").contains("split"));
    CHECK(config_hash(of("images = { flip = false }\n")) == config_hash(plain));
    for (const char* images : {"flip = true", "crop_padding = 1", "test_every = 3"})
        CHECK(config_hash(of("images = { " + std::string(images) + " }\n")) != config_hash(plain));
    for (const char* model : {"patch = 8\n", "pooling = \"mean\"\n"})
        CHECK(config_hash(of("", model)) != config_hash(plain));
    // Text has none of it.
    const Json text = to_json(trial_of("[train]\nbudget_tokens = 10_000\n"));
    CHECK_FALSE(text.at("data").contains("images"));
    for (const char* key : {"patch", "image_height", "classes", "pooling"}) CHECK_FALSE(text.at("model").contains(key));
}

TEST_CASE("epochs are another way to say the budget", "[bare]") {
    const NoData nothing;
    const auto of = [](const std::string& budget, const std::string& data = kData) {
        return test::with_known_data(data + "[train]\nbatch_size = 10\n" + budget + "\n" + kModel);
    };
    const TrialConfig two = of("epochs = 2");
    CHECK(two.train.budget_tokens == 2 * 50'000 * 65);
    CHECK(config_hash(two) == config_hash(of("budget_tokens = 6_500_000")));
    CHECK(to_json(from_json(to_json(two))) == to_json(two));
    CHECK(of("epochs = 0.1").train.budget_tokens == 5'000 * 65);
    CHECK(of("epochs = 2\nbudget_fraction = 0.5").train.budget_tokens == two.train.budget_tokens);
    CHECK(project(of("epochs = 2")).steps == 10'000);

    CHECK_THAT(wrong_trial(kData + kTrain + "epochs = 2\n"),
               ContainsSubstring("t.toml:7:") && ContainsSubstring("cannot be combined with train.budget_tokens"));
    CHECK_THAT(wrong_trial(kData + "[train]\nbatch_size = 8\n"),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("budget_tokens is missing"));
    CHECK_THAT(wrong_trial(kData + "[train]\nepochs = 0\n"), ContainsSubstring("t.toml:5:"));
    CHECK_THAT(wrong_trial("[train]\nepochs = 2\n"),
               ContainsSubstring("t.toml:2:") && ContainsSubstring("requires images"));
}

TEST_CASE("training images are counted without reading them", "[bare]") {
    const NoData nothing;
    DataConfig data;
    data.samples = SampleKind::images;
    data.corpus = "mnist";
    CHECK(training_images(data, "/nowhere") == 60'000);
    data.corpus = "cifar100";
    CHECK(training_images(data, "/nowhere") == 50'000);
}

TEST_CASE("what of images makes no sense is refused with its place", "[bare]") {
    const NoData nothing;
    const auto refused = [](const std::string& model) { return wrong_trial(kData + kTrain + kModel + model); };
    const std::string place = "t.toml:11:";
    CHECK_THAT(refused("patch = 5\n"), ContainsSubstring(place) && ContainsSubstring("must divide both sides"));
    CHECK_THAT(refused("patch = 0\n"), ContainsSubstring(place) && ContainsSubstring("requires patches"));
    CHECK_THAT(refused("seqlen = 64\n"), ContainsSubstring(place) && ContainsSubstring("the image determines it"));
    CHECK_THAT(refused("classes = 100\n"),
               ContainsSubstring(place) && ContainsSubstring("the images of cifar10 have 10"));
    CHECK_THAT(refused("image_height = 28\n"), ContainsSubstring(place) && ContainsSubstring("have 32"));
    CHECK_THAT(refused("causal = true\n"), ContainsSubstring(place) && ContainsSubstring("all of its patches"));
    CHECK_THAT(refused("kind = \"gpt\"\n"), ContainsSubstring("patch is 0"));
    CHECK_THAT(refused("segments = 2\n"), ContainsSubstring(place));
    CHECK_THAT(refused("head_bias = true\n"), ContainsSubstring(place));
    CHECK_THAT(refused("tied_head = false\n"), ContainsSubstring(place));
    CHECK_THAT(refused("input_norm = true\n"), ContainsSubstring(place));
    CHECK_THAT(refused("preset = \"vit_b16\"\n"), ContainsSubstring("the images of cifar10 have 32"));

    const auto of_data = [](const std::string& data) { return wrong_trial(kData + data + kTrain + kModel); };
    CHECK_THAT(of_data("tokenizer = \"gpt2\"\n"),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("has no effect with data.samples"));
    CHECK_THAT(of_data("max_bytes = 9\n"),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("has no effect with data.samples"));
    CHECK_THAT(of_data("bert = { pairs = true }\n"),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("has no effect"));
    CHECK_THAT(of_data("images = { test_every = 1 }\n"), ContainsSubstring("t.toml:4:"));
    CHECK_THAT(wrong_trial("[data]\ncorpus = \"books\"\nsamples = \"images\"\n" + kTrain),
               ContainsSubstring("t.toml:2:") && ContainsSubstring("mnist"));
    CHECK_THAT(wrong_trial("[data]\ncorpus = \"mnist\"\n" + kTrain),
               ContainsSubstring("t.toml:2:") && ContainsSubstring("set data.samples = \"images\""));
    CHECK_THAT(wrong_trial("[data]\nimages = { flip = true }\n" + kTrain),
               ContainsSubstring("t.toml:2:") && ContainsSubstring("has no effect with data.samples = \"packed\""));
    for (const char* key : {"patch = 4\n", "classes = 10\n", "pooling = \"mean\"\n", "image_width = 3\n"})
        CHECK_THAT(wrong_trial(kTrain + "[model]\n" + key),
                   ContainsSubstring("t.toml:5:") && ContainsSubstring("applies only to image models"));
}

TEST_CASE("techniques and questions that do not fit images are refused, saying why", "[bare]") {
    const NoData nothing;
    const auto refused = [](const std::string& more) { return wrong_trial(kData + kTrain + kModel + more); };
    const std::string place = "t.toml:11:";
    for (const char* metric : {"seqtru", "seqres", "seqreo"})
        CHECK_THAT(refused("[curriculum." + std::string(metric) + "]\nsteps = 40\n"),
                   ContainsSubstring(place) && ContainsSubstring("images all have the same length"));
    CHECK_THAT(refused("[curriculum.voc]\nsteps = 40\n"),
               ContainsSubstring(place) && ContainsSubstring("images have no words"));
    CHECK(refused("[curriculum.mine]\nsteps = 40\ncolumn = \"hard.npy\"\n") == "accepted");
    CHECK_THAT(refused("[curriculum]\n"), ContainsSubstring("ordered by a column"));
    CHECK_THAT(wrong_trial(kData + kTrain + "rows = \"padded\"\n" + kModel), ContainsSubstring("t.toml:7:"));
    CHECK_THAT(refused("[variable_batch]\n"), ContainsSubstring("has no effect with images"));
    CHECK(refused("[batch_ramp]\nmin = 2\nstep = 2\nsteps = 5\n") == "accepted");
    CHECK_THAT(refused("[token_bypass]\nmin = 16\nstep = 1\nsteps = 40\nlayers = [1]\n"),
               ContainsSubstring("selects tokens by word"));
    CHECK(trial_of(kData + kTrain + kModel + "[random_ltd]\nmin = 16\nstep = 1\nsteps = 40\n")
              .token_dropping->keep_first == 1);
    CHECK(trial_of(kData + kTrain + kModel + "pooling = \"mean\"\n[random_ltd]\nmin = 16\nstep = 1\nsteps = 40\n")
              .token_dropping->keep_first == 0);

    CHECK_THAT(refused("[eval]\ntasks = [\"embedded_questions\"]\n"), ContainsSubstring("predicts classes"));
    CHECK_THAT(refused("[eval]\nvalidation_tokens = 100\n"), ContainsSubstring("every test image is evaluated"));
    const std::string best = "[eval]\nevery = \"2 times\"\nselect = \"best\"\nmetric = ";
    CHECK(refused(best + "\"acc\"\n") == "accepted");
    CHECK(refused(best + "\"loss\"\n") == "accepted");
    CHECK_THAT(refused(best + "\"bits_per_byte\"\n"), ContainsSubstring("the data is images"));
    CHECK_THAT(wrong_trial(kTrain + best + "\"acc\"\n"), ContainsSubstring("packed samples train a language model"));
}
