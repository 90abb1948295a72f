// One training step against PyTorch, where it is installed.

#include <cstdlib>
#include <filesystem>

#include "base/process.h"
#include "engine/io/safetensors.h"
#include "engine/train/debug_state.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"

using namespace deft::engine;
namespace fs = std::filesystem;

namespace {

constexpr const char* kPython = "/usr/bin/python3";
constexpr const char* kScript = DEFT_SOURCE_DIR "/tests/engine/pytorch_parity.py";

struct Folder {
    Folder() {
        char name[] = "/tmp/deft-parity-XXXXXX";
        path = mkdtemp(name);
    }
    ~Folder() { fs::remove_all(path); }
    fs::path path;
};

TokenDropping random_on_two_layers() {
    return random_ltd(4, {7, 7, 1, 0, 1});
}

// Trains two steps, then lays open the third.
void write_third_step(const fs::path& file, const TokenDropping& dropping = random_on_two_layers(),
                      OptimizerKind optimizer = OptimizerKind::adamw) {
    TrainerConfig config = tiny_config(4, 13, 5);
    config.optimizer.kind = optimizer;
    config.techniques.dropping = dropping;
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer trainer(config, corpus, 1);
    for (int i = 0; i < 2; ++i) trainer.step();
    write_debug_state(trainer, file);
}

}  // namespace

TEST_CASE("a training step with dropped tokens is PyTorch's") {
    const Folder folder;
    if (!fs::exists(kPython)) DEFT_SKIP("no /usr/bin/python3");
    const Pacing seven{7, 7, 1, 0, 1};
    std::vector<std::string> command = {kPython, kScript};
    for (const TokenDropping& dropping : {random_on_two_layers(), TokenDropping{seven, {0, 2, 3}, 1, &token_dropper("random_ltd"), {}},
                                   bypass_on({1, 2, 3}, seven)}) {
        command.push_back((folder.path / (std::to_string(command.size()) + ".safetensors")).string());
        write_third_step(command.back(), dropping);
    }
    command.push_back((folder.path / "sgd.safetensors").string());
    write_third_step(command.back(), random_on_two_layers(), OptimizerKind::sgd);
    const deft::ProcessOutput output = deft::run_process(command);
    if (output.exit_code == 77) DEFT_SKIP("no PyTorch for /usr/bin/python3 (Debian: python3-torch)");
    INFO(output.out);
    CHECK(output.exit_code == 0);
}

TEST_CASE("the PyTorch check refuses a wrong gradient") {
    const Folder folder;
    const fs::path file = folder.path / "step.safetensors";
    write_third_step(file);
    SafetensorsFile state = read_safetensors(file);
    Tensor& gradient = state.tensors.at("grad.h.1.attn.c_attn.weight");
    std::vector<float> wrong = values<float>(gradient);
    wrong[3] += 1e-2f;
    gradient.data = wrong.data();
    std::vector<NamedTensor> tensors;
    for (const auto& [name, tensor] : state.tensors) tensors.push_back({name, tensor});
    write_safetensors(file, tensors, state.metadata);
    if (!fs::exists(kPython)) DEFT_SKIP("no /usr/bin/python3");
    const deft::ProcessOutput output = deft::run_process({kPython, kScript, file.string()});
    if (output.exit_code == 77) DEFT_SKIP("no PyTorch for /usr/bin/python3 (Debian: python3-torch)");
    CHECK(output.exit_code == 1);
    CHECK_THAT(output.out, ContainsSubstring("grad.h.1.attn.c_attn.weight"));
}
