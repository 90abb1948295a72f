#include "engine/data/bert/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace deft::engine {

namespace {

void copy_row(const std::vector<std::int32_t>& from, std::vector<std::int32_t>& to, std::int64_t begin) {
    std::copy(from.begin(), from.end(), to.begin() + begin);
}

void clear(BertBatch& batch, std::int32_t pad) {
    const auto size = static_cast<std::size_t>(batch.rows * batch.seqlen);
    batch.tokens.assign(size, pad);
    batch.types.assign(size, 0);
    batch.labels.assign(size, kernels::kIgnoreTarget);
    batch.position.assign(size, 0);
    batch.place.assign(size, -1);
}

}  // namespace

std::int64_t row_length(std::span<const std::int64_t> lengths, std::int64_t multiple, std::int64_t most) {
    std::int64_t longest = 0;
    for (const std::int64_t length : lengths) longest = std::max(longest, length);
    return std::min((longest + multiple - 1) / multiple * multiple, most);
}

std::vector<BertPlace> one_a_row(std::span<const std::int64_t> lengths) {
    std::vector<BertPlace> places;
    for (const std::int64_t length : lengths) {
        const auto row = static_cast<std::int64_t>(places.size());
        places.push_back({.draw = row, .row = row, .length = length});
    }
    return places;
}

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

void fill_batch(BertReader& reader, std::span<const BertDraw> draws, std::int64_t length,
                std::span<const BertPlace> places, std::int64_t seqlen, BertBatch& batch) {
    batch.rows = places.empty() ? 0 : places.back().row + 1;
    batch.seqlen = seqlen;
    batch.places.assign(places.begin(), places.end());
    clear(batch, reader.samples().wordpiece()->vocabulary().pad);
    std::int32_t number = 0;
    for (BertPlace& place : batch.places) {
        const BertSample& sample = reader.read(draws[static_cast<std::size_t>(place.draw)], length);
        if (sample.length() != place.length || place.begin + place.length > seqlen)
            throw Error(ErrorKind::usage, fmt::format("a sample of {} tokens at a place of {} in a row of {}",
                                                      sample.length(), place.length, seqlen));
        const std::int64_t begin = place.row * seqlen + place.begin;
        place.order = sample.order;
        copy_row(sample.tokens, batch.tokens, begin);
        copy_row(sample.types, batch.types, begin);
        copy_row(sample.labels, batch.labels, begin);
        std::iota(batch.position.begin() + begin, batch.position.begin() + begin + place.length, 0);
        std::fill_n(batch.place.begin() + begin, place.length, number++);
    }
}

std::vector<std::int64_t> cut_lengths(const BertSamples& samples, std::span<const BertDraw> draws,
                                      std::int64_t length) {
    std::vector<std::int64_t> lengths;
    for (const BertDraw& draw : draws) lengths.push_back(std::min(samples.real_length(draw.sample), length));
    return lengths;
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
