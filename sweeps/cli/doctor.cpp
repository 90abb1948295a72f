#include "sweeps/cli/doctor.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "base/error.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "base/usable_machine.h"
#include "engine/bench/step.h"
#include "engine/comm/communicator.h"
#include "engine/core/backend.h"
#include "engine/train/planned_products.h"
#include "kernels/bench/gpu_products.h"
#include "kernels/cuda/exec.h"
#include "reporting/numbers.h"
#include "reporting/text.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/multi_process.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/slots.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;
using enum Finding::State;

std::string first_line_of(const fs::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

// Standard output of a program; empty if it cannot be run or fails.
std::string said_by(const std::vector<std::string>& argv) {
    try {
        const ProcessOutput output = run_process(argv);
        return output.exit_code == 0 ? output.out : "";
    } catch (const Error&) {
        return "";
    }
}

// The first number after the marker, as "13.0" in "release 13.0"; empty if there is none.
std::string number_after(const std::string& text, const std::string& marker) {
    const std::size_t found = text.find(marker);
    if (found == std::string::npos) return "";
    const std::size_t start = text.find_first_of("0123456789", found + marker.size());
    if (start == std::string::npos) return "";
    std::string number = text.substr(start, text.find_first_not_of("0123456789.", start) - start);
    while (number.ends_with('.')) number.pop_back();
    return number;
}

Finding processor(const results_db::Host& host) {
    std::string isa = "AVX2, FMA";
    if (__builtin_cpu_supports("avx512f")) isa += ", AVX-512";
    return {ok, "processor", fmt::format("{}; {}", reporting::visible(host.cpu_model), isa),
            "oneDNN selects its code by these; deft's own kernels use AVX2"};
}

std::string limited_text(const UsableAmount& usable) {
    return *usable.limit == 0 ? "" : fmt::format(" (limited by {})", usable.limit);
}

Finding threads(const results_db::Host& host) {
    return {
        ok, "threads",
        fmt::format("{} usable on {} cores{}", host.threads, host.cores, limited_text(usable_cores(LimitSources{}))),
        fmt::format("slots = \"auto\" runs {} single-threaded trials at once, or one large trial on all threads",
                    host.threads)};
}

Finding memory(const results_db::Host& host) {
    std::ifstream in("/proc/meminfo");
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const double available = std::atof(number_after(text, "MemAvailable:").c_str()) * 1024;
    const UsableAmount usable = usable_memory(LimitSources{});
    const auto amount = static_cast<double>(usable.amount), of_machine = static_cast<double>(host.mem_bytes);
    return {ok, "memory",
            fmt::format("{}{}, {} available", reporting::binary_bytes(std::min(amount, of_machine)),
                        limited_text(usable), reporting::binary_bytes(std::min(amount, available))),
            "`deft plan --memory` shows the memory of a trial"};
}

Finding huge_pages() {
    const std::string modes = first_line_of("/sys/kernel/mm/transparent_hugepage/enabled");
    const std::size_t open = modes.find('['), close = modes.find(']');  // "always [madvise] never"
    const std::string mode = open < close && close != std::string::npos ? modes.substr(open + 1, close - open - 1) : "";
    if (mode == "always" || mode == "madvise") return {ok, "huge pages", mode, ""};
    return {note, "huge pages", mode.empty() ? "unknown" : mode,
            "buffers use small pages, which is slower; to enable huge pages: echo madvise > "
            "/sys/kernel/mm/transparent_hugepage/enabled"};
}

Finding disk(fs::path root) {
    std::error_code error;
    root = fs::absolute(root, error);
    while (!fs::exists(root, error) && root.has_relative_path()) root = root.parent_path();
    struct statvfs space {};
    if (::statvfs(root.c_str(), &space) != 0)
        return {missing, "disk", fmt::format("{} cannot be read", root.string()), ""};
    const double free = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
    const std::string found =
        fmt::format("{} free at {}", reporting::binary_bytes(free), reporting::visible(root.string()));
    if (::access(root.c_str(), W_OK) != 0)
        return {missing, "disk", found + ", not writable", "choose a writable folder with --root"};
    constexpr double kLittle = 2e9;
    if (free < kLittle) return {note, "disk", found, "checkpoints and tokenized corpora may not fit"};
    return {ok, "disk", found, ""};
}

Finding toolkit() {
    for (const char* nvcc : {"nvcc", "/usr/local/cuda/bin/nvcc"}) {
        const std::string release = number_after(said_by({nvcc, "--version"}), "release ");
        if (release.empty()) continue;
        const std::string found = fmt::format("nvcc {} ({})", release, nvcc);
        if (std::atoi(release.c_str()) < 12)
            return {note, "CUDA toolkit", found, "too old: deft requires CUDA 12 or newer"};
        return {ok, "CUDA toolkit", found, ""};
    }
    return {note, "CUDA toolkit", "none", "deft uses only the CPU; for GPUs, install CUDA 12 or newer"};
}

Finding driver() {
    const std::string version = number_after(first_line_of("/proc/driver/nvidia/version"), "Kernel Module");
    if (version.empty()) return {note, "GPU driver", "none", "deft cannot use an NVIDIA GPU on this machine"};
    return {ok, "GPU driver", "NVIDIA " + version, ""};
}

std::vector<Finding> gpus() {
    std::vector<Finding> findings;
    for (const engine::Gpu& gpu : engine::usable_gpus())
        findings.push_back({ok, "GPU",
                            fmt::format("{}, {}, {}", reporting::visible(gpu.name),
                                        reporting::binary_bytes(static_cast<double>(gpu.memory_bytes)), gpu.uuid),
                            findings.empty() ? "slots = \"auto\" runs one trial per GPU" : ""});
    if (findings.empty()) findings.push_back({note, "GPU", "none usable", engine::gpu_problem()});
    return findings;
}

Finding card_sharing() {
    constexpr const char* kSubject = "GPU sharing";
    if (has_multi_process_service())
        return {ok, kSubject, "CUDA's multi-process service runs",
                "trials on a card run side by side: --slots gpu:1/4"};
    return {note, kSubject, "CUDA's multi-process service does not run",
            "trials on a card take turns; `deft run --slots gpu:1/4 --mps` starts the service"};
}

// The products of GPT-2 124M in bf16, of one sample at length 1024.
std::vector<kernels::cuda::ProductShape> usual_products() {
    const engine::TrainerConfig config = engine::trainer_config_of(engine::gpt2_124m_bench(1));
    return engine::planned_products(config, {engine::Device::cuda, engine::DType::bf16}, engine::plan_step(config, 0));
}

Finding mpi() {
    const std::string version = number_after(said_by({"mpirun", "--version"}), "");
    if (engine::Communicator::has_mpi() && !version.empty())
        return {ok, "MPI", "mpirun " + version, "several ranks can train one trial on the CPU: resources.ranks"};
    return {note, "MPI", version.empty() ? "none" : fmt::format("mpirun {}, but this build lacks MPI", version),
            "each trial uses one process; for several ranks, build with ./deft --mpi"};
}

Finding nccl() {
    void* library = ::dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL);
    if (library != nullptr) ::dlclose(library);
    const std::string name = library == nullptr ? "none" : "libnccl.so.2";
    if (engine::Communicator::has_nccl())
        return {ok, "NCCL", name, "several ranks can train one trial, each on its own GPU: resources.ranks"};
    return {note, "NCCL", name + (library == nullptr ? "" : ", but this build lacks NCCL"),
            "each trial uses one GPU; for several ranks, install NCCL or set NCCL_ROOT, and rebuild with CUDA"};
}

