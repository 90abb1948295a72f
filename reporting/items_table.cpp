#include "reporting/items_table.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "base/text.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

// A log-likelihood, which may be infinite or not a number.
bool read_score(std::istream& in, Cell& cell) {
    std::string word;
    if (!(in >> word)) return false;
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    cell = Cell(score(value), value);
    return *end == '\0';
}

}  // namespace

Table items_table(const std::string& task, const std::string& items) {
    Table table;
    table.caption = fmt::format("Task {}, each document", task);
    table.columns = {{"document"}, {"right", Align::left}, {"chosen"}, {"gold"}, {"log-likelihood\nchosen"},
                     {"log-likelihood\ngold"}, {"prompt", Align::left}};
    std::istringstream in(items);
    std::size_t number = 0, right = 0, cut = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        std::istringstream words(line);
        std::string document, chosen, gold, is_right, is_cut;
        Cell chosen_score, gold_score;
        if (!(words >> document >> chosen >> gold >> is_right >> is_cut) || !read_score(words, chosen_score) ||
            !read_score(words, gold_score))
            throw Error(ErrorKind::database, fmt::format("line {} of the items of {} is damaged", number, task),
                        "score the task again: deft eval TRIAL --tasks TASK");
        if (is_right == "1") ++right;
        if (is_cut == "1") ++cut;
        table.rows.push_back({document, is_right == "1" ? "yes" : "no", chosen, gold, chosen_score, gold_score,
                              is_cut == "1" ? "cut from the left" : "whole"});
    }
    table.notes.push_back(fmt::format("{} of {} right; {} cut from the left.", right, counted(number, "document"), cut));
    return table;
}

}  // namespace deft::reporting
