#include "experiments/exchange.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "base/error.h"
#include "base/json.h"
#include "base/whole_folder.h"
#include "engine/io/huggingface_config.h"
#include "engine/train/checkpoint.h"
#include "engine/train/export_model.h"
#include "engine/train/foreign_weights.h"
#include "experiments/config.h"
#include "experiments/datasets/packed_dataset.h"
#include "experiments/model_kinds.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

bool holds_model(const fs::path& folder) {
    return fs::is_directory(folder) && (fs::exists(folder / "config.json") || fs::exists(folder / "checkpoint.json"));
}

void require_place(const fs::path& to, bool replace) {
    if (!fs::exists(fs::symlink_status(to))) return;
    if (!replace)
        throw Error(ErrorKind::usage, fmt::format("{} already exists", to.string()),
                    "name another folder with --to, or replace a model's with --force", "the folder");
    if (!holds_model(to))
        throw Error(ErrorKind::usage, fmt::format("{} holds no model, and --force replaces nothing else", to.string()),
                    "name another folder with --to", "the folder");
}

void write_folder(const fs::path& to, bool replace, const std::function<void(const fs::path&)>& write) {
    require_place(to, replace);
    const fs::path place = fs::absolute(to).lexically_normal();
    const fs::path whole = place.has_filename() ? place : place.parent_path();  // without a trailing slash
    // Beside it are a user's own files: no other program has this name.
    const std::string unfinished = fmt::format(".{}.unfinished-{}", whole.filename().string(), ::getpid());
    write_whole_folder(whole, whole.parent_path() / unfinished, write);
}

// The model with the weights of the files, planned to hold them and no more.
struct HeldModel {
    engine::Arena arena;
    std::unique_ptr<engine::Transformer> model;
    engine::Exec exec;
    engine::ImportReport report;

    explicit HeldModel(const engine::ImportedModel& from) {
        const engine::Backend backend{engine::Device::cpu, engine::DType::f32, 1};
        model = engine::plan_and_commit(arena, [&](engine::Arena& a) {
            return std::make_unique<engine::Transformer>(a, from.config, backend, 1, engine::Purpose::inference);
        });
        exec = engine::make_exec(backend, arena);
        report = engine::import_weights(exec, *model, from);
        if (!report.fresh.empty())
            throw Error(ErrorKind::config,
                        fmt::format("{} lacks weights of the model's heads: {}", from.path.string(),
                                    fmt::join(report.fresh, ", ")),
                        "take the model with the head that it was trained with");
    }
};

bool lower_case_of(const Json& about) {
    try {
        if (about.contains("lower_case")) return about.at("lower_case");
        return about.at("config").at("data").at("bert").at("lower_case");
    } catch (const Json::exception&) {
        return true;
    }
}

engine::AnyTokenizer tokenizer_of_files(const engine::ImportedTokenizer& found, bool lower_case, bool is_bytes) {
    if (found.text) return *found.text;
    if (!found.wordpiece) return is_bytes ? engine::AnyTokenizer(engine::Tokenizer::bytes()) : engine::NoTokenizer{};
    engine::WordPieceRules rules;
    rules.words.lower_case = found.lower_case.value_or(lower_case);
    return std::make_shared<const engine::WordPiece>(*found.wordpiece, rules);
}

engine::AnyTokenizer tokenizer_for(const engine::ImportedModel& from, const std::string& named) {
    engine::AnyTokenizer tokenizer = engine::NoTokenizer{};
    if (named.empty())
        tokenizer = tokenizer_of_files(from.tokenizer, true, false);
    else if (named != "none")
        tokenizer = named_tokenizer(named, ".");
    if (engine::has_tokens(tokenizer) && engine::vocab_of(tokenizer) > from.config.vocab)
        throw Error(ErrorKind::config,
                    fmt::format("{}: its vocabulary has {} entries, and the tokenizer {}", from.path.string(),
                                from.config.vocab, engine::vocab_of(tokenizer)),
                    "name its tokenizer with --tokenizer, or store it without: --tokenizer none");
    return tokenizer;
}

