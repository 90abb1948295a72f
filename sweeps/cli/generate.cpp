// deft generate: continues a text with a trained model.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/usable_machine.h"
#include "base/utf8.h"
#include "base/utf8_stream.h"
#include "experiments/generate.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/find_checkpoint.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/root.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

struct GenerateArguments {
    std::string checkpoint;
    std::string root = sweeps::kDefaultRoot;
    std::string prompt_file;
    experiments::GenerationRequest request;
    std::optional<double> temperature;
    int threads = 0;
    std::string device = "cpu";
    std::string format = "term";
};

// Text for a terminal: control characters other than line feeds and tabs become '?'. A file receives the text
// unchanged.
std::string for_output(const std::string& text, bool is_terminal) {
    if (!is_terminal) return text;
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decode_utf8(text, at);
        const char32_t code = character.code;
        const bool is_control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
        if (is_control)
            shown += '?';
        else
            shown.append(text, at, character.bytes);
        at += character.bytes;
    }
    return shown;
}

// Standard output, written while the first text is generated.
class Screen {
 public:
    void add(std::string_view bytes) {
        std::string whole;
        stream_.add(bytes, whole);
        write(whole);
    }
    void finish() {
        std::string whole;
        stream_.finish(whole);
        write(whole);
        print("\n");
    }

 private:
    void write(const std::string& text) const {
        const std::string shown = for_output(text, is_terminal_);
        std::fwrite(shown.data(), 1, shown.size(), stdout);
        std::fflush(stdout);
    }

    Utf8Stream stream_;
    bool is_terminal_ = ::isatty(STDOUT_FILENO) == 1;
};

// A temperature, or an option that requires one, enables sampling.
engine::SamplingConfig sampling_of(const GenerateArguments& arguments) {
    engine::SamplingConfig sampling = arguments.request.sampling;
    const bool draws = arguments.request.samples > 1 || sampling.top_k > 0 || sampling.top_p < 1;
    sampling.temperature = arguments.temperature.value_or(draws ? 1 : 0);
    if (sampling.temperature == 0 && draws)
        throw Error(ErrorKind::usage, "temperature 0 is greedy decoding, and all samples would be equal",
                    "give a temperature above 0, or drop --samples, --top-k and --top-p");
    if (sampling.temperature > 0) sampling.seed = seed_or_drawn(sampling.seed);
    return sampling;
}

void print_texts(const experiments::Generation& generation) {
    const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
    for (std::size_t i = 0; i < generation.texts.size(); ++i) {
        print(fmt::format("--- sample {}", i + 1));
        print_exact(for_output(with_valid_utf8(generation.texts[i].text), is_terminal) + "\n");
    }
}

Json to_json(const experiments::Generation& generation, const experiments::TrainedModel& trained,
             const fs::path& folder, const experiments::GenerationRequest& request) {
    Json json = {{"schema", "deft-generate/1"},
                 {"checkpoint", folder.string()},
                 {"step", trained.step},
                 {"model_sha256", trained.model_sha256},
                 {"prompt", with_valid_utf8(request.prompt)},
                 {"prompt_tokens", generation.prompt_tokens},
                 {"temperature", request.sampling.temperature},
                 {"top_k", request.sampling.top_k},
                 {"top_p", request.sampling.top_p},
                 {"seed", request.sampling.seed},
                 {"prefill_tokens_per_second", generation.prefill_rate()},
                 {"decode_tokens_per_second", generation.decode_rate()},
                 {"samples", Json::array()}};
    for (const experiments::GeneratedText& text : generation.texts)
        json["samples"].push_back({{"text", with_valid_utf8(text.text)},
                                   {"tokens", text.tokens},
                                   {"log_probabilities", text.log_probabilities},
                                   {"ended", text.has_ended}});
    return json;
}

