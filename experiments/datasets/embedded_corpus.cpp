#include "experiments/datasets/embedded_corpus.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/data/permutation.h"
#include "kernels/philox.h"

namespace deft::experiments {

namespace {

using kernels::RandomPurpose;

constexpr std::int64_t kEntities = 16;
constexpr std::int64_t kValues = 16;  // of each relation: one for each entity
constexpr const char* kRelations[] = {"color", "home", "craft"};
constexpr std::int64_t kRelationCount = 3;
constexpr std::int64_t kFillerWords = 400;
constexpr double kShortestDocument = 10, kLongestDocument = 4000;  // bytes

// Independent draws under one (seed, purpose, stream).
class Draws {
 public:
    Draws(std::uint64_t seed, RandomPurpose purpose, std::uint64_t stream)
        : seed_(seed), purpose_(purpose), stream_(stream) {}

    double uniform() { return kernels::philox_uniform(kernels::philox_u32(seed_, purpose_, 0, 0, stream_, next_++)); }
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(uniform() * static_cast<double>(n)); }

 private:
    std::uint64_t seed_;
    RandomPurpose purpose_;
    std::uint64_t stream_;
    std::uint32_t next_ = 0;
};

// Streams of the corpus purpose; documents take those from kFirstDocument on.
enum : std::uint64_t { kWordStream = 0, kFactStream = 1, kFirstDocument = 16 };
constexpr std::uint64_t kFirstValidDocument = std::uint64_t{1} << 32;

std::string make_word(Draws& draws, std::int64_t syllables) {
    static constexpr char consonants[] = "bdfgklmnprstvz";
    static constexpr char vowels[] = "aeiou";
    std::string word;
    for (std::int64_t i = 0; i < syllables; ++i) {
        word += consonants[draws.below(sizeof consonants - 1)];
        word += vowels[draws.below(sizeof vowels - 1)];
    }
    if (draws.uniform() < 0.5) word += consonants[draws.below(sizeof consonants - 1)];
    return word;
}

struct World {
    std::vector<std::string> entities;
    std::vector<std::vector<std::string>> values;     // [relation][value]
    std::vector<std::vector<std::int64_t>> value_of;  // [relation][entity], a bijection
    std::vector<std::string> filler;                  // most frequent first
    std::vector<double> filler_cumulative;            // Zipf: the k-th word has weight 1 / k

    explicit World(std::uint64_t seed) {
        Draws draws(seed, RandomPurpose::corpus, kWordStream);
        std::set<std::string> taken;
        const auto fresh_word = [&](std::int64_t syllables) {
            std::string word = make_word(draws, syllables);
            while (!taken.insert(word).second) word = make_word(draws, syllables);
            return word;
        };
        for (std::int64_t e = 0; e < kEntities; ++e) {
            entities.push_back(fresh_word(2));
            entities.back()[0] = static_cast<char>(entities.back()[0] - 'a' + 'A');
        }
        for (std::int64_t r = 0; r < kRelationCount; ++r) {
            values.emplace_back();
            for (std::int64_t v = 0; v < kValues; ++v) values.back().push_back(fresh_word(2));
            const engine::Permutation assignment(kEntities, seed, RandomPurpose::corpus,
                                                 kFactStream + static_cast<std::uint64_t>(r));
            value_of.emplace_back();
            for (std::uint64_t e = 0; e < kEntities; ++e)
                value_of.back().push_back(static_cast<std::int64_t>(assignment(e)));
        }
        double total = 0;
        for (std::int64_t k = 1; k <= kFillerWords; ++k) {
            filler.push_back(fresh_word(1 + draws.below(3)));
            filler_cumulative.push_back(total += 1 / static_cast<double>(k));
        }
    }

    std::string fact_context(std::int64_t relation, std::int64_t entity) const {
        return std::string("the ") + kRelations[relation] + " of " + entities[static_cast<std::size_t>(entity)] + " is";
    }
    const std::string& value(std::int64_t relation, std::int64_t v) const {
        return values[static_cast<std::size_t>(relation)][static_cast<std::size_t>(v)];
    }
    std::int64_t true_value(std::int64_t relation, std::int64_t entity) const {
        return value_of[static_cast<std::size_t>(relation)][static_cast<std::size_t>(entity)];
    }

