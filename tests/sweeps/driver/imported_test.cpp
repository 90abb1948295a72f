// Rows of models that are imported and not trained: start.from with train.budget_tokens = 0.

#include <algorithm>

#include "sweeps/spec/expand.h"
#include "tests/catch.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

namespace fs = std::filesystem;

// A trained model of another shape than TinySweep's own, and its files.
struct TrainedElsewhere {
    TinySweep sweep{kPlain + "[case.model]\nlayers = 4\nwidth = 24\nseqlen = 24\n"};
    fs::path model = sweep.folder.path / "model";

    TrainedElsewhere() {
        REQUIRE(sweep.run().exit_code == kExitOk);
        REQUIRE(sweep.deft("export", {"plain/1", "--root", sweep.root.string(), "--to", model.string()}).exit_code ==
                kExitOk);
    }
    // `more`: further lines of the recipe.
    std::string imported_recipe(const std::string& more = "", const std::string& stated = "") const {
        return fmt::format("[[case]]\nname = \"gpt\"\nstart = {{ from = \"{}\"{} }}\ntrain.budget_tokens = 0\n{}",
                           model.string(), stated, more);
    }
};

const char* const kStated = ", tokens = 9e9, flops = 2e18, hours = 30, usd = 44_000, source = \"its card\"";

std::vector<std::string> scores_of(const TinySweep& sweep, const std::string& recipe) {
    return sweep.query(
        "SELECT v.task, n.name, printf('%.17g', v.value) FROM evaluation v"
        " JOIN metric n ON n.id = v.metric_id JOIN attempt a ON a.id = v.attempt_id"
        " WHERE a.kind = 'score' AND a.experiment_id = (SELECT experiment_id FROM sweep_member"
        "  WHERE case_key = '" +
            recipe + "' ORDER BY ordinal LIMIT 1) ORDER BY 1, 2",
        3);
}

std::string refused_plan(const std::string& recipes, const std::vector<std::string>& more = {}) {
    const TinySweep sweep(recipes);
    const Ran ran = sweep.deft("plan", more);
    CHECK(ran.exit_code != kExitOk);
    return ran.err;
}

std::vector<std::string> names_of(const std::vector<sweeps::Trial>& trials) {
    std::vector<std::string> names;
    for (const sweeps::Trial& trial : trials) names.push_back(trial.name());
    return names;
}

sweeps::Trial first_trial_of(const std::string& recipes, const sweeps::SpecOptions& options = {}) {
    const TinySweep sweep(recipes);
    return sweeps::expand(sweeps::load_spec(sweep.file, options)).front();
}

}  // namespace

TEST_CASE("An imported row is printed beside trained ones, scored as the checkpoint that it was exported from",
          "[bare]") {
    const TrainedElsewhere elsewhere;
    const TinySweep sweep(elsewhere.imported_recipe("", kStated) + kPlain + kBothTechniques, "[1, 2]");
    const Ran planned = sweep.deft("plan");
    REQUIRE(planned.exit_code == kExitOk);
    CHECK_THAT(planned.out, ContainsSubstring("gpt (imported)") && ContainsSubstring("GPT-2 of Hugging Face"));
    CHECK_THAT(sweep.deft("run", {"--dry-run"}).err, ContainsSubstring("1 to import"));
    const Ran ran = sweep.run({"--full"});
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.err, ContainsSubstring("imported gpt/1") && !ContainsSubstring("gpt/2"));
    CHECK(scores_of(sweep, "gpt").size() == 5);
    CHECK(scores_of(sweep, "gpt") == scores_of(elsewhere.sweep, "plain"));
    CHECK(scores_of(sweep, "plain") != scores_of(sweep, "gpt"));
    CHECK(sweep.value("SELECT count(*) FROM sweep_member WHERE case_key = 'gpt'") == "1");
    CHECK(sweep.value("SELECT baseline FROM sweep") == "plain");
    CHECK_THAT(ran.out, ContainsSubstring("9.00G ‡") && ContainsSubstring("2.00E ‡") && ContainsSubstring("1d06h ‡") &&
                            ContainsSubstring("$44000.00 ‡") && ContainsSubstring("not measured: gpt: its card"));
    CHECK_THAT(ran.out, ContainsSubstring("Imported, not trained here: gpt: GPT-2 of Hugging Face, from"));
    const std::string root = sweep.root.string();
    CHECK_THAT(sweep.deft("status").out, ContainsSubstring("imported"));
    const Ran shown = sweep.deft("show", {"gpt/1", "--root", root});
    CHECK_THAT(shown.out, ContainsSubstring("none: the model is imported") && ContainsSubstring("its card"));
    CHECK_THAT(read_file(sweep.root / "reports" / "tiny.html"), ContainsSubstring("gpt (imported)"));
    CHECK_THAT(sweep.deft("baseline", {"pin", "main", "tiny", "--root", root}).out,
               ContainsSubstring("Pinned baseline main: 2 rows"));
    const Ran checked = sweep.deft("check", {"quality", "tiny", "--baseline", "main", "--full", "--root", root});
    CHECK_THAT(checked.out, ContainsSubstring("plain: validation loss") && !ContainsSubstring("gpt"));
    // Everything is there already, and stated values may be restated.
    std::string text = read_file(sweep.file);
    text.replace(text.find("44_000"), 6, "45_000");
    write_file_atomically(sweep.file, text);
    const Ran again = sweep.run({"--full"});
    CHECK_THAT(again.err, ContainsSubstring("everything was finished already"));
    CHECK_THAT(again.out, ContainsSubstring("$45000.00 ‡"));
}

