// deft data and deft analyze through the program.

#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

const std::string kVoc = R"toml(
[[case]]
name = "plain"
[[case]]
name = "rare"
[case.curriculum.voc]
duration = 0.5
[[case]]
name = "short"
[case.curriculum.seqtru]
duration = 0.5
)toml";

Ran run_deft(const TinySweep& sweep, const std::string& name, std::vector<std::string> more) {
    return sweep.deft(name, more, [&] {
        ::setenv("DEFT_DATA", (sweep.folder.path / "data").c_str(), 1);
        ::unsetenv("DEFT_DATA_MIRROR");
    });
}

}  // namespace

TEST_CASE("deft data list names every set, and get says what it cannot", "[bare]") {
    const TinySweep sweep("");
    const Ran list = run_deft(sweep, "data", {"list"});
    CHECK(list.exit_code == kExitOk);
    CHECK_THAT(list.out, ContainsSubstring("tinyshakespeare") && ContainsSubstring("missing"));
    const Ran info = run_deft(sweep, "data", {"info", "ptb", "--verify"});
    CHECK(info.exit_code == kExitOk);
    CHECK_THAT(info.out, ContainsSubstring("LDC99T42") && ContainsSubstring("missing"));
    const Ran ptb = run_deft(sweep, "data", {"get", "ptb"});
    CHECK(ptb.exit_code == kExitUsage);
    CHECK_THAT(ptb.err, ContainsSubstring("obtain a licence from the LDC"));
    CHECK(run_deft(sweep, "data", {"get", "nothing-of-the-kind"}).exit_code == kExitUsage);
}

TEST_CASE("deft data tokenizes text and trains tokenizers", "[bare]") {
    const TinySweep sweep("");
    const std::string text = sweep.folder.write("a.txt", "a rose is a rose is a rose\n").string();
    const std::string out = (sweep.folder.path / "o" / "a").string(), folder = (sweep.folder.path / "tok").string();
    const Ran bytes = run_deft(sweep, "data", {"tokenize", "--text", text, "--out", out});
    CHECK(bytes.exit_code == kExitOk);
    CHECK_THAT(bytes.out, ContainsSubstring("1 documents, 28 tokens"));
    CHECK(read_file(out + ".bin").size() == 56);
    const Ran trained = run_deft(sweep, "data", {"train-tokenizer", "--text", text, "--vocab", "260", "--out", folder});
    CHECK(trained.exit_code == kExitOk);
    const Ran kept = run_deft(sweep, "data", {"tokenize", "--text", text, "--tokenizer", folder, "--out", out});
    CHECK(kept.exit_code == kExitUsage);
    CHECK_THAT(kept.err, ContainsSubstring(out + ".bin already exists") && ContainsSubstring("--force"));
    CHECK(read_file(out + ".bin").size() == 56);
    const Ran pairs =
        run_deft(sweep, "data", {"tokenize", "--text", text, "--tokenizer", folder, "--out", out, "--force"});
    CHECK(pairs.exit_code == kExitOk);
    CHECK(read_file(out + ".bin").size() < 56);

    const std::string vocabulary = read_file(folder + "/vocab.json");
    const std::vector<std::string> train = {"train-tokenizer", "--text", text, "--vocab", "258", "--out", folder};
    CHECK(run_deft(sweep, "data", train).exit_code == kExitUsage);
    CHECK(read_file(folder + "/vocab.json") == vocabulary);
    std::vector<std::string> forced = train;
    forced.push_back("--force");
    CHECK(run_deft(sweep, "data", forced).exit_code == kExitOk);
    CHECK(read_file(folder + "/vocab.json") != vocabulary);

    const std::string fresh = (sweep.folder.path / "fresh").string();  // nothing is there to be kept
    for (const std::vector<std::string>& wrong :
         std::vector<std::vector<std::string>>{{"tokenize", "--out", fresh},
                                               {"tokenize", "--text", text, "--corpus", "books", "--out", fresh},
                                               {"tokenize", "--text", text, "--tokenizer", "bpe", "--out", fresh},
                                               {"tokenize", "--text", text, "--vocab", "300", "--out", fresh},
                                               {"tokenize", "--text", text + ".none", "--out", fresh},
                                               {"train-tokenizer", "--text", text, "--vocab", "100000", "--out", fresh},
                                               {"tokenize", "--corpus", "text", "--out", fresh}})
        CHECK(run_deft(sweep, "data", wrong).exit_code == kExitUsage);
    CHECK(read_file(out + ".bin").size() < 56);
}

