// deft generate and deft bench generate through the program.

#include "base/json.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kName = "plain/1";

// A sweep whose recipe is trained.
struct Trained : TinySweep {
    explicit Trained(const std::string& recipes = kPlain) : TinySweep(recipes) { REQUIRE(run().exit_code == kExitOk); }
    Ran generate(std::vector<std::string> more, const std::string& what = kName) const {
        more.insert(more.begin(), {what, "--root", root.string()});
        return deft("generate", more);
    }
    Json generated(std::vector<std::string> more) const {
        more.emplace_back("--json");
        const Ran ran = generate(more);
        REQUIRE(ran.exit_code == kExitOk);
        return Json::parse(ran.out);
    }
    // The folder of a checkpoint.
    fs::path checkpoint() const {
        for (const auto& entry : fs::recursive_directory_iterator(root / "checkpoints"))
            if (entry.path().filename() == "checkpoint.json") return entry.path().parent_path();
        FAIL("nothing was trained");
        return {};
    }
};

}  // namespace

TEST_CASE("deft generate continues a prompt, from a trial's name or a folder, and says the same with each") {
    const Trained sweep;
    const Ran plain = sweep.generate({"--prompt", "The ", "--tokens", "7"});
    CHECK(plain.exit_code == kExitOk);
    CHECK_THAT(plain.err, ContainsSubstring("prompt 4 tokens") && !ContainsSubstring("seed"));
    const Json json = sweep.generated({"--prompt", "The ", "--tokens", "7"});
    CHECK(json.at("schema") == "deft-generate/1");
    CHECK(json.at("prompt") == "The ");
    CHECK(json.at("prompt_tokens") == 4);
    CHECK(json.at("temperature") == 0);
    CHECK(fs::equivalent(json.at("checkpoint").get<std::string>(), sweep.checkpoint()));
    REQUIRE(json.at("samples").size() == 1);
    const Json& sample = json.at("samples")[0];
    CHECK(sample.at("tokens").size() == 7);
    CHECK(sample.at("log_probabilities").size() == 7);
    for (const Json& value : sample.at("log_probabilities")) CHECK(value.get<double>() <= 0);
    CHECK(plain.out == sample.at("text").get<std::string>() + "\n");

    CHECK(sweep.generate({"--prompt", "The ", "--tokens", "7"}, sweep.checkpoint().string()).out == plain.out);
    const fs::path file = sweep.folder.write("prompt.txt", "The ");
    CHECK(sweep.generate({"--prompt-file", file.string(), "--tokens", "7", "--threads", "1"}).out == plain.out);
    // Sixteen positions hold the prompt and thirteen tokens of what follows, of which the last is in none.
    const Ran longer = sweep.generate({"--prompt", "The ", "--tokens", "100"});
    CHECK(longer.exit_code == kExitOk);
    CHECK_THAT(longer.err, ContainsSubstring("the text ends at the model's 16 positions; the prompt has 4 tokens"));
    CHECK(longer.out.substr(0, plain.out.size() - 1) == plain.out.substr(0, plain.out.size() - 1));
    // Without a prompt a document begins.
    CHECK(sweep.generated({"--tokens", "3"}).at("prompt") == "");
}

