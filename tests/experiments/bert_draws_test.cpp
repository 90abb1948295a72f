// BERT's samples of a small corpus: cut, measured, ordered and drawn, by hand; how they are kept; and that what a plan
// draws is what a trainer draws.

#include "experiments/draws.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "engine/train/trainer.h"
#include "experiments/datasets/difficulty.h"
#include "experiments/engine_config.h"
#include "tests/catch.h"
#include "tests/experiments/text_corpus.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;
using deft::test::all;
using deft::test::TemporaryFolder;
using deft::test::write_text;
namespace fs = std::filesystem;

namespace {

using Values = std::vector<std::int64_t>;

// In samples of 12 tokens, of which 9 are text, a sentence may have 4; the one of five is cut into 2 and 3.
//   0: [CLS] a b c d a b [SEP] [SEP]     9 tokens; the next sentence would fit, and leave the last alone
//   1: [CLS] a a a a a [SEP] [SEP]       8
//   2: [CLS] d [SEP]                     3
//   3: [CLS] a b c a b c [SEP] [SEP]     9
// as tokens; the position of the first [SEP] differs by epoch.
struct SmallCorpus {
    TemporaryFolder folder;
    SmallCorpus() {
        write_text(folder / "words.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\n.\n");
        write_text(folder / "train.jsonl",
                   "{\"text\": \"a b\\nc d a\\nb\\na a a a a\"}\n{\"text\": \"d\"}\n"
                   "{\"text\": \"a b c\\nA B C\"}\n");
        write_text(folder / "valid.jsonl", "{\"text\": \"a\"}\n");
    }

    // Eight steps of four samples where nothing is cut.
    TrialConfig config(const std::string& curriculum, const std::string& bert = "") const {
        const std::string toml =
            "[model]\nseqlen = 12\n[data]\ncorpus = \"text\"\ntrain_files = [\"train.jsonl\"]\n"
            "valid_files = [\"valid.jsonl\"]\nsamples = \"bert\"\ntokenizer = \"words.txt\"\n"
            "[data.bert]\nsentences = \"lines\"\nshort_probability = 0\nmask_fraction = 0.5\n" +
            bert + "[train]\nbatch_size = 4\nbudget_tokens = 384\n" + curriculum;
        return parse_trial_config(parse_toml(toml, "t.toml"), 1, folder.path());
    }
    Dataset samples(const TrialConfig& c, const PrepareProgress& progress = {}) const {
        return load_dataset(c.data, c.model.seqlen, c.base_folder, folder / "data", progress);
    }
};

// The index of voc of these very samples.
bool is_of_pairs(const fs::path& file) {
    if (file.extension() != ".json") return false;
    const Json json = Json::parse(read_file(file));
    return json.at("metric") == "voc" && json.at("packing") == "bert, pairs, short 0, seed 1";
}

}  // namespace

// The 29 tokens: a is nine, b four, c three, d two, [CLS] four, [SEP] seven; [PAD], [UNK], [MASK] and the stop count as
// one each: 33 in all. -ln p: a 1.2993, b and [CLS] 2.1102, c 2.3979, d 2.8034, [SEP] 1.5506. Sums: 17.23, 11.71, 6.46,
// 16.83. The weight of the length: 12 x ln 33 = 42, the next power of ten is 100, ten times that.
TEST_CASE("the difficulty of BERT's samples, by hand") {
    const SmallCorpus corpus;
    const Dataset samples = corpus.samples(corpus.config(""));
    REQUIRE(samples.source.samples == 4);
    const auto index = [&](const char* metric) { return load_difficulty(samples, metric); };
    CHECK(all(index("seqlen").value) == Values{9, 8, 3, 9});
    CHECK(all(index("seqlen").order) == Values{2, 1, 0, 3});
    CHECK(all(index("voc").value) == Values{17, 11, 6, 16});
    CHECK(all(index("voc").order) == Values{2, 1, 3, 0});
    CHECK(all(index("seqreo_voc").value) == Values{9017, 8011, 3006, 9016});
    CHECK(all(index("seqreo_voc").order) == Values{2, 1, 3, 0});
    CHECK(all(index("voc_per_token").value)[2] == 2154);  // 6.4642 / 3
}

