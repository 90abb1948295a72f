#include "experiments/evaluation/wikitext.h"

#include <algorithm>
#include <utility>

#include "experiments/evaluation/replace.h"
#include "experiments/evaluation/text_template.h"

namespace deft::experiments {

namespace {

constexpr std::pair<const char*, const char*> kSpaced[] = {
    {"s '", "s'"}, {" @-@ ", "-"}, {" @,@ ", ","}, {" @.@ ", "."}, {" : ", ": "},
    {" ; ", "; "}, {" . ", ". "},  {" ! ", "! "},  {" ? ", "? "},  {" , ", ", "}};
constexpr std::pair<char, char> kPairs[] = {{'(', ')'}, {'[', ']'}, {'{', '}'}, {'"', '"'}, {'\'', '\''}};
constexpr std::pair<const char*, const char*> kLast[] = {{"= = = =", "===="},    {"= = =", "==="}, {"= =", "=="},
                                                         {" \u00b0 ", "\u00b0"}, {" \n", "\n"},    {"\n ", "\n"},
                                                         {" N ", " 1 "},         {" 's", "'s"}};

// The text between an opening mark and the next closing one loses the white space at its ends, in one pass.
std::string inside_stripped(const std::string& text, char opening, char closing) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t open = text.find(opening, at);
        const std::size_t close = open == std::string::npos ? open : text.find(closing, open + 1);
        if (close == std::string::npos) return result + text.substr(at);
        result += text.substr(at, open + 1 - at);
        result += strip(std::string_view(text).substr(open + 1, close - open - 1));
        result += closing;
        at = close + 1;
    }
    return result;
}

bool is_title(std::string_view line) {
    const std::string tight = replaced_all(replaced_all(line, "= = =", "==="), "= =", "==");
    const std::string_view heading = strip(tight);
    return heading.starts_with("= ") && heading.ends_with(" =");
}

}  // namespace

std::vector<Article> wikitext_articles(std::string_view text) {
    std::vector<Article> articles;
    Article article{{}, 1};
    bool any_line = false;
    const auto finish = [&] {
        if (!strip(article.page).empty()) articles.push_back(std::move(article));
    };
    int number = 0;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        ++number;
        if (is_title(line)) {
            finish();
            article = {{}, number};
            any_line = false;
        }
        if (any_line) article.page += '\n';
        article.page += line;
        any_line = true;
        begin = end + 1;
    }
    finish();
    return articles;
}

std::string wikitext_detokenized(std::string_view page) {
    std::string text(page);
    for (const auto& [from, to] : kSpaced) text = replaced_all(text, from, to);
    for (const auto& [opening, closing] : kPairs) text = inside_stripped(text, opening, closing);
    for (const auto& [from, to] : kLast) text = replaced_all(text, from, to);
    return text;
}

}  // namespace deft::experiments
