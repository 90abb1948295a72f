#include "sweeps/cli/command_help.h"

#include <algorithm>

namespace deft::cli {

namespace {

constexpr std::string_view kData = "DEFT_DATA";
constexpr std::string_view kMirror = "DEFT_DATA_MIRROR";
constexpr std::string_view kDevices = "CUDA_VISIBLE_DEVICES";

}  // namespace

const std::vector<CommandHelp>& all_command_help() {
    static const std::vector<CommandHelp> all = {
        {"run",
         {"deft run sweeps/quickstart.toml", "deft run sweeps/quickstart.toml --only baseline --seeds 2"},
         {kData, kMirror, kDevices}},
        {"init", {"deft init notes.txt", "deft init books --out books.toml --force"}, {}},
        {"plan", {"deft plan sweeps/quickstart.toml", "deft plan --preset gpt2-124m --hardware h100"}, {kData}},
        {"status", {"deft status", "deft status quickstart --stale"}, {}},
        {"show", {"deft show baseline/1", "deft show baseline/1 --format json"}, {}},
        {"trace",
         {"deft trace quickstart baseline 'validation loss'", "deft trace quickstart 'cl at 50%' loss --json"},
         {}},
        {"compare", {"deft compare baseline cl", "deft compare baseline cl --by flops --format md"}, {}},
        {"logs", {"deft logs baseline/1", "deft logs baseline/1 --follow"}, {}},
        {"cancel", {"deft cancel quickstart", "deft cancel quickstart --root /shared/my-sweep --now"}, {}},
        {"report", {"deft report", "deft report quickstart --format md --out report.md"}, {}},
        {"serve", {"deft serve", "deft serve --root runs --port 8080"}, {}},
        {"eval",
         {"deft eval baseline/1 --tasks lambada", "deft eval baseline/1 --tasks lambada --shots 0,10 --store"},
         {kData, kDevices}},
        {"generate",
         {"deft generate baseline/1 --prompt 'Once upon a time'",
          "deft generate baseline/1 --samples 4 --temperature 0.8 --top-k 40"},
         {kDevices}},
        {"import", {"deft import ./gpt2 --to gpt2-checkpoint", "deft import ./gpt2 --to gpt2-checkpoint --force"}, {}},
        {"export", {"deft export baseline/1 --to exported", "deft export baseline/1 --to exported --dtype bf16"}, {}},
        {"data", {"deft data list", "deft data get lambada"}, {kData, kMirror}},
        {"data list", {"deft data list", "DEFT_DATA=/data deft data list"}, {kData, kMirror}},
        {"data info", {"deft data info lambada", "deft data info lambada --verify"}, {kData, kMirror}},
        {"data get", {"deft data get lambada", "deft data get lambada --from . --to data"}, {kData, kMirror}},
        {"data tokenize",
         {"deft data tokenize --text notes.txt --out notes",
          "deft data tokenize --text notes.txt --tokenizer bpe --vocab 1024 --out notes"},
         {kData}},
        {"data train-tokenizer",
         {"deft data train-tokenizer --text notes.txt --vocab 1024 --out tokenizer",
          "deft data train-tokenizer --corpus embedded --vocab 512 --out tokenizer"},
         {kData}},
        {"data dump-samples",
         {"deft data dump-samples sweeps/quickstart.toml --out samples.jsonl",
          "deft data dump-samples sweeps/quickstart.toml --only baseline"},
         {kData}},
        {"analyze",
         {"deft analyze sweeps/quickstart.toml", "deft analyze --text notes.txt --metric voc --seqlen 128"},
         {kData}},
        {"keys", {"deft keys train.learning_rate", "deft keys dtype"}, {}},
        {"config", {"deft config --help", "deft config import-deepspeed --help"}, {}},
        {"config import-deepspeed",
         {"deft config import-deepspeed ds_config.json", "deft config import-deepspeed ./ds_config.json"},
         {}},
        {"bench", {"deft bench list", "deft bench run -k 'linear_*'"}, {kDevices}},
        {"bench list", {"deft bench list", "deft bench list --backend cpu"}, {}},
        {"bench run", {"deft bench run -k 'linear_*'", "deft bench run --backend cpu --threads 2"}, {kDevices}},
        {"bench history", {"deft bench history", "deft bench history -k 'linear_*' --html history.html"}, {}},
        {"bench import", {"deft bench import result.json", "deft bench import result.json --name parser"}, {}},
        {"bench gpu", {"deft bench gpu", "deft bench gpu --dtype bf16 --batch 8"}, {kDevices}},
        {"bench step", {"deft bench step --size 1", "deft bench step --preset gpt2-124m --batch 1"}, {}},
        {"bench startup",
         {"deft bench startup sweeps/quickstart.toml", "deft bench startup sweeps/quickstart.toml --rounds 5"},
         {}},
        {"bench slots", {"deft bench slots", "deft bench slots --cores 4 --models 2"}, {}},
        {"bench analyzer", {"deft bench analyzer", "deft bench analyzer --tokens 1048576 --samples 0"}, {}},
        {"bench generate", {"deft bench generate", "deft bench generate --layers 2 --width 128 --heads 4"}, {}},
        {"bench moe-inference", {"deft bench moe-inference", "deft bench moe-inference --experts 4 --samples 1,4"}, {}},
        {"bench experts", {"deft bench experts", "deft bench experts --experts 16 --top 2"}, {}},
        {"bench ranks", {"deft bench ranks", "deft bench ranks --size 1 --ranks 2"}, {}},
        {"bench ab",
         {"deft bench ab old/deft new/deft", "deft bench ab old/deft new/deft -k 'linear_*' --margin 0.05"},
         {}},
        {"bench aa", {"deft bench aa", "deft bench aa -k 'linear_*' --pairs 48"}, {}},
        {"profile", {"deft profile sweeps/quickstart.toml", "deft profile --size 1 --steps 3"}, {kDevices}},
        {"check", {"deft check bench main HEAD", "deft check quality --baseline main"}, {}},
        {"check bench", {"deft check bench main HEAD", "deft check bench main HEAD -k 'linear_*' --strict"}, {}},
        {"check quality",
         {"deft check quality --baseline main", "deft check quality quickstart --baseline main --strict"},
         {}},
        {"check trend", {"deft check trend", "deft check trend -k 'linear_*' --all"}, {}},
        {"check claims", {"deft check claims", "deft check claims quickstart --strict"}, {}},
        {"baseline", {"deft baseline pin main quickstart", "deft baseline list"}, {}},
        {"baseline pin", {"deft baseline pin main quickstart", "deft baseline pin main --reason 'release 2'"}, {}},
        {"baseline list", {"deft baseline list", "deft baseline list --root results"}, {}},
        {"baseline retire", {"deft baseline retire main", "deft baseline retire main --root results"}, {}},
        {"db", {"deft db export quickstart --out quickstart.json", "deft db upgrade"}, {}},
        {"db upgrade", {"deft db upgrade", "deft db upgrade --root results"}, {}},
        {"db export",
         {"deft db export quickstart --out quickstart.json",
          "deft db export quickstart --parts 2 --out quickstart.json"},
         {}},
        {"db verify", {"deft db verify", "deft db verify --root results --quick"}, {}},
        {"db merge", {"deft db merge quickstart.json", "deft db merge a.json b.json --root results"}, {}},
        {"tune",
         {"deft tune sweeps/quickstart.toml cl", "deft tune sweeps/quickstart.toml cl --out tuned.toml"},
         {kData}},
        {"doctor",
         {"deft doctor", "deft doctor --root /shared/my-sweep --slurm partition=gpu"},
         {kData, kMirror, kDevices}},
        {"debug-state",
         {"deft debug-state sweeps/quickstart.toml", "deft debug-state sweeps/quickstart.toml --step 3"},
         {kData}},
        {"help", {"deft help", "deft run --help"}, {}},
        {"completion", {"deft completion bash", "deft completion fish"}, {}},
        {"man", {"deft man", "deft man --help"}, {}},
    };
    return all;
}

const CommandHelp* find_command_help(std::string_view command) {
    const auto& all = all_command_help();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const CommandHelp& one) { return one.command == command; });
    return found == all.end() ? nullptr : &*found;
}

const std::vector<CommandGroup>& command_groups() {
    static const std::vector<CommandGroup> groups = {
        {"First steps", {"run", "init", "plan", "report", "keys", "doctor"}},
        {"Results", {"status", "show", "trace", "compare", "serve", "logs", "cancel", "db"}},
        {"Models", {"eval", "generate", "import", "export"}},
        {"Sweeps and data", {"data", "analyze", "tune", "config"}},
        {"Performance", {"bench", "profile"}},
        {"Continuous integration", {"check", "baseline"}},
        {"The program itself", {"help", "completion", "man", "debug-state"}},
    };
    return groups;
}

std::string_view environment_meaning(std::string_view name) {
    if (name == kData) return "Folder of data sets (default: ~/.local/share/deft/data)";
    if (name == kMirror) return "Folder that data sets are copied from, in place of a download";
    if (name == kDevices) return "GPUs that CUDA may use, as in 0,1";
    return "";
}

}  // namespace deft::cli
