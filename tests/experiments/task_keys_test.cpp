// The table of a task file's keys has those that the parser takes, and no other.

#include <map>
#include <set>
#include <sstream>

#include "experiments/evaluation/task_keys.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::experiments;

namespace {

const std::string kNamed = "name = \"n\"\nversion = \"1\"\nsplit = \"s\"\n";
const std::string kFile = "file = \"f\"\nformat = \"tsv\"\ncolumns = [\"a\"]\n";
const std::string kGenerator = "generator = \"embedded_questions\"\ncount = 3\n";
const std::string kChoice = "kind = \"multiple_choice\"\nmetrics = [\"acc\"]\n";
const std::string kChoicePrompt = "text = \"t\"\nchoice_list = \"l\"\ngold = \"g\"\n";

// The keys that a refusal of an unknown one names.
void add_known(const std::string& toml, std::set<std::string>& keys) {
    INFO(toml);
    try {
        parse_task(toml, "t.toml", ".");
    } catch (const Error& error) {
        const std::string message = error.what();
        const std::size_t at = message.find("known here: ");
        REQUIRE(at != std::string::npos);
        std::istringstream list(message.substr(at + 12, message.find('\n', at) - at - 12));
        for (std::string key; std::getline(list >> std::ws, key, ',');) keys.insert(key);
        return;
    }
    FAIL("accepted");
}

}  // namespace

TEST_CASE("the table of task keys has every key that the parser takes, and no other") {
    const std::string odd = "qqqqqqqqqq = 1\n";
    const std::string prompt = "[prompt]\n" + kChoicePrompt;
    std::map<std::string, std::set<std::string>> known;
    add_known(odd + kNamed + kChoice + "[records]\n" + kFile + prompt, known[""]);
    add_known(kNamed + kChoice + "[records]\n" + kFile + odd + prompt, known["records"]);
    add_known(kNamed + kChoice + "[records]\n" + kGenerator + odd + prompt, known["records"]);
    add_known(kNamed + kChoice + "[records]\n" + kFile + prompt + "[shot_pool]\n" + kFile + odd, known["shot_pool"]);
    add_known(kNamed + kChoice + "[records]\n" + kFile + "[shot_pool]\n" + kGenerator + odd + prompt,
              known["shot_pool"]);
    add_known(kNamed + kChoice + "[records]\n" + kFile + prompt + odd, known["prompt"]);
    add_known(kNamed + "kind = \"last_word\"\nmetrics = [\"acc\"]\n[records]\n" + kFile +
                  "[prompt]\ntext = \"t\"\ntarget = \"w\"\n" + odd,
              known["prompt"]);
    add_known(kNamed + "kind = \"short_answer\"\nmetrics = [\"acc\"]\n[records]\n" + kFile +
                  "[prompt]\ntext = \"t\"\nanswers = \"a\"\n" + odd,
              known["prompt"]);
    add_known(kNamed + kChoice + "[records]\n" + kFile +
                  "[prompt]\ntext = \"t\"\nchoice_list = \"l\"\nanswers = \"a\"\n" + odd,
              known["prompt"]);
    const std::string perplexity =
        kNamed + "kind = \"perplexity\"\nmetrics = [\"word_perplexity\"]\n[records]\n" + kFile;
    add_known(perplexity + "[prompt]\ntext = \"t\"\n" + odd, known["prompt"]);
    add_known(perplexity + "[prompt]\ntext = \"t\"\n[perplexity]\n" + odd, known["perplexity"]);
    const std::string labelled = kNamed + "kind = \"classification\"\nmetrics = [\"acc\"]\n";
    const std::string records = "[records]\n" + kFile, train = "[train]\n" + kFile;
    const std::string texts = "[texts]\nfirst = \"{a}\"\nlabel = \"b\"\nlabels = [1, 2]\n";
    add_known(odd + labelled + records + train + texts, known[""]);
    add_known(labelled + records + train + odd + texts, known["train"]);
    add_known(labelled + records + train + texts + odd, known["texts"]);
    add_known(labelled + records + train + texts + "[[further_splits]]\nsplit = \"f\"\n" + kFile + odd,
              known["further_splits"]);
    known[""].insert("perplexity");  // another kind's
    const std::string timed = kNamed + "kind = \"generation\"\nmetrics = [\"ms_per_token\"]\n";
    add_known(odd + timed, known[""]);
    add_known(timed + "[generation]\n" + odd, known["generation"]);
    for (const KeyTable& table : task_tables())
        if (!table.path.empty()) CHECK(known[""].erase(table.path) == 1);
    for (const KeyTable& table : task_tables()) {
        INFO(table.path);
        std::set<std::string> keys;
        for (const Field& field : table.fields) keys.insert(field.key);
        CHECK(keys == known[table.path]);
    }
}
