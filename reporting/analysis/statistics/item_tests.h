#pragma once
// Two models on the same documents: a statement about these two and no other, for nothing is known of their recipes
// from one seed each.

#include <cstddef>
#include <optional>
#include <span>

#include "reporting/analysis/statistics/verdict.h"

namespace deft::reporting {

struct ItemTest {
    std::size_t documents = 0;
    double difference = 0;  // mean of b less mean of a
    // For the difference, at 95%; nothing where all documents differ equally, which leaves no spread.
    std::optional<Interval> interval = {};
    double p_value = 1;  // two-sided
};

// Right or wrong. Of the documents on which they differ each is as likely to be the right one, were they equally good:
// the exact binomial test (McNemar 1947). The interval is Student's of the differences. Errors: data, without a
// document or where their numbers differ.
ItemTest mcnemar(std::span<const bool> a, std::span<const bool> b);

// A number a document: Student's paired t; without any spread there is none, and p is 1. Errors: data, below two
// documents, where their numbers differ, or for a value that is not finite.
ItemTest paired_items(std::span<const double> a, std::span<const double> b);

}  // namespace deft::reporting
