#include "results_db/evidence/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace deft::results_db {

namespace {

// The places of each row in turn. Trials of one place, of which the newest is shown, are never told apart.
struct DealtPlaces {
    std::map<std::pair<std::size_t, std::size_t>, std::set<std::string>> trials;  // by number in the row, and row
    std::size_t rows = 0, count = 0;
};

DealtPlaces dealt(const std::vector<KnownPlace>& places) {
    std::map<std::string, std::pair<std::size_t, std::size_t>> earliest;
    DealtPlaces all;
    std::size_t number = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const bool is_row_before = i > 0 && places[i].row == places[i - 1].row;
        if (!is_row_before) ++all.rows;
        if (!is_row_before)
            number = 0;
        else if (places[i].seeds != places[i - 1].seeds)
            ++number;
        const std::pair at(number, all.rows);
        const auto [found, fresh] = earliest.emplace(places[i].config_hash, at);
        if (!fresh) found->second = std::min(found->second, at);
    }
    for (const auto& [hash, at] : earliest) all.trials[at].insert(hash);
    all.count = earliest.size();
    return all;
}

std::size_t most_of(const DealtPlaces& all) {
    return all.rows == 0 ? 1 : std::max<std::size_t>(1, all.count / all.rows);
}

}  // namespace

std::size_t most_parts(const std::vector<KnownPlace>& places) {
    return most_of(dealt(places));
}

std::vector<std::set<std::string>> hashes_of_parts(const std::vector<KnownPlace>& places, std::size_t parts) {
    const DealtPlaces all = dealt(places);
    if (parts < 1 || parts > most_of(all))
        throw Error(ErrorKind::usage,
                    fmt::format("{} in {} cannot be {} parts with a trial of every row in the first",
                                counted(all.count, "trial"), counted(all.rows, "row"), parts),
                    fmt::format("ask for {} at most", counted(most_of(all), "part")));
    std::vector<std::set<std::string>> hashes(parts);
    std::size_t before = 0;
    for (const auto& [at, trials] : all.trials) {
        hashes[before * parts / all.count].insert(trials.begin(), trials.end());
        before += trials.size();
    }
    return hashes;
}

std::vector<std::string> lacking_parts(const std::vector<NamedEvidence>& texts) {
    std::map<std::pair<std::string, std::size_t>, std::set<std::size_t>> taken;  // by sweep and number of parts
    for (const NamedEvidence& text : texts) {
        const Json first = try_parse_json(text.text.substr(0, text.text.find('\n')));
        if (!first.is_object()) continue;
        const Json part = first.value("part", Json()), of = first.value("parts", Json()), sweep = first.value("sweep", Json());
        if (part.is_number_unsigned() && of.is_number_unsigned() && sweep.is_string())
            taken[{sweep.get<std::string>(), std::min(of.get<std::size_t>(), kMostParts)}].insert(part.get<std::size_t>());
    }
    std::vector<std::string> lacking;
    for (const auto& [key, numbers] : taken) {
        std::vector<std::size_t> missing;
        for (std::size_t number = 1; number <= key.second; ++number)
            if (!numbers.contains(number)) missing.push_back(number);
        if (!missing.empty())
            lacking.push_back(fmt::format("{} was written as {} parts, of which these are not here: {}", key.first, key.second,
                                          fmt::join(missing, ", ")));
    }
    return lacking;
}

}  // namespace deft::results_db