// Lengths, seed and speeds.
void print_notes(const experiments::Generation& generation, const GenerateArguments& arguments,
                 const engine::SamplingConfig& sampling, std::int64_t positions) {
    if (generation.met_length)
        print_note(fmt::format("the text ends at the model's {} positions; the prompt has {} tokens", positions,
                               generation.prompt_tokens));
    if (arguments.format != "term") return;
    if (sampling.temperature > 0) print_note(fmt::format("seed {}", sampling.seed));
    std::string rates =
        fmt::format("prompt {} tokens, {:.0f} tokens/s", generation.prompt_tokens, generation.prefill_rate());
    if (generation.decoded_tokens > 0)
        rates +=
            fmt::format("; generated {} tokens, {:.1f} tokens/s", generation.decoded_tokens, generation.decode_rate());
    print_note(rates);
    print_note(generation.graphs_note);
}

int run_generate(const GenerateArguments& arguments) {
    experiments::GenerationRequest request = arguments.request;
    request.sampling = sampling_of(arguments);
    if (!arguments.prompt_file.empty()) request.prompt = read_named_file(arguments.prompt_file);
    const fs::path folder = find_checkpoint(arguments.checkpoint, arguments.root);
    const engine::Device device = arguments.device == "gpu" ? engine::Device::cuda : engine::Device::cpu;
    const int threads = arguments.threads > 0 ? arguments.threads : usable_cores();
    experiments::TrainedModel trained =
        experiments::load_generator(folder, {device, engine::DType::f32, threads}, request.samples);
    const bool streams = arguments.format == "term" && request.samples == 1;
    Screen screen;
    experiments::OnText on_text;
    if (streams) on_text = [&](std::string_view bytes) { screen.add(bytes); };
    const experiments::Generation generation = experiments::generate(trained, request, on_text);
    if (streams)
        screen.finish();
    else if (arguments.format == "term")
        print_texts(generation);
    else
        print_exact(to_json(generation, trained, folder, request).dump(2, ' ', false, Json::error_handler_t::replace));
    print_notes(generation, arguments, request.sampling, trained.model->config().max_seqlen);
    return kExitOk;
}

}  // namespace

void add_generate(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<GenerateArguments>();
    experiments::GenerationRequest& request = arguments->request;
    CLI::App* command = app.add_subcommand("generate", "Continue a text with a trained model");
    command
        ->add_option("checkpoint", arguments->checkpoint,
                     "The checkpoint's folder, or a trial's name or hash as in deft show")
        ->required();
    CLI::Option* prompt =
        command->add_option("--prompt", request.prompt, "The text to continue (default: the beginning of a document)");
    command->add_option("--prompt-file", arguments->prompt_file, "File with the prompt")->excludes(prompt);
    add_number(*command, "--tokens", request.tokens, "Maximum number of new tokens; the text may end earlier", 1,
               1 << 24);
    add_number(*command, "--samples", request.samples, "Number of texts to sample from the prompt, as one batch", 1,
               4096);
    command->add_option("--temperature", arguments->temperature,
                        "Sampling temperature; 0: greedy decoding "
                        "(default: 0, or 1 with --samples, --top-k or --top-p)");
    command->add_option("--top-k", request.sampling.top_k, "Sample from the k most likely tokens; 0: from all")
        ->check(at_least(0));
    command->add_option("--top-p", request.sampling.top_p,
                        "Sample from the smallest set of tokens with total probability p; 1: from all");
    command->add_option("--seed", request.sampling.seed, "Sampling seed; 0: a random one");
    add_threads(*command, arguments->threads, "Threads (default: all cores)");
    command->add_option("--device", arguments->device, "Where to compute: cpu, or gpu for the first GPU")
        ->capture_default_str()
        ->check(CLI::IsMember({"cpu", "gpu"}));
    add_root(*command, arguments->root, "Folder of results");
    command
        ->add_option("--format", arguments->format,
                     "The format: term (streamed text), or json (schema deft-generate/1) with tokens, "
                     "log-probabilities and speeds")
        ->capture_default_str()
        ->check(CLI::IsMember({"term", "json"}));
    add_json_flag(*command, arguments->format);
    command->callback([arguments, &context] { context.exit_code = run_generate(*arguments); });
}

}  // namespace deft::cli
