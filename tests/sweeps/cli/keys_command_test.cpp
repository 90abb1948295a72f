// deft keys: every key with its meaning, and schemas by which editors check sweep and task files.

#include <sstream>

#include "base/json.h"
#include "base/process.h"
#include "tests/python.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

namespace fs = std::filesystem;

const fs::path kSource = DEFT_SOURCE_DIR;

// Whether the validator finds every one of `files` right; skips the test without a validator.
Ran validate(const std::string& schema, const std::vector<fs::path>& files) {
    const char* script =
        "import sys, json\n"
        "try: import jsonschema, tomllib\n"
        "except ImportError: sys.exit(77)\n"
        "validator = jsonschema.Draft7Validator(json.load(open(sys.argv[1])))\n"
        "validator.check_schema(validator.schema)\n"
        "wrong = [(f, e.message) for f in sys.argv[2:] for e in validator.iter_errors(tomllib.load(open(f, 'rb')))]\n"
        "print(wrong)\n"
        "sys.exit(len(wrong) > 0)\n";
    std::vector<std::string> arguments = {"-c", script, (kSource / "schema" / schema).string()};
    for (const fs::path& file : files) arguments.push_back(file.string());
    const ProcessOutput result = test::run_python(arguments, "/usr/bin/python3");
    return {result.exit_code, result.out, ""};
}

std::vector<fs::path> toml_files(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    return files;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
}

// At most 25 words each, with a period at the end, and none begins with a word that only another sentence explains.
void require_short_sentences(const std::string& text) {
    INFO(text);
    CHECK(text.ends_with('.'));
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find(". ", start), text.size());
        std::istringstream sentence(text.substr(start, end - start));
        std::vector<std::string> words;
        for (std::string word; sentence >> word;) words.push_back(word);
        REQUIRE(!words.empty());
        CHECK(words.size() <= 25);
        for (const char* first : {"Of", "of", "By", "What", "what", "Likewise", "likewise", "Those"})
            CHECK(words.front() != first);
        start = end + 2;
    }
}

}  // namespace

TEST_CASE("deft keys prints each key's default, values, unit and meaning", "[bare][python]") {
    const TinySweep nothing("");
    const Ran all = nothing.deft("keys");
    CHECK(all.exit_code == kExitOk);
    for (const char* word : {"[sweep]", "[case]", "[train]", "[data.bert]", "[curriculum.METRIC]", "micro_batch_size",
                             "cosine | linear | constant", "Samples per optimizer step.", "required"})
        CHECK_THAT(all.out, ContainsSubstring(word));

    const Ran data = nothing.deft("keys", {"data"});
    CHECK_THAT(data.out,
               ContainsSubstring("[data]") && ContainsSubstring("[data.bert]") && !ContainsSubstring("[train]"));
    CHECK_THAT(nothing.deft("keys", {"curriculum.voc"}).out, ContainsSubstring("root_degree"));
    CHECK_THAT(nothing.deft("keys", {"task"}).out,
               ContainsSubstring("[task.prompt]") && ContainsSubstring("gold_values"));
    const Ran unknown = nothing.deft("keys", {"trian"});
    CHECK(unknown.exit_code == kExitUsage);
    CHECK_THAT(unknown.err,
               ContainsSubstring("no table or key matches trian") && ContainsSubstring("did you mean train?"));
    CHECK(nothing.deft("keys", {"--schema", "sweeps"}).exit_code == kExitUsage);

    const Json json = Json::parse(nothing.deft("keys", {"--json"}).out);
    std::size_t keys = 0;
    for (const Json& table : json.at("tables"))
        for (const Json& key : table.at("keys")) {
            INFO(key.dump());
            CHECK(!key.at("meaning").get<std::string>().empty());
            CHECK(!key.at("default").get<std::string>().empty());
            CHECK(!key.at("allowed").get<std::string>().empty());
            ++keys;
        }
    CHECK(keys > 100);
}

