// Whole tasks under a tiny random model, against log-likelihoods computed one request at a time.

#include "experiments/evaluation/evaluate_task.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "base/files.h"
#include "experiments/evaluation/scoring.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"
#include "tests/golden.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;

namespace {

constexpr std::int64_t kSeqlen = 48;

struct Fixture {
    engine::Tokenizer tokenizer = engine::Tokenizer::bytes();
    engine::TokenCorpus corpus = engine::tiny_corpus(500, 256);
    engine::Trainer trainer;
    engine::Backend backend;
    test::TemporaryFolder folder;

    Fixture() : trainer(config(), corpus, 1) {}

    static engine::TrainerConfig config() {
        auto c = engine::tiny_config(2, kSeqlen, 5);
        c.model.vocab = 257;
        c.model.init_std = 0.3;  // wide enough to have opinions
        return c;
    }
    TaskRun run(std::int64_t documents) {
        return {tokenizer, trainer.model(), trainer.exec(), backend, 5, documents, 3, folder.path(), 17};
    }
    std::vector<journal::Evaluation> evaluate(const std::string& task, std::int64_t documents) {
        return evaluate_task(load_task(task, folder.path()), run(documents)).scores;
    }

    // ln p of the continuation from whole logits: log-softmax in double, the context cut to what fits.
    Score naive(const std::string& context, const std::string& continuation) {
        std::vector<std::int32_t> ids = tokenizer.encode(context);
        if (ids.empty()) ids.push_back(tokenizer.end_of_document());
        for (const std::int32_t id : tokenizer.encode(continuation)) ids.push_back(id);
        const std::size_t scored = continuation.size();
        if (ids.size() > kSeqlen + 1) ids.erase(ids.begin(), ids.end() - (kSeqlen + 1));
        const auto T = static_cast<std::int64_t>(ids.size()) - 1;
        engine::Transformer& model = trainer.model();
        const std::vector<std::int32_t> no_target(static_cast<std::size_t>(T), kernels::kIgnoreTarget);
        model.load(trainer.exec(), {1, T, ids.data(), no_target.data()});
        model.evaluate(trainer.exec(), 1, T);
        std::vector<float> logits(static_cast<std::size_t>(T) * 257);
        model.logits(trainer.exec(), engine::Tensor{logits.data(), engine::DType::f32, 3, {1, T, 257}}, 1, T);
        Score score;
        for (std::size_t t = static_cast<std::size_t>(T) - scored; t < static_cast<std::size_t>(T); ++t) {
            const float* row = logits.data() + t * 257;
            double sum = 0;
            for (std::size_t v = 0; v < 257; ++v) sum += std::exp(static_cast<double>(row[v]));
            const auto wanted = static_cast<std::size_t>(ids[t + 1]);
            score.log_likelihood += static_cast<double>(row[wanted]) - std::log(sum);
            score.greedy = score.greedy && std::max_element(row, row + 257) - row == static_cast<long>(wanted);
        }
        return score;
    }
};

const journal::Evaluation& find(const std::vector<journal::Evaluation>& all, const std::string& metric) {
    for (const journal::Evaluation& e : all)
        if (e.metric == metric) return e;
    FAIL("no metric " << metric);
    return all.front();
}

const char* kTask =
    "name = \"mine\"\nversion = \"7\"\nkind = \"multiple_choice\"\nsplit = \"dev\"\nshots = 1\n"
    "metrics = [\"acc\", \"acc_norm\", \"gold_bits_per_byte\"]\n"
    "[records]\nfile = \"mine.jsonl\"\nformat = \"jsonl\"\n"
    "[prompt]\ntext = \"{q}\"\nchoice_list = \"c\"\ngold = \"g\"\n";

}  // namespace