TEST_CASE("deft generate draws the same texts from the same seed, and others from another") {
    const Trained sweep;
    const std::vector<std::string> drawn = {"--prompt", "a", "--tokens", "8", "--samples", "3", "--top-p", "0.9"};
    const auto with = [&](const std::string& seed, std::vector<std::string> more = {}) {
        std::vector<std::string> all = drawn;
        all.insert(all.end(), {"--seed", seed});
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    const Json json = sweep.generated(with("7"));
    CHECK(json.at("temperature") == 1);
    CHECK(json.at("top_p") == 0.9);
    CHECK(json.at("top_k") == 0);
    CHECK(json.at("seed") == 7);
    REQUIRE(json.at("samples").size() == 3);
    CHECK(json.at("samples")[0] != json.at("samples")[1]);
    CHECK(sweep.generated(with("7", {"--threads", "1"})).at("samples") == json.at("samples"));
    CHECK(sweep.generated(with("8")).at("samples") != json.at("samples"));
    // The likeliest alone, whatever the temperature: what is greedy without one.
    const Json one = sweep.generated({"--prompt", "a", "--tokens", "8", "--top-k", "1", "--temperature", "2"});
    CHECK(one.at("top_k") == 1);
    CHECK(one.at("temperature") == 2);
    CHECK(one.at("samples")[0].at("tokens") ==
          sweep.generated({"--prompt", "a", "--tokens", "8"}).at("samples")[0].at("tokens"));

    const Ran shown = sweep.generate(with("7"));
    CHECK_THAT(shown.out, ContainsSubstring("--- sample 1\n") && ContainsSubstring("--- sample 3\n"));
    CHECK_THAT(shown.err, ContainsSubstring("seed 7"));
    // A seed that nobody gave is drawn, and said.
    const Ran unseeded = sweep.generate({"--temperature", "0.7", "--tokens", "4"});
    CHECK(unseeded.exit_code == kExitOk);
    CHECK_THAT(unseeded.err, ContainsSubstring("seed ") && !ContainsSubstring("seed 0"));
}

TEST_CASE("deft generate refuses input that it cannot continue, with a hint") {
    const Trained sweep;
    const auto refused = [&](const std::vector<std::string>& options, int exit_code, const std::string& what = kName) {
        const Ran ran = sweep.generate(options, what);
        CHECK(ran.exit_code == exit_code);
        CHECK(ran.out.empty());
        return ran.err;
    };
    CHECK_THAT(refused({"--prompt", std::string(16, 'x')}, kExitUsage),
               ContainsSubstring("the prompt has 16 tokens, and the model 16 positions") &&
                   ContainsSubstring("shorten the prompt to 15 tokens"));
    CHECK_THAT(refused({"--prompt-file", (sweep.folder.path / "nowhere.txt").string()}, kExitUsage),
               ContainsSubstring("nowhere.txt"));
    CHECK(refused({"--prompt", "a", "--prompt-file", sweep.file.string()}, kExitUsage) != "");
    CHECK_THAT(refused({"--samples", "2", "--temperature", "0"}, kExitUsage),
               ContainsSubstring("all samples would be equal"));
    CHECK_THAT(refused({"--temperature", "-1"}, kExitUsage), ContainsSubstring("temperature"));
    CHECK_THAT(refused({"--top-p", "0"}, kExitUsage), ContainsSubstring("top"));
    CHECK_THAT(refused({"--top-k", "-2"}, kExitUsage), ContainsSubstring("--top-k"));
    CHECK_THAT(refused({"--tokens", "0"}, kExitUsage), ContainsSubstring("--tokens"));
    CHECK_THAT(refused({"--format", "html"}, kExitUsage), ContainsSubstring("--format"));
    CHECK_THAT(refused({}, kExitUsage, "plan/1"),
               ContainsSubstring("no trial matches 'plan/1'") && ContainsSubstring("did you mean plain/1?"));
    CHECK_THAT(refused({}, kExitFailed, sweep.folder.path.string()), ContainsSubstring("is not a checkpoint"));
    const fs::path weights = sweep.checkpoint() / "model.safetensors";
    fs::resize_file(weights, fs::file_size(weights) / 2);
    CHECK_THAT(refused({}, kExitFailed), ContainsSubstring("model.safetensors"));
}

TEST_CASE("deft generate refuses a BERT and a ViT by what they lack") {
    TinySweep bert("");
    bert.folder.write("words.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\n.\n");
    bert.folder.write("train.jsonl", "{\"text\": \"a b\\nc d a\\nb\\na a a a\"}\n{\"text\": \"a b c\\nA B C\"}\n");
    bert.folder.write("valid.jsonl", "{\"text\": \"a\"}\n");
    bert.file = bert.folder.write("bert.toml", std::string(R"toml(name = "bert"
seeds = [1]
[defaults.model]
seqlen = 12
[defaults.data]
corpus = "text"
train_files = ["train.jsonl"]
valid_files = ["valid.jsonl"]
samples = "bert"
tokenizer = "words.txt"
bert = { sentences = "lines", short_probability = 0, mask_fraction = 0.5 }
[defaults.train]
batch_size = 4
budget_tokens = 384
)toml") + kPlain);
    REQUIRE(bert.run().exit_code == kExitOk);
    const Ran refused = bert.deft("generate", {kName, "--root", bert.root.string()});
    CHECK(refused.exit_code == kExitUsage);
    CHECK(refused.out.empty());
    CHECK_THAT(refused.err, ContainsSubstring("continues no text") || ContainsSubstring("packed"));
}

TEST_CASE("deft bench generate measures ours beside the memory, and refuses sizes that are none") {
    const TinySweep sweep(kPlain);
    const std::vector<std::string> tiny = {"generate", "--layers",  "1", "--width",  "16", "--heads",   "2", "--vocab",
                                           "30",       "--prompt",  "3", "--tokens", "4",  "--samples", "2", "--rounds",
                                           "2",        "--threads", "1"};
    const Ran ran = sweep.deft("bench", tiny);
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out,
               ContainsSubstring("2 sample(s) of 4 tokens after 3, 1 layers, width 16, vocabulary 30, 1 thread") &&
                   ContainsSubstring("weights read"));
    const auto refused = [&](const std::string& option, const std::string& value) {
        const Ran one = sweep.deft("bench", {"generate", option, value});
        CHECK(one.exit_code == kExitUsage);
        CHECK_THAT(one.err, ContainsSubstring(option));
    };
    refused("--tokens", "1");
    refused("--samples", "0");
    refused("--layers", "0");
    refused("--vocab", "one");
    // Heads must share the width.
    CHECK(sweep.deft("bench", {"generate", "--width", "10", "--heads", "3", "--layers", "1"}).exit_code != kExitOk);
    std::vector<std::string> absent = tiny;
    absent.insert(absent.end(), {"--python", (sweep.folder.path / "nowhere").string()});
    CHECK(sweep.deft("bench", absent).exit_code != kExitOk);
}