TEST_CASE("An imported row is imported by one process and scored by the ranks of its slot", "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const TrainedElsewhere elsewhere;
    const TinySweep one(elsewhere.imported_recipe()), two(elsewhere.imported_recipe());
    REQUIRE(one.run().exit_code == kExitOk);
    REQUIRE(two.run({"--ranks", "2"}).exit_code == kExitOk);
    CHECK(scores_of(two, "gpt") == scores_of(one, "gpt"));
    std::vector<std::string> with_ranks;  // what the attempts did that have a second rank's log
    for (const fs::path& journal : two.journals())
        if (fs::exists(journal.parent_path() / "log_rank1.txt"))
            with_ranks.push_back(Json::parse(read_file(journal.parent_path() / "trial.json")).at("work"));
    CHECK(with_ranks == std::vector<std::string>{"score"});
}

TEST_CASE("An imported row is the same whatever is trained beside it, and another at another length", "[bare]") {
    const TrainedElsewhere elsewhere;
    const sweeps::Trial plain = first_trial_of(elsewhere.imported_recipe());
    CHECK(plain.config.model.layers == 4);
    CHECK(plain.config.model.width == 24);
    CHECK(plain.config.model.seqlen == 24);
    CHECK(plain.projection.steps == 0);
    CHECK(plain.projection.flops == 0);
    CHECK(plain.projection.step_flops > 0);
    sweeps::SpecOptions options;
    options.overrides = {"train.learning_rate=3e-3", "model.layers=5"};
    options.seeds = {7};
    CHECK(first_trial_of(elsewhere.imported_recipe() + kPlain, options).config_hash == plain.config_hash);
    CHECK(first_trial_of(elsewhere.imported_recipe("train.micro_batch_size = 2\n", kStated)).config_hash ==
          plain.config_hash);
    CHECK(first_trial_of(elsewhere.imported_recipe() + kPlain + "[axes.grid]\n\"train.budget_fraction\" = [1.0, 0.5]\n")
              .config_hash == plain.config_hash);
    const sweeps::Trial shorter = first_trial_of(elsewhere.imported_recipe("model.seqlen = 10\n"));
    CHECK(shorter.config.model.seqlen == 10);
    CHECK(shorter.config_hash != plain.config_hash);
    const sweeps::Trial stated = first_trial_of(elsewhere.imported_recipe("", kStated));
    const experiments::TrialConfig again = experiments::from_json(experiments::to_json(stated.config));
    CHECK(again.start == stated.config.start);
    CHECK(again.start->stated.usd == 44000);
    CHECK(experiments::config_hash(again) == plain.config_hash);
}

