// Task files: valid content, and the message for each mistake.

#include "experiments/evaluation/task.h"

#include "base/files.h"
#include "experiments/evaluation/prompt.h"
#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;

namespace {

const std::string kTaskHead =
    "name = \"mine\"\n"
    "version = \"1\"\n"
    "kind = \"multiple_choice\"\n"
    "split = \"test\"\n"
    "metrics = [\"acc\", \"acc_norm\"]\n";
const std::string kRecords =
    "[records]\n"
    "file = \"mine.jsonl\"\n"
    "format = \"jsonl\"\n"
    "order = \"file\"\n";
const std::string kPrompt =
    "[prompt]\n"
    "text = \"Q: {q}\"\n"
    "choices = [\"{a}\", \"{b.c}\"]\n"
    "gold = \"right\"\n";
const std::string kWhole = kTaskHead + kRecords + kPrompt;

Task task_of(const std::string& text) {
    return parse_task(text, "mine.toml", ".");
}

std::string parse_error(const std::string& text) {
    return test::refusal([&] { task_of(text); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

// The requests of a task over records given as text.
std::vector<Document> documents_of(const std::string& task_text, const std::string& records_text) {
    const Task task = task_of(task_text);
    return make_documents(task, parse_records(task.records, records_text, "mine.jsonl"), nullptr, 0);
}

std::string records_error(const std::string& task_text, const std::string& records_text) {
    return test::refusal([&] { documents_of(task_text, records_text); });
}

}  // namespace

TEST_CASE("a task file becomes requests", "[bare]") {
    const auto documents = documents_of(kWhole,
                                        "{\"q\": \"one?\", \"a\": \"x\", \"b\": {\"c\": 2}, \"right\": 1}\n"
                                        "\n"
                                        "{\"q\": \"two?\", \"a\": true, \"b\": {\"c\": \"z\"}, \"right\": \"0\"}");
    REQUIRE(documents.size() == 2);
    CHECK(documents[0].requests[0].context == "Q: one?");
    CHECK(documents[0].requests[0].continuation == " x");
    CHECK(documents[0].requests[1].continuation == " 2");
    CHECK(documents[0].gold == 1);
    CHECK(documents[1].choices == std::vector<std::string>{"true", "z"});
    CHECK(documents[1].gold == 0);
}

TEST_CASE("templates: braces, filters, choice lists, a text for each choice, gold values, other delimiters", "[bare]") {
    const std::string task = kTaskHead + kRecords +
                             "[prompt]\n"
                             "text = [\"{{{q|strip}}}\", \"{q}\"]\n"
                             "choices = [\"{q|strip|strip}!\", \"b\"]\n"
                             "delimiter = \"\"\n"
                             "gold = \"g\"\n"
                             "gold_values = [\"no\", \"true\"]\n";
    const auto documents = documents_of(task, "{\"q\": \" a\\u00a0\", \"g\": true}");
    CHECK(documents[0].requests[0].context == "{a}");
    CHECK(documents[0].requests[1].context == " a\u00a0");
    CHECK(documents[0].requests[0].continuation == "a!");
    CHECK(documents[0].gold == 1);

    const std::string list = kTaskHead + kRecords +
                             "[prompt]\n"
                             "text = \"t\"\n"
                             "choice_list = \"l\"\n"
                             "choice = \"{choice} of {n}\"\n"
                             "gold = \"g\"\n";
    CHECK(documents_of(list, "{\"l\": [\"a\", 7], \"n\": 3, \"g\": 0}")[0].choices ==
          std::vector<std::string>{"a of 3", "7 of 3"});
}

TEST_CASE("templates name items of lists, nested fields, and fields of a choice", "[bare]") {
    const std::string task = kTaskHead + kRecords +
                             "[prompt]\n"
                             "text = \"{q.parts.1.text}: {options.0} or {options.10}\"\n"
                             "choice_list = \"q.parts\"\n"
                             "choice = \"{choice.text} of {q.parts.0.text}\"\n"
                             "gold = \"answers.0\"\n";
    const std::string record =
        R"({"q": {"parts": [{"text": "a"}, {"text": "b"}]}, "options": [0,1,2,3,4,5,6,7,8,9,"ten"], "answers": [1]})";
    const auto documents = documents_of(task, record);
    CHECK(documents[0].requests[0].context == "b: 0 or ten");
    CHECK(documents[0].choices == std::vector<std::string>{"a of a", "b of a"});
    CHECK(documents[0].gold == 1);

    const auto error = [&](const std::string& from, const std::string& to) {
        return records_error(replaced(task, from, to), record);
    };
    CHECK_THAT(error("{options.10}", "{options.11}"),
               ContainsSubstring("no field 'options.11': '11' is not an index of a list of 11") &&
                   ContainsSubstring("mine.toml:11") && ContainsSubstring("counted from 0"));
    for (const char* wrong : {"options.-1", "options.", "options.x", "options.1x", "options.99999999999999999999"}) {
        INFO(wrong);
        CHECK_THAT(error("options.10", wrong), ContainsSubstring("is not an index of a list of 11"));
    }
    CHECK_THAT(error("options.10", "options.0.text"),
               ContainsSubstring("'text' is asked of number") && ContainsSubstring("end the name before .text"));
    CHECK_THAT(error("{options.10}", "{options}"), ContainsSubstring("is array") && ContainsSubstring("{options.0}"));
    CHECK_THAT(error("{options.10}", "{q}"), ContainsSubstring("is object") && ContainsSubstring("{q.FIELD}"));
    CHECK_THAT(error("{choice.text}", "{choice.txet}"),
               ContainsSubstring("a choice of the record at mine.jsonl:1 has no field 'txet'") &&
                   ContainsSubstring("did you mean text?"));
    CHECK_THAT(records_error(kWhole, "{}"), ContainsSubstring("no fields at all") && !ContainsSubstring("its fields:"));
}

TEST_CASE("gold values are strings, integers or booleans, as the records have them", "[bare]") {
    const auto gold = [&](const std::string& values, const std::string& right) {
        return documents_of(kWhole + "gold_values = " + values + "\n",
                            "{\"q\": 1, \"a\": 1, \"b\": {\"c\": 1}, \"right\": " + right + "}")[0]
            .gold;
    };
    CHECK(gold("[false, true]", "true") == 1);
    CHECK(gold("[false, true]", "false") == 0);
    CHECK(gold("[1, 2]", "2") == 1);
    CHECK(gold("[1, 2]", "\"2\"") == 1);
    CHECK(gold("[\"A\", \"B\"]", "\"B\"") == 1);
    for (const char* wrong : {"[0.5, 1.5]", "[[1], [2]]", "true"}) {
        INFO(wrong);
        CHECK_THAT(parse_error(kWhole + "gold_values = " + wrong + "\n"),
                   ContainsSubstring("prompt.gold_values must") && ContainsSubstring("[false, true]") &&
                       ContainsSubstring("mine.toml:14"));
    }
    CHECK_THAT(records_error(kWhole, "{\"q\": 1, \"a\": 1, \"b\": {\"c\": 1}, \"right\": true}"),
               ContainsSubstring("is not an index") && ContainsSubstring("prompt.gold_values = [false, true]"));
}

TEST_CASE("records are unnested from lists, the outer fields at hand", "[bare]") {
    const std::string task = kTaskHead + kRecords +
                             "unnest = [\"p.qs\", \"p.qs.as\"]\n"
                             "[prompt]\ntext = \"{p.t} {p.qs.q} {id}\"\nchoices = [\"{p.qs.as.t}\", \"no\"]\n"
                             "gold = \"p.qs.as.l\"\n";
    const std::string records =
        R"({"id": 1, "p": {"t": "T", "qs": [{"q": "Q1", "as": [{"t": "a", "l": 0}, {"t": "b", "l": 1}]}, {"q": "Q2", "as": []}]}})"
        "\n"
        R"({"id": 2, "p": {"t": "U", "qs": [{"q": "Q3", "as": [{"t": "c", "l": 1}]}]}})";
    const auto documents = documents_of(task, records);
    REQUIRE(documents.size() == 3);
    CHECK(documents[0].requests[0].context == "T Q1 1");
    CHECK(documents[1].requests[0].continuation == " b");
    CHECK(documents[1].gold == 1);
    CHECK(documents[2].requests[0].context == "U Q3 2");
    CHECK_THAT(records_error(task, R"({"id": 1, "p": {"t": "T", "qs": {"q": 1}}})"),
               ContainsSubstring("mine.toml:10:") &&
                   ContainsSubstring("field 'p.qs' of the record at mine.jsonl:1 is object") &&
                   ContainsSubstring("not a list") && ContainsSubstring("leave unnest out"));
    CHECK_THAT(records_error(task, records + "\n" + R"({"id": 1, "p": {"t": "T", "q": []}})"),
               ContainsSubstring("mine.toml:10:") && ContainsSubstring("mine.jsonl:3") &&
                   ContainsSubstring("no field 'p.qs'"));
    CHECK_THAT(parse_error(replaced(task, "[\"p.qs\", \"p.qs.as\"]", "\"p.qs\"")),
               ContainsSubstring("records.unnest must"));
}

TEST_CASE("records are picked by a field and sorted by another, as text", "[bare]") {
    const std::string task = replaced(kWhole, "order = \"file\"\n",
                                      "order = \"file\"\nwhere = \"keep\"\nequals = [true, 2]\nsort_by = \"id\"\n");
    const auto record = [](const char* id, const char* keep) {
        return std::string("{\"q\": \"") + id + "\", \"id\": \"" + id + "\", \"keep\": " + keep +
               ", \"a\": 1, \"b\": {\"c\": 1}, \"right\": 0}\n";
    };
    const auto documents = documents_of(
        task, record("h9", "true") + record("h10", "2") + record("h1", "false") + record("h2", "\"true\""));
    REQUIRE(documents.size() == 3);
    CHECK(documents[0].requests[0].context == "Q: h10");
    CHECK(documents[1].requests[0].context == "Q: h2");
    CHECK(documents[2].requests[0].context == "Q: h9");
    const test::TemporaryFolder folder;
    write_file_atomically(folder / "mine.jsonl", record("a", "false"));
    CHECK_THAT(test::refusal([&] {
                   load_records(task_of(task).records, {"", folder.path(), 1, 0});
               }),
               ContainsSubstring("no record whose field 'keep' is true or 2"));
    CHECK_THAT(parse_error(replaced(task, "equals = [true, 2]\n", "")), ContainsSubstring("mine.toml:10") &&
                                                                            ContainsSubstring("records.where") &&
                                                                            ContainsSubstring("equals = [true]"));
    CHECK_THAT(parse_error(replaced(task, "where = \"keep\"\n", "")),
               ContainsSubstring("records.equals is there without"));
    CHECK_THAT(records_error(replaced(task, "\"keep\"", "\"kepe\""), record("a", "true")),
               ContainsSubstring("mine.toml:10") && ContainsSubstring("did you mean keep?"));
    CHECK_THAT(records_error(replaced(task, "\"id\"", "\"number\""), record("a", "true")),
               ContainsSubstring("mine.toml:12") && ContainsSubstring("no field 'number'"));
}

TEST_CASE("short answers: what is asked for, what a shot shows, and answers that do not fit", "[bare]") {
    const std::string task = replaced(replaced(kTaskHead, "multiple_choice", "short_answer"), ", \"acc_norm\"", "") +
                             kRecords + "[prompt]\ntext = \"{q}?\"\nanswers = \"a\"\n";
    const std::string record = R"({"q": "one", "a": ["Onions", "Leek", "Onion"], "s": "Onions"})";
    const auto documents = documents_of(task, record);
    CHECK(documents[0].choices == std::vector<std::string>{"Leek", "Onion"});
    CHECK(documents[0].gold == 1);  // what the first answer begins with
    CHECK(documents[0].requests[1].continuation == " Onion");
    const auto shown = [&](const std::string& text) {
        const Task of = task_of(text);
        const Records records = parse_records(of.records, record, "mine.jsonl");
        return worked_example(of, records, records.items[0]);
    };
    CHECK(shown(task) == "one? Onions");
    CHECK(shown(task + "answer = \"{a.1}\"\n") == "one? Leek");
    CHECK_THAT(records_error(task + "answer = \"{q}\"\n", record),
               ContainsSubstring("mine.toml:12:") && ContainsSubstring("mine.jsonl:1") && ContainsSubstring("'one'") &&
                   ContainsSubstring("begins with none of those accepted") && ContainsSubstring("prompt.answers"));
    for (const char* wrong : {"[]", "\"Onion\"", "[3]"}) {
        INFO(wrong);
        CHECK_THAT(
            records_error(task, std::string(R"({"q": "one", "a": )") + wrong + "}"),
            ContainsSubstring("mine.toml:12:") && ContainsSubstring("field 'a' of the record at mine.jsonl:1 lists"));
    }
    CHECK_THAT(parse_error(replaced(task, "answers = \"a\"\n", "")), ContainsSubstring("prompt.answers is missing"));
    CHECK_THAT(parse_error(replaced(task, "\"acc\"", "\"acc_norm\"")), ContainsSubstring("metrics is 'acc_norm'"));
}

TEST_CASE("choices with a list of right answers", "[bare]") {
    const std::string task = replaced(kTaskHead, "\"acc\", \"acc_norm\"", "\"f1\", \"em\"") + kRecords +
                             "[prompt]\ntext = \"t\"\nchoice_list = \"l\"\nchoice = \"it is {choice.e}\"\n"
                             "answers = \"a\"\nanswer = \"{choice.e}\"\n";
    const std::string list = R"({"l": [{"e": "x"}, {"e": "y"}, {"e": "z"}], "a": )";
    const Document document = documents_of(task, list + R"(["z", "x"]})")[0];
    CHECK(document.gold == 2);
    CHECK(document.is_right(0));
    CHECK_FALSE(document.is_right(1));
    CHECK(document.is_right(2));
    CHECK(document.choice_answers == std::vector<std::string>{"x", "y", "z"});
    CHECK_THAT(records_error(task, list + R"(["w", "x"]})"),
               ContainsSubstring("mine.toml:14:") && ContainsSubstring("'w' of the record at mine.jsonl:1") &&
                   ContainsSubstring("is none of the choices"));
    CHECK_THAT(parse_error(replaced(task, "answers = \"a\"\nanswer = \"{choice.e}\"\n", "gold = \"g\"\n")),
               ContainsSubstring("asks for f1 without prompt.answers"));
    CHECK_THAT(parse_error(kWhole + "answers = \"a\"\n"), ContainsSubstring("prompt.answers needs prompt.choice_list"));
    CHECK_THAT(parse_error(replaced(kWhole, "\"acc_norm\"", "\"acc_all\"")),
               ContainsSubstring("mine.toml:5") && ContainsSubstring("asks for acc_all without prompt.group"));
}

TEST_CASE("what is prepared for race, record and wsc fits the records or is refused", "[bare]") {
    const auto prepared = [](const std::string& name, const std::string& record) {
        RecordSource source;
        source.prepare = name;
        source.prepare_place = {"mine.toml", 9, 11};
        return parse_records(source, record, "mine.jsonl").items.at(0).fields;
    };
    const auto error = [&](const std::string& name, const std::string& record) {
        const std::string message = test::refusal([&] { prepared(name, record); });
        CHECK_THAT(message, ContainsSubstring("mine.toml:9:11") && ContainsSubstring("mine.jsonl:1"));
        return message;
    };
    const std::string race =
        R"({"article": "A", "questions": ["one?", "it is  _  .", "last"], "options": [["a"], ["b", "c"], ["d", "e"]], "answers": ["A", "B", "B"]})";
    const Json asked = prepared("race", race);
    CHECK(asked.at("context") == "Article: A\n\nQuestion: one?\nAnswer: a\n _  .c\nlast");
    CHECK(asked.at("choices") == Json{"d", "e"});
    CHECK(asked.at("gold") == "B");
    CHECK(prepared("race", replaced(race, "it is  _", "it is _")).at("context") ==
          "Article: A\n\nQuestion: one?\nAnswer: a\nQuestion: it is _  .\nAnswer: c\nlast");
    CHECK_THAT(error("race", replaced(race, "\"A\", \"B\", \"B\"", "\"C\", \"B\", \"B\"")),
               ContainsSubstring("'options.0.2'"));
    CHECK_THAT(error("race", replaced(race, "\"A\", \"B\", \"B\"", "\"AB\"")), ContainsSubstring("is not a letter"));
    CHECK_THAT(error("race", replaced(race, "\"article\": \"A\"", "\"article\": 7")),
               ContainsSubstring("is number, not text"));
    CHECK_THAT(error("race", R"({"questions": []})"),
               ContainsSubstring("'questions'") && ContainsSubstring("is empty"));
    CHECK_THAT(error("race", R"({"questions": "x"})"), ContainsSubstring("is string, not a list"));

    const std::string cloze =
        R"({"passage": {"text": "  Zo\u00eb met Al.\n@highlight\nfirst\n@highlight\nlast\n", "entities": [{"start": 10, "end": 11}, {"start": 2, "end": 4}, {"start": 2, "end": 4}]}, )"
        R"("qas": {"query": "@placeholder saw @placeholder", "answers": [{"text": "Zo\u00eb"}]}})";
    const Json filled = prepared("record", cloze);
    CHECK(filled.at("context") == "Zo\u00eb met Al.\n\n  - first.\n  - last.\n");
    REQUIRE(filled.at("choices").size() == 2);
    CHECK(filled.at("choices")[0] == Json{{"entity", "Al"}, {"line", "  - Al saw Al"}});
    CHECK(filled.at("choices")[1].at("entity") == "Zo\u00eb");
    CHECK(filled.at("answers") == Json{"Zo\u00eb"});
    CHECK_THAT(error("record", replaced(cloze, "\"end\": 11", "\"end\": 999")),
               ContainsSubstring("is not within passage.text"));
    CHECK_THAT(error("record", replaced(cloze, "\"end\": 11", "\"end\": 9")), ContainsSubstring("is not within"));
    CHECK_THAT(error("record", replaced(cloze, "\"end\": 11", "\"end\": -1")), ContainsSubstring("is not an index"));

    const std::string wsc =
        R"({"text": "Al  said \" he did n't  \" .", "target": {"span2_index": 3, "span2_text": "he"}})";
    // Doubled spaces in front of the pronoun put the rest one character too early, as in the harness.
    CHECK(prepared("wsc", wsc).at("passage") == "Al said\"*he*e didn't \".");
    CHECK_THAT(error("wsc", replaced(wsc, "3", "\"3\"")), ContainsSubstring("is not an index"));
    CHECK(prepared("wsc", replaced(wsc, "3", "99")).at("passage") == "Al said\"he didn't\". *he*");
}

TEST_CASE("filters of COPA and WinoGrande; a filter that finds nothing says so", "[bare]") {
    const auto apply = [](const char* name, std::string_view text) { return find_filter(name)->apply(text); };
    CHECK(apply("lower_first", "The Man") == "the Man");
    CHECK(apply("lower_first", "\u00c9t\u00e9") == "\u00e9t\u00e9");
    CHECK(apply("lower_first", "") == "");
    CHECK(apply("without_last", "end.") == "end");
    CHECK(apply("without_last", "caf\u00e9") == "caf");
    CHECK(apply("without_last", "") == "");
    CHECK(apply("copa_connective", "cause") == "because");
    CHECK(apply("copa_connective", "effect") == "therefore");
    CHECK(apply("before_blank", "so _ won_") == "so ");
    CHECK(apply("after_blank", "so _ won_") == " won_");
    CHECK_THAT(
        records_error(replaced(kWhole, "{q}", "{q|before_blank}"),
                      "{\"q\": \"no blank\", \"a\": \"x\", \"b\": {\"c\": 2}, \"right\": 1}\n"),
        ContainsSubstring("mine.toml:11:") && ContainsSubstring("mine.jsonl:1") && ContainsSubstring("has no _"));
}

TEST_CASE("a task may be asked for with another number of shots", "[bare]") {
    const Task task = task_of("shots = 2\nfew_shot_version = \"own shots\"\n" + kWhole);
    CHECK(scored_version(task) == "1, own shots");
    CHECK(with_shots(task, std::nullopt).shots == 2);
    CHECK(with_shots(task, 5).shots == 5);
    CHECK(scored_version(with_shots(task, 0)) == "1");
    CHECK_THAT(test::refusal([&] { with_shots(task, -1); }), ContainsSubstring("ask for 0 or more"));
    CHECK(with_shots(load_task("wikitext", "."), 3).shots == 0);
}

TEST_CASE("hellaswag's filters", "[bare]") {
    const auto apply = [](const char* name, std::string_view text) { return find_filter(name)->apply(text); };
    CHECK(apply("hellaswag_clean", "a [b] c [d] [e") == "a c [e");
    CHECK(apply("hellaswag_clean", "a    b") == "a  b");
    CHECK(apply("hellaswag_restore", "Sport: One. the LADY") == "Sport: One. The lady");
    CHECK(apply("hellaswag_restore", "Sport: One. the LADY.") == "Sport: One. the LADY.");
    CHECK(apply("hellaswag_restore", "no stop") == "no stop");
    CHECK(apply("hellaswag_restore", "") == "");
}

TEST_CASE("tab-separated records, arrays and lines", "[bare]") {
    const std::string head =
        "name = \"m\"\nversion = \"1\"\nkind = \"last_word\"\nsplit = \"t\"\nmetrics = [\"acc\"]\n";
    const std::string tsv = head +
                            "[records]\nfile = \"f\"\nformat = \"tsv\"\norder = \"file\"\n"
                            "columns = [\"a\", \"b\"]\nheader = true\n"
                            "[prompt]\ntext = \"{a}\"\ntarget = \"{b}\"\n";
    const auto documents = documents_of(tsv,
                                        "\xEF\xBB\xBF"
                                        "a\tb\r\n\"x\ty\r\nz\t\n");
    REQUIRE(documents.size() == 2);
    CHECK(documents[0].requests[0].context == "\"x");
    CHECK(documents[0].requests[0].continuation == " y");
    CHECK(documents[1].choices[0] == "");
    CHECK_THAT(records_error(tsv, "a\tb\nx\ty\tz\n"),
               ContainsSubstring("mine.jsonl:2") && ContainsSubstring("3 columns"));
    CHECK_THAT(records_error(tsv, "a\tb\nx\t\xff\n"), ContainsSubstring("mine.jsonl:2") && ContainsSubstring("UTF-8"));

    const std::string json =
        replaced(replaced(tsv, "\"tsv\"", "\"json\""), "columns = [\"a\", \"b\"]\nheader = true\n", "");
    CHECK(documents_of(json, "[{\"a\": \"x\", \"b\": \"y\"}]")[0].requests[0].continuation == " y");
    CHECK_THAT(records_error(json, "{}"), ContainsSubstring("not an array"));
    CHECK_THAT(records_error(json, "[1]"), ContainsSubstring("not a JSON object"));
    CHECK_THAT(records_error(json, "[{"), ContainsSubstring("not valid JSON"));

    const std::string lines =
        replaced(replaced(json, "\"json\"", "\"lines\""), "{a}\"\ntarget = \"{b}", "{line}\"\ntarget = \"end");
    CHECK(documents_of(lines, "a b\n\nc").size() == 3);
}

TEST_CASE("values of a task file are read by their names", "[bare]") {
    CHECK(task_of(kWhole).prompt.prediction == Prediction::argmax);
    CHECK(task_of(kWhole + "prediction = \"argmax\"\n").prompt.prediction == Prediction::argmax);
    CHECK(task_of(kWhole + "prediction = \"first_if_greater\"\n").prompt.prediction == Prediction::first_if_greater);
    CHECK(task_of(kWhole + "prediction = \"second_if_greater\"\n").prompt.prediction == Prediction::second_if_greater);
    CHECK_THAT(parse_error(kWhole + "prediction = \"\"\n"), ContainsSubstring("prompt.prediction is empty"));
    CHECK(task_of(kWhole).kind == TaskKind::multiple_choice);
    CHECK(task_of(kWhole).records.format == RecordFormat::jsonl);
    CHECK(task_of(replaced(kWhole, "\"jsonl\"", "\"wikitext\"")).records.format == RecordFormat::wikitext);
    CHECK(task_of(replaced(kWhole, "file = \"mine.jsonl\"\nformat = \"jsonl\"",
                           "generator = \"embedded_last_words\"\ncount = 2"))
              .records.generator == RecordGenerator::embedded_last_words);
}

TEST_CASE("mistakes in a task file are reported with their place", "[bare]") {
    CHECK_THAT(parse_error(replaced(kWhole, "kind =", "knd =")),
               ContainsSubstring("mine.toml:3") && ContainsSubstring("kind"));
    CHECK_THAT(parse_error(replaced(kWhole, "\"multiple_choice\"", "\"multi_choice\"")),
               ContainsSubstring("mine.toml:3") && ContainsSubstring("did you mean multiple_choice?"));
    CHECK_THAT(parse_error(replaced(kWhole, "version = \"1\"\n", "")), ContainsSubstring("version is missing"));
    CHECK_THAT(parse_error(replaced(kWhole, "\"acc_norm\"", "\"acc_nrm\"")),
               ContainsSubstring("did you mean acc_norm?"));
    CHECK_THAT(parse_error("headline = \"acc_bytes\"\n" + kWhole), ContainsSubstring("headline is 'acc_bytes'"));
    CHECK_THAT(parse_error(replaced(kWhole, "metrics = [\"acc\", \"acc_norm\"]\n", "")),
               ContainsSubstring("metrics is missing"));
    CHECK_THAT(parse_error(replaced(kWhole, "[\"acc\", \"acc_norm\"]", "[]")),
               ContainsSubstring("mine.toml:5") && ContainsSubstring("metrics is empty") &&
                   ContainsSubstring("the first is the headline"));
    CHECK_THAT(parse_error("colour = 1\n" + kWhole),
               ContainsSubstring("mine.toml:1") && ContainsSubstring("unknown key colour"));
    CHECK_THAT(parse_error("shots = -1\n" + kWhole), ContainsSubstring("shots"));
    CHECK_THAT(parse_error(kTaskHead + kPrompt), ContainsSubstring("[records] is missing"));
    CHECK_THAT(parse_error(kTaskHead + kRecords), ContainsSubstring("[prompt] is missing"));
    CHECK_THAT(parse_error(replaced(kWhole, "\"jsonl\"", "\"xml\"")),
               ContainsSubstring("mine.toml:8") && ContainsSubstring("records.format is 'xml'"));
    CHECK_THAT(parse_error(replaced(kWhole, "\"jsonl\"", "\"tsv\"")), ContainsSubstring("records.columns is missing"));
    CHECK_THAT(parse_error(replaced(kWhole, "\"file\"\n", "\"random\"\n")),
               ContainsSubstring("records.order is 'random'"));
    CHECK_THAT(parse_error(replaced(kWhole, "file = \"mine.jsonl\"", "generator = \"embedded_question\"\ncount = 1")),
               ContainsSubstring("did you mean embedded_questions?"));
    CHECK_THAT(parse_error(replaced(kWhole, "gold = \"right\"\n", "")), ContainsSubstring("prompt.gold is missing"));
    CHECK_THAT(parse_error(replaced(kWhole, "choices = ", "choice_lst = ")),
               ContainsSubstring("prompt.choices or prompt.choice_list"));
    CHECK_THAT(parse_error(kWhole + "target = \"x\"\n"), ContainsSubstring("unknown key prompt.target"));
    CHECK_THAT(parse_error(kWhole + "prediction = \"best\"\n"), ContainsSubstring("prompt.prediction"));
    CHECK_THAT(parse_error(replaced(kWhole, "\"Q: {q}\"", "[\"a\", \"b\", \"c\"]")),
               ContainsSubstring("3 texts for 2 choices"));
    CHECK_THAT(parse_error(kWhole + "[perplexity]\n"), ContainsSubstring("unknown key perplexity"));
    CHECK_THAT(parse_error(kWhole + "[generation]\n"), ContainsSubstring("unknown key generation"));
    const std::string timed = "name = \"t\"\nversion = \"1\"\nkind = \"generation\"\nsplit = \"none\"\n";
    CHECK_THAT(parse_error(timed + "metrics = [\"acc\"]\n"),
               ContainsSubstring("mine.toml:5") && ContainsSubstring("metrics is 'acc'"));
    CHECK_THAT(parse_error(timed + "metrics = [\"ms_per_token\"]\n[generation]\ntokens = 1\n"),
               ContainsSubstring("mine.toml:7") && ContainsSubstring("generation.tokens"));
    CHECK_THAT(parse_error(timed + "metrics = [\"ms_per_token\"]\nshots = 1\n"),
               ContainsSubstring("unknown key shots"));
    for (const char* text : {"Q {q", "Q }", "Q {}", "Q {q|}", "Q {a{b}}"}) {
        INFO(text);
        CHECK_THAT(parse_error(replaced(kWhole, "Q: {q}", text)), ContainsSubstring("mine.toml:11:"));
    }
    CHECK_THAT(parse_error(replaced(kWhole, "{q}", "{q|stripp}")), ContainsSubstring("did you mean strip?"));
    CHECK_THAT(
        parse_error(
            "name = \"p\"\nversion = \"1\"\nkind = \"perplexity\"\nsplit = \"t\"\nmetrics = [\"token_perplexity\"]\n"
            "[records]\nfile = \"f\"\nformat = \"lines\"\n[prompt]\ntext = \"{line}\"\n"),
        ContainsSubstring("without perplexity.tokenizer"));
}

TEST_CASE("mistakes in records are reported with the task's place and the record's line", "[bare]") {
    const std::string good = "{\"q\": \"one?\", \"a\": \"x\", \"b\": {\"c\": 2}, \"right\": 1}\n";
    const auto error = [&](const std::string& second) { return records_error(kWhole, good + second); };
    CHECK_THAT(error("{\"Q\": 1, \"a\": 1, \"b\": {\"c\": 1}, \"right\": 0}"), ContainsSubstring("mine.toml:11") &&
                                                                                   ContainsSubstring("mine.jsonl:2") &&
                                                                                   ContainsSubstring("no field 'q'"));
    CHECK_THAT(error("{\"q\": [], \"a\": 1, \"b\": {\"c\": 1}, \"right\": 0}"), ContainsSubstring("is array"));
    CHECK_THAT(error("{\"q\": 1, \"a\": 1, \"b\": 5, \"right\": 0}"), ContainsSubstring("no field 'b.c'"));
    CHECK_THAT(error("{\"q\": 1, \"a\": 1, \"b\": {\"c\": 1}, \"right\": 2}"),
               ContainsSubstring("mine.toml:13") && ContainsSubstring("names choice 2 of 2"));
    CHECK_THAT(error("{\"q\": 1, \"a\": 1, \"b\": {\"c\": 1}, \"right\": -1}"), ContainsSubstring("is not an index"));
    CHECK_THAT(error("{\"q\": 1, \"a\": 1, \"b\": {\"c\": 1}, \"right\": \"one\"}"),
               ContainsSubstring("is not an index"));
    const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
    for (const std::string& hostile : {deep + "}", deep.substr(0, 1'000'000)})
        CHECK_THAT(error("{\"q\": " + hostile),
                   ContainsSubstring("mine.jsonl:2") && ContainsSubstring("deeper than 100"));
    CHECK_THAT(error("{\"q\": " + std::string(99, '[') + std::string(99, ']') + "}"), ContainsSubstring("is array"));
    CHECK(documents_of(kWhole, "{\"q\": \"" + std::string(150, '[') + "\\\"" + std::string(150, '{') +
                                   "\", \"a\": 1, \"b\": {\"c\": 2}, \"right\": 1}")
              .size() == 1);
    CHECK_THAT(error("[1]"), ContainsSubstring("mine.jsonl:2") && ContainsSubstring("not a JSON object"));
    CHECK_THAT(error("{\"q\": \n"), ContainsSubstring("mine.jsonl:2:"));
    CHECK_THAT(error("{\"q\": 1e999}"),
               ContainsSubstring("mine.jsonl:2") && ContainsSubstring("number beyond the range of a double"));
    CHECK_THAT(error("{\"q\": \"\xc3\"}"), ContainsSubstring("mine.jsonl:2:"));
    CHECK_THAT(records_error(kWhole + "gold_values = [\"0\", \"2\"]\n", good), ContainsSubstring("is '1'"));
    CHECK_THAT(records_error("shots = 1\n" + kWhole, good),
               ContainsSubstring("mine.toml:7:") && ContainsSubstring("1 shots need 2 records"));
}

TEST_CASE("tasks are found beside the sweep file first, then among the project's; names are guessed", "[bare]") {
    const test::TemporaryFolder folder;
    CHECK(load_task("piqa", folder.path()).version == "0.2.0");
    write_file_atomically(folder.path() / "piqa.toml", kWhole);
    CHECK(load_task("piqa", folder.path()).name == "mine");
    CHECK(load_task("piqa.toml", folder.path()).name == "mine");
    CHECK_THAT(test::refusal([&] { load_task("helaswag", folder.path()); }),
               ContainsSubstring("did you mean hellaswag?"));
    CHECK_THAT(test::refusal([&] { load_task("", folder.path()); }), ContainsSubstring("known tasks: "));
    for (const std::string& name : project_tasks()) CHECK(load_task(name, folder / "none").name == name);
    CHECK(project_tasks().size() >= 23);
}

TEST_CASE("a task's hash follows its definition and its records, packed or not", "[bare]") {
    const test::TemporaryFolder folder;
    const auto hash = [&](const std::string& text) {
        write_file_atomically(folder.path() / "mine.toml", text);
        return task_sha256(load_task("mine", folder.path()));
    };
    CHECK_THAT(test::refusal(ErrorKind::data, [&] { hash(kWhole); }), ContainsSubstring("mine.jsonl is missing"));
    write_file_atomically(folder.path() / "mine.jsonl", "{}\n");
    const std::string first = hash(kWhole);
    CHECK(hash("# a comment\n" + kWhole) == first);
    CHECK(hash(replaced(kWhole, "Q: ", "Q:")) != first);
    write_file_atomically(folder.path() / "mine.jsonl", "{}\n\n");
    CHECK(hash(kWhole) != first);
}
