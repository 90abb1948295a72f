// Requests, order and dummy scores against lm-evaluation-harness 0.2.0's own hashes and metrics.

#include <algorithm>
#include <map>

#include "base/sha256.h"
#include "base/suites.h"
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

Records records_in_file_order(RecordSource source) {
    source.sort_by.clear();
    return records_of(source);
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

void check_metric(const Task& task, const MetricValue& metric, const Json& published) {
    INFO(metric.name);
    // The harness calls MultiRC's acc_all acc, and has no other.
    const bool by_group = task.headline == "acc_all";
    if (by_group && metric.name == "acc") return;
    const std::string name = metric.name == "perplexity"            ? "ppl"
                             : by_group && metric.name == "acc_all" ? "acc"
                                                                    : metric.name;
    if (!published.contains(name)) return;
    CHECK(metric.value == Approx(published.at(name).get<double>()).epsilon(1e-12));
    if (name != "ppl")  // its published standard error is a bootstrap of ten draws
        CHECK(metric.standard_error == Approx(published.at(name + "_stderr").get<double>()).epsilon(1e-12));
}

// Every prompt byte, the order of documents and choices, and the scores that they give.
void check_task(const Task& task, const Json& published) {
    INFO(task.name);
    const auto documents = make_documents(task, records_of(task.records), nullptr, 0);
    CHECK(documents.size() == published.at("n_docs").get<std::size_t>());
    // The harness asks twice for a last word: for its likelihood and whether it is greedy.
    const int times = task.kind == TaskKind::last_word ? 2 : 1;
    CHECK(requests_sha256(documents, times) == published.at("sha256_shuffled_0_2_0").get<std::string>());
    const auto metrics = document_metrics(task, documents, dummy_scores(documents, times));
    CHECK(metrics.size() == task.metrics.size());
    if (published.at("dummy_metrics").is_null()) return;
    for (const MetricValue& metric : metrics) check_metric(task, metric, published.at("dummy_metrics"));
}

// Checks the project's tasks of those names; false where there is nothing to check them by.
bool check_tasks(const std::vector<std::string>& names, bool published_by_the_harness) {
    const auto harness = golden::read("harness_0_2_0.json");
    if (!harness || golden::mirror().empty()) return false;
    for (const std::string& name : names) {
        const Json& published = harness->at("tasks").at(name);
        CHECK(published.at("matches_published_0_2_0") == published_by_the_harness);
        if (published_by_the_harness)
            CHECK(published.at("sha256_shuffled_0_2_0") == published.at("sha256_published_0_2_0"));
        check_task(load_task(name, "."), published);
    }
    return true;
}

}  // namespace

TEST_CASE("13 tasks ask what the harness asks, and score it as the harness does", "[bare]") {
    if (!check_tasks({"lambada", "webqs", "winogrande", "piqa", "arc_challenge", "arc_easy", "openbookqa", "race",
                      "boolq", "copa", "rte", "wsc", "multirc"},
                     true))
        DEFT_SKIP("no golden vectors or records: set DEFT_DATA_MIRROR");
}

TEST_CASE("tasks whose records are others than the published ones keep asking what they asked", "[bare]") {
    if (!check_tasks({"hellaswag", "triviaqa", "anli_r1", "anli_r2", "anli_r3", "record"}, false))
        DEFT_SKIP("no golden vectors or records: set DEFT_DATA_MIRROR");
}

TEST_CASE("every task of a suite is the project's, and has the measure that counts there", "[bare]") {
    for (const Suite& suite : project_suites())
        for (const SuiteTask& of : suite.tasks) {
            INFO(suite.name << ": " << of.name);
            const Task task = load_task(of.name, ".");
            CHECK(std::count(task.metrics.begin(), task.metrics.end(), of.measure) == 1);
            if (suite.name == "data_efficiency") CHECK(task.headline == of.measure);
        }
}

TEST_CASE("contexts end in no space, and continuations begin with one unless the context ends its line", "[bare]") {
    if (golden::mirror().empty()) DEFT_SKIP("no records: set DEFT_DATA_MIRROR");
    for (const SuiteTask& of : project_suite("data_efficiency").tasks) {
        const Task task = load_task(of.name, ".");
        for (const Document& document : make_documents(task, records_of(task.records), nullptr, 50))
            for (const TextRequest& request : document.requests) {
                INFO(task.name << ": " << request.context << "|" << request.continuation);
                CHECK_FALSE(request.context.ends_with(' '));
                CHECK((request.continuation.starts_with(' ') || request.context.ends_with('\n')));
            }
    }
}

