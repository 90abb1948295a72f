// Text from a checkpoint: what it says, where it ends, what is refused, and Hugging Face's own continuation.

#include "experiments/generate.h"

#include <algorithm>

#include "base/config.h"
#include "base/files.h"
#include "base/json.h"
#include "experiments/checkpoints.h"
#include "experiments/trial.h"
#include "tests/catch.h"
#include "tests/experiments/whole_trial.h"
#include "tests/python.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;
namespace fs = std::filesystem;

namespace {

// A short trial's checkpoint.
struct Writer {
    explicit Writer(const std::string& data = "", const std::string& model = "") {
        const ConfigNode node = parse_toml("[model]\nlayers = 2\nwidth = 24\nheads = 4\nseqlen = 32\n" + model +
                                               "[data]\nembedded_bytes = 5000\n" + data +
                                               "[train]\nbatch_size = 4\nbudget_tokens = 4096\nlearning_rate = 1e-2\n"
                                               "[eval]\nvalidation_tokens = 500\n",
                                           "t.toml");
        TrialConfig config = parse_trial_config(node, 1, folder.path());
        resolve_data(config);
        test::train_and_score(config, folder.path());
        checkpoint = newest_checkpoint(folder / "checkpoints").value();
    }
    TrainedModel load(std::int64_t samples = 1, int threads = 1) const {
        return load_generator(checkpoint, {engine::Device::cpu, engine::DType::f32, threads}, samples);
    }

    test::TemporaryFolder folder;
    fs::path checkpoint;
};

}  // namespace

TEST_CASE("generated text is the decoding of its tokens, streamed as it is made", "[bare][python]") {
    for (const Writer& writer :
         {Writer(), Writer("tokenizer = \"bpe\"\nvocab = 300\n"), Writer("", "kind = \"llama\"\nkv_heads = 2\n")}) {
        TrainedModel trained = writer.load(3);
        std::string streamed;
        const GenerationRequest request{"The ", 12, 3, {0.9, 0, 0.95, 5}};
        const Generation made = generate(trained, request, [&](std::string_view bytes) { streamed += bytes; });
        const engine::Tokenizer& tokenizer = text_tokenizer(trained);
        CHECK(made.prompt_tokens == static_cast<std::int64_t>(tokenizer.encode("The ").size()));
        REQUIRE(made.texts.size() == 3);
        CHECK(streamed == made.texts[0].text);
        std::int64_t tokens = 0;
        for (const GeneratedText& text : made.texts) {
            tokens += static_cast<std::int64_t>(text.tokens.size());
            CHECK(text.text == tokenizer.decode(text.tokens));
            CHECK(text.log_probabilities.size() == text.tokens.size());
            CHECK(text.has_ended == (text.tokens.back() == tokenizer.end_of_document()));
            CHECK((text.has_ended || text.tokens.size() == 12));
            CHECK(std::count(text.tokens.begin(), text.tokens.end(), tokenizer.end_of_document()) ==
                  (text.has_ended ? 1 : 0));
        }
        CHECK(made.decoded_tokens == tokens - 3);
        CHECK_FALSE(made.met_length);
        CHECK(made.texts[0].tokens != made.texts[1].tokens);
        // The first of them is the one that is drawn alone.
        TrainedModel alone = writer.load();
        CHECK(generate(alone, {"The ", 12, 1, request.sampling}).texts[0].tokens == made.texts[0].tokens);
    }
}

TEST_CASE("a text ends with the model's positions, and a prompt must leave room", "[bare][python]") {
    const Writer writer;
    TrainedModel trained = writer.load();
    const Generation made = generate(trained, {"abc", 100, 1, {}});
    if (!made.texts[0].has_ended) {
        CHECK(made.met_length);
        CHECK(made.texts[0].tokens.size() == 29);
    }
    CHECK(generate(trained, {std::string(31, 'a'), 1, 1, {}}).texts[0].tokens.size() == 1);
    CHECK_FALSE(generate(trained, {std::string(31, 'a'), 1, 1, {}}).met_length);
    CHECK(test::refusal(
              [&] {
                  generate(trained, {std::string(32, 'a'), 1, 1, {}});
              },
              "the prompt has 32 tokens")
              .find("to 31 tokens") != std::string::npos);
    // Without a prompt a document begins.
    const Generation empty = generate(trained, {"", 5, 1, {}});
    CHECK(empty.prompt_tokens == 1);
    CHECK_FALSE(empty.texts[0].tokens.empty());
}

TEST_CASE("a model that cannot continue a text says why", "[bare][python]") {
    const test::TemporaryFolder folder;
    write_file_atomically(folder / "words.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n");
    std::string lines;
    for (int i = 0; i < 40; ++i) lines += "{\"text\": \"a b c a\\nb c a\\nc a b\\na b\"}\n";
    write_file_atomically(folder / "train.jsonl", lines);
    write_file_atomically(folder / "valid.jsonl", lines);
    TrialConfig config =
        parse_trial_config(parse_toml("[model]\nlayers = 1\nwidth = 8\nheads = 2\nseqlen = 16\n"
                                      "[data]\nsamples = \"bert\"\ntokenizer = \"words.txt\"\ncorpus = \"text\"\n"
                                      "train_files = [\"train.jsonl\"]\nvalid_files = [\"valid.jsonl\"]\n"
                                      "bert = { sentences = \"lines\" }\n"
                                      "[train]\nbatch_size = 4\nbudget_tokens = 640\n[eval]\nvalidation_tokens = 100\n",
                                      "t.toml"),
                           1, folder.path());
    resolve_data(config);
    test::train_and_score(config, folder.path());
    const fs::path checkpoint = newest_checkpoint(folder / "checkpoints").value();
    test::refusal(
        [&] {
            load_generator(checkpoint, {engine::Device::cpu, engine::DType::f32, 1}, 1);
        },
        "look to later ones");
}

TEST_CASE("greedy text is Hugging Face's of the same checkpoint", "[bare][python]") {
    const Writer writer;
    TrainedModel trained = writer.load();
    for (const std::string& prompt : {std::string("The "), std::string("a"), std::string("be ba bo ze ma fu")}) {
        const Generation made = generate(trained, {prompt, 14, 1, {}});
        std::vector<std::string> command = {DEFT_SOURCE_DIR "/tests/experiments/huggingface_generate.py",
                                            writer.checkpoint.string(), "14"};
        for (const std::int32_t token : text_tokenizer(trained).encode(prompt))
            command.push_back(std::to_string(token));
        const ProcessOutput said = test::run_python(command);
        INFO(said.out);
        if (said.exit_code == 77) DEFT_SKIP("no Python with torch and transformers (name one in DEFT_PYTHON)");
        REQUIRE(said.exit_code == 0);
        auto theirs = Json::parse(said.out).get<std::vector<std::int32_t>>();
        theirs.resize(std::min(theirs.size(), made.texts[0].tokens.size()));
        CHECK(made.texts[0].tokens == theirs);
    }
}
