// A sweep over BERT's samples of a text of its own, from the command line: analysed, drawn from, planned and run.

#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

// The samples of this corpus, their values and draws are worked out in tests/experiments/bert_draws_test.cpp.
struct BertSweep {
    TinySweep sweep{""};
    BertSweep() {
        sweep.folder.write("words.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\n.\n");
        sweep.folder.write("train.jsonl",
                           "{\"text\": \"a b\\nc d a\\nb\\na a a a a\"}\n{\"text\": \"d\"}\n"
                           "{\"text\": \"a b c\\nA B C\"}\n");
        sweep.folder.write("valid.jsonl", "{\"text\": \"a\"}\n");
        sweep.folder.write("bert.toml", R"toml(name = "bert"
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
[[case]]
name = "baseline"
[[case]]
name = "seqtru"
curriculum.seqtru = { pacing = "discrete", points = [[0, 6], [1, 12]], duration = 0.5 }
[[case]]
name = "seqreo"
curriculum.seqreo = { pacing = "discrete", points = [[0, 25], [1, 100]], duration = 0.5 }
[[case]]
name = "seqreo_voc"
curriculum.seqreo_voc = { pacing = "discrete", points = [[0, 25], [1, 100]], duration = 0.5 }
)toml");
    }

    Ran deft(const std::string& command, std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {command, (sweep.folder.path / "bert.toml").string()});
        if (command != "plan" || more.size() > 2) more.insert(more.end(), {"--root", sweep.root.string()});
        more.insert(more.begin(), DEFT_PROGRAM);
        Process process(more, sweep.out(), sweep.err());
        const int code = process.wait();
        return {code, read_file(sweep.out()), read_file(sweep.err())};
    }
};

// The cells of the first line that begins with these words, without the spaces between.
std::vector<std::string> cells(const std::string& text, const std::string& begin, std::size_t from = 0) {
    std::size_t at = text.find("\n" + begin + " ", from);
    if (at == std::string::npos) return {};
    std::vector<std::string> words;
    const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    for (std::size_t i = 0; i < line.size();) {
        const std::size_t end = std::min(line.find(' ', i), line.size());
        if (end > i) words.push_back(line.substr(i, end - i));
        i = end + 1;
    }
    return words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("deft analyze measures BERT's samples of a sweep once") {
    const BertSweep bert;
    const Ran first = bert.deft("analyze");
    CHECK(first.exit_code == kExitOk);
    INFO(first.out << first.err);
    CHECK_THAT(first.out, ContainsSubstring("seqlen") && ContainsSubstring("seqreo_voc") &&
                              ContainsSubstring(" 3006 ") && ContainsSubstring(" 9017 ") &&
                              !ContainsSubstring("  found"));
    const Ran second = bert.deft("analyze");
    CHECK_THAT(second.out, ContainsSubstring("  found"));
    CHECK(bert.deft("analyze", {"--only", "baseline,seqtru"}).exit_code == kExitNothing);
}

TEST_CASE("deft analyze takes BERT's samples of a text without a sweep") {
    const BertSweep bert;
    const auto analyze = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {DEFT_PROGRAM, "analyze", "--text", (bert.sweep.folder.path / "train.jsonl").string(),
                                   "--seqlen", "12", "--root", bert.sweep.root.string()});
        Process process(more, bert.sweep.out(), bert.sweep.err());
        const int code = process.wait();
        return Ran{code, read_file(bert.sweep.out()), read_file(bert.sweep.err())};
    };
    const std::string words = (bert.sweep.folder.path / "words.txt").string();
    const Ran ran = analyze({"--samples", "bert", "--tokenizer", words, "--metric", "seqlen,voc,seqreo_voc"});
    INFO(ran.out << ran.err);
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("seqreo_voc"));
    const Ran bytes = analyze({"--samples", "bert"});
    CHECK(bytes.exit_code == kExitUsage);
    CHECK_THAT(bytes.err, ContainsSubstring("--tokenizer bytes lacks") && ContainsSubstring("vocab.txt"));
    CHECK(analyze({"--samples", "brt"}).exit_code == kExitUsage);
    CHECK(analyze({"--samples", "bert", "--tokenizer", words + "x.txt"}).exit_code == kExitUsage);
}

TEST_CASE("deft plan --draws says what each recipe of BERT's samples would draw") {
    const BertSweep bert;
    const Ran plan = bert.deft("plan", {"--draws", "--figures", (bert.sweep.folder.path / "f.html").string()});
    INFO(plan.out << plan.err);
    REQUIRE(plan.exit_code == kExitOk);
    const Words seqtru = cells(plan.out, "seqtru");
    REQUIRE(seqtru.size() >= 7);
    CHECK(Words(seqtru.begin(), seqtru.begin() + 4) == Words{"seqtru", "-", "1", "10"});
    CHECK_THAT(plan.out, ContainsSubstring("Tokens of BERT samples include padding"));
    CHECK(cells(plan.out, "baseline/1") ==
          Words{"baseline/1", "8", "32", "28", "232", "0", "152", "39.6%", "80", "4", "4"});
    CHECK(cells(plan.out, "seqtru/1") ==
          Words{"seqtru/1", "10", "40", "36", "266", "24", "142", "34.8%", "91", "4", "4"});
    const Words seqreo = cells(plan.out, "seqreo/1");
    REQUIRE(seqreo.size() == 11);
    CHECK(seqreo[4] == "181");  // 17 draws of 3 tokens, 5 each of 8, 9 and 9
    CHECK(Words(seqreo.end() - 3, seqreo.end()) == Words{"62", "1", "4"});
    CHECK(cells(plan.out, "seqreo_voc/1", plan.out.find("Draws a sample")) ==
          Words{"seqreo_voc/1", "17.00", "0.00", "5.00", "0.00", "0.00", "5.00", "0.00", "5.00", "0.00", "0.00"});
    CHECK_THAT(read_file(bert.sweep.folder.path / "f.html"),
               ContainsSubstring("Difficulty admitted by seqreo_voc") && ContainsSubstring("percent of the samples"));

    CHECK(bert.deft("plan", {"--draws", "--json"}).exit_code == kExitUsage);
    CHECK(bert.deft("plan", {"--memory"}).exit_code == kExitOk);
}

TEST_CASE("deft run trains on BERT's samples and validates what it has trained") {
    const BertSweep bert;
    const Ran run = bert.deft("run", {"--only", "baseline,seqtru"});
    INFO(run.out << run.err);
    CHECK(run.exit_code == kExitOk);
    CHECK(bert.sweep.query("SELECT COUNT(*) FROM attempt WHERE state = 'ok'", 1) == std::vector<std::string>{"4"});
}

TEST_CASE("deft plan --draws of packed samples") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n" + std::string(kBothTechniques));
    const Ran plan = sweep.deft("plan", {"--draws", "--root", sweep.root.string()});
    REQUIRE(plan.exit_code == kExitOk);
    const Words plain = cells(plan.out, "plain/1");
    REQUIRE(plain.size() == 10);
    CHECK(Words(plain.begin(), plain.begin() + 3) == Words{"plain/1", "64", "256"});
    CHECK(Words(plain.begin() + 4, plain.begin() + 8) == Words{"4096", "0", "0", "0.0%"});
    CHECK_THAT(plan.out, !ContainsSubstring("masked"));
}
