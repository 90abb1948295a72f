#include "engine/data/bpe/bpe.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace deft::engine {

Bpe::Bpe(BpeVocabulary vocabulary) : vocabulary_(std::move(vocabulary)), ranks_(vocabulary_.merges.size()) {
    for (std::size_t id = 0; id < vocabulary_.tokens.size(); ++id) {
        const std::string& bytes = vocabulary_.tokens[id];
        if (bytes.size() == 1) byte_ids_[static_cast<unsigned char>(bytes[0])] = static_cast<std::int32_t>(id);
    }
    for (std::size_t rank = 0; rank < vocabulary_.merges.size(); ++rank) {
        const Merge& merge = vocabulary_.merges[rank];
        ranks_.insert(token_pair(merge.left, merge.right), static_cast<std::int32_t>(rank));
    }
}

void Bpe::encode_piece(std::string_view piece, std::vector<std::int32_t>& out) const {
    piece.size() <= kShort ? encode_short(piece, out) : encode_long(piece, out);
}

// Quadratic in the piece's length, and for usual pieces faster than anything cleverer.
void Bpe::encode_short(std::string_view piece, std::vector<std::int32_t>& out) const {
    constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();  // -1 as unsigned: ranks below every pair's
    std::array<std::int32_t, kShort> token;
    std::array<std::uint32_t, kShort> pair_rank;  // of token i and i + 1
    std::size_t count = piece.size();
    const auto update = [&](std::size_t i) {
        pair_rank[i] = i + 1 < count ? static_cast<std::uint32_t>(rank(token[i], token[i + 1])) : kNone;
    };
    for (std::size_t i = 0; i < count; ++i) token[i] = byte_ids_[static_cast<unsigned char>(piece[i])];
    for (std::size_t i = 0; i < count; ++i) update(i);
    while (count > 1) {
        const auto lowest = std::min_element(pair_rank.begin(), pair_rank.begin() + count);
        if (*lowest == kNone) break;
        const std::size_t i = lowest - pair_rank.begin();
        token[i] = vocabulary_.merges[*lowest].result;
        std::copy(token.begin() + i + 2, token.begin() + count, token.begin() + i + 1);
        std::copy(pair_rank.begin() + i + 2, pair_rank.begin() + count, pair_rank.begin() + i + 1);
        --count;
        update(i);
        if (i > 0) update(i - 1);
    }
    out.insert(out.end(), token.begin(), token.begin() + count);
}

// n log n: a queue of mergeable pairs over a linked list. Entries that a merge outdated are dropped when they come up.
void Bpe::encode_long(std::string_view piece, std::vector<std::int32_t>& out) const {
    struct Node {
        std::int32_t token;
        std::int32_t pair_rank;  // of this token and the next, -1 for none
        std::size_t previous, next;
    };
    using Entry = std::pair<std::int32_t, std::size_t>;  // rank, position of the left token
    const std::size_t end = piece.size();
    std::vector<Node> nodes(end);
    for (std::size_t i = 0; i < end; ++i)
        nodes[i] = {byte_ids_[static_cast<unsigned char>(piece[i])], -1, i - 1, i + 1};  // [0].previous is never used

    std::vector<Entry> entries;
    const auto update = [&](std::size_t i) {
        Node& node = nodes[i];
        node.pair_rank = node.next < end ? rank(node.token, nodes[node.next].token) : -1;
        return node.pair_rank >= 0;
    };
    for (std::size_t i = 0; i < end; ++i)
        if (update(i)) entries.emplace_back(nodes[i].pair_rank, i);
    std::priority_queue queue(std::greater<Entry>(), std::move(entries));

    while (!queue.empty()) {
        const auto [lowest, i] = queue.top();
        queue.pop();
        Node& left = nodes[i];
        if (left.pair_rank != lowest) continue;
        Node& right = nodes[left.next];
        left.token = vocabulary_.merges[lowest].result;
        left.next = right.next;
        right.pair_rank = -1;
        if (left.next < end) nodes[left.next].previous = i;
        if (update(i)) queue.emplace(left.pair_rank, i);
        if (i > 0 && update(left.previous)) queue.emplace(nodes[left.previous].pair_rank, left.previous);
    }
    for (std::size_t i = 0; i < end; i = nodes[i].next) out.push_back(nodes[i].token);
}

}  // namespace deft::engine
