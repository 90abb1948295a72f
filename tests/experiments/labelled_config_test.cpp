// data.samples = "labelled", [data.labelled] and the model of it: what they mean, and what is refused with its place.

#include "base/json.h"
#include "experiments/datasets/labelled_dataset.h"
#include "experiments/engine_config.h"
#include "experiments/projection.h"
#include "tests/catch.h"
#include "tests/experiments/labelled_task.h"

using namespace deft;
using namespace deft::experiments;
using test::ToyTask;

TEST_CASE("a model of labelled texts follows from its task", "[bare]") {
    const ToyTask classes, values(true);
    const TrialConfig config = classes.resolved();
    CHECK(config.model.kind == "bert");
    CHECK(config.data.vocab == 14);
    CHECK(config.data.epoch_samples == ToyTask::kTrain);
    CHECK(config.train.budget_tokens == 3 * ToyTask::kTrain * 16);
    const engine::TrainerConfig trainer = trainer_config(config);
    CHECK(trainer.epoch_samples == ToyTask::kTrain);
    CHECK_FALSE(trainer.model.head);
    REQUIRE(trainer.model.class_head);
    CHECK(trainer.model.class_head == engine::ClassHeadConfig{.classes = 2, .pooler = true});
    CHECK(trainer.model.input.segments == 2);
    CHECK_FALSE(trainer.model.is_causal());
    CHECK(project(config).steps == 3 * 6);  // 21 texts in steps of 4

    const TrialConfig number = values.resolved("labelled = { truncate_labels = true }\n");
    CHECK(number.model.value_head);
    CHECK(trainer_config(number).model.class_head ==
          engine::ClassHeadConfig{.classes = 1, .pooler = true, .value = true});

    // Dropout as the rest of the model has it, unless it is named.
    const std::string head =
        "[data]\nsamples = \"labelled\"\ncorpus = \"toy\"\ntokenizer = \"words.txt\"\n[train]\nepochs = 1\n[model]\n";
    CHECK(trainer_config(test::trial_of(head, classes.folder.path())).model.class_head->dropout == 0.1);
    CHECK(trainer_config(test::trial_of(head + "dropout = 0.3\n", classes.folder.path())).model.class_head->dropout ==
          0.3);
    CHECK(
        trainer_config(test::trial_of(head + "head_dropout = 0\n", classes.folder.path())).model.class_head->dropout ==
        0);
    // A preset of pretraining drops its heads.
    const TrialConfig mini = test::trial_of(head + "preset = \"bert_mini\"\n", classes.folder.path());
    CHECK_FALSE(mini.model.order_head);
    CHECK_FALSE(mini.model.head_transform);
    CHECK_FALSE(trainer_config(mini).model.head);
}

TEST_CASE("fewer records are the first ones, and make shorter epochs", "[bare]") {
    const ToyTask toy;
    const TrialConfig few = toy.resolved("labelled = { records = 9 }\n");
    CHECK(few.data.epoch_samples == 9);
    CHECK(few.train.budget_tokens == 3 * 9 * 16);
    CHECK(project(few).steps == 3 * 3);
    const LabelledDataset all = load_labelled_dataset(toy.resolved().data, 16, toy.folder.path().string());
    const LabelledDataset first = load_labelled_dataset(few.data, 16, toy.folder.path().string());
    REQUIRE(first.training->size() == 9);
    CHECK(all.training->size() == ToyTask::kTrain);
    CHECK(first.splits.front().samples->size() == ToyTask::kNear);
    CHECK(first.train_bytes < all.train_bytes);
    CHECK_THAT(test::refusal([&] { toy.resolved("labelled = { records = 22 }\n"); }),
               ContainsSubstring("data.labelled.records is 22, and task toy has 21 to train on"));
}