TEST_CASE("single segments, cased text: other samples of the same words") {
    const SmallCorpus corpus;
    const TrialConfig single = corpus.config("", "pairs = false\nlower_case = false\n");
    const Dataset samples = corpus.samples(single);
    // Text of 10 tokens at most: the sentence of five stays whole and goes alone; A B C are no words of this
    // vocabulary.
    CHECK(all(load_difficulty(samples, "seqlen").value) == Values{8, 7, 3, 8});
    std::vector<std::int32_t> tokens;
    std::get<std::shared_ptr<const engine::BertSamples>>(samples.train)->write_whole(3, tokens);
    CHECK(tokens == std::vector<std::int32_t>{2, 5, 6, 7, 1, 1, 1, 3});
}

TEST_CASE("BERT's corpus and indexes are made once, separately for each way of cutting samples") {
    const SmallCorpus corpus;
    const TrialConfig pairs = corpus.config("");
    int tokenised = 0;
    const auto count = [&](const std::string& what, double) { tokenised += what == "tokenising"; };
    const Dataset first = corpus.samples(pairs, count);
    CHECK(tokenised > 0);
    const std::vector<std::string> metrics = {"seqlen", "voc"};
    CHECK(analyse_difficulty(first, metrics, {}) == metrics);
    tokenised = 0;
    CHECK(analyse_difficulty(corpus.samples(pairs, count), metrics, {}).empty());
    CHECK(tokenised == 0);

    // The same tokens in other samples: a shape, a length and a seed have indexes of their own, and take none away.
    const Dataset single = corpus.samples(corpus.config("", "pairs = false\n"), count);
    CHECK(tokenised == 0);
    CHECK(single.folder == first.folder);
    CHECK(analyse_difficulty(single, metrics, {}) == metrics);
    CHECK(analyse_difficulty(corpus.samples(corpus.config("", "seed = 2\n")), metrics, {}) == metrics);
    CHECK(analyse_difficulty(corpus.samples(pairs), metrics, {}).empty());

    // Another rule of sentences, or of case, gives other tokens.
    TrialConfig stops = pairs;
    stops.data.bert.sentences = engine::SentenceRule::punctuation;
    CHECK(corpus.samples(stops).folder != first.folder);
    TrialConfig cased = pairs;
    cased.data.bert.lower_case = false;
    CHECK(corpus.samples(cased).folder != first.folder);

    // An index of other samples is refused.
    fs::path index;
    for (const auto& entry : fs::directory_iterator(first.folder / "difficulty"))
        if (is_of_pairs(entry.path())) index = entry.path();
    REQUIRE(!index.empty());
    CHECK_THROWS_WITH(open_difficulty(single, index), ContainsSubstring("packing is \"bert, pairs"));
}

TEST_CASE("a damaged corpus of sentences is recreated, and its note says so") {
    const SmallCorpus corpus;
    const TrialConfig config = corpus.config("");
    const fs::path folder = corpus.samples(config).folder;
    const auto damage = [&](const char* name, const std::function<std::string(std::string)>& change, const char* what) {
        const std::string whole = read_file(folder / name);
        write_file_atomically(folder / name, change(whole));
        CHECK_THAT(corpus.samples(config).note, ContainsSubstring(what) && ContainsSubstring("recreated"));
        CHECK(read_file(folder / name) == whole);
        CHECK(corpus.samples(config).note.empty());
    };
    const auto cut = [](std::string text) { return text.substr(0, text.size() / 2); };
    damage("tokens.idx", cut, "tokens.idx");
    damage("tokens.bin", cut, "tokens.bin");
    damage(
        "tokens.bin", [](std::string text) { return text.replace(0, 2, "\xff\x00", 2); }, "block 1 of 1 of tokens.bin");
    damage("manifest.json", cut, "manifest.json");
    damage(
        "manifest.json", [](std::string) { return std::string("[]"); }, "manifest.json");
    damage("tokenizer/vocab.txt", cut, "no token [SEP]");
    damage(
        "tokenizer/vocab.txt", [](const std::string& text) { return text + "e\n"; },
        "is not the one that made its tokens");
    fs::remove(folder / "tokenizer" / "vocab.txt");
    CHECK_THAT(corpus.samples(config).note, ContainsSubstring("vocab.txt"));
    // A corpus of an older deft, which stored no hashes.
    Json manifest = Json::parse(read_file(folder / "manifest.json"));
    manifest.erase("block_sha256");
    write_file_atomically(folder / "manifest.json", manifest.dump());
    damage(
        "tokens.bin", [](std::string text) { return text.replace(0, 2, "\xff\x00", 2); },
        "token 255 is not among the 10");
}

