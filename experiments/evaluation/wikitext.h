#pragma once
// WikiText's files of articles, and its spaced-out text as people write it.

#include <string>
#include <string_view>
#include <vector>

namespace deft::experiments {

struct Article {
    std::string page;  // as in the file, headings included
    int line = 0;      // of its heading, from 1
};

// An article goes from a line " = Title = " to the next; blank text in front of the first one is dropped.
std::vector<Article> wikitext_articles(std::string_view text);

// lm-evaluation-harness's detokenizer: spaces around punctuation, @-@ and similar tokens are undone.
std::string wikitext_detokenized(std::string_view page);

}  // namespace deft::experiments
