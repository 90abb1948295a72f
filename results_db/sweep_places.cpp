#include "results_db/sweep_places.h"

#include <array>
#include <map>

namespace deft::results_db {

std::vector<SweepPlace> places_of(Connection& connection, std::int64_t sweep_id) {
    Statement query(
        connection,
        "SELECT m.experiment_id, m.case_key, m.axes_json, m.ordinal, m.scores_json, m.stage, m.seeds,"  // 0..6
        " m.imported_json, e.seed, e.config_hash, ifnull((SELECT b.state FROM attempt b WHERE b.experiment_id = e.id"
        "  AND b.kind = 'train' ORDER BY b.state = 'ok' DESC, b.number DESC LIMIT 1), 'pending')"
        " FROM sweep_member m JOIN experiment e ON e.id = m.experiment_id WHERE m.sweep_id = ?1"
        " ORDER BY m.ordinal, m.case_key, e.seed, m.use_order DESC, e.id DESC");
    query.bind(sweep_id);
    struct Shown {
        std::size_t at;            // of the places
        std::string newest, hash;  // of the one planned last: its state
    };
    std::map<std::array<std::string, 4>, Shown> shown;
    std::vector<SweepPlace> places;
    while (query.step()) {
        const SweepPlace next{query.integer(0), query.text(1), query.text(2), query.integer(3),
                              query.text(4),    query.text(5), query.text(6), query.text(7)};
        const std::string seed = next.seeds.empty() ? query.text(8) : next.seeds, hash = query.text(9),
                          state = query.text(10);
        const auto [found, fresh] =
            shown.try_emplace({next.stage, next.recipe, next.axes_json, seed}, Shown{places.size(), state, hash});
        if (fresh) {
            places.push_back(next);
        } else if (SweepPlace& place = places[found->second.at];
                   state == "ok" && found->second.newest != "ok" && place.newer_state.empty()) {
            place = next;
            place.newer_state = found->second.newest;
            place.newer_hash = found->second.hash;
        }
    }
    return places;
}

}  // namespace deft::results_db