TEST_CASE("truncation by hand: every step draws all four samples") {
    const SmallCorpus corpus;
    // 6 tokens at steps 1 to 3: 24 layer tokens each, which leaves 312 of the budget of 384 for steps of 48.
    const TrialConfig config =
        corpus.config("[curriculum.seqtru]\npacing = \"discrete\"\npoints = [[0, 6], [1, 12]]\nduration = 0.5\n");
    const DrawTotals totals = simulate_draws(config, corpus.samples(config));
    CHECK(totals.steps == 3 + 7);
    CHECK(totals.tokens == 3 * (6 + 6 + 3 + 6) + 7 * 29);
    CHECK(totals.padding_tokens == 3 * (24 - 21) + 7 * (48 - 29));
    CHECK(totals.cut_tokens == 3 * (29 - 21));
    // Half of the text, rounded half up: of 3, 3, 1 and 3 tokens, then of 6, 5, 1 and 6.
    CHECK(totals.masked_tokens == 3 * (2 + 2 + 1 + 2) + 7 * (3 + 3 + 1 + 3));
    CHECK(totals.sampling.drawn == 40);
    CHECK(totals.sampling.repeated == 36);
    CHECK(totals.first_pool == 4);
    CHECK(totals.sampling.pool == 4);
}

TEST_CASE("short samples first, by hand: draws, epochs and pools") {
    const SmallCorpus corpus;
    // The easiest sample alone at steps 1 to 3; then 20 draws of all four in equal shares.
    const TrialConfig config =
        corpus.config("[curriculum.seqreo]\npacing = \"discrete\"\npoints = [[0, 25], [1, 100]]\nduration = 0.5\n");
    const Dataset samples = corpus.samples(config);
    const DrawTotals totals = simulate_draws(config, samples);
    CHECK(totals.steps == 8);
    CHECK(totals.first_pool == 1);
    CHECK(totals.sampling.pool == 4);
    CHECK(totals.sampling.drawn == 32);
    CHECK(totals.sampling.repeated == 28);
    CHECK(totals.tokens == 17 * 3 + 5 * (8 + 9 + 9));
    CHECK(totals.cut_tokens == 0);
    CHECK(totals.masked_tokens == 17 * 1 + 5 * (3 + 3 + 3));
    const std::array<double, 10> epochs = {17, 0, 5, 0, 0, 5, 0, 5, 0, 0};  // ranks 0 to 3 of 4 by tenths
    CHECK(totals.sampling.epochs == epochs);
    CHECK(totals.tokens + totals.padding_tokens == 8 * 4 * 12);
}

TEST_CASE("what a plan draws is what the trainer draws") {
    const TemporaryFolder folder;
    const std::string toml =
        "[model]\nlayers = 2\nwidth = 8\nheads = 2\nseqlen = 16\n[data]\nembedded_bytes = 3000\n"
        "[train]\nbatch_size = 4\nbudget_tokens = 4096\n[curriculum.voc]\npacing = \"root\"\nduration = 0.5\n";
    for (const char* length : {"seqtru", "seqres"}) {
        const std::string more =
            std::string("[curriculum.") + length + "]\nmin = 5\ndifficulty_step = 1\nduration = 0.5\n";
        const TrialConfig config = parse_trial_config(parse_toml(toml + more, "t.toml"), 3, folder.path());
        const PackedDataset dataset = load_packed_dataset(config.data, config.base_folder, folder / "data");
        const Dataset samples = dataset_of(dataset, 16);
        engine::TrainerConfig settings = trainer_config(config);
        settings.model.vocab = dataset.tokenizer.vocab();
        add_curriculum(settings, config, samples);
        engine::Trainer trainer(settings, dataset.train, 1);
        const std::int64_t first_pool = engine::make_sampler(settings, samples.source.samples).pool_size(0);
        while (!trainer.done()) trainer.step();

        const DrawTotals totals = simulate_draws(config, samples);
        INFO(length);
        CHECK(totals.steps == trainer.counts().steps);
        CHECK(totals.tokens == trainer.counts().input_tokens);
        CHECK(totals.padding_tokens == trainer.counts().padding_tokens);
        CHECK(totals.cut_tokens == trainer.counts().cut_tokens);
        CHECK(totals.masked_tokens == 0);
        CHECK(totals.first_pool == first_pool);
        const engine::SamplingStatistics trained = trainer.sampling();
        CHECK(totals.sampling.pool == trained.pool);
        CHECK(totals.sampling.drawn == trained.drawn);
        CHECK(totals.sampling.repeated == trained.repeated);
        CHECK(totals.sampling.epochs == trained.epochs);
    }
}