TEST_CASE("What makes no sense of an imported row is refused with its place", "[bare]") {
    const TrainedElsewhere elsewhere;
    const std::string model = elsewhere.model.string();
    const auto refused = [&](const std::string& more, const std::string& stated = "") {
        return refused_plan(elsewhere.imported_recipe(more, stated));
    };
    CHECK_THAT(refused_plan(kPlain + "[case.train]\nbudget_tokens = 0\n"),
               ContainsSubstring("tiny.toml:26") && ContainsSubstring("names no model to import"));
    CHECK_THAT(refused("model.layers = 3\n"),
               ContainsSubstring("tiny.toml:27") && ContainsSubstring("model.layers has no effect"));
    CHECK_THAT(refused("model.seqlen = 25\n"), ContainsSubstring("tiny.toml:27") && ContainsSubstring("24 positions"));
    CHECK_THAT(refused("train.learning_rate = 1e-3\n"),
               ContainsSubstring("tiny.toml:27") && ContainsSubstring("train.learning_rate has no effect"));
    for (const char* technique :
         {"curriculum.seqtru = { min = 8, duration = 0.5 }\n", "random_ltd = { min = 8, duration = 0.5 }\n",
          "batch_ramp = { min = 1, duration = 0.5 }\n", "variable_batch = { max_tokens = 64 }\n"})
        CHECK_THAT(refused(technique),
                   ContainsSubstring("tiny.toml:27") && ContainsSubstring("has no effect with an imported model"));
    CHECK_THAT(refused("", ", usd = -1"), ContainsSubstring("start.usd"));
    CHECK_THAT(refused("data.tokenizer = \"bpe\"\ndata.vocab = 300\n"), ContainsSubstring("has a vocabulary of"));
    CHECK_THAT(refused_plan("[[case]]\nname = \"a\"\nstart = { from = \"" + model + "\", tokens = 5 }\n"),
               ContainsSubstring("start.tokens applies only to a model that is imported"));
    CHECK_THAT(
        refused_plan("[[case]]\nname = \"a\"\nstart = { from = \"no_such\" }\ntrain.budget_tokens = 0\n"),
        !ContainsSubstring("terminate") && ContainsSubstring("tiny.toml:") && ContainsSubstring("does not exist"));
    CHECK_THAT(refused_plan("[stage.a]\n[stage.b]\nfrom = \"a\"\n[stage.b.train]\nbudget_tokens = 0\n" + kPlain),
               ContainsSubstring("stage b has no tokens to train on"));
}

TEST_CASE("Commands that need a step take a recipe that trains", "[bare]") {
    const TrainedElsewhere elsewhere;
    const TinySweep only(elsewhere.imported_recipe());
    CHECK(only.deft("debug-state").exit_code == kExitUsage);
    const Ran planned = only.deft("plan", {"--draws", "--memory", "--root", only.root.string(), "--figures",
                                           (only.folder.path / "f.html").string()});
    CHECK(planned.exit_code == kExitOk);
    CHECK_THAT(planned.out, ContainsSubstring("Evaluation") && !ContainsSubstring("Training\n"));
    const TinySweep both(elsewhere.imported_recipe() + kPlain);
    CHECK_THAT(both.deft("debug-state", {"--root", both.root.string(), "--out", (both.folder.path / "s").string()}).out,
               ContainsSubstring("plain/1"));
}

TEST_CASE("What starts from an imported row trains with each seed of the sweep", "[bare]") {
    const TrainedElsewhere elsewhere;
    const TinySweep sweep(fmt::format("[stage.a]\n[stage.b]\nfrom = \"a\"\n[stage.b.model]\nlayers = 4\nwidth = 24\n"
                                      "seqlen = 24\n[[case]]\nname = \"gpt\"\n[case.a]\nstart = {{ from = \"{}\" }}\n"
                                      "train.budget_tokens = 0\n",
                                      elsewhere.model.string()),
                          "[1, 2]");
    CHECK(names_of(sweeps::expand(sweeps::load_spec(sweep.file))) ==
          std::vector<std::string>{"gpt:a/1", "gpt:b/1", "gpt:b/2"});
    REQUIRE(sweep.run().exit_code == kExitOk);
    CHECK(sweep.count("ok") == "3");
}

TEST_CASE("An imported model whose files change, or whose checkpoint is lost, is imported again", "[bare]") {
    const TrainedElsewhere elsewhere;
    const TinySweep sweep(elsewhere.imported_recipe());
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::vector<std::string> scores = scores_of(sweep, "gpt");
    fs::remove_all(sweep.root / "checkpoints");
    CHECK(sweep.run({"--set", "eval.documents=10"}).exit_code != kExitOk);
    CHECK(sweep.run({"--set", "eval.documents=10", "--retrain"}).exit_code == kExitOk);
    CHECK(sweep.count("ok") == "2");
    // A database that is lost is made again, from the run folders.
    fs::remove(sweep.root / "results.db");
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::vector<std::string> again = scores_of(sweep, "gpt");
    for (const std::string& score : scores) CHECK(std::count(again.begin(), again.end(), score) == 1);
    std::string bytes = read_file(elsewhere.model / "model.safetensors");
    bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 1);
    write_file_atomically(elsewhere.model / "model.safetensors", bytes);
    REQUIRE(sweep.run().exit_code == kExitOk);
    CHECK(sweep.value("SELECT count(*) FROM experiment") == "2");
    fs::resize_file(elsewhere.model / "model.safetensors", bytes.size() / 2);
    CHECK(sweep.run().exit_code != kExitOk);
}
