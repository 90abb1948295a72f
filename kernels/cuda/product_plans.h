#pragma once
// Which of the library's algorithms each product runs: cached by buckets of rows, so that a new sequence length costs
// no heuristic search. The policy alone: run() gets the library as three functions.

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/ceil_div.h"
#include "kernels/cuda/product.h"
#include "kernels/cuda/product_table.h"

namespace deft::kernels::cuda {

inline constexpr std::int64_t kRowsOfBucket = 128;

// The key with its rows raised to the end of their bucket. A search is made for these rows, whichever length came
// first: a resumed run has the same plans as an uninterrupted one.
inline ProductKey bucket_of(ProductKey key) {
    const std::int64_t rows = activation_rows(key.shape);
    key.shape = with_activation_rows(key.shape, ceil_div(rows, kRowsOfBucket) * kRowsOfBucket);
    return key;
}

struct PlanCounts {
    std::int64_t lookups = 0;   // products asked for
    std::int64_t hits = 0;      // of a known bucket
    std::int64_t searches = 0;  // of the library's heuristics, one a bucket, and one for rows that no plan takes
    std::int64_t tuned = 0;     // buckets whose first choice is the table's
    std::int64_t checks = 0;    // of an algorithm on rows that it was not found for
    std::int64_t refused = 0;   // algorithms that failed such a check, or when they were to run
};

class ProductPlans {
 public:
    explicit ProductPlans(std::optional<ProductTable> table = {}) : table_(std::move(table)) {}

    // Runs the product by the first algorithm of its bucket that fits its rows and is not refused, and returns that.
    // Rows that no algorithm of the bucket takes get a search of their own. Null, with nothing done, where that finds
    // none either.
    //   search(bucket): the library's algorithms for a key, the best first
    //   fits(algorithm): whether it takes the product's own rows
    //   starts(algorithm): runs it, or is false where the library refuses
    template <class Search, class Fits, class Starts>
    const LibraryAlgorithm* run(const ProductKey& key, const Search& search, const Fits& fits, const Starts& starts);

    const PlanCounts& counts() const { return counts_; }
    // Buckets that were asked for, and rows with a search of their own.
    std::vector<ProductKey> keys() const {
        std::vector<ProductKey> keys;
        for (const auto& [key, plan] : plans_) keys.push_back(key);
        return keys;
    }

 private:
    struct Plan {
        std::vector<LibraryAlgorithm> algorithms;
        std::size_t tuned = 0;  // those of them that the table gave, which come first
        bool is_searched = false;
        std::map<std::int64_t, std::size_t> choice_of_rows;  // an index of algorithms, or their number for none
    };
    Plan& plan_of(const ProductKey& bucket);
    template <class Search, class Fits, class Starts>
    const LibraryAlgorithm* run_planned(Plan& plan, const ProductKey& planned, const ProductKey& key,
                                        const Search& search, const Fits& fits, const Starts& starts);

    std::optional<ProductTable> table_;
    std::map<ProductKey, Plan> plans_;
    PlanCounts counts_;
};

inline ProductPlans::Plan& ProductPlans::plan_of(const ProductKey& bucket) {
    ++counts_.lookups;
    if (const auto known = plans_.find(bucket); known != plans_.end()) {
        ++counts_.hits;
        return known->second;
    }
    Plan plan;
    if (const LibraryAlgorithm* const tuned = table_ ? find_tuned(*table_, bucket) : nullptr) {
        ++counts_.tuned;
        plan.algorithms.push_back(*tuned);
        plan.tuned = 1;
    }
    return plans_.emplace(bucket, std::move(plan)).first->second;
}

// planned: the key that the plan's searches are for.
template <class Search, class Fits, class Starts>
const LibraryAlgorithm* ProductPlans::run_planned(Plan& plan, const ProductKey& planned, const ProductKey& key,
                                                  const Search& search, const Fits& fits, const Starts& starts) {
    const auto [at, is_new] = plan.choice_of_rows.try_emplace(activation_rows(key.shape), 0);
    std::size_t& choice = at->second;
    for (bool is_checked = !is_new;; ++choice, is_checked = false) {
        if (choice == plan.algorithms.size() && !std::exchange(plan.is_searched, true)) {
            ++counts_.searches;
            for (const LibraryAlgorithm& algorithm : search(planned)) plan.algorithms.push_back(algorithm);
        }
        if (choice == plan.algorithms.size()) return nullptr;
        const LibraryAlgorithm& algorithm = plan.algorithms[choice];
        const bool was_found_for_rows = planned == key && choice >= plan.tuned;
        const bool needs_check = !is_checked && !was_found_for_rows;
        if (needs_check) ++counts_.checks;
        if ((!needs_check || fits(algorithm)) && starts(algorithm)) return &algorithm;
        ++counts_.refused;
    }
}

template <class Search, class Fits, class Starts>
const LibraryAlgorithm* ProductPlans::run(const ProductKey& key, const Search& search, const Fits& fits,
                                          const Starts& starts) {
    const ProductKey bucket = bucket_of(key);
    const LibraryAlgorithm* const ran = run_planned(plan_of(bucket), bucket, key, search, fits, starts);
    if (ran != nullptr || key == bucket) return ran;
    return run_planned(plans_[key], key, key, search, fits, starts);
}

}  // namespace deft::kernels::cuda
