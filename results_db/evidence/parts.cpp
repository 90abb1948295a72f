#include "results_db/evidence/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace deft::results_db {

namespace {

// The trials in the order of their first places in the table. Trials of one place, of which the newest is shown, stay
// together.
std::vector<std::set<std::string>> trials_by_place(const std::vector<KnownPlace>& places) {
    std::vector<std::set<std::string>> trials;
    std::set<std::string> dealt;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const bool is_new = i == 0 || places[i].row != places[i - 1].row || places[i].seeds != places[i - 1].seeds;
        if (is_new && (trials.empty() || !trials.back().empty())) trials.emplace_back();
        if (dealt.insert(places[i].config_hash).second) trials.back().insert(places[i].config_hash);
    }
    if (!trials.empty() && trials.back().empty()) trials.pop_back();
    return trials;
}

constexpr std::size_t kMostListed = 20;

}  // namespace

std::size_t most_parts(const std::vector<KnownPlace>& places) {
    return std::clamp<std::size_t>(trials_by_place(places).size(), 1, kMostParts);
}

std::vector<std::set<std::string>> hashes_of_parts(const std::vector<KnownPlace>& places, std::size_t parts) {
    const std::vector<std::set<std::string>> trials = trials_by_place(places);
    if (parts < 1 || parts > most_parts(places))
        throw Error(ErrorKind::usage,
                    fmt::format("{} cannot be {} parts with a trial in each", counted(trials.size(), "trial"), parts),
                    fmt::format("ask for {} at most", counted(most_parts(places), "part")));
    std::vector<std::set<std::string>> hashes(parts);
    for (std::size_t i = 0; i < trials.size(); ++i)
        hashes[i * parts / trials.size()].insert(trials[i].begin(), trials[i].end());
    return hashes;
}

std::vector<std::string> lacking_parts(const std::vector<NamedEvidence>& texts) {
    std::map<std::pair<std::string, std::size_t>, std::set<std::size_t>> taken;  // by sweep and number of parts
    for (const NamedEvidence& text : texts) {
        const Json first = try_parse_json(text.text.substr(0, text.text.find('\n')));
        if (!first.is_object()) continue;
        const Json part = first.value("part", Json()), of = first.value("parts", Json()),
                   sweep = first.value("sweep", Json());
        if (part.is_number_unsigned() && of.is_number_unsigned() && sweep.is_string())
            taken[{sweep.get<std::string>(), std::min(of.get<std::size_t>(), kMostParts)}].insert(
                part.get<std::size_t>());
    }
    std::vector<std::string> lacking;
    for (const auto& [key, numbers] : taken) {
        std::vector<std::string> missing;
        for (std::size_t number = 1; number <= key.second; ++number)
            if (!numbers.contains(number)) missing.push_back(std::to_string(number));
        if (!missing.empty())
            lacking.push_back(fmt::format("{} was written as {} parts, of which these are not here: {}", key.first,
                                          key.second, first_of(missing, kMostListed)));
    }
    return lacking;
}

}  // namespace deft::results_db