Finding libraries() {
    std::string text = fmt::format("libcurl {}", curl_version_info(CURLVERSION_NOW)->version);
    const Json libraries = libraries_json();
    for (const auto& [name, version] : libraries.items())
        text += fmt::format(", {} {}", name, version.get<std::string>());
    return {ok, "libraries", text, "stored with each attempt, because other versions may change bits of the results"};
}

Finding git() {
    const std::string version = number_after(said_by({"git", "--version"}), "version ");
    if (version.empty()) return {note, "git", "none", "results cannot record their commit"};
    return {ok, "git", version, ""};
}

Finding data_mirror() {
    const char* folder = std::getenv("DEFT_DATA_MIRROR");
    if (folder == nullptr || *folder == 0)
        return {note, "data", "DEFT_DATA_MIRROR is not set",
                "data sets are downloaded, or found beside the sweep file"};
    std::error_code error;
    if (!fs::is_directory(folder, error))
        return {missing, "data", fmt::format("DEFT_DATA_MIRROR={} is not a folder", reporting::visible(folder)),
                "set it to an existing folder"};
    return {ok, "data", fmt::format("DEFT_DATA_MIRROR={}", reporting::visible(folder)),
            "`deft data list` shows its data sets"};
}

std::string listed(const std::vector<kernels::CheckedProduct>& checked,
                   bool (*chosen)(const kernels::CheckedProduct&)) {
    std::string text;
    for (const kernels::CheckedProduct& product : checked)
        if (chosen(product)) text += (text.empty() ? "" : "; ") + product.record.shape.text();
    return text;
}

const char* word(Finding::State state) {
    return state == ok ? "ok" : state == note ? "note" : "missing";
}

}  // namespace