TEST_CASE("deft analyze prints the difficulty of a sweep's samples, and finds it again", "[bare]") {
    const TinySweep sweep(kVoc);
    const std::vector<std::string> command = {sweep.file.string(), "--root", sweep.root.string()};
    const Ran first = run_deft(sweep, "analyze", command);
    CHECK(first.exit_code == kExitOk);
    CHECK_THAT(first.out, ContainsSubstring("voc") && !ContainsSubstring("  found"));
    const Ran second = run_deft(sweep, "analyze", command);
    CHECK_THAT(second.out, ContainsSubstring("  found"));
    CHECK(run_deft(sweep, "analyze", {sweep.file.string(), "--only", "short"}).exit_code == kExitNothing);
    CHECK(run_deft(sweep, "analyze", {}).exit_code == kExitUsage);
}

TEST_CASE("deft analyze measures a sweep's own training documents by other tools, too", "[bare]") {
    constexpr const char* kCases =
        "[[case]]\nname = \"mine\"\n[case.curriculum.mine]\ncolumn = \"mine.csv\"\nduration = 0.5\n";
    TinySweep sweep(kCases);
    std::string train, text = read_file(sweep.file);
    for (int i = 0; i < 40; ++i) train += "{\"text\": \"" + std::string(15, static_cast<char>('a' + i % 26)) + "\"}\n";
    sweep.folder.write("train.jsonl", train);  // 40 documents of 16 tokens with their marks: 39 samples of 16
    sweep.folder.write("valid.txt", std::string(400, 'v'));
    const std::string embedded = "corpus = \"embedded\"\nembedded_bytes = 5000\n";
    text.replace(text.find(embedded), embedded.size(),
                 "corpus = \"text\"\ntrain_files = [\"train.jsonl\"]\nvalid_files = [\"valid.txt\"]\n");
    const std::string tasks = "tasks = [\"embedded_questions\"]\n";
    text.replace(text.find(tasks), tasks.size(), "tasks = []\n");
    sweep.folder.write("tiny.toml", text);
    const auto analyze = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {sweep.file.string(), "--root", sweep.root.string()});
        return run_deft(sweep, "analyze", more);
    };
    // The column that the sweep names is not there yet: this says how long it must be.
    const Ran counted = analyze({});
    CHECK(counted.exit_code == kExitOk);
    CHECK_THAT(counted.out, ContainsSubstring("39 training samples of 16 tokens"));
    const std::string out = (sweep.folder.path / "ds").string(), column = (sweep.folder.path / "mine.npy").string();
    CHECK(analyze({"--metric", "voc", "--deepspeed-out", out}).exit_code == kExitOk);
    const Ran foreign = analyze({"--from-deepspeed", out, "--metric", "voc", "--column-out", column});
    CHECK(foreign.exit_code == kExitOk);
    CHECK_THAT(foreign.out, ContainsSubstring("39 training samples"));
    CHECK(foreign.err.empty());
    sweep.folder.write("floats.csv", "0.5\n" + repeated("0.25\n", 38));
    const Ran floats = analyze({"--column", (sweep.folder.path / "floats.csv").string(), "--deepspeed-out", out});
    CHECK(floats.exit_code == kExitUsage);
    CHECK_THAT(floats.err, ContainsSubstring("floats.csv has floats"));
    // The order without values is not a measurement; the table marks it.
    for (const char* name : {"voc_index_to_sample", "voc_index_to_metric", "voc_sample_to_metric"})
        std::filesystem::remove(out + "/" + name + ".idx");
    const Ran ordered = analyze({"--from-deepspeed", out, "--metric", "voc"});
    CHECK_THAT(ordered.out, ContainsSubstring("voc (order only)"));
    CHECK_THAT(ordered.err, ContainsSubstring("and no values") && ContainsSubstring("difficulty = \"percentile\""));
    CHECK_THAT(analyze({"--column", column}).out, ContainsSubstring("mine.npy"));
    std::string lines;
    for (int i = 0; i < 39; ++i) lines += std::to_string(i) + "\n";
    sweep.folder.write("mine.csv", lines);
    const Ran ran = run_deft(sweep, "run", {});
    CHECK(ran.exit_code == kExitOk);
    std::filesystem::path checkpoint;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(sweep.root / "checkpoints"))
        if (entry.path().filename() == "model.safetensors") checkpoint = entry.path().parent_path();
    const Ran perplexity = analyze({"--metric", "perplexity", "--checkpoint", checkpoint.string()});
    CHECK(perplexity.exit_code == kExitOk);
    CHECK_THAT(perplexity.out, ContainsSubstring("39 training samples") && ContainsSubstring("perplexity"));

    sweep.folder.write("tiny.toml", text + "[axes.grid]\n\"model.seqlen\" = [8, 16]\n");
    const Ran several = analyze({"--column", column});
    CHECK(several.exit_code == kExitUsage);
    CHECK_THAT(several.err, ContainsSubstring("the chosen trials have 2") && ContainsSubstring("--set"));
}

