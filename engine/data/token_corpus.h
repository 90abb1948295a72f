#pragma once
// A tokenised corpus in memory, packed: documents end to end, each closed by the end-of-document mark, cut into samples
// of equal length without regard to document borders.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deft::engine {

struct TokenCorpus {
    std::vector<std::uint16_t> tokens;
    std::int64_t bytes = 0;  // of the text, marks not counted
    std::int64_t documents = 0;

    void add_document(std::string_view text);

    // Sample i covers tokens [i * seqlen, i * seqlen + seqlen], the last one only as a target.
    std::int64_t samples(std::int64_t seqlen) const { return (static_cast<std::int64_t>(tokens.size()) - 1) / seqlen; }
};

// Writes the first `length` inputs and targets of sample `id` of that seqlen; length <= seqlen.
void copy_sample(const TokenCorpus& corpus, std::int64_t id, std::int64_t seqlen, std::int64_t length,
                 std::int32_t* token, std::int32_t* target);

}  // namespace deft::engine
