// deft profile on the CUDA device, real or emulated: by its events.

#include <cmath>
#include <map>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "engine/bench/profile.h"
#include "sweeps/cli/commands.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::engine;

namespace {

std::map<std::string, int> calls_of(const StepProfile& profile) {
    std::map<std::string, int> calls;
    for (const ProfiledOp& op : profile.ops) {
        // Flat buffers are longer on a device, which pads the vocabulary.
        const bool is_flat = op.shape.find(',') == std::string::npos;
        calls[is_flat ? op.op : op.op + " " + op.shape] += op.calls;
    }
    return calls;
}

}  // namespace

TEST_CASE("a device's step has the ops of the CPU's, and its time is theirs and what lies between them") {
    const TrainerConfig config = tiny_config(4, 11, 3);
    const TokenCorpus corpus = tiny_corpus(900, config.model.vocab);
    Trainer cpu(config, corpus, 1), gpu(config, corpus, Backend{Device::cuda, DType::f32, 1});
    const StepProfile on_cpu = profile_steps(cpu, 2), on_gpu = profile_steps(gpu, 2);
    CHECK(calls_of(on_gpu) == calls_of(on_cpu));
    double last = 0, end = 0;
    for (const OpRecord& record : on_gpu.records) {
        CHECK(record.seconds > 0);
        CHECK(record.start >= end * (1 - 1e-6));  // one after the other, as in a stream
        end = record.start + record.seconds;
        last += record.seconds;
    }
    CHECK(last > 0.02 * on_gpu.seconds);
    CHECK(last <= on_gpu.seconds);
    CHECK(end <= on_gpu.seconds * (1 + 1e-6));
    CHECK(on_gpu.outside_ops >= 0);
}

TEST_CASE("deft profile prints and stores a step on the device") {
    const test::TemporaryFolder folder;
    const std::string file = (folder / "profile.json").string();
    CLI::App app;
    cli::Context context;
    cli::add_profile(app, context);
    write_file_atomically(folder / "tiny.toml", R"(name = "tiny"
seeds = [1]
[defaults.model]
layers = 2
width = 16
heads = 2
seqlen = 16
[defaults.data]
corpus = "embedded"
embedded_bytes = 20_000
[defaults.train]
batch_size = 2
budget_tokens = 1_000
learning_rate = 1e-3
[[case]]
name = "plain"
)");
    app.parse("profile " + (folder / "tiny.toml").string() + " --backend cuda --dtype bf16 --steps 1 --root " +
              (folder / "runs").string() + " --json-file " + file);
    CHECK(context.exit_code == kExitOk);
    const Json json = Json::parse(read_file(file));
    CHECK(json.at("backend") == "cuda");
    CHECK(json.at("dtype") == "bf16");
    CHECK(!json.at("gpu").get<std::string>().empty());
    const Json& versions = json.at("host").at("extra").at("cuda");
    for (const char* part : {"driver", "runtime", "cublaslt"}) CHECK(!versions.at(part).get<std::string>().empty());
    double shares = json.at("seconds_outside_ops").get<double>();
    std::size_t ops_with_products = 0;
    for (const Json& op : json.at("ops")) {
        shares += op.at("seconds").get<double>();
        const std::string name = op.at("op").get<std::string>();
        const bool multiplies = name.find("linear") != std::string::npos || name.find("head") != std::string::npos;
        INFO(name);
        CHECK(!op.at("products").empty() == multiplies);
        ops_with_products += op.at("products").size();
        for (const Json& product : op.at("products")) CHECK(product.at("path") == "library");
    }
    CHECK(ops_with_products > 10);
    CHECK(json.at("fallbacks").at("calls") == 0);
    CHECK(json.at("plans").at("searches") > 10);
    CHECK(json.at("plans").at("hits") > json.at("plans").at("searches"));  // the steps after the first
    double flops = 0;
    for (const Json& product : json.at("products")) flops += product.at("flops").get<double>();
    CHECK(flops > 1e5);
    CHECK(shares == Approx(json.at("seconds").get<double>()).epsilon(1e-6));
}