TEST_CASE(
    "whole batches leave out what is left of an epoch and of each split, and fewer records are scored: neither unasked",
    "[bare]") {
    const ToyTask toy;
    const std::string folder = toy.folder.path().string();
    const TrialConfig whole = toy.resolved("labelled = { whole_batches = 4 }\n");
    CHECK(whole.data.epoch_samples == ToyTask::kTrain);  // another one is left out of each epoch
    CHECK(whole.train.budget_tokens == 3 * 20 * 16);
    CHECK(project(whole).steps == 3 * 5);
    CHECK(trainer_config(whole).whole_steps);
    CHECK_FALSE(trainer_config(toy.resolved()).whole_steps);
    const LabelledDataset dataset = load_labelled_dataset(whole.data, 16, folder);
    CHECK(dataset.training->size() == ToyTask::kTrain);
    REQUIRE(dataset.splits.size() == 2);
    CHECK(dataset.splits[0].samples->size() == 12);  // of 13
    CHECK(dataset.splits[1].samples->size() == 4);   // of 6
    const TrialConfig five = toy.resolved("labelled = { scored_records = 5 }\n");
    const LabelledDataset fewer = load_labelled_dataset(five.data, 16, folder),
                          all = load_labelled_dataset(toy.resolved().data, 16, folder);
    CHECK(fewer.training->size() == ToyTask::kTrain);
    CHECK(fewer.splits[0].samples->size() == 5);
    CHECK(fewer.splits[0].samples->labels()[4] == all.splits[0].samples->labels()[4]);
    CHECK(fewer.splits[1].samples->size() == 5);
    const TrialConfig more = toy.resolved("labelled = { scored_records = 10 }\n");
    CHECK(load_labelled_dataset(more.data, 16, folder).splits[1].samples->size() == ToyTask::kFar);
    const TrialConfig both = toy.resolved("labelled = { scored_records = 7, whole_batches = 4 }\n");
    CHECK(load_labelled_dataset(both.data, 16, folder).splits[0].samples->size() == 4);

    CHECK_THAT(toy.wrong(toy.toml("labelled = { whole_batches = 8 }\n")),
               ContainsSubstring("batch_size is 4, but data.labelled.whole_batches is 8"));
    const std::string large = "[data]\nsamples = \"labelled\"\ncorpus = \"toy\"\ntokenizer = \"words.txt\"\n";
    CHECK_THAT(toy.wrong(large + "labelled = { whole_batches = 22 }\n[train]\nbatch_size = 22\nepochs = 1\n"),
               ContainsSubstring("task toy has 21 records to train on: none would be left"));
    TrialConfig none = test::trial_of(
        large + "labelled = { whole_batches = 16 }\n[train]\nbatch_size = 16\nepochs = 1\n", toy.folder.path());
    resolve_data(none);
    CHECK_THAT(test::refusal([&] { load_labelled_dataset(none.data, 16, folder); }),
               ContainsSubstring("near.tsv has 13 records to score by: none would be left"));
}

TEST_CASE("the configuration of labelled texts goes through JSON, and names what decides the result", "[bare]") {
    const ToyTask toy;
    const TrialConfig plain = toy.resolved();
    CHECK(to_json(from_json(to_json(plain))) == to_json(plain));
    CHECK(from_json(to_json(plain)).data.epoch_samples == ToyTask::kTrain);
    CHECK(to_json(plain).at("data").at("labelled").at("lower_case") == true);
    CHECK_FALSE(to_json(plain).at("data").contains("split"));
    CHECK(config_hash(toy.resolved("labelled = { lower_case = true }\n")) == config_hash(plain));
    // Keys that came later are in no hash where they are not used.
    for (const char* key : {"whole_batches = 0", "scored_records = 0"}) {
        const TrialConfig same = toy.resolved("labelled = { " + std::string(key) + " }\n");
        CHECK(config_hash(same) == config_hash(plain));
        CHECK(same.data.sha256 == plain.data.sha256);
    }
    CHECK(to_json(plain).at("data").at("labelled").size() == 3);
    for (const char* key :
         {"lower_case = false", "truncate_labels = true", "records = 20", "whole_batches = 4", "scored_records = 5"}) {
        const TrialConfig other = toy.resolved("labelled = { " + std::string(key) + " }\n");
        CHECK(config_hash(other) != config_hash(plain));
        CHECK(other.data.sha256 != plain.data.sha256);
        CHECK(to_json(from_json(to_json(other))) == to_json(other));
    }
    const ToyTask values(true);
    const TrialConfig number = values.resolved();
    CHECK(to_json(from_json(to_json(number))) == to_json(number));
    // Any record that changes is another trial: those to train on, and those to score by, also where more come.
    for (const char* file : {"train.tsv", "near.tsv", "far.tsv"}) {
        const ToyTask other;
        write_file_atomically(other.folder / file, read_file(other.folder / file) + "w1\tw2\tno\n");
        CHECK(other.resolved().data.sha256 != plain.data.sha256);
    }
    const ToyTask without_far;
    std::filesystem::remove(without_far.folder / "far.tsv");
    CHECK(without_far.resolved().data.sha256 != plain.data.sha256);
    // Other kinds have none of it.
    const Json text = to_json(test::trial_of("[train]\nbudget_tokens = 10_000\n"));
    for (const char* key : {"labelled", "epoch_samples"}) CHECK_FALSE(text.at("data").contains(key));
    for (const char* key : {"value_head", "head_dropout"}) CHECK_FALSE(text.at("model").contains(key));
}

