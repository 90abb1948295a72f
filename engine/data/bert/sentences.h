#pragma once
// Where a document's sentences end: a rule simple enough to state, for languages with full stops.

#include <cstdint>
#include <string_view>
#include <vector>

namespace deft::engine {

enum class SentenceRule : std::uint8_t {
    // A sentence ends
    //   at an empty line;
    //   behind one or more of . ! ? and U+2026, with the closing quotes and brackets that follow, where whitespace and
    //   then no lower-case letter of ASCII comes next; but not behind the stop of a single capital letter ("J. Smith")
    //   or of a title or other short form that goes before a name or number (Mr. Dr. St. No. ...);
    //   behind the ideographic stops U+3002, U+FF01 and U+FF1F, with what closes there.
    punctuation,
    // Every line is one, as in corpora that are already split.
    lines,
};

// Parts of the text, in order, none empty, without ASCII whitespace at their ends; they hold all the rest of the text.
std::vector<std::string_view> split_sentences(std::string_view text, SentenceRule rule);

}  // namespace deft::engine
