#include "reporting/analysis/scores/items_table.h"

#include <fmt/format.h>

#include "base/text.h"
#include "reporting/analysis/scores/scored_items.h"
#include "reporting/numbers.h"

namespace deft::reporting {

Table items_table(const std::string& task, const std::string& items) {
    Table table;
    table.caption = fmt::format("Task {}, each document", task);
    table.columns = {{"document"},
                     {"right", Align::left},
                     {"chosen"},
                     {"gold"},
                     {"log-likelihood\nchosen"},
                     {"log-likelihood\ngold"},
                     {"prompt", Align::left}};
    std::size_t right = 0, cut = 0;
    for (const ScoredItem& item : parse_items(task, items)) {
        right += item.is_right;
        cut += item.is_cut;
        table.rows.push_back({item.document, item.is_right ? "yes" : "no", item.chosen, item.gold,
                              Cell(score(item.chosen_score), item.chosen_score),
                              Cell(score(item.gold_score), item.gold_score), item.is_cut ? "truncated" : "complete"});
    }
    table.notes.push_back(
        fmt::format("{} of {} right; {} with a truncated prompt.", right, counted(table.rows.size(), "document"), cut));
    return table;
}

}  // namespace deft::reporting