TEST_CASE("the meaning of every key and table consists of short sentences", "[bare][python]") {
    const TinySweep nothing("");
    for (const std::string table : {"", "task"}) {
        std::vector<std::string> arguments = {"--json"};
        if (!table.empty()) arguments.push_back(table);
        const Json json = Json::parse(nothing.deft("keys", arguments).out);
        for (const Json& each : json.at("tables")) {
            require_short_sentences(each.at("meaning").get<std::string>());
            for (const Json& key : each.at("keys")) require_short_sentences(key.at("meaning").get<std::string>());
        }
    }
}

TEST_CASE("deft keys finds keys by their path and by a part of a name", "[bare][python]") {
    const TinySweep nothing("");
    const Ran one = nothing.deft("keys", {"train.learning_rate"});
    CHECK(one.exit_code == kExitOk);
    CHECK_THAT(one.out, ContainsSubstring("[train]") && ContainsSubstring("learning_rate"));
    CHECK_THAT(one.out, !ContainsSubstring("batch_size"));

    const Json matches = Json::parse(nothing.deft("keys", {"learning_rate", "--json"}).out);
    CHECK(!matches.at("tables").empty());
    for (const Json& table : matches.at("tables")) {
        CHECK(!table.at("keys").empty());
        for (const Json& key : table.at("keys"))
            CHECK_THAT(key.at("key").get<std::string>(), ContainsSubstring("learning_rate"));
    }
    CHECK_THAT(nothing.deft("keys", {"train.learning_rat3"}).err,
               ContainsSubstring("did you mean train.learning_rate?"));
    CHECK_THAT(nothing.deft("keys", {"curriculum.voc.root_degree"}).out,
               ContainsSubstring("[curriculum.METRIC]") && ContainsSubstring("root_degree"));
}

TEST_CASE("the schemas in schema/ are those that this program writes", "[bare][python]") {
    const TinySweep nothing("");
    for (const std::string name : {"sweep", "task"}) {
        INFO("./deft keys --schema " << name << " > schema/" << name << ".json");
        CHECK(nothing.deft("keys", {"--schema", name}).out == read_file(kSource / "schema" / (name + ".json")));
    }
}

TEST_CASE("the schemas take the repository's sweep and task files, and refuse what the program refuses",
          "[bare][python]") {
    const Ran sweeps = validate("sweep.json", toml_files(kSource / "sweeps"));
    if (sweeps.exit_code == 77) DEFT_SKIP("no jsonschema for /usr/bin/python3 (Debian: python3-jsonschema)");
    CHECK(sweeps.out == "[]\n");
    CHECK(validate("task.json", toml_files(kSource / "experiments" / "tasks")).out == "[]\n");

    const test::Folder folder;
    const auto refused = [&](const std::string& schema, const fs::path& good, const std::string& what,
                             const std::string& by, const std::string& why) {
        const fs::path file = folder.write("wrong.toml", replaced(read_file(kSource / good), what, by));
        CHECK_THAT(validate(schema, {file}).out, ContainsSubstring(why));
    };
    const fs::path sweep = "sweeps/quickstart.toml", task = "experiments/tasks/piqa.toml";
    refused("sweep.json", sweep, "batch_size = 8", "batchsize = 8", "'batchsize' was unexpected");
    refused("sweep.json", sweep, "batch_size = 8", "batch_size = \"8\"", "is not of type 'integer'");
    refused("sweep.json", sweep, "batch_size = 8", "batch_size = 0", "less than the minimum of 1");
    refused("sweep.json", sweep, "[[case]]\nname", "[[case]]\nnmae", "is not of type 'object'");
    refused("sweep.json", sweep, "[scale.proxy]\nseeds", "[scale.proxy]\nsedes", "'sedes' was unexpected");
    refused("task.json", task, "gold =", "glod =", "'glod' was unexpected");
    refused("task.json", task, "\"multiple_choice\"", "\"multiple\"", "is not one of");
    refused("task.json", task, "format = \"jsonl\"", "format = 3", "3 is not");
    refused("task.json", task, "[records]", "[train]", "'records' is a required property");
}
