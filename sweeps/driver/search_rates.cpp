#include "sweeps/driver/search_rates.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "reporting/rate_search.h"
#include "sweeps/spec/rate_search.h"

namespace deft::sweeps {

namespace {

std::string rate_text(const reporting::SearchedRow& row) {
    return fmt::format("{} {:g}{}", row.name(), row.rates[*row.best].rate,
                       row.is_at_end() ? " (at the end of the list)" : "");
}

// Nothing while a trial of it has not ended.
std::optional<std::map<std::string, double>> found_rates(const std::vector<reporting::SearchedRow>& rows) {
    std::map<std::string, double> rates;
    for (const reporting::SearchedRow& row : rows) {
        if (!row.is_whole()) return std::nullopt;
        if (!row.best)
            throw Error(ErrorKind::missing, fmt::format("every learning rate of [search] diverged for {}", row.name()),
                        "put smaller ones before them", "what was trained is kept");
        rates[row_name(row.case_key, row.axes)] = row.rates[*row.best].rate;
    }
    return rates;
}

// By what the database has of the search.
std::optional<std::map<std::string, double>> stored_rates(const Spec& searching, const DriverOptions& options,
                                                          Progress& progress) {
    const results_db::Reader reader(database_file(options.root));
    const results_db::SweepResults stored = reader.sweep(searching.name + "@" + searching.sha256);
    const std::vector<reporting::SearchedRow> rows = reporting::searched_rows(stored.trials);
    auto rates = found_rates(rows);
    if (!rates) return rates;
    std::string said;
    for (const reporting::SearchedRow& row : rows) said += (said.empty() ? "" : ", ") + rate_text(row);
    progress.event("the best learning rates of the search: " + said);
    return rates;
}

}  // namespace

Search search_rates(const Spec& spec, const SlotRequest& slots, int threads, const DriverOptions& options) {
    if (!spec.search) return {spec, true, {}};
    const std::vector<Point> points = expand_search(spec);
    Progress progress(options.progress, options.narration);
    progress.event(fmt::format("search of the learning rate, before the table: {}", counted(points.size(), "trial")));
    DriverOptions of_search = options;
    of_search.only.clear();
    of_search.threads = threads_for(threads > 0 ? threads : spec.threads, slots, points);
    of_search.slots = make_slots(slots, of_search.threads);
    of_search.slots_note = unused_gpus(slots);
    const Spec searching = while_searching(spec);
    Search search{spec, true, run_sweep(searching, points, of_search)};
    if (options.dry_run) return search;
    if (auto rates = stored_rates(searching, options, progress)) {
        search.spec = with_rates(spec, std::move(*rates));
        return search;
    }
    progress.warning("the table waits for its search. To go on: " + options.continue_with);
    search.is_whole = false;
    if (search.summary.exit_code == 0) search.summary.exit_code = kExitWorkLeft;
    return search;
}

std::vector<Point> with_search(const Spec& spec, std::vector<Point> points) {
    if (!spec.search || spec.found_rates.empty()) return points;
    for (Point& point : expand_search(spec, static_cast<std::int64_t>(points.size()))) {
        point.is_left = true;
        points.push_back(std::move(point));
    }
    return points;
}

}  // namespace deft::sweeps