TEST_CASE("a task's scores are those of a naive computation, whatever the batch", "[bare]") {
    Fixture fixture;
    std::string records;
    for (int i = 0; i < 23; ++i) {
        Json record{{"q", std::string(static_cast<std::size_t>(i * 2), static_cast<char>('a' + i)) + "?"},
                    {"g", i % 3}};
        for (int c = 0; c < 3 + i % 2; ++c)
            record["c"].push_back(
                std::string(static_cast<std::size_t>(1 + (i * 7 + c * 5) % 11), static_cast<char>('k' + c)));
        records += record.dump() + "\n";
    }
    write_file_atomically(fixture.folder.path() / "mine.jsonl", records);
    write_file_atomically(fixture.folder.path() / "mine.toml", kTask);
    const auto results = fixture.evaluate("mine", 20);
    REQUIRE(results.size() == 3);

    const Task task = load_task("mine", fixture.folder.path());
    const auto documents =
        make_documents(task, load_records(task.records, {"", fixture.folder.path(), 1, 0}), nullptr, 20);
    const TaskResult whole = evaluate_task(task, fixture.run(20));
    REQUIRE(whole.items.size() == 20);
    double right = 0, right_norm = 0, bits = 0, chance = 0;
    for (const Document& document : documents) {
        CHECK(document.shots.size() == 1);
        std::vector<double> lls, per_character;
        for (const TextRequest& request : document.requests) {
            lls.push_back(fixture.naive(request.context, request.continuation).log_likelihood);
            per_character.push_back(lls.back() / static_cast<double>(request.continuation.size() - 1));
        }
        right += argmax(lls) == document.gold ? 1.0 / 20 : 0;
        right_norm += argmax(per_character) == document.gold ? 1.0 / 20 : 0;
        bits -= per_character[document.gold] / std::numbers::ln2 / 20;
        chance += 1.0 / static_cast<double>(lls.size()) / 20;
        const auto item = std::find_if(whole.items.begin(), whole.items.end(), [&](const Item& of) {
            return of.document == static_cast<std::int64_t>(document.record);
        });
        REQUIRE(item != whole.items.end());
        const auto chosen = static_cast<std::int64_t>(argmax(lls)), gold = static_cast<std::int64_t>(document.gold);
        CHECK(item->chosen == chosen);  // acc is the headline
        CHECK(item->gold == gold);
        CHECK(item->right == (chosen == gold));
        CHECK(item->chosen_log_likelihood == Approx(lls[argmax(lls)]).epsilon(1e-4));
        CHECK(item->gold_log_likelihood == Approx(lls[document.gold]).epsilon(1e-4));
    }
    CHECK(std::is_sorted(whole.items.begin(), whole.items.end(),
                         [](const Item& a, const Item& b) { return a.document < b.document; }));
    const journal::Evaluation& acc = find(results, "acc");
    CHECK(acc.value == Approx(right));
    CHECK(acc.chance == Approx(chance));
    CHECK(acc.n == 20);
    CHECK(acc.shots == 1);
    CHECK(acc.step == 17);
    CHECK(acc.task == "mine");
    CHECK(acc.task_version == "7");
    CHECK(acc.split == "dev");
    CHECK(find(results, "acc_norm").value == Approx(right_norm));
    const journal::Evaluation& gold = find(results, "gold_bits_per_byte");
    CHECK(gold.value == Approx(bits).epsilon(1e-4));
    CHECK(gold.better == "lower");
    CHECK(std::isnan(gold.chance));
}

TEST_CASE("last words: greedy accuracy and perplexity; a word longer than the model goes into windows", "[bare]") {
    Fixture fixture;
    write_file_atomically(fixture.folder.path() / "words.toml",
                          "name = \"words\"\nversion = \"1\"\nkind = \"last_word\"\nsplit = \"test\"\n"
                          "metrics = [\"acc\", \"perplexity\", \"gold_bits_per_byte\"]\n"
                          "[records]\nfile = \"words.tsv\"\nformat = \"tsv\"\ncolumns = [\"c\", \"w\"]\n"
                          "[prompt]\ntext = \"{c}\"\ntarget = \"{w}\"\ndelimiter = \"\"\n");
    // The model's own first choice after "ab" is greedy by construction; an empty context is the end of a document.
    std::string choice;
    for (int c = 'a'; c <= 'z'; ++c)
        if (fixture.naive("ab", std::string(1, static_cast<char>(c))).greedy) choice = static_cast<char>(c);
    const std::vector<std::pair<std::string, std::string>> records{{"ab", choice.empty() ? "q" : choice}, {"", "xyz"}};
    std::string text;
    double sum = 0, right = 0;
    for (const auto& [context, word] : records) {
        text += context + "\t" + word + "\n";
        const Score score = fixture.naive(context, word);
        sum += score.log_likelihood;
        right += score.greedy ? 1 : 0;
    }
    write_file_atomically(fixture.folder.path() / "words.tsv", text);
    const auto results = fixture.evaluate("words", 0);
    CHECK(find(results, "acc").value == Approx(right / 2));
    CHECK(find(results, "perplexity").value == Approx(std::exp(-sum / 2)).epsilon(1e-4));
    CHECK(find(results, "perplexity").task_version == "1");

    const std::string longer(kSeqlen + 10, 'z');
    write_file_atomically(fixture.folder.path() / "words.tsv", "ab\t" + longer + "\n");
    const auto windows = fixture.evaluate("words", 0);
    // b predicts the first kSeqlen letters; the last ten follow as long a context as fits.
    const double ll = fixture.naive("b", longer.substr(0, kSeqlen)).log_likelihood +
                      fixture.naive(std::string(kSeqlen, 'z'), std::string(10, 'z')).log_likelihood;
    CHECK(std::log(find(windows, "perplexity").value) == Approx(-ll).epsilon(1e-4));
    CHECK_THAT(find(windows, "perplexity").task_version, ContainsSubstring("long continuations in windows"));
}