    std::string filler_sentence(Draws& draws) const {
        std::string sentence;
        const std::int64_t words = 3 + draws.below(8);
        for (std::int64_t w = 0; w < words; ++w) {
            const double at = draws.uniform() * filler_cumulative.back();
            const auto found = std::upper_bound(filler_cumulative.begin(), filler_cumulative.end(), at);
            if (w > 0) sentence += ' ';
            sentence += filler[static_cast<std::size_t>(found - filler_cumulative.begin())];
        }
        return sentence + ".";
    }

    std::string fact_sentence(Draws& draws, bool shuffled) const {
        const std::int64_t relation = draws.below(kRelationCount), entity = draws.below(kEntities);
        const std::int64_t v = shuffled ? draws.below(kValues) : true_value(relation, entity);
        return fact_context(relation, entity) + " " + value(relation, v) + ".";
    }

    std::string document(Draws& draws, bool shuffled) const {
        const double length = kShortestDocument * std::pow(kLongestDocument / kShortestDocument, draws.uniform());
        std::string text;
        while (static_cast<double>(text.size()) < length) {
            if (!text.empty()) text += ' ';
            text += draws.uniform() < 0.5 ? fact_sentence(draws, shuffled) : filler_sentence(draws);
        }
        return text;
    }
};

std::vector<std::string> documents(const World& world, std::uint64_t seed, std::uint64_t first_stream,
                                   std::int64_t bytes, bool shuffled) {
    std::vector<std::string> result;
    std::int64_t written = 0;
    for (std::uint64_t stream = first_stream; written < bytes; ++stream) {
        Draws draws(seed, RandomPurpose::corpus, stream);
        result.push_back(world.document(draws, shuffled));
        written += static_cast<std::int64_t>(result.back().size());
    }
    return result;
}

}  // namespace

EmbeddedCorpus make_embedded_corpus(std::uint64_t seed, std::int64_t bytes, bool shuffled_facts) {
    const World world(seed);
    return {documents(world, seed, kFirstDocument, bytes, shuffled_facts),
            documents(world, seed, kFirstValidDocument, bytes / 10, shuffled_facts)};
}

std::vector<FourWayQuestion> embedded_questions(std::uint64_t seed, std::int64_t count) {
    const World world(seed);
    std::vector<FourWayQuestion> questions;
    for (std::int64_t q = 0; q < count; ++q) {
        Draws draws(seed, RandomPurpose::questions, static_cast<std::uint64_t>(q));
        const std::int64_t fact = q % (kEntities * kRelationCount);
        const std::int64_t relation = fact % kRelationCount, entity = fact / kRelationCount;
        std::vector<std::int64_t> picked{world.true_value(relation, entity)};
        while (picked.size() < 4) {
            const std::int64_t v = draws.below(kValues);
            if (std::find(picked.begin(), picked.end(), v) == picked.end()) picked.push_back(v);
        }
        const std::int64_t gold = draws.below(4);
        std::swap(picked[0], picked[static_cast<std::size_t>(gold)]);
        FourWayQuestion question;
        question.context = world.filler_sentence(draws) + " " + world.fact_context(relation, entity);
        for (const std::int64_t v : picked) question.choices.push_back(" " + world.value(relation, v) + ".");
        question.gold = gold;
        questions.push_back(std::move(question));
    }
    return questions;
}

std::vector<LastWordQuestion> embedded_last_words(std::uint64_t seed, std::int64_t count) {
    const World world(seed);
    std::vector<LastWordQuestion> questions;
    for (std::int64_t q = 0; q < count; ++q) {
        Draws draws(seed, RandomPurpose::questions, (std::uint64_t{1} << 32) + static_cast<std::uint64_t>(q));
        const std::int64_t fact = q % (kEntities * kRelationCount);
        const std::int64_t relation = fact % kRelationCount, entity = fact / kRelationCount;
        questions.push_back({world.filler_sentence(draws) + " " + world.fact_context(relation, entity),
                             " " + world.value(relation, world.true_value(relation, entity)) + "."});
    }
    return questions;
}

}  // namespace deft::experiments