TEST_CASE("deft analyze takes a text without a sweep", "[bare]") {
    const TinySweep sweep("");
    // Samples of two tokens and their last target; the tokens a, b and c have different frequencies.
    const std::string text = sweep.folder.write("a.jsonl", "{\"text\": \"aaaaaabbc\"}\n{\"text\": \"zz\"}\n").string();
    const std::string root = (sweep.folder.path / "r").string();
    const Ran ran = run_deft(sweep, "analyze", {"--text", text, "--seqlen", "2", "--root", root});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("voc"));
    CHECK(run_deft(sweep, "analyze", {"--text", text, "--root", root}).exit_code == kExitUsage);
    CHECK(
        run_deft(sweep, "analyze", {"--text", text, "--seqlen", "2", "--metric", "seqtru", "--root", root}).exit_code ==
        kExitUsage);
    const Ran too_long = run_deft(sweep, "analyze", {"--text", text, "--seqlen", "50", "--root", root});
    CHECK(too_long.exit_code == kExitUsage);
    CHECK_THAT(too_long.err, ContainsSubstring("fewer tokens than one sample"));
}

namespace {

// deft analyze of four samples of two tokens.
struct FourSamples {
    Ran analyze(std::vector<std::string> more) const {
        more.insert(more.begin(), {"--text", text, "--seqlen", "2", "--root", (sweep.folder.path / "r").string()});
        return run_deft(sweep, "analyze", more);
    }
    std::string file(const std::string& name, const std::string& content) const {
        return sweep.folder.write(name, content).string();
    }

    TinySweep sweep{""};
    std::string text = file("a.jsonl", "{\"text\": \"aaaaaabbc\"}\n{\"text\": \"zz\"}\n");
};

}  // namespace

TEST_CASE("deft analyze: several metrics, to DeepSpeed's files and from them", "[bare]") {
    const FourSamples samples;
    const std::string out = (samples.sweep.folder.path / "ds").string();
    const Ran whole = samples.analyze({"--metric", "voc,seqreo_voc", "--deepspeed-out", out});
    CHECK(whole.exit_code == kExitOk);
    CHECK_THAT(whole.out, ContainsSubstring("seqreo_voc"));
    CHECK_THAT(samples.analyze({"--from-deepspeed", out}).out, ContainsSubstring("found"));
    CHECK(samples.analyze({"--from-deepspeed", out, "--metric", "none"}).exit_code != kExitOk);

    const std::string column = (samples.sweep.folder.path / "c.npy").string(), again = out + "2";
    CHECK(samples.analyze({"--from-deepspeed", out, "--column-out", column}).exit_code == kExitOk);
    CHECK(samples.analyze({"--column", column, "--deepspeed-out", again}).exit_code == kExitOk);
    CHECK(read_file(again + "/c_sample_to_metric.bin") == read_file(out + "/voc_sample_to_metric.bin"));
    CHECK(samples.analyze({"--column-out", column}).exit_code == kExitUsage);
}