TEST_CASE("perplexity of a text in rolling windows", "[bare]") {
    Fixture fixture;
    write_file_atomically(
        fixture.folder.path() / "text.toml",
        "name = \"text\"\nversion = \"1\"\nkind = \"perplexity\"\nsplit = \"test\"\n"
        "metrics = [\"word_perplexity\", \"byte_perplexity\", \"token_perplexity\", \"bits_per_byte\"]\n"
        "[records]\nfile = \"text.txt\"\nformat = \"lines\"\n"
        "[prompt]\ntext = \"{line|strip}\\n\"\n"
        "[perplexity]\ndocument = \"all_records\"\nwords = \"words_and_records\"\n"
        "tokenizer = \"no/such/tokenizer\"\n");
    write_file_atomically(fixture.folder.path() / "text.txt",
                          " the first line of a text that is longer than the model \n and a second \n not read \n");
    const auto results = fixture.evaluate("text", 2);
    CHECK(results.size() == 3);  // no tokenizer, no token perplexity
    const std::string text = "the first line of a text that is longer than the model\nand a second\n";
    REQUIRE(text.size() > kSeqlen);
    const double ll =
        fixture.naive("", text.substr(0, kSeqlen)).log_likelihood +
        fixture.naive(text.substr(text.size() - kSeqlen - 1, 2 * kSeqlen + 1 - text.size()), text.substr(kSeqlen))
            .log_likelihood;
    CHECK(std::log(find(results, "word_perplexity").value) == Approx(-ll / (12 + 3 + 2)).epsilon(1e-4));
    CHECK(std::log(find(results, "byte_perplexity").value) ==
          Approx(-ll / static_cast<double>(text.size())).epsilon(1e-4));
    CHECK(find(results, "bits_per_byte").n == 2);
    CHECK(std::isnan(find(results, "bits_per_byte").standard_error));
}

TEST_CASE("another number of shots than the task's; prompts that lose their beginning are counted", "[bare]") {
    Fixture fixture;
    // Bytes are tokens: a shot is five of them ("qq" + " y" + newlines is six), a prompt two.
    std::string records;
    for (int i = 0; i < 30; ++i)
        records += Json{{"q", std::string{static_cast<char>('a' + i), 'q'}}, {"c", {"y", "n"}}, {"g", 0}}.dump() + "\n";
    write_file_atomically(fixture.folder.path() / "mine.jsonl", records);
    write_file_atomically(fixture.folder.path() / "mine.toml",
                          "few_shot_version = \"own shots\"\n" + std::string(kTask));
    const Task task = load_task("mine", fixture.folder.path());
    TaskRun run = fixture.run(8);

    const TaskResult one = evaluate_task(task, run);
    CHECK(one.scores[0].shots == 1);
    CHECK(one.scores[0].task_version == "7, own shots");
    CHECK(one.cut_share == 0);
    CHECK(one.mean_shots == 1);
    CHECK(one.note.empty());

    run.shots = 0;
    const TaskResult none = evaluate_task(task, run);
    CHECK(none.scores[0].shots == 0);
    CHECK(none.scores[0].task_version == "7");
    CHECK(none.mean_shots == 0);

    // 49 tokens: the continuation takes 2 and the document's text 2: 45 are left, which hold seven of six each.
    run.shots = 10;
    const TaskResult ten = evaluate_task(task, run);
    CHECK(ten.scores[0].shots == 10);
    CHECK(ten.cut_share == 1);
    CHECK(ten.mean_shots == 7);
    CHECK(ten.note == "100.0% of prompts lost their beginning, 7.0 of 10 shots are left whole on average");
    CHECK(std::all_of(ten.items.begin(), ten.items.end(), [](const Item& item) { return item.cut; }));
    run.shots = 7;
    CHECK(evaluate_task(task, run).cut_share == 0);

    run.shots = 30;
    CHECK_THAT(test::refusal([&] { evaluate_task(task, run); }), ContainsSubstring("mine.toml:8:") &&
                                                                     ContainsSubstring("30 shots need 31 records") &&
                                                                     ContainsSubstring("lower shots"));
    run.shots = -1;
    CHECK_THAT(test::refusal([&] { evaluate_task(task, run); }), ContainsSubstring("-1 shots are asked of task mine"));
}

