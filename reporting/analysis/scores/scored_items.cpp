#include "reporting/analysis/scores/scored_items.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "base/error.h"

namespace deft::reporting {

namespace {

bool read_score(std::istream& in, double& score) {
    std::string word;
    if (!(in >> word)) return false;
    char* end = nullptr;
    score = std::strtod(word.c_str(), &end);
    return *end == '\0';
}

}  // namespace

std::vector<ScoredItem> parse_items(const std::string& task, const std::string& items) {
    std::vector<ScoredItem> parsed;
    std::istringstream in(items);
    for (std::string line; std::getline(in, line);) {
        ScoredItem item;
        std::istringstream words(line);
        std::string is_right, is_cut;
        if (!(words >> item.document >> item.chosen >> item.gold >> is_right >> is_cut) ||
            !read_score(words, item.chosen_score) || !read_score(words, item.gold_score))
            throw Error(ErrorKind::database,
                        fmt::format("line {} of the items of {} is damaged", parsed.size() + 1, task),
                        "score the task again: deft eval TRIAL --tasks TASK");
        item.is_right = is_right == "1";
        item.is_cut = is_cut == "1";
        parsed.push_back(std::move(item));
    }
    return parsed;
}

}  // namespace deft::reporting
