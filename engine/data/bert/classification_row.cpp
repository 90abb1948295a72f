#include "engine/data/bert/classification_row.h"

#include <fmt/format.h>

#include "base/error.h"

namespace deft::engine {

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