TEST_CASE("what of labelled texts makes no sense is refused with its place", "[bare]") {
    const ToyTask toy;
    const auto of_data = [&](const std::string& data) { return toy.wrong(toy.toml(data)); };
    CHECK(toy.wrong(toy.toml()) == "accepted");
    // [data]: line 5 is what is added.
    CHECK_THAT(of_data("max_bytes = 9\n"),
               ContainsSubstring("t.toml:5:") && ContainsSubstring("the records of a task"));
    CHECK_THAT(of_data("train_files = [\"x.txt\"]\n"), ContainsSubstring("t.toml:5:"));
    CHECK_THAT(of_data("split = [8, 1, 1]\n"), ContainsSubstring("t.toml:5:"));
    CHECK_THAT(of_data("vocab = 300\n"), ContainsSubstring("t.toml:5:"));
    CHECK_THAT(of_data("bert = { pairs = true }\n"),
               ContainsSubstring("t.toml:5:") && ContainsSubstring("has no effect"));
    CHECK_THAT(of_data("labelled = { lower = true }\n"),
               ContainsSubstring("t.toml:5:") && ContainsSubstring("lower_case"));
    CHECK_THAT(test::wrong_trial("[data]\nlabelled = { lower_case = true }\n[train]\nbudget_tokens = 9000\n"),
               ContainsSubstring("t.toml:2:") && ContainsSubstring("has no effect"));
    const auto data_of = [&](const std::string& corpus, const std::string& tokenizer) {
        return toy.wrong("[data]\nsamples = \"labelled\"\n" + corpus + "\n" + tokenizer + "\n[train]\nepochs = 1\n");
    };
    const std::string words = "tokenizer = \"words.txt\"", corpus = "corpus = \"toy\"";
    CHECK(data_of(corpus, words) == "accepted");
    CHECK_THAT(data_of("", words), ContainsSubstring("must name a task"));
    CHECK_THAT(data_of("corpus = \"toi\"", words), ContainsSubstring("t.toml:3:") && ContainsSubstring("unknown task"));
    CHECK_THAT(data_of("corpus = \"boolq\"", words),
               ContainsSubstring("t.toml:3:") && ContainsSubstring("has no [train] records"));
    for (const char* tokenizer : {"bytes", "gpt2", "bpe"})
        CHECK_THAT(data_of(corpus, "tokenizer = \"" + std::string(tokenizer) + "\""),
                   ContainsSubstring("t.toml:4:") && ContainsSubstring("[CLS] and [SEP]"));
    CHECK_THAT(data_of(corpus, ""), ContainsSubstring("[CLS] and [SEP]"));

    const auto with_model = [&](const std::string& keys) {
        return toy.wrong("[data]\nsamples = \"labelled\"\n" + corpus + "\n" + words +
                         "\n[train]\nepochs = 1\n[model]\n" + keys + "\n");
    };
    const std::string place = "t.toml:8:";
    CHECK(with_model("width = 32") == "accepted");
    for (const char* kind : {"gpt", "llama"})
        CHECK_THAT(with_model("kind = \"" + std::string(kind) + "\""),
                   ContainsSubstring("causal is true") && ContainsSubstring("must attend to all others"));
    CHECK_THAT(with_model("kind = \"vit\""), ContainsSubstring("applies only to image models"));
    CHECK_THAT(with_model("causal = true"), ContainsSubstring(place));
    CHECK_THAT(with_model("segments = 1"), ContainsSubstring(place) && ContainsSubstring("pairs of texts"));
    CHECK_THAT(with_model("classes = 3"), ContainsSubstring(place) && ContainsSubstring("the labels of toy are 2"));
    CHECK(with_model("classes = 2") == "accepted");
    CHECK_THAT(with_model("value_head = true"), ContainsSubstring(place) && ContainsSubstring("are classes"));
    CHECK_THAT(with_model("head_bias = true"), ContainsSubstring(place) && ContainsSubstring("only a label head"));
    CHECK_THAT(with_model("head_transform = true"), ContainsSubstring(place));
    CHECK_THAT(with_model("order_head = true"), ContainsSubstring(place));
    CHECK_THAT(with_model("tied_head = false"), ContainsSubstring(place));
    CHECK_THAT(with_model("pooling = \"mean\""), ContainsSubstring(place));
    CHECK_THAT(with_model("patch = 4"), ContainsSubstring(place));
    CHECK_THAT(test::wrong_trial("[train]\nbudget_tokens = 9000\n[model]\nvalue_head = true\n"),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("applies only to labelled texts"));
    CHECK_THAT(test::wrong_trial("[train]\nbudget_tokens = 9000\n[model]\nhead_dropout = 0.1\n"),
               ContainsSubstring("t.toml:4:"));

    const auto with_table = [&](const std::string& tables) { return toy.wrong(toy.toml("", tables)); };
    CHECK_THAT(with_table("[curriculum.voc]\nmin = 10\nduration = 0.5\n"), ContainsSubstring("every text once"));
    CHECK_THAT(with_table("[batch_ramp]\nmin = 1\nduration = 0.5\n"),
               ContainsSubstring("whose batch size is constant"));
    CHECK_THAT(with_table("[variable_batch]\nmax_tokens = 64\n"), ContainsSubstring("whose batch size is constant"));
    CHECK_THAT(with_table("[token_bypass]\nmin = 4\nduration = 0.5\n"), ContainsSubstring("token losses"));
    CHECK_THAT(with_table("[eval]\ntasks = [\"lambada\"]\n"), ContainsSubstring("evaluated on toy"));
    CHECK_THAT(with_table("[eval]\nvalidation_tokens = 99\n"),
               ContainsSubstring("every record of a split is evaluated"));
    const std::string best = "[eval]\nevery = \"3 times\"\nselect = \"best\"\n";
    for (const char* metric : {"loss", "mcc", "acc", "f1"})
        CHECK(with_table(best + "metric = \"" + metric + "\"\n") == "accepted");
    for (const char* metric : {"pearson", "bits_per_byte"})
        CHECK_THAT(with_table(best + "metric = \"" + metric + "\"\n"), ContainsSubstring("metric"));
    // Metrics of labels are of labelled texts alone, and their tasks ask no prompts.
    CHECK_THAT(test::wrong_trial("[train]\nbudget_tokens = 9000\n" + best + "metric = \"mcc\"\n"),
               ContainsSubstring("requires data.samples"));
    CHECK_THAT(test::wrong_trial("[train]\nbudget_tokens = 9000\n[eval]\ntasks = [\"glue_cola\"]\n"),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("has labels and no prompts"));
    CHECK(with_table("rows = \"padded\"\n") == "accepted");

    // Epochs count records. Without them the number of steps is unknown, and training refuses the trial.
    std::filesystem::remove(toy.folder / "train.tsv");
    TrialConfig unknown = test::trial_of(toy.toml(), toy.folder.path());
    CHECK(unknown.train.unknown_epochs == 3);
    CHECK(to_json(unknown).at("train").at("budget_tokens").is_null());
    CHECK_FALSE(project(unknown).has_steps);
    CHECK(project(unknown).steps == 0);
    CHECK(project(unknown).memory_bytes > 0);
    CHECK_THAT(test::refusal(ErrorKind::data, [&] { resolve_data(unknown); }), ContainsSubstring("train.tsv"));
    std::string by_budget = toy.toml();
    by_budget.replace(by_budget.find("epochs = 3"), 10, "budget_tokens = 9000");
    TrialConfig planned = test::trial_of(by_budget, toy.folder.path());
    planned.data.tokenizer = kBertVocabulary;
    resolve_data_if_present(planned);
    CHECK(planned.data.sha256 == kDataMissing);
}