TEST_CASE("ten shots are drawn for every task, and reported where they are not the published ones", "[bare]") {
    if (golden::mirror().empty()) DEFT_SKIP("no records: set DEFT_DATA_MIRROR");
    for (const SuiteTask& of : project_suite("data_efficiency").tasks) {
        INFO(of.name);
        const Task task = with_shots(load_task(of.name, "."), 10);
        const Records records = records_of(task.records);
        std::optional<Records> pool;
        if (task.shot_pool) pool = records_of(*task.shot_pool);
        for (const Document& document : make_documents(task, records, pool ? &*pool : nullptr, 5)) {
            CHECK(document.shots.size() == 10);
            CHECK(document.shot_starts.size() == 10);
            CHECK(std::count(document.shots.begin(), document.shots.end(), document.record) <= (pool ? 1 : 0));
        }
    }
    const Task wsc = load_task("wsc", ".");
    CHECK(records_of(*wsc.shot_pool).items.size() == 259);
    CHECK(scored_version(with_shots(load_task("piqa", "."), 10)) ==
          "0.2.0, shots from the first 2000 of 16113 training records");
    CHECK(scored_version(load_task("piqa", ".")) == "0.2.0");
}

namespace {

struct RecordsByFile {
    std::map<std::string, Records> read;

    const Records& of(const RecordSource& source) {
        if (read.count(source.file) == 0) read[source.file] = records_in_file_order(source);
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
    if (line.at("gold").is_array()) CHECK(Json(prompt.answers) == line.at("gold"));
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

}  // namespace

TEST_CASE("stated requests have the harness's text, gold and GPT-2 tokens", "[bare]") {
    const auto lines = golden::read_lines("requests.jsonl");
    if (lines.empty() || !golden::has_data("tokenizers/gpt2/vocab.json"))
        DEFT_SKIP("no golden vectors or tokenizer: set DEFT_DATA_MIRROR");
    const auto tokenizer = engine::load_tokenizer(golden::mirror() / "tokenizers/gpt2");
    RecordsByFile files;
    int checked = 0;
    for (const Json& line : lines) {
        if (line.at("version") != "0.2.0") continue;
        check_request(line, tokenizer, files);
        ++checked;
    }
    CHECK(checked >= 140);
}

TEST_CASE("the first documents draw the harness's shots", "[bare]") {
    const auto lines = golden::read_lines("requests.jsonl");
    if (lines.empty()) DEFT_SKIP("no golden vectors: set DEFT_DATA_MIRROR");
    int checked = 0;
    for (const Json& line : lines) {
        if (line.at("version") != "0.2.0" || !line.contains("draw")) continue;
        check_draw(line);
        ++checked;
    }
    CHECK(checked >= 7);
}

TEST_CASE("context and continuation are encoded apart", "[bare]") {
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

TEST_CASE("Penn Treebank's words, lines and GPT-2 tokens are those of its published split", "[bare]") {
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

TEST_CASE("WikiText's articles and their restored text are the harness's", "[bare]") {
    const auto golden_docs = golden::read("perplexity_docs.json");
    if (!golden_docs) DEFT_SKIP("no golden vectors: set DEFT_DATA_MIRROR");
    for (const Json& c : golden_docs->at("detokenize")) {
        INFO(c.dump());
        CHECK(find_filter("wikitext_detokenize")->apply(c.at("in").get<std::string>()) ==
              c.at("out").get<std::string>());
    }
    if (!golden::has_data("corpora/wikitext-2/wiki.valid.tokens.gz")) DEFT_SKIP("no text: set DEFT_DATA_MIRROR");
    const Task task = load_task("wikitext", ".");
    const Records records = records_of(task.records);
    REQUIRE(records.items.size() == golden_docs->at("n_docs").get<std::size_t>());
    const ScoredTexts all = scored_texts(task, records, 0);
    CHECK(all.totals.words == golden_docs->at("total_words").get<std::int64_t>());
    CHECK(all.totals.bytes == golden_docs->at("total_bytes").get<std::int64_t>());
    for (const Json& doc : golden_docs->at("docs")) {
        INFO(doc.dump());
        const auto index = doc.at("doc").get<std::size_t>();
        CHECK(sha256(records.items.at(index).fields.at("page").get<std::string>()) ==
              doc.at("page_sha256").get<std::string>());
        CHECK(sha256(all.texts.at(index)) == doc.at("target_sha256").get<std::string>());
    }
}
