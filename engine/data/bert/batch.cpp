#include "engine/data/bert/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace deft::engine {

std::vector<BertPlace> packed(std::span<const std::int64_t> lengths, std::int64_t seqlen) {
    std::vector<std::size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
    std::vector<BertPlace> places;
    std::vector<std::int64_t> used;  // (rows)
    for (const std::size_t draw : order) {
        const std::int64_t length = lengths[draw];
        if (length > seqlen)
            throw Error(ErrorKind::usage, fmt::format("a sample of {} tokens in rows of {}", length, seqlen));
        const auto row =
            std::find_if(used.begin(), used.end(), [&](std::int64_t u) { return u + length <= seqlen; }) - used.begin();
        if (row == static_cast<std::ptrdiff_t>(used.size())) used.push_back(0);
        std::int64_t& end = used[static_cast<std::size_t>(row)];
        places.push_back({.draw = static_cast<std::int64_t>(draw), .row = row, .begin = end, .length = length});
        end += length;
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const BertPlace& a, const BertPlace& b) { return a.row < b.row; });
    return places;
}

namespace {

void append(std::span<const std::int32_t> text, std::int32_t closing, std::int32_t type, BertSample& row) {
    row.tokens.insert(row.tokens.end(), text.begin(), text.end());
    row.tokens.push_back(closing);
    row.types.resize(row.tokens.size(), type);
}

}  // namespace

BertSample classification_row(std::span<const std::int32_t> a, std::optional<std::span<const std::int32_t>> b,
                              const WordPieceVocabulary& vocabulary, std::int64_t longest) {
    if (longest < 2)
        throw Error(ErrorKind::config, fmt::format("a row of {} tokens cannot hold [CLS] and [SEP]", longest),
                    "give a length of 2 or more");
    BertSample row;
    row.tokens.push_back(vocabulary.cls);
    row.types.push_back(0);
    append(a, vocabulary.sep, 0, row);
    if (b) append(*b, vocabulary.sep, 1, row);
    if (row.length() <= longest) return row;
    row.tokens.resize(static_cast<std::size_t>(longest));
    row.types.resize(static_cast<std::size_t>(longest));
    row.tokens.back() = vocabulary.sep;
    row.types.back() = b ? 1 : 0;
    return row;
}

}  // namespace deft::engine
