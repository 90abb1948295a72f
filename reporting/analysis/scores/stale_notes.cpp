#include "reporting/analysis/scores/stale_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/scores/measured.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

constexpr std::size_t kMostStaleNotes = 6, kMostStaleNames = 6;

// Rows, or tasks of rows, that share one reason, in the order in which they came.
struct Said {
    std::string what;   // empty: rows as a whole
    std::string words;  // of all of these
    std::vector<std::string> rows;
};

void say(std::vector<Said>& all, const std::string& what, const std::string& words, const std::string& row) {
    if (words.empty()) return;
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Said& said) { return said.what == what && said.words == words; });
    if (found == all.end()) found = all.insert(found, {what, words, {}});
    if (found->rows.empty() || found->rows.back() != row) found->rows.push_back(row);
}

std::string task_text(const Score& score) {
    return score.shots > 0 ? fmt::format("{}, {}", score.task, counted(score.shots, "shot")) : score.task;
}

// One entry per row: its training, then each of its tasks.
std::vector<Said> collected(const std::vector<Row>& rows, std::string Trial::*of_trial, std::string Score::*of_score) {
    std::vector<Said> all;
    for (const Row& row : rows) {
        for (const Trial* trial : row.ok) say(all, "", trial->*of_trial, row.name);
        for (const Trial* trial : row.ok)
            for (const Score& score : trial->scores)
                if (!is_unigram_entropy(score)) say(all, task_text(score), score.*of_score, row.name);
    }
    return all;
}

std::string rows_text(const std::vector<std::string>& rows, std::size_t of_all) {
    if (rows.size() == of_all && of_all > 1) return "all rows";
    return first_of(rows, kMostStaleNames, "more rows");
}

std::vector<std::string> notes_of(const std::vector<Said>& all, const char* head, std::size_t rows) {
    std::vector<std::string> notes;
    for (const Said& said : all) {
        if (notes.size() == kMostStaleNotes) {
            notes.push_back(fmt::format("{}: {} more reasons, listed with each cell in JSON and HTML.", head,
                                        all.size() - kMostStaleNotes));
            break;
        }
        const std::string of = said.what.empty() ? "" : said.what + " of ";
        notes.push_back(fmt::format("{}: {}{}: {}.", head, of, rows_text(said.rows, rows), said.words));
    }
    return notes;
}

std::string command_for(const std::string& command, const std::set<std::string>& kinds) {
    if (command.empty()) return "run the sweep's file again";
    return fmt::format("{} --rerun-if {}", command, fmt::join(kinds, ","));
}

// Changed trainings that failed or have not finished, so that earlier results keep their
// place.
std::string newer_note(const std::vector<Row>& rows) {
    std::vector<std::string> names;
    for (const Row& row : rows)
        for (const Trial* trial : row.ok)
            if (!trial->newer_state.empty())
                names.push_back(fmt::format("{} ({})", results_db::trial_name(*trial), trial->newer_state));
    if (names.empty()) return {};
    return fmt::format("Shown with the inputs before they changed, because the new training has not finished: {}.",
                       first_of(names, kMostStaleNames));
}

}  // namespace

std::vector<std::string> stale_notes(const std::vector<Row>& rows, const std::string& command) {
    const std::vector<Said> stale = collected(rows, &Trial::stale, &Score::stale);
    std::vector<std::string> notes = notes_of(stale, "¶ Stale", rows.size());
    std::set<std::string> kinds;
    for (const Said& said : stale) kinds.merge(kinds_of(said.words));
    if (!stale.empty()) notes.push_back("To measure stale results again: " + command_for(command, kinds));
    if (const std::string text = newer_note(rows); !text.empty()) notes.push_back(text);
    for (std::string& text :
         notes_of(collected(rows, &Trial::unchecked, &Score::unchecked), "Not known whether stale", rows.size()))
        notes.push_back(std::move(text));
    return notes;
}

std::string other_commit_note(const std::vector<Row>& rows, const std::string& commit_now) {
    if (commit_now.empty() || commit_now == "unknown") return {};
    std::size_t others = 0, finished = 0;
    for (const Row& row : rows) {
        if (row.ok.empty()) continue;
        ++finished;
        others += std::any_of(row.ok.begin(), row.ok.end(), [&](const Trial* trial) {
            return trial->code.git_sha != commit_now && !kinds_of(trial->stale).contains(kByCode);
        });
    }
    if (others == 0) return {};
    return fmt::format(
        "This program is of commit {}, and {} of another commit of the same result epoch: not stale by code.",
        short_hash(commit_now),
        others == finished ? "all rows are" : fmt::format("{} of {} rows are", others, finished));
}

Table stale_table(const Results& sweep, const std::string& command) {
    Table table;
    table.columns = {{"hash", Align::left}, {"trial", Align::left}, {"what", Align::left}, {"stale", Align::left}};
    table.key_columns = 2;
    std::set<std::string> kinds;
    std::vector<Said> unchecked;
    for (const Trial& trial : sweep.trials) {
        const std::string name = results_db::trial_name(trial);
        const auto add = [&](const std::string& what, const std::string& stale) {
            if (stale.empty()) return;
            std::vector<Cell> row = {short_hash(trial.config_hash).substr(0, 8), name, what, stale};
            if (std::find(table.rows.begin(), table.rows.end(), row) == table.rows.end()) table.rows.push_back(row);
            kinds.merge(kinds_of(stale));
        };
        add("training", trial.stale);
        say(unchecked, "", trial.unchecked, name);
        for (const Score& score : trial.scores) {
            add(task_text(score), score.stale);
            say(unchecked, task_text(score), score.unchecked, name);
        }
    }
    if (!table.rows.empty()) table.notes.push_back("To measure stale results again: " + command_for(command, kinds));
    for (std::string& text : notes_of(unchecked, "Not known whether stale", sweep.trials.size()))
        table.notes.push_back(std::move(text));
    return table;
}

}  // namespace deft::reporting
