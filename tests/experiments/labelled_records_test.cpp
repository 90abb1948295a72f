// Labelled tasks: their files, their records as texts and labels, and their metrics; golden rows and hand-made ones.

#include <cmath>
#include <limits>

#include "experiments/datasets/bert_dataset.h"
#include "experiments/datasets/labelled_dataset.h"
#include "experiments/evaluation/evaluate_task.h"
#include "experiments/evaluation/label_metrics.h"
#include "experiments/evaluation/label_sums.h"
#include "experiments/evaluation/labelled_records.h"
#include "tests/catch.h"
#include "tests/experiments/labelled_task.h"
#include "tests/golden.h"

using namespace deft;
using namespace deft::experiments;
using test::refusal;

namespace {

Task toy_task(const std::string& text) {
    return parse_task(text, "x.toml", ".");
}

std::string wrong_task(const std::string& text) {
    return refusal([&] { toy_task(text); });
}

const std::string kClassification = "kind = \"classification\"\nmetrics = [\"acc\"]\n";
const std::string kRegression = "kind = \"regression\"\nmetrics = [\"pearson\"]\n";

LabelledRecord only_record(const Task& task, const std::string& line, bool truncates = false) {
    const Records records = parse_records(task.train, line, "x.tsv");
    return labelled_record(task, records, records.items.at(0), truncates);
}

// The task that a golden row is of.
std::string task_name(const std::string& golden) {
    std::string name = golden == "MNLI-m" ? "mnli" : golden;
    std::string lower = "glue_";
    for (const char c : name)
        if (c != '-') lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

}  // namespace

TEST_CASE("every GLUE task has the golden rows: texts, labels, ids and types", "[bare]") {
    const std::vector<Json> rows = golden::read_lines("glue_rows.jsonl");
    if (rows.empty() || !golden::has_data("tokenizers/bert-base-uncased/vocab.txt"))
        DEFT_SKIP("no golden rows or no vocabulary: set DEFT_DATA_MIRROR");
    const auto wordpiece = named_wordpiece(kBertVocabulary, true, ".");
    CHECK(rows.size() == 24);
    std::map<std::string, Records> of_files;
    std::map<std::string, int> tasks;
    for (const Json& row : rows) {
        const std::string name = task_name(row.at("task"));
        INFO(row.dump());
        const Task task = load_task(name, ".");
        ++tasks[name];
        CHECK(task.records.file == row.at("file").get<std::string>());
        if (!of_files.contains(name)) of_files[name] = load_records(task.records, context_of(task));
        const Records& records = of_files[name];
        REQUIRE(records.items.size() == row.at("n_rows"));
        const Record& record = records.items.at(row.at("row").get<std::size_t>());
        const LabelledRecord labelled = labelled_record(task, records, record);
        CHECK(labelled.first == row.at("text_a").get<std::string>());
        CHECK(labelled.second.has_value() == !row.at("text_b").is_null());
        if (labelled.second) CHECK(*labelled.second == row.at("text_b").get<std::string>());
        if (task.kind == TaskKind::regression) {
            CHECK(labelled.value == row.at("label").get<double>());
            CHECK(labelled_record(task, records, record, true).value == row.at("label_as_published").get<double>());
        } else {
            CHECK(labelled.label == row.at("label"));
        }
        std::int64_t bytes = 0;
        const Records alone{records.file, {record}};
        const LabelledSamplesPointer samples = labelled_samples(task, alone, wordpiece, 512, false, bytes);
        const auto ids = samples->tokens(0), types = samples->types(0);
        CHECK(std::vector<std::int32_t>(ids.begin(), ids.end()) == row.at("ids").get<std::vector<std::int32_t>>());
        CHECK(std::vector<std::int32_t>(types.begin(), types.end()) ==
              row.at("types").get<std::vector<std::int32_t>>());
    }
    CHECK(tasks.size() == 8);
}

TEST_CASE("every record of the GLUE tasks that is here can be read, as many as there should be", "[bare]") {
    if (!golden::has_data("glue/RTE/train.tsv.gz") && !golden::has_data("glue/RTE/train.tsv"))
        DEFT_SKIP("no GLUE: set DEFT_DATA_MIRROR");
    const std::map<std::string, std::pair<std::size_t, std::size_t>> counts = {
        {"glue_cola", {8551, 1043}}, {"glue_sst2", {67349, 872}}, {"glue_mrpc", {3668, 408}},
        {"glue_stsb", {5749, 1500}}, {"glue_rte", {2490, 277}},   {"glue_qnli", {8999, 5463}},
        {"glue_qqp", {8999, 1000}},  {"glue_mnli", {8999, 9815}}};
    for (const auto& [name, expected] : counts) {
        INFO(name);
        const Task task = load_task(name, ".");
        std::map<std::int32_t, int> classes;
        for (const RecordSource* source : {&task.train, &task.records}) {
            const Records records = load_records(*source, context_of(task));
            CHECK(records.items.size() == (source == &task.train ? expected.first : expected.second));
            for (const Record& record : records.items) ++classes[labelled_record(task, records, record).label];
        }
        CHECK(classes.size() == std::max<std::size_t>(1, task.texts.labels.size()));
    }
    CHECK_FALSE(records_are_here(load_task("glue_mnli", ".").further_splits.at(0).records, {".", "."}));
}

TEST_CASE("where all predictions or all labels are equal, Matthews has no value", "[bare]") {
    const auto of = [](std::int64_t tp, std::int64_t tn, std::int64_t fp, std::int64_t fn) {
        return has_matthews(BinaryCounts{tp, tn, fp, fn});
    };
    CHECK(of(1, 1, 0, 0));
    CHECK(of(0, 0, 1, 1));  // all wrong is a value
    CHECK(of(2, 0, 1, 1));
    CHECK_FALSE(of(3, 0, 2, 0));  // predicted positive only
    CHECK_FALSE(of(0, 3, 0, 2));  // negative alone
    CHECK_FALSE(of(3, 0, 0, 2));  // all are positive
    CHECK_FALSE(of(0, 3, 2, 0));  // all are negative
    Task task;
    task.kind = TaskKind::classification;
    task.texts.labels = {"a", "b"};
    task.metrics = {"mcc", "acc"};
    LabelSums sums;
    sums.classes = {0, 1, 1, 0};
    sums.predicted = {1, 1, 1, 1};
    const std::vector<MetricValue> metrics = label_metrics(task, sums);
    CHECK(std::isnan(metrics.at(0).value));
    CHECK(metrics.at(1).value == 0.5);
    sums.predicted = {0, 1, 1, 0};
    CHECK(label_metrics(task, sums).at(0).value == 1);
}

TEST_CASE("Matthews correlation, F1 and the correlations equal the golden values", "[bare]") {
    golden::for_group("metrics.json", "binary", [](const Json& c) {
        BinaryCounts counts;
        std::int64_t right = 0;
        const auto gold = c.at("gold").get<std::vector<int>>(), predicted = c.at("pred").get<std::vector<int>>();
        LabelSums sums;
        for (std::size_t i = 0; i < gold.size(); ++i) {
            counts.add(gold[i] == 1, predicted[i] == 1);
            right += gold[i] == predicted[i];
            sums.classes.push_back(gold[i]);
            sums.predicted.push_back(predicted[i]);
        }
        CHECK(matthews_correlation(counts) == Approx(c.at("mcc").get<double>()).epsilon(1e-12));
        CHECK(binary_f1(counts) == Approx(c.at("f1").get<double>()).epsilon(1e-12));
        Task task;
        task.kind = TaskKind::classification;
        task.texts.labels = {"a", "b"};
        task.metrics = {"f1", "acc", "mcc"};
        const std::vector<MetricValue> metrics = label_metrics(task, sums);
        CHECK(metrics.at(0).value == binary_f1(counts));
        CHECK(metrics.at(1).value == Approx(c.at("acc").get<double>()).epsilon(1e-12));
        CHECK(metrics.at(1).chance == 0.5);
        if (has_matthews(counts))
            CHECK(metrics.at(2).value == matthews_correlation(counts));
        else
            CHECK(std::isnan(metrics.at(2).value));
        CHECK(metrics.at(2).n == static_cast<std::int64_t>(gold.size()));
    });
    golden::for_group("metrics.json", "correlation", [](const Json& c) {
        const auto predicted = golden::numbers(c.at("pred")), gold = golden::numbers(c.at("gold"));
        CHECK(average_ranks(predicted) == golden::numbers(c.at("pred_ranks")));
        CHECK(average_ranks(gold) == golden::numbers(c.at("gold_ranks")));
        const auto check = [&](double value, const char* key) {
            const double expected = golden::number(c.at(key));
            if (std::isnan(expected))
                CHECK(std::isnan(value));
            else
                CHECK(value == Approx(expected).epsilon(1e-12));
        };
        check(pearson_correlation(predicted, gold), "pearson");
        check(spearman_correlation(predicted, gold), "spearman");
        LabelSums sums;
        sums.values = gold;
        sums.predicted_values = predicted;
        Task task;
        task.kind = TaskKind::regression;
        task.metrics = {"spearman", "pearson"};
        check(label_metrics(task, sums).at(0).value, "spearman");
        check(label_metrics(task, sums).at(1).value, "pearson");
    });
    CHECK(std::isnan(spearman_correlation({}, {})));
    CHECK_THROWS(pearson_correlation(std::vector<double>{1, 2}, std::vector<double>{1}));
}

TEST_CASE("truncated labels equal the golden ones", "[bare]") {
    const Task task = toy_task(test::kToyHead + kRegression + test::kToyRecords);
    golden::for_group("metrics.json", "stsb_label_truncation", [&](const Json& c) {
        const std::string line = "x\ty\t" + c.at("score").dump() + "\n";
        CHECK(only_record(task, line).value == c.at("score").get<double>());
        CHECK(only_record(task, line, true).value == c.at("label").get<double>());
    });
    CHECK(only_record(task, "x\ty\t-1.7", true).value == -1);
}

TEST_CASE("texts lose white space, as the published code cleans them", "[bare]") {
    CHECK(cleaned_text("  a \t b\n\nc ") == "a b c");
    CHECK(cleaned_text("") == "");
    CHECK(cleaned_text(" \n ") == "");
    CHECK(cleaned_text("a . b . c") == "a. b. c");
    CHECK(cleaned_text("a . . . . b") == "a. ... b");
    CHECK(cleaned_text("a\xC2\xA0z\xE2\x80\x83z") == "a z z");  // no-break space, em space
    CHECK(cleaned_text("\xFF a") == "\xFF a");
}

TEST_CASE("a labelled record: its label by the task's order, its texts by their templates, errors with their places",
          "[bare]") {
    const Task two = toy_task(test::kToyHead + kClassification + test::kToyRecords + "labels = [\"no\", true, 3]\n");
    const LabelledRecord record = only_record(two, " a  b\tc . d\t3 ");
    CHECK(record.first == "a b");
    CHECK(record.second == "c. d");
    CHECK(record.label == 2);
    CHECK(only_record(two, "a\tb\ttrue\n").label == 1);
    CHECK(only_record(two, "a\tb\tno\n").label == 0);
    CHECK_THAT(refusal([&] { only_record(two, "a\tb\tNo\n"); }),
               ContainsSubstring("x.toml:") && ContainsSubstring("the record at x.tsv:1 is 'No'") &&
                   ContainsSubstring("no, true, 3"));
    CHECK_THAT(refusal([&] { only_record(two, "a\tno\n"); }),
               ContainsSubstring("x.tsv:1") && ContainsSubstring("2 columns"));
    const Task values = toy_task(test::kToyHead + kRegression + test::kToyRecords);
    CHECK(only_record(values, "a\tb\t-3.25\n").value == -3.25);
    for (const char* number : {"", "x", "1,5", "1.5x", "nan", "inf", "1e39"})
        CHECK_THAT(refusal([&] { only_record(values, std::string("a\tb\t") + number + "\n"); }),
                   ContainsSubstring("label is a number"));
    std::string elsewhere = test::kToyHead + kClassification + test::kToyRecords + test::kToyClasses;
    elsewhere.replace(elsewhere.find("\"{b}\""), 5, "\"{z}\"");
    CHECK_THAT(refusal([&] { only_record(toy_task(elsewhere), "a\tb\tno\n"); }),
               ContainsSubstring("x.tsv:1") && ContainsSubstring("'z'"));
}

TEST_CASE("a labelled task's file is read strictly", "[bare]") {
    const std::string head = test::kToyHead + kClassification, records = test::kToyRecords, labels = test::kToyClasses;
    const Task task = toy_task(head + records + labels + test::kToyFar);
    CHECK(is_labelled(task.kind));
    CHECK(task.train.file == "train.tsv");
    CHECK(task.records.file == "near.tsv");
    CHECK(task.texts.labels == std::vector<std::string>{"no", "yes"});
    REQUIRE(task.further_splits.size() == 1);
    CHECK(task.further_splits[0].name == "far");
    CHECK(task.further_splits[0].records.file == "far.tsv");
    CHECK(classes_of(task) == 2);
    CHECK(classes_of(toy_task(test::kToyHead + kRegression + records)) == 0);

    CHECK_THAT(wrong_task(head + records), ContainsSubstring("labels must name two labels or more"));
    CHECK_THAT(wrong_task(head + records + "labels = [\"a\"]\n"), ContainsSubstring("two labels or more"));
    CHECK_THAT(wrong_task(head + records + "labels = [\"a\", \"b\", \"a\"]\n"),
               ContainsSubstring("names a label twice"));
    CHECK_THAT(wrong_task(test::kToyHead + kRegression + records + labels), ContainsSubstring("is of classification"));
    CHECK_THAT(wrong_task(head + records.substr(records.find("[records]")) + labels),
               ContainsSubstring("table [train] is missing"));
    CHECK_THAT(wrong_task(head + records.substr(0, records.find("[texts]"))),
               ContainsSubstring("table [texts] is missing"));
    CHECK_THAT(wrong_task(head + records + labels + test::kToyFar + "odd = 1\n"), ContainsSubstring("odd"));
    CHECK_THAT(wrong_task(head + records + labels + test::kToyFar + test::kToyFar),
               ContainsSubstring("another split's name"));
    CHECK_THAT(wrong_task(head + records + labels + "odd = 1\n"), ContainsSubstring("odd"));
    CHECK_THAT(wrong_task("further_splits = 3\n" + head + records + labels), ContainsSubstring("array of tables"));
    CHECK_THAT(wrong_task("shots = 3\n" + head + records + labels), ContainsSubstring("shots"));
    CHECK_THAT(wrong_task(head + records + labels + "[prompt]\ntext = \"x\"\n"), ContainsSubstring("prompt"));
    std::string generated = head + records + labels;
    generated.replace(generated.find("file = \"train.tsv\""), 18, "generator = \"embedded_questions\"\ncount = 3");
    CHECK_THAT(wrong_task(generated), ContainsSubstring("x.toml"));
    for (const char* metric : {"f1", "mcc"})
        CHECK_THAT(wrong_task(test::kToyHead + "kind = \"classification\"\nmetrics = [\"" + metric + "\"]\n" + records +
                              "labels = [1, 2, 3]\n"),
                   ContainsSubstring("is of two labels"));
    CHECK_THAT(wrong_task(test::kToyHead + "kind = \"classification\"\nmetrics = [\"pearson\"]\n" + records + labels),
               ContainsSubstring("pearson"));
    // A task of prompts has none of it, and no model that continues text is asked a labelled one.
    CHECK_THAT(wrong_task(test::kToyHead + "kind = \"last_word\"\nmetrics = [\"acc\"]\n" + records +
                          "[prompt]\ntext = \"x\"\ntarget = \"y\"\n"),
               ContainsSubstring("train"));
    CHECK_THAT(refusal([&] { require_prompts(task); }), ContainsSubstring("has labels and no prompts"));
}