// The trial that a model of text would have been: what deft eval asks of a checkpoint. Of its data only the tokenizer
// is known, and of its training nothing.
TrialConfig trial_of_import(const engine::ImportedModel& from, const engine::Tokenizer& tokenizer) {
    TrialConfig config;
    config.model = model_config(from.config);
    config.data.tokenizer = tokenizer.bpe() == nullptr ? name_of(BuiltInTokenizer::bytes) : "imported";
    config.data.vocab = from.config.vocab;
    config.data.sha256 = from.sha256;
    config.train.micro_batch_size = config.train.batch_size;
    config.train.budget_tokens = config.train.batch_size * config.model.seqlen;
    return config;
}

Json about_import(const engine::ImportedModel& from, const engine::AnyTokenizer& tokenizer, std::string& note) {
    Json about = {{"imported", {{"from", from.path.string()}, {"format", from.format}, {"sha256", from.sha256}}},
                  {"tokenizer", engine::name_of(tokenizer)},
                  {"tokenizer_sha256", engine::sha256_of(tokenizer)}};
    if (const auto* wordpiece = std::get_if<std::shared_ptr<const engine::WordPiece>>(&tokenizer))
        about["lower_case"] = (*wordpiece)->rules().words.lower_case;
    const auto* text = std::get_if<engine::Tokenizer>(&tokenizer);
    const bool continues_text = from.config.head && from.config.is_causal();
    if (!continues_text)
        note = "deft eval cannot score it: it continues no text";
    else if (text == nullptr)
        note =
            fmt::format("deft eval cannot score it: it has no tokenizer that deft reads (name one with --tokenizer){}",
                        from.tokenizer.problem.empty() ? "" : ": " + from.tokenizer.problem);
    else if (engine::huggingface_counterpart(from.config).names == engine::WeightNames::own)
        note = "deft eval cannot score it: it is not a GPT-2 or Llama model";
    else
        about["config"] = to_json(trial_of_import(from, *text));
    if (text != nullptr && text->vocab() < from.config.vocab && note.empty())
        note = fmt::format(
            "{} of its {} rows are of no token of the tokenizer: they count in its probabilities, and are never "
            "drawn",
            from.config.vocab - text->vocab(), from.config.vocab);
    return about;
}

}  // namespace

Exchanged import_model(const fs::path& from, const fs::path& to, const std::string& tokenizer_name, bool replace) {
    require_place(to, replace);
    const engine::ImportedModel imported = engine::open_model(from);
    const engine::AnyTokenizer tokenizer = tokenizer_for(imported, tokenizer_name);
    Exchanged done{imported.format, imported.config, imported.dtype, imported.sha256, {}};
    const Json about = about_import(imported, tokenizer, done.note);
    HeldModel held(imported);
    write_folder(to, replace, [&](const fs::path& folder) {
        engine::write_weights_into(folder, held.exec, *held.model, about, tokenizer, done.dtype);
    });
    return done;
}

Exchanged export_checkpoint(const fs::path& checkpoint, const fs::path& to, const ExportChoice& choice) {
    require_place(to, choice.replace);
    const Json manifest = engine::read_manifest(checkpoint);
    const engine::ImportedModel imported = engine::open_model(checkpoint);
    const Json& about = manifest.at("about");
    const bool is_bytes = about.is_object() && about.value("tokenizer", Json()) == "bytes";
    const engine::AnyTokenizer tokenizer = tokenizer_of_files(imported.tokenizer, lower_case_of(about), is_bytes);
    const engine::DType dtype = choice.dtype.value_or(imported.dtype);
    HeldModel held(imported);
    write_folder(to, choice.replace, [&](const fs::path& folder) {
        engine::export_model(held.exec, *held.model, tokenizer, folder, {dtype, choice.shard_bytes});
    });
    return {imported.format, imported.config, dtype, imported.sha256,
            is_bytes ? "bytes are its tokens, for which Hugging Face has no tokenizer" : ""};
}

}  // namespace deft::experiments