TEST_CASE("a prompt's truncation is reported to the token, by the choice that leaves least room", "[bare]") {
    const engine::Tokenizer bytes = engine::Tokenizer::bytes();
    Document document;
    document.requests = {{"aaaa\n\nbbbb\n\ncc", " y"}, {"aaaa\n\nbbbb\n\ncc", " yes"}};
    document.shot_starts = {0, 6};
    std::vector<Request> requests;
    for (const TextRequest& request : document.requests) requests.push_back(encode_request(bytes, request));
    const auto cut = [&](std::size_t choices, std::int64_t max_seqlen) {
        return prompt_cut(bytes, document, std::span(requests).first(choices), max_seqlen);
    };
    // 14 bytes of context and 2 of continuation are 16 tokens, of which the model reads all but the last.
    CHECK_FALSE(cut(1, 15).cut);
    CHECK(cut(1, 15).shots == 2);
    CHECK(cut(1, 14).cut);
    CHECK(cut(1, 14).shots == 1);
    CHECK(cut(1, 9).shots == 1);
    CHECK(cut(1, 8).shots == 0);
    CHECK(cut(2, 15).cut);
    CHECK(cut(2, 15).shots == 1);
    CHECK_FALSE(cut(2, 17).cut);
    CHECK(cut(2, 3).shots == 0);  // a continuation longer than the model
}

TEST_CASE("short answers: right where the model would print any accepted one", "[bare]") {
    Fixture fixture;
    write_file_atomically(fixture.folder.path() / "short.toml",
                          "name = \"short\"\nversion = \"1\"\nkind = \"short_answer\"\nsplit = \"test\"\n"
                          "metrics = [\"acc\", \"gold_bits_per_byte\"]\n"
                          "[records]\nfile = \"short.jsonl\"\nformat = \"jsonl\"\norder = \"file\"\n"
                          "[prompt]\ntext = \"{q}\"\nanswers = \"a\"\ndelimiter = \"\"\n");
    // The model's answer is right though another follows; a letter that it does not print is wrong.
    std::string context, printed, other;
    for (char last = ' '; last <= '~' && printed.empty(); ++last) {
        context = std::string("a") + last;
        for (int c = 1; c < 128; ++c) {
            const std::string letter(1, static_cast<char>(c));
            (fixture.naive(context, letter).greedy ? printed : other) = letter;
        }
    }
    REQUIRE_FALSE(printed.empty());
    write_file_atomically(
        fixture.folder.path() / "short.jsonl",
        Json{{"q", context}, {"a", {other, printed}}}.dump() + "\n" + Json{{"q", context}, {"a", {other}}}.dump());
    const TaskResult result = evaluate_task(load_task("short", fixture.folder.path()), fixture.run(0));
    CHECK(find(result.scores, "acc").value == 0.5);
    CHECK(result.items[0].right);
    CHECK_FALSE(result.items[1].right);
    CHECK(result.items[0].gold != result.items[0].chosen);  // a shot would show the first, the model prints the other
    const double bits = -fixture.naive(context, other).log_likelihood / std::numbers::ln2;
    CHECK(find(result.scores, "gold_bits_per_byte").value == Approx(bits).epsilon(1e-4));
}

TEST_CASE("the embedded corpus's questions are tasks like any other", "[bare]") {
    Fixture fixture;
    const auto questions = fixture.evaluate("embedded_questions", 30);
    CHECK(find(questions, "acc").n == 30);
    CHECK(find(questions, "acc").chance == 0.25);
    CHECK(find(questions, "gold_bits_per_byte").value > 0);
    CHECK(find(fixture.evaluate("embedded_last_words", 30), "acc").n == 30);
}

TEST_CASE("a missing records file is named", "[bare]") {
    Fixture fixture;
    write_file_atomically(fixture.folder.path() / "mine.toml", kTask);
    CHECK_THROWS_WITH(fixture.evaluate("mine", 1), ContainsSubstring("mine.jsonl is missing"));
}
