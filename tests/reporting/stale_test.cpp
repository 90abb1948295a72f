// Stale values of a sweep, and how every format marks them.

#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/scores/stale_notes.h"

#include "base/json.h"
#include "base/score_key.h"
#include "base/text.h"
#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/comparison/per_seed.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/analysis/scores/suite_average.h"
#include "reporting/views/text/status.h"
#include "tests/reporting/a_sweep.h"
#include "tests/reporting/table_parts.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Score a_keyed_score(const char* task, const char* key, std::int64_t shots = 0) {
    Score row = a_score(task, "acc", 0.5, shots);
    row.score_key = key;
    row.task_sha256 = std::string("task of ") + task;
    row.definition_sha256 = std::string("file of ") + task;
    row.scoring_version = 2;
    return row;
}

// A trial of epoch 3 with its data, a column and a model to start from; scored by two tasks and validated.
Trial a_trial(const char* recipe, std::int64_t seed) {
    Trial trial = a_finished_trial(recipe, "{}", seed, 1.0);
    set_configuration(
        trial, R"({"result_epoch": 3, "model": {"seqlen": 64}, "data": {"sha256": "d1"}, "start": {"sha256": "s1"},
            "curriculum": {"mine": {"column_sha256": "c1"}}})");
    trial.scores[0].score_key = "validation key";
    trial.scores[0].scoring_version = 2;
    trial.scores.push_back(a_keyed_score("copa", "copa key"));
    trial.scores.push_back(a_keyed_score("rte", "rte key"));
    return trial;
}

Results two_rows() {
    return a_sweep_of({a_trial("plain", 1), a_trial("plain", 2), a_trial("other", 1), a_trial("other", 2)});
}

// As everything was when it was measured.
Current as_measured(const Results& sweep) {
    Current now;
    now.result_epoch = 3;
    now.scoring_version = 2;
    for (const Trial& trial : sweep.trials)
        now.trials[trial.config_hash] = {
            {{"data.sha256", {"d1", ""}}, {"start.sha256", {"s1", ""}}, {"curriculum.mine.column_sha256", {"c1", ""}}},
            {{"copa key", {"file of copa", "task of copa", ""}}, {"rte key", {"file of rte", "task of rte", ""}}}};
    return now;
}

Table table_of(Results sweep, const Current& now, const std::string& commit = "") {
    mark_stale(sweep, now);
    SweepAbout about;
    about.command = "deft run x.toml";
    about.commit_now = commit;
    return comparison_table(sweep, about);
}

