#pragma once
// The embedded corpus: text generated from a seed, so that a sweep needs no download. Half of its sentences are facts
// of 16 entities x 3 relations that recur; the rest are filler words in Zipfian frequencies. Its questions ask for the
// facts.

#include <cstdint>
#include <string>
#include <vector>

namespace deft::experiments {

struct EmbeddedCorpus {
    std::vector<std::string> train;  // documents of ten to some thousand bytes
    std::vector<std::string> valid;
};

// About `bytes` bytes of training text and a tenth of that for validation. shuffled_facts draws the value of every fact
// at each mention: nothing to learn, the control for the questions.
EmbeddedCorpus make_embedded_corpus(std::uint64_t seed, std::int64_t bytes, bool shuffled_facts);

// "the color of Bolan is" + " amber": four values of the same relation, one right.
struct FourWayQuestion {
    std::string context;
    std::vector<std::string> choices;  // each with its leading space
    std::int64_t gold = 0;
};
std::vector<FourWayQuestion> embedded_questions(std::uint64_t seed, std::int64_t count);

// The value of a fact, to be predicted byte for byte.
struct LastWordQuestion {
    std::string context;
    std::string word;  // with its leading space and the closing full stop
};
std::vector<LastWordQuestion> embedded_last_words(std::uint64_t seed, std::int64_t count);

}  // namespace deft::experiments
