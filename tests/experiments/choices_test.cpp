// Settings with a fixed set of values: each name is read, written and refused by one table.

#include "experiments/choices.h"

#include <fmt/format.h>

#include <filesystem>
#include <regex>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "experiments/config_fields.h"
#include "experiments/curriculum_entries.h"
#include "tests/catch.h"
#include "tests/experiments/known_data.h"
#include "tests/experiments/trial_config.h"

using namespace deft;
using namespace deft::experiments;
using test::trial_of;
using test::wrong_trial;

namespace {

// A table of a trial read alone, without the rules that tie keys to each other.
template <class Record>
Record read_alone(const std::string& toml) {
    const ConfigNode node = parse_toml(toml, "t.toml");
    TableReader reader(node, "table");
    Record record;
    read_table(reader, record);
    return record;
}

// Every enumeration of the table reads and writes each of its names. Returns how many there are.
template <class Record>
int check_choices() {
    int choices = 0;
    const Record plain;
    for (const Field& field : fields_of(plain)) {
        if (field.names == nullptr) continue;
        ++choices;
        CAPTURE(field.key);
        REQUIRE(field.rules.one_of.size() >= 2);
        CHECK(std::set<std::string>(field.rules.one_of.begin(), field.rules.one_of.end()).size() ==
              field.rules.one_of.size());
        const bool is_local = field.rules.role == FieldRole::local;
        for (const std::string& name : field.rules.one_of) {
            const auto read = read_alone<Record>(fmt::format("{} = \"{}\"\n", field.key, name));
            const Json written = fields_json(read, is_local ? FieldPart::local : FieldPart::all_but_local);
            CHECK(written.at(field.key) == Json(name));
        }
        const std::string wrong = field.rules.one_of.back() + "x";
        CHECK_THAT(
            test::refusal([&] { read_alone<Record>(fmt::format("\n{} = \"{}\"\n", field.key, wrong)); }),
            ContainsSubstring("t.toml:2:") && ContainsSubstring("did you mean \"" + field.rules.one_of.back() + "\"?"));
    }
    return choices;
}

// Comparisons of a member with a text, as "decay == step".
std::vector<std::string> comparisons_in(const std::string& code) {
    static const std::regex comparison("[.>]([a-z_]+) ([=!]=) \"([^\"]*)\"");
    std::vector<std::string> found;
    for (std::sregex_iterator at(code.begin(), code.end(), comparison), end; at != end; ++at)
        found.push_back((*at)[1].str() + " == " + (*at)[3].str());
    return found;
}

}  // namespace

TEST_CASE("every name of every enumerated setting survives TOML and JSON, and others are refused with their place") {
    CHECK(check_choices<ModelConfig>() == 5);
    CHECK(check_choices<DataConfig>() == 1);
    CHECK(check_choices<BertSamplesConfig>() == 1);
    CHECK(check_choices<TrainConfig>() == 7);
    CHECK(check_choices<CurriculumMetric>() == 2);
    CHECK(check_choices<BatchRampConfig>() == 1);
    CHECK(check_choices<VariableBatchConfig>() == 1);
    CHECK(check_choices<EvalConfig>() == 2);
}

TEST_CASE("an unknown decay is refused with its place") {
    CHECK_THAT(
        wrong_trial("[train]\nbudget_tokens = 100000\ndecay = \"cosin\"\n"),
        ContainsSubstring("t.toml:3:9: train.decay is \"cosin\", which is none of: cosine, linear, constant, step") &&
            ContainsSubstring("did you mean \"cosine\"?"));
    CHECK(trial_of("[train]\nbudget_tokens = 100000\ndecay = \"constant\"\n").train.decay == engine::Decay::constant);
}

TEST_CASE("no code of a trial compares an enumerated setting, or an entry of a registry, by its name") {
    std::set<std::string> names;
    for (const KeyTable& table : trial_tables())
        for (const Field& field : table.fields)
            if (field.names != nullptr)
                for (const std::string& name : field.rules.one_of)
                    names.insert(fmt::format("{} == {}", field.key, name));
    for (const std::string& name : names_of<BuiltInCorpus>()) names.insert("corpus == " + name);
    for (const std::string& name : names_of<BuiltInTokenizer>()) names.insert("tokenizer == " + name);
    for (const CurriculumEntry& entry : curriculum_entries()) names.insert(fmt::format("metric == {}", entry.use.name));
    for (const engine::TokenDropper& dropper : engine::token_droppers())
        names.insert(fmt::format("dropper == {}", dropper.name));
    CHECK(names.size() > 50);
    int files = 0;
    // Reports read stored texts, which have no enumeration.
    for (const char* folder : {"experiments", "sweeps/spec", "sweeps/driver"})
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(std::filesystem::path(DEFT_SOURCE_DIR) / folder)) {
            if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
            ++files;
            for (const std::string& comparison : comparisons_in(read_file(entry.path()))) {
                INFO(entry.path().string() << ": " << comparison);
                CHECK(!names.contains(comparison));
            }
        }
    CHECK(files > 50);
    CHECK(comparisons_in("if (train.decay == \"step\" || a->metric != \"voc\")") ==
          std::vector<std::string>{"decay == step", "metric == voc"});
}