TEST_CASE("deft analyze: a column of another tool", "[bare]") {
    const FourSamples samples;
    CHECK_THAT(samples.analyze({"--column", samples.file("c.csv", "0.5\n0.25\n0.75\n1\n")}).out,
               ContainsSubstring("c.csv") && ContainsSubstring("0.25"));
    const Ran shorter = samples.analyze({"--column", samples.file("d.csv", "1\n")});
    CHECK(shorter.exit_code != kExitOk);
    CHECK_THAT(shorter.err, ContainsSubstring("1 values, and the corpus 4 samples"));
}

TEST_CASE("deft analyze: shards, then the reduction", "[bare]") {
    const FourSamples samples;
    CHECK_THAT(samples.analyze({"--reduce"}).err, ContainsSubstring("not measured yet"));
    CHECK(samples.analyze({"--shard", "2/2"}).exit_code == kExitOk);  // the only part is of the first
    CHECK(samples.analyze({"--shard", "1/2"}).exit_code == kExitOk);
    CHECK(samples.analyze({"--reduce"}).exit_code == kExitOk);
}

TEST_CASE("deft analyze: options that make no sense together", "[bare]") {
    const FourSamples samples;
    for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
             {"--shard", "3/2"}, {"--metric", "perplexity"}, {"--checkpoint", "x"}, {"--reduce", "--shard", "1/2"}})
        CHECK(samples.analyze(wrong).exit_code == kExitUsage);
    for (const std::vector<std::string>& wrong :
         std::vector<std::vector<std::string>>{{"--seqlen", "0"}, {"--memory", "-1"}}) {
        const Ran ran = run_deft(samples.sweep, "analyze", wrong);
        CHECK(ran.exit_code == kExitUsage);
        // From version 2.4 on CLI11 itself refuses a negative size.
        const bool by_cli11 = wrong[0] == "--memory" && ran.err.find("could not be converted") != std::string::npos;
        if (!by_cli11) CHECK_THAT(ran.err, ContainsSubstring("of at least 1"));
        CHECK(ran.err.size() < 300);
    }
}

TEST_CASE("deft data dump-samples writes the samples that a column of difficulties is about", "[bare]") {
    const TinySweep sweep("\n[[case]]\nname = \"plain\"\n");
    const std::string out = (sweep.folder.path / "samples.jsonl").string();
    const std::vector<std::string> arguments = {sweep.file.string(), "--root", sweep.root.string(), "--out", out};
    const Ran wrote = run_deft(sweep, "data", [&] {
        std::vector<std::string> all = {"dump-samples"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return all;
    }());
    REQUIRE(wrote.exit_code == kExitOk);
    std::vector<Json> samples;
    std::ifstream in(out);
    for (std::string line; std::getline(in, line);) samples.push_back(Json::parse(line));
    REQUIRE(samples.size() > 10);
    CHECK_THAT(wrote.err, ContainsSubstring(std::to_string(samples.size()) + " training samples of 16 tokens"));
    for (std::size_t i = 0; i < samples.size(); ++i) {
        CHECK(samples[i].at("sample") == i);
        CHECK(samples[i].at("tokens").size() == 17);
    }
    // The last target of a sample is the first input of the next.
    CHECK(samples[3].at("tokens").back() == samples[4].at("tokens").front());
    CHECK_FALSE(samples[3].at("text").get<std::string>().empty());

    // As many values make a column that the sweep takes; one fewer is refused.
    std::string values;
    for (std::size_t i = 1; i < samples.size(); ++i) values += std::to_string(i % 7) + "\n";
    sweep.folder.write("short.csv", values);
    sweep.folder.write("right.csv", values + "3\n");
    const auto with_column = [&](const std::string& column) {
        const TinySweep mine("\n[[case]]\nname = \"mine\"\n[case.curriculum.mine]\ncolumn = \"" +
                             (sweep.folder.path / column).string() + "\"\nmin = 20\nduration = 0.5\n");
        return mine.run();
    };
    CHECK(with_column("right.csv").exit_code == kExitOk);
    CHECK(with_column("short.csv").exit_code != kExitOk);

    const Ran again = run_deft(sweep, "data", {"dump-samples", sweep.file.string(), "--out", out});
    CHECK(again.exit_code == kExitUsage);
    CHECK_THAT(again.err, ContainsSubstring("samples.jsonl already exists") && ContainsSubstring("--force"));
}