Finding gpu_products(const std::vector<kernels::cuda::ProductShape>& shapes) {
    constexpr const char* kSubject = "GPU products";
    try {
        const std::vector<kernels::CheckedProduct> checked = kernels::check_gpu_products(shapes);
        const std::string slow = listed(checked, [](const kernels::CheckedProduct& product) {
            return product.record.path == kernels::cuda::ProductPath::tiles;
        });
        const std::string different =
            listed(checked, [](const kernels::CheckedProduct& product) { return !product.same_bits; });
        if (!different.empty())
            return {missing, kSubject, "two runs differ in bits: " + different,
                    "training on this GPU is not reproducible; please report it"};
        if (!slow.empty())
            return {note, kSubject, "fallbacks without tensor cores: " + slow,
                    "the library rejects these products, which run tens of times slower without it"};
        return {ok, kSubject,
                fmt::format("{} shapes of GPT-2 124M, no fallbacks, all bit-identical in two runs", checked.size()),
                "`deft profile --backend cuda` shows the path of each product"};
    } catch (const Error& error) {
        const std::string text = error.what(), first = first_line(text);
        std::string rest = text.size() > first.size() ? text.substr(first.size() + 1) : "";
        std::replace(rest.begin(), rest.end(), '\n', ' ');
        return {error.kind() == ErrorKind::config ? missing : note, kSubject, first, rest};
    }
}

std::vector<Finding> examine(const fs::path& root) {
    const results_db::Host host = describe_host();
    std::vector<Finding> findings = {processor(host), threads(host), memory(host), huge_pages(), disk(root)};
    findings.push_back({kernels::cuda::kBuilt ? ok : note, "CUDA backend",
                        kernels::cuda::kBuilt ? "built" : "not built",
                        kernels::cuda::kBuilt ? "" : "to use GPUs, build with ./deft --cuda ..."});
    findings.push_back(toolkit());
    findings.push_back(driver());
    for (Finding& finding : gpus()) findings.push_back(std::move(finding));
    if (!engine::usable_gpus().empty()) {
        findings.push_back(card_sharing());
        findings.push_back(gpu_products(usual_products()));
    }
    for (Finding& finding : std::vector{mpi(), nccl()}) findings.push_back(std::move(finding));
    for (Finding& finding : launchers()) findings.push_back(std::move(finding));
    for (Finding& finding : std::vector{libraries(), git(), data_mirror()}) findings.push_back(std::move(finding));
    return findings;
}

std::string render(const std::vector<Finding>& findings) {
    std::size_t subjects = 0;
    for (const Finding& finding : findings) subjects = std::max(subjects, finding.subject.size());
    std::string text;
    for (const Finding& finding : findings) {
        text += fmt::format("{:<8} {:<{}}  {}\n", word(finding.state), finding.subject, subjects, finding.found);
        if (!finding.meaning.empty())
            text += fmt::format("{:<8} {:<{}}  {}\n", "", "", subjects, "- " + finding.meaning);
    }
    return text;
}

Json to_json(const std::vector<Finding>& findings) {
    Json json = Json::array();
    for (const Finding& finding : findings)
        json.push_back({{"state", word(finding.state)},
                        {"subject", finding.subject},
                        {"found", finding.found},
                        {"meaning", finding.meaning}});
    return json;
}

}  // namespace deft::sweeps

namespace deft::cli {

void add_doctor(CLI::App& app, Context& context) {
    struct Arguments {
        std::string root = sweeps::kDefaultRoot;
        bool json = false;
        std::string slurm;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("doctor", "Check this machine and this build");
    add_root(*command, arguments->root, "Folder of results");
    command->add_flag("--json", arguments->json, "Print JSON, for programs");
    CLI::Option* slurm = command
                             ->add_option("--slurm", arguments->slurm,
                                          "Submit one Slurm job, as in --slurm partition=gpu, that tests the folder of "
                                          "results and its locks from a node")
                             ->expected(0, 1);
    command->callback([arguments, slurm, &context] {
        std::vector<sweeps::Finding> findings = sweeps::examine(arguments->root);
        if (slurm->count() > 0) {
            sweeps::SlurmSettings settings;
            sweeps::apply_slurm_option(arguments->slurm, settings);
            for (sweeps::Finding& finding : sweeps::slurm_findings(arguments->root, settings))
                findings.push_back(std::move(finding));
        }
        if (arguments->json)
            print_exact(sweeps::to_json(findings).dump(2, ' ', false, Json::error_handler_t::replace));
        else
            print(sweeps::version_text() + "\n\n" + sweeps::render(findings));
        const bool lacks = std::any_of(findings.begin(), findings.end(), [](const sweeps::Finding& finding) {
            return finding.state == sweeps::Finding::State::missing;
        });
        if (lacks) context.exit_code = kExitFailed;
    });
}

}  // namespace deft::cli
