// deft bench gpu: training steps of GPT-2 124M on a GPU, beside PyTorch in the same run.

#include <fmt/format.h>

#include <ctime>

#include "base/error.h"
#include "base/files.h"
#include "base/installed_files.h"
#include "base/json.h"
#include "base/median.h"
#include "base/text.h"
#include "engine/bench/step.h"
#include "kernels/bench/gpu_products.h"
#include "reporting/numbers.h"
#include "sweeps/cli/contest.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/gate/python_opponents.h"

namespace deft::cli {

namespace {

struct BenchGpuArguments {
    std::int64_t batch = 16;
    int rounds = 3;
    std::string dtype = "both";
    std::string python;  // of a PyTorch that sees the GPU
    std::string json;    // a file
};

struct Row {
    engine::DType dtype;
    std::vector<double> seconds = {}, torch_seconds = {};  // one a round
    engine::StepTime last = {};                            // of the last round
    std::vector<kernels::CheckedProduct> checked = {};     // each shape run twice
};

struct TorchTimes {
    std::string version;
    std::string failure;
};

void torch_round(const std::string& python, const engine::StepBench& bench, Row& row, TorchTimes& torch) {
    try {
        const sweeps::PytorchStep step = sweeps::time_pytorch_on_gpu(python, bench, row.dtype);
        row.torch_seconds.push_back(step.seconds);
        torch.version = step.version;
    } catch (const Error& error) {
        torch.failure = first_line(error.what());  // our own figures do not depend on it
    }
}

Json row_json(const engine::StepBench& bench, const Row& row) {
    const double seconds = median(row.seconds);
    const double tokens = static_cast<double>(bench.batch_size * bench.model.max_seqlen);
    Json json = {{"dtype", engine::dtype_name(row.dtype)},
                 {"seconds", row.seconds},
                 {"tokens_per_second", tokens / seconds},
                 {"flops_per_second", row.last.flops / seconds},
                 {"last_loss", row.last.loss},
                 {"pytorch_seconds", row.torch_seconds},
                 {"against_pytorch", nullptr}};
    json["fallbacks"] = to_json(large_fallbacks(row.last.products));
    json["products"] = to_json(row.checked);
    if (!row.torch_seconds.empty()) json["against_pytorch"] = median(row.torch_seconds) / seconds;
    return json;
}

std::string today() {
    char text[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

Json to_json(const engine::StepBench& bench, const engine::Gpu& gpu, const std::vector<Row>& rows,
             const TorchTimes& torch) {
    const results_db::Host host = sweeps::describe_host();
    const results_db::Code code = sweeps::describe_code();
    const auto& m = bench.model;
    Json json = {{"schema", "deft-gpu-bench/1"},
                 {"date", today()},
                 {"commit", code.git_sha},
                 {"dirty", code.dirty},
                 {"gpu", gpu.name},
                 {"cuda", engine::gpu_versions()},
                 {"cpu", host.cpu_model},
                 {"model", {{"layers", m.layers()}, {"width", m.width}, {"heads", m.heads()}, {"vocab", m.vocab}}},
                 {"seqlen", m.max_seqlen},
                 {"batch_size", bench.batch_size},
                 {"pytorch", torch.version},
                 {"pytorch_failure", torch.failure},
                 {"flops_of_a_step", rows.front().last.flops},
                 {"rows", Json::array()}};
    for (const Row& row : rows) json["rows"].push_back(row_json(bench, row));
    return json;
}

reporting::Table to_table(const engine::StepBench& bench, const engine::Gpu& gpu, const std::vector<Row>& rows,
                          const TorchTimes& torch) {
    reporting::Table table;
    table.caption = fmt::format("GPT-2 124M at length {}, batch {}, on {}: one training step", bench.model.max_seqlen,
                                bench.batch_size, gpu.name);
    table.columns = {
        {"dtype", reporting::Align::left}, {"ms"}, {"tokens/s"}, {"FLOP/s"}, {"PyTorch ms"}, {"against PyTorch"}};
    for (const Row& row : rows) {
        const double seconds = median(row.seconds);
        const bool torch_ran = !row.torch_seconds.empty();
        table.rows.push_back(
            {engine::dtype_name(row.dtype), fmt::format("{:.2f}", seconds * 1e3),
             reporting::si(static_cast<double>(bench.batch_size * bench.model.max_seqlen) / seconds, ""),
             reporting::si(row.last.flops / seconds, "FLOP/s"),
             torch_ran ? fmt::format("{:.2f}", median(row.torch_seconds) * 1e3) : "-",
             torch_ran ? fmt::format("{:.2f}x", median(row.torch_seconds) / seconds) : "-"});
    }
    table.notes.push_back(
        "FLOPs of a step: 6 x (parameters without the position table) x tokens + 12 x layers x width x "
        "length x tokens / 2 (causal).");
    for (const Row& row : rows) {
        if (const std::string line = fallback_note(row.last.products); !line.empty()) table.notes.push_back(line + ".");
        for (const kernels::CheckedProduct& product : row.checked)
            if (!product.same_bits)
                table.notes.push_back(fmt::format("Two runs of the product {} ({}) differ in bits.",
                                                  product.record.shape.text(), product.record.path_text()));
    }
    if (!torch.version.empty())
        table.notes.push_back(
            fmt::format("PyTorch {} through torch.compile, bf16 by autocast, f32 without TF32.", torch.version));
    if (!torch.failure.empty()) table.notes.push_back(torch.failure + ".");
    return table;
}

std::vector<kernels::CheckedProduct> check_products(const std::vector<kernels::cuda::ProductRecord>& products) {
    std::vector<kernels::cuda::ProductShape> shapes;
    for (const kernels::cuda::ProductRecord& product : products) shapes.push_back(product.shape);
    return kernels::check_gpu_products(std::move(shapes));
}

int run_bench_gpu(const BenchGpuArguments& arguments) {
    require_folder_of(arguments.json);
    const std::vector<engine::Gpu> gpus = engine::usable_gpus();
    if (gpus.empty())
        throw Error(ErrorKind::missing, "nothing was measured: " + engine::gpu_problem(), "see `deft doctor`");
    const engine::StepBench bench = engine::gpt2_124m_bench(arguments.batch);
    std::vector<Row> rows;
    for (const engine::DType dtype : {engine::DType::bf16, engine::DType::f32})
        if (arguments.dtype == "both" || arguments.dtype == engine::dtype_name(dtype)) rows.push_back({dtype});
    TorchTimes torch;
    for (int round = 0; round < arguments.rounds; ++round)
        for (Row& row : rows) {
            row.last = engine::time_steps(bench, {engine::Device::cuda, row.dtype, 1}, 10, 3.0);
            row.seconds.push_back(row.last.seconds);
            if (!arguments.python.empty() && torch.failure.empty()) torch_round(arguments.python, bench, row, torch);
        }
    for (Row& row : rows) row.checked = check_products(row.last.products);
    print(to_table(bench, gpus.front(), rows, torch));
    if (!arguments.json.empty())
        write_file_atomically(arguments.json, json_text(to_json(bench, gpus.front(), rows, torch), 2) + "\n");
    return kExitOk;
}

}  // namespace

Run bench_gpu(CLI::App& command) {
    auto arguments = std::make_shared<BenchGpuArguments>();
    add_number(command, "--batch", arguments->batch, "Samples of a step, of 1024 tokens each", 1, 4096);
    add_number(command, "--rounds", arguments->rounds, "Interleaved rounds", 1, 100);
    command.add_option("--dtype", arguments->dtype, "Dtype of activations: bf16, f32, or both in turn")
        ->capture_default_str()
        ->check(CLI::IsMember({"bf16", "f32", "both"}));
    command.add_option("--pytorch", arguments->python, "A Python with torch, timed in the same run");
    command.add_option("--json-file", arguments->json, "Write the result to this file as well");
    return [arguments] { return run_bench_gpu(*arguments); };
}

}  // namespace deft::cli
