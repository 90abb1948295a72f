// Requests, order and dummy scores against lm-evaluation-harness 0.2.0's own hashes and metrics.

#include <algorithm>
#include <map>

#include "base/sha256.h"
#include "experiments/datasets/find_file.h"
#include "experiments/evaluation/evaluate_task.h"
#include "experiments/evaluation/metrics.h"
#include "experiments/evaluation/prompt.h"
#include "experiments/evaluation/python_random.h"
#include "tests/catch.h"
#include "tests/golden.h"

using namespace deft;
using namespace deft::experiments;

namespace {

std::string python_json(const std::string& text) {
    return Json(text).dump(-1, ' ', true);
}

// As Python's json.dumps writes [[context, continuation], ...].
std::string requests_sha256(const std::vector<Document>& documents, int times) {
    std::string text = "[";
    for (const Document& document : documents)
        for (const TextRequest& request : document.requests)
            for (int i = 0; i < times; ++i)
                text += (text.size() > 1 ? ", [" : "[") + python_json(request.context) + ", " +
                        python_json(request.continuation) + "]";
    return sha256(text + "]");
}

Records records_of(const RecordSource& source) {
    return load_records(source, {".", ".", 1, 0});
}

// The published dummy model: request number i has log-likelihood -u_i and is never greedy.
std::vector<Score> dummy_scores(const std::vector<Document>& documents, int times) {
    PythonRandom random(42);
    std::vector<Score> scores;
    for (const Document& document : documents)
        for (std::size_t r = 0; r < document.requests.size(); ++r) {
            scores.push_back({-random.random(), false});
            for (int i = 1; i < times; ++i) random.random();
        }
    return scores;
}

void check_metric(const Metric& metric, const Json& published) {
    INFO(metric.name);
    const std::string name = metric.name == "perplexity" ? "ppl" : metric.name;
    if (!published.contains(name)) return;
    CHECK(metric.value == Approx(published.at(name).get<double>()).epsilon(1e-12));
    if (name != "ppl")  // its published standard error is a bootstrap of ten draws
        CHECK(metric.standard_error == Approx(published.at(name + "_stderr").get<double>()).epsilon(1e-12));
}

void check_task(const Task& task) {
    INFO(task.name);
    const auto harness = golden::read("harness_0_2_0.json");
    if (!harness || !look_for_data_file(task.records.file, "."))
        DEFT_SKIP("no golden vectors or records: set DEFT_DATA_MIRROR");
    const Json& published = harness->at("tasks").at(task.name);
    const auto documents = make_documents(task, records_of(task.records), nullptr, 0);
    CHECK(documents.size() == published.at("n_docs").get<std::size_t>());
    // The harness asks twice for a last word: for its likelihood and whether it is greedy.
    const int times = task.kind == TaskKind::last_word ? 2 : 1;
    CHECK(requests_sha256(documents, times) == published.at("sha256_shuffled_0_2_0").get<std::string>());
    const auto metrics = document_metrics(task, documents, dummy_scores(documents, times));
    CHECK(metrics.size() == task.metrics.size());
    for (const Metric& metric : metrics) check_metric(metric, published.at("dummy_metrics"));
}

}  // namespace

TEST_CASE("piqa asks what the harness asks") {
    check_task(load_task("piqa", "."));
}

TEST_CASE("arc_easy asks what the harness asks") {
    check_task(load_task("arc_easy", "."));
}

TEST_CASE("lambada asks what the harness asks") {
    check_task(load_task("lambada", "."));
}

TEST_CASE("hellaswag asks what the golden hash of its altered text asks") {
    check_task(load_task("hellaswag", "."));
}

TEST_CASE("tasks of other shapes are written without code: yes and no, tab-separated records") {
    const std::string head =
        "version = \"0.2.0\"\nkind = \"multiple_choice\"\nsplit = \"validation\"\nmetrics = [\"acc\"]\n";
    check_task(parse_task("name = \"boolq\"\n" + head +
                              "[records]\nfile = \"zeroshot/superglue/BoolQ/val.jsonl\"\nformat = \"jsonl\"\n"
                              "[prompt]\ntext = \"{passage}\\nQuestion: {question}?\\nAnswer:\"\n"
                              "choices = [\"yes\", \"no\"]\ngold = \"label\"\ngold_values = [\"true\", \"false\"]\n"
                              "prediction = \"first_if_greater\"\n",
                          "boolq.toml", "."));
    check_task(
        parse_task("name = \"rte\"\n" + head +
                       "[records]\nfile = \"glue/RTE/dev.tsv\"\nformat = \"tsv\"\nheader = true\n"
                       "columns = [\"index\", \"sentence1\", \"sentence2\", \"label\"]\n"
                       "[prompt]\ntext = \"{sentence1}\\nQuestion: {sentence2} True or False?\\nAnswer:\"\n"
                       "choices = [\"True\", \"False\"]\ngold = \"label\"\n"
                       "gold_values = [\"entailment\", \"not_entailment\"]\nprediction = \"second_if_greater\"\n",
                   "rte.toml", "."));
}

namespace {

struct RecordsByFile {
    std::map<std::string, Records> read;