// "row column: reason" of every marked cell.
std::vector<std::string> marked(const Table& table) {
    std::vector<std::string> all;
    for (const std::vector<Cell>& row : table.rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            if (!row[i].stale.empty())
                all.push_back(row[0].text + " " + first_line(table.columns[i].title) + ": " + row[i].stale);
    return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("Nothing is stale where all is as it was measured, or where nobody says what it is now") {
    const Results sweep = two_rows();
    for (const Current& now : {as_measured(sweep), Current{9, 9, {}}}) {
        const Table table = table_of(sweep, now);
        CHECK(marked(table).empty());
        CHECK_THAT(all_notes(table), !ContainsSubstring("tale"));
        CHECK_THAT(render_csv(table), !ContainsSubstring("stale"));
        CHECK_THAT(render_terminal(table, 0), !ContainsSubstring("¶"));
    }
    Results own = sweep;
    mark_stale(own, as_measured(sweep));
    CHECK(stale_table(own, "x").rows.empty());
    CHECK(stale_table(own, "x").notes.empty());
}

TEST_CASE("A task that has changed marks its cells alone, in every format") {
    const Results sweep = two_rows();
    Current now = as_measured(sweep);
    for (auto& [hash, trial] : now.trials) trial.tasks["copa key"] = {"file of copa edited", "task of copa edited", ""};
    const Table table = table_of(sweep, now);
    const Texts expected = {"plain copa: eval: the task's file has changed",
                            "other copa: eval: the task's file has changed"};
    CHECK(marked(table) == expected);
    CHECK_THAT(all_notes(table),
               ContainsSubstring("¶ Stale: copa of all rows: eval: the task's file has changed.\n"
                                 "To measure stale results again: deft run x.toml --rerun-if eval\n"));
    CHECK_THAT(render_terminal(table, 0), ContainsSubstring("0.500 ± 0.000 ¶"));
    CHECK_THAT(render_markdown(table), ContainsSubstring("0.500 ± 0.000 ¶ |"));
    CHECK_THAT(render_latex(table),
               ContainsSubstring("0.500 $\\pm$ 0.000 \\P{}") && ContainsSubstring("\\P{} Stale: copa"));
    const std::string html = render_html(table);
    CHECK_THAT(html, ContainsSubstring("<td class=\"stale\" title=\"stale: eval: the task&#39;s file has changed\">") &&
                         ContainsSubstring("0.500 ± 0.000 ¶") && ContainsSubstring("<li>¶ Stale: copa"));
    const std::string csv = render_csv(table);
    CHECK_THAT(
        csv, ContainsSubstring(",stale\r\n") && ContainsSubstring(",copa acc: eval: the task's file has changed\r\n"));
    const Json json = Json::parse(render_json(table));
    int in_json = 0;
    for (const Json& row : json.at("rows"))
        for (const Json& cell : row) in_json += cell.contains("stale");
    CHECK(in_json == 2);
    for (const std::string& text : {render_terminal(table, 0), render_markdown(table)}) {
        std::size_t marks = 0;
        for (std::size_t at = text.find("¶"); at != std::string::npos; at = text.find("¶", at + 1)) ++marks;
        CHECK(marks == 3);  // two cells and the note
    }
}

TEST_CASE("Changes of a task are reported as far as they were stored") {
    Results sweep = two_rows();
    Current now = as_measured(sweep);
    const auto reason = [&](const TaskNow& task, const char* definition, std::int64_t version) {
        Results own = sweep;
        own.trials[0].scores[1].definition_sha256 = definition;
        own.trials[0].scores[1].scoring_version = version;
        Current at = now;
        at.trials[own.trials[0].config_hash].tasks["copa key"] = task;
        mark_stale(own, at);
        CHECK(own.trials[1].scores[1].stale.empty());
        CHECK(own.trials[0].scores[2].stale.empty());
        return own.trials[0].scores[1].stale + "|" + own.trials[0].scores[1].unchecked;
    };
    CHECK(reason({"file of copa", "other", ""}, "file of copa", 2) == "eval: the task's records have changed|");
    CHECK(reason({"file of copa", "other", ""}, "", 2) == "eval: the task's file or its records have changed|");
    CHECK(reason({"other", "other", ""}, "file of copa", 2) == "eval: the task's file has changed|");
    // Its file was written in another way, and says what it said.
    CHECK(reason({"other", "task of copa", ""}, "file of copa", 2) == "|");
    CHECK(reason({"file of copa", "task of copa", ""}, "file of copa", 1) == "eval: evaluation version 1, now 2|");
    CHECK(reason({"other", "other", ""}, "file of copa", 1) ==
          "eval: evaluation version 1, now 2; eval: the task's file has changed|");
    CHECK(reason({"", "", "it is gone"}, "file of copa", 2) == "|it is gone");
    CHECK_THAT(reason({"other", "other", ""}, "file of copa", 0), ContainsSubstring("|an older program"));
}

TEST_CASE("An older result epoch, other data, column or model marks the whole row") {
    const Results sweep = two_rows();
    const std::string plain_2 = sweep.trials[1].config_hash;
    const auto reason = [&](const std::function<void(Current&)>& change) {
        Current now = as_measured(sweep);
        change(now);
        Results own = sweep;
        mark_stale(own, now);
        return own.trials[0].stale + "|" + own.trials[1].stale;
    };
    CHECK(reason([](Current& now) { now.result_epoch = 4; }) ==
          "code: result epoch 3, now 4|code: result epoch 3, now 4");
    CHECK(reason([](Current& now) { now.result_epoch = 3; }) == "|");
    CHECK(reason([&](Current& now) { now.trials[plain_2].inputs["data.sha256"].sha256 = "d2"; }) ==
          "|data: the training data has changed (sha256 d1, now d2)");
    CHECK(reason([&](Current& now) { now.trials[plain_2].inputs["start.sha256"].sha256 = "s2"; }) ==
          "|data: the model of [start] has changed (sha256 s1, now s2)");
    CHECK(reason([&](Current& now) { now.trials[plain_2].inputs["curriculum.mine.column_sha256"].sha256 = "c2"; }) ==
          "|data: the column of mine has changed (sha256 c1, now c2)");

    Current now = as_measured(sweep);
    now.trials[plain_2].inputs["data.sha256"].sha256 = "d2";
    const Table table = table_of(sweep, now);
    const std::string words = "data: the training data has changed (sha256 d1, now d2)";
    Texts expected;
    for (const char* column :
         {"recipe", "steps", "input", "unique", "consumed", "FLOPs", "train", "tokens", "validation", "copa", "rte"})
        expected.push_back(std::string("plain ") + column + ": " + words);
    CHECK(marked(table) == expected);
    CHECK_THAT(all_notes(table), ContainsSubstring("¶ Stale: plain: " + words + ".\n"));
    CHECK_THAT(all_notes(table), ContainsSubstring("--rerun-if data\n"));
    CHECK_THAT(render_csv(table), ContainsSubstring(",\"" + words + "\"\r\n"));
    const std::vector<Cell> own_row = per_seed_table([&] {
                                          Results own = sweep;
                                          mark_stale(own, now);
                                          return own;
                                      }())
                                          .rows[1];
    CHECK(own_row[0].stale == words);
    CHECK(own_row[1].stale.empty());  // its seed
    CHECK(own_row.back().stale == words);
}

TEST_CASE("A trial is stale for the reasons of the one that it starts from, however long the chain") {
    Results sweep = a_sweep_of({a_trial("last", 1), a_trial("second", 1), a_trial("first", 1), a_trial("alone", 1)});
    set_configuration(sweep.trials[0],
                      Json{{"result_epoch", 3}, {"start", {{"trial", sweep.trials[1].config_hash}}}}.dump());
    set_configuration(sweep.trials[1],
                      Json{{"result_epoch", 3}, {"start", {{"trial", sweep.trials[2].config_hash}}}}.dump());
    Current now = as_measured(sweep);
    for (const std::size_t i : {0, 1}) now.trials[sweep.trials[i].config_hash].inputs = {};
    now.trials[sweep.trials[2].config_hash].inputs["data.sha256"].sha256 = "d2";
    mark_stale(sweep, now);
    for (const std::size_t i : {0, 1, 2})
        CHECK(sweep.trials[i].stale == "data: the training data has changed (sha256 d1, now d2)");
    CHECK(sweep.trials[3].stale.empty());
}

TEST_CASE("What nobody can look at is not stale, and is said") {
    Results sweep = two_rows();
    set_configuration(sweep.trials[2], R"({"data": {"sha256": "d1"}})");
    Current now = as_measured(sweep);
    now.trials[sweep.trials[0].config_hash].inputs["data.sha256"] = {"", "corpus.txt is missing"};
    now.trials[sweep.trials[1].config_hash].inputs["data.sha256"] = {"", "corpus.txt is missing"};
    now.trials[sweep.trials[3].config_hash].tasks["rte key"] = {"", "", "unknown task"};
    const Table table = table_of(sweep, now);
    CHECK(marked(table).empty());
    const std::string notes = all_notes(table);
    CHECK_THAT(notes, ContainsSubstring("Not known whether stale: plain: the training data: corpus.txt is missing.\n"));
    CHECK_THAT(notes, ContainsSubstring("Not known whether stale: other: its result epoch is not stored.\n"));
    CHECK_THAT(notes, ContainsSubstring("Not known whether stale: rte of other: unknown task.\n"));
    CHECK_THAT(notes, !ContainsSubstring("To measure stale results again"));
    mark_stale(sweep, now);
    const Table listed = stale_table(sweep, "deft run x.toml");
    CHECK(listed.rows.empty());
    CHECK(listed.notes.size() == 3);
}

TEST_CASE("An average is stale by any score that enters it, and so is a difference to a stale baseline") {
    Results sweep = two_rows();
    Current now = as_measured(sweep);
    now.trials[sweep.trials[0].config_hash].tasks["copa key"] = {"file of copa", "records edited", ""};
    mark_stale(sweep, now);
    Quantity copa, rte, both, steps;
    copa = parse_quantity("task:copa acc", {});
    rte = parse_quantity("task:rte acc", {});
    both = parse_quantity("suite:data_efficiency average", {});
    steps = parse_quantity("train steps", {});
    const std::string words = "eval: the task's records have changed";
    CHECK(stale_score(copa, sweep.trials[0]) == words);
    CHECK(stale_score(both, sweep.trials[0]) == words);
    CHECK(stale_score(rte, sweep.trials[0]).empty());
    CHECK(stale_score(steps, sweep.trials[0]).empty());
    CHECK(stale_score(both, sweep.trials[1]).empty());

    PublishedTable printed;
    printed.name = "t";
    PublishedColumn column;
    column.key = "average";
    column.title = "average";
    column.unit = "%";
    column.better = "higher";
    column.measures = both;
    printed.columns = {column};
    SweepAbout about;
    about.published = printed;
    const Table table = comparison_table(sweep, about);
    Texts cells;
    for (const std::vector<Cell>& row : table.rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            if (!row[i].stale.empty()) cells.push_back(row[0].text + " " + std::string(table.columns[i].title));
    CHECK(cells == Texts{"plain average\nmeasured\n% ↑, 2 tasks",
                         "plain average\nagainst 100% baseline\nmeasured, points", "plain copa\nacc ↑",
                         "other average\nagainst 100% baseline\nmeasured, points"});
}

TEST_CASE("Another commit of one result epoch is a hint, and none where the row is stale by code") {
    Results sweep = two_rows();
    for (Trial& trial : sweep.trials) trial.code.git_sha = "aaaa";
    const Current now = as_measured(sweep);
    CHECK_THAT(all_notes(table_of(sweep, now, "bbbb")),
               ContainsSubstring("This program is of commit bbbb, and all rows are of another commit"));
    for (const char* same : {"aaaa", "unknown", ""})
        CHECK_THAT(all_notes(table_of(sweep, now, same)), !ContainsSubstring("This program"));
    sweep.trials[0].code.git_sha = "bbbb";
    sweep.trials[1].code.git_sha = "bbbb";
    CHECK_THAT(all_notes(table_of(sweep, now, "bbbb")), ContainsSubstring("1 of 2 rows are"));
    Current later = now;
    later.result_epoch = 4;
    CHECK_THAT(all_notes(table_of(sweep, later, "cccc")), !ContainsSubstring("This program"));
}

TEST_CASE("deft status lists what is stale, trial by trial and task by task, with the command for these kinds") {
    Results sweep = two_rows();
    sweep.trials[0].scores.push_back(a_keyed_score("copa", "copa 5 key", 5));
    Current now = as_measured(sweep);
    now.trials[sweep.trials[0].config_hash].tasks["copa 5 key"] = {"x", "y", ""};
    now.trials[sweep.trials[3].config_hash].inputs["data.sha256"].sha256 = "d2";
    mark_stale(sweep, now);
    const Table table = stale_table(sweep, "deft run x.toml");
    REQUIRE(table.rows.size() == 2);
    CHECK(cell(table, 0, "trial") == "plain/1");
    CHECK(cell(table, 0, "what") == "copa, 5 shots");
    CHECK(cell(table, 1, "trial") == "other/2");
    CHECK(cell(table, 1, "what") == "training");
    CHECK_THAT(all_notes(table), ContainsSubstring("deft run x.toml --rerun-if data,eval"));
    CHECK_THAT(all_notes(stale_table(sweep, "")), ContainsSubstring("run the sweep's file again"));
}

TEST_CASE("Of two configurations what makes a training stale are the epoch and the hashes of files, and nothing else") {
    const Json then = Json::parse(R"({"result_epoch": 3, "data": {"sha256": "d1"}, "train": {"learning_rate": 1},
                                      "curriculum": {"mine": {"column_sha256": "c1"}, "voc": {}}})");
    Json now = then;
    now["train"]["learning_rate"] = 2;
    CHECK(training_differences(then, now).empty());
    now["result_epoch"] = 5;
    CHECK(training_differences(then, now) == "code: result epoch 3, now 5");
    now["curriculum"]["mine"]["column_sha256"] = "c2";
    now["data"]["sha256"] = "d2";
    CHECK(kinds_of(training_differences(then, now)) == std::set<std::string>{"code", "data"});
    CHECK_THAT(training_differences(then, now),
               ContainsSubstring("the column of mine") && ContainsSubstring("training data"));
    CHECK(training_differences(Json::object(), now).empty());
    CHECK(kinds_of("").empty());
}

TEST_CASE("A training that has not ended well is named, and what it was to replace stays") {
    Results sweep = two_rows();
    sweep.trials[1].newer_state = "failed";
    sweep.trials[1].newer_hash = "0123456789abcdef";
    const Table table = table_of(sweep, as_measured(sweep));
    CHECK_THAT(all_notes(table), ContainsSubstring("the new training has not finished: plain/2 (failed).\n"));
    CHECK(cell(status_table(sweep, {}), 1, "state") ==
          "ok, stale: its inputs changed; with the current inputs failed (01234567)");
    CHECK(cell(status_table(sweep, {}), 0, "state") == "ok");
}