    const Records& of(const RecordSource& source) {
        if (read.count(source.file) == 0) read[source.file] = records_of(source);
        return read[source.file];
    }
};

// One golden request: the text of a document with stated shots, a choice of it, its gold and its tokens.
void check_request(const Json& line, const engine::Tokenizer& tokenizer, RecordsByFile& files) {
    INFO(line.dump());
    const Task task = load_task(line.at("task").get<std::string>(), ".");
    const Records& records = files.of(task.records);
    std::string context;
    const auto shots = line.at("shots").get<std::vector<std::size_t>>();
    const Records& pool = shots.empty() || !task.shot_pool ? records : files.of(*task.shot_pool);
    for (const std::size_t shot : shots) context += worked_example(task, pool, pool.items[shot]) + "\n\n";
    const auto choice = line.at("choice").get<std::size_t>();
    const Prompt prompt = make_prompt(task, records, records.items.at(line.at("record").get<std::size_t>()));
    context += prompt.text_of(choice);
    CHECK(context == line.at("context").get<std::string>());
    const std::string continuation = task.prompt.delimiter + prompt.choices.at(choice);
    CHECK(continuation == line.at("continuation").get<std::string>());
    if (line.at("gold").is_number()) CHECK(prompt.gold == line.at("gold").get<std::size_t>());
    const Request request = encode_request(tokenizer, {context, continuation});
    CHECK(request.context.size() == line.at("n_context_tokens").get<std::size_t>());
    CHECK(request.continuation == line.at("continuation_ids").get<std::vector<std::int32_t>>());
}

// The first evaluated document of 0.2.0 with the shots that Random(42) draws for it.
void check_draw(const Json& line) {
    INFO(line.dump());
    Task task = load_task(line.at("task").get<std::string>(), ".");
    const auto shots = line.at("shots").get<std::vector<std::size_t>>();
    task.shots = static_cast<std::int64_t>(shots.size());
    std::optional<Records> pool;
    if (task.shot_pool) pool = records_of(*task.shot_pool);
    const auto documents = make_documents(task, records_of(task.records), pool ? &*pool : nullptr, 1);
    REQUIRE(documents.size() == 1);
    CHECK(documents[0].record == line.at("record").get<std::size_t>());
    CHECK(documents[0].shots == shots);
    const TextRequest& request = documents[0].requests.at(line.at("choice").get<std::size_t>());
    CHECK(request.context == line.at("context").get<std::string>());
    CHECK(request.continuation == line.at("continuation").get<std::string>());
}

bool is_ours(const Json& line) {
    const std::string task = line.at("task");
    const auto known = project_tasks();
    return line.at("version") == "0.2.0" && std::find(known.begin(), known.end(), task) != known.end();
}

}  // namespace

TEST_CASE("stated requests have the harness's text, gold and GPT-2 tokens") {
    const auto lines = golden::read_lines("requests.jsonl");
    if (lines.empty() || !golden::has_data("tokenizers/gpt2/vocab.json"))
        DEFT_SKIP("no golden vectors or tokenizer: set DEFT_DATA_MIRROR");
    const auto tokenizer = engine::load_tokenizer(golden::mirror() / "tokenizers/gpt2");
    RecordsByFile files;
    int checked = 0;
    for (const Json& line : lines) {
        if (!is_ours(line)) continue;
        check_request(line, tokenizer, files);
        ++checked;
    }
    CHECK(checked >= 30);
}

TEST_CASE("the first documents draw the harness's shots") {
    const auto lines = golden::read_lines("requests.jsonl");
    if (lines.empty()) DEFT_SKIP("no golden vectors: set DEFT_DATA_MIRROR");
    int checked = 0;
    for (const Json& line : lines) {
        if (!is_ours(line) || !line.contains("draw")) continue;
        check_draw(line);
        ++checked;
    }
    CHECK(checked >= 5);
}

TEST_CASE("context and continuation are encoded apart") {
    const auto metrics = golden::read("metrics.json");
    if (!metrics || !golden::has_data("tokenizers/gpt2/vocab.json"))
        DEFT_SKIP("no golden vectors or tokenizer: set DEFT_DATA_MIRROR");
    const auto tokenizer = engine::load_tokenizer(golden::mirror() / "tokenizers/gpt2");
    for (const Json& c : metrics->at("encode_pair")) {
        INFO(c.dump());
        const Request request =
            encode_request(tokenizer, {c.at("context").get<std::string>(), c.at("continuation").get<std::string>()});
        CHECK(request.context == c.at("separate").at("context_ids").get<std::vector<std::int32_t>>());
        CHECK(request.continuation == c.at("separate").at("continuation_ids").get<std::vector<std::int32_t>>());
    }
}

TEST_CASE("Penn Treebank's words, lines and GPT-2 tokens are those of its published split") {
    const auto golden_docs = golden::read("perplexity_docs.json");
    if (!golden_docs || !golden::has_data("ptb/ptb.test.txt.gz"))
        DEFT_SKIP("no golden vectors or text: set DEFT_DATA_MIRROR");
    const Json& test = golden_docs->at("ptb").at("test");
    const Task task = load_task("ptb", ".");
    const Records records = records_of(task.records);
    const ScoredTexts all = scored_texts(task, records, 0);
    CHECK(all.totals.texts == test.at("lines").get<std::int64_t>());
    CHECK(all.totals.words == test.at("words_plus_eos").get<std::int64_t>());
    REQUIRE(all.texts.size() == 1);
    CHECK(all.totals.bytes == static_cast<std::int64_t>(all.texts[0].size()));
    const ScoredTexts two = scored_texts(task, records, 2);
    CHECK(two.totals.texts == 2);
    CHECK(all.texts[0].starts_with(two.texts[0]));
    CHECK(two.texts[0].ends_with("\n"));

    if (!golden::has_data("tokenizers/gpt2/vocab.json")) return;
    const auto tokenizer = engine::load_tokenizer(golden::mirror() / "tokenizers/gpt2");
    std::int64_t tokens = 0;
    for (std::size_t begin = 0; begin < all.texts[0].size();) {
        const std::size_t end = all.texts[0].find('\n', begin);
        tokens += static_cast<std::int64_t>(tokenizer.encode(all.texts[0].substr(begin, end - begin)).size());
        begin = end + 1;
    }
    CHECK(tokens == test.at("gpt2_tokens").get<std::int64_t>());
}
