// Replays the files of a corpus folder and a target's seeds, then mutates them for a while. For compilers without
// libFuzzer.
//
//   fuzz_TARGET [--seconds S] [--seed N] [--write-seeds FOLDER] [FILE or FOLDER]...

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/target.h"

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

namespace fs = std::filesystem;

constexpr unsigned kHangSeconds = 30;  // for one input

// For the handlers of a dying process.
const std::string* current_input = nullptr;
std::string failed_file;

// Async-signal-safe.
void save_input() {
    if (current_input == nullptr) return;
    const int file = ::open(failed_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0 || ::write(file, current_input->data(), current_input->size()) < 0) return;
    ::close(file);
    constexpr char kSaid[] = "the input that fails is in this folder, in ";
    (void)!::write(STDERR_FILENO, kSaid, sizeof kSaid - 1);
    (void)!::write(STDERR_FILENO, failed_file.data(), failed_file.size());
    (void)!::write(STDERR_FILENO, "\n", 1);
}

void die(int number) {
    save_input();
    ::signal(number, SIG_DFL);
    ::raise(number);
}

void catch_crashes() {
    ::signal(SIGALRM, die);
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback(save_input);
        return;
    }
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(number, die);
    // A reader that believes a hostile size gets std::bad_alloc, which is not a deft::Error.
    const rlimit memory{rlim_t{2} << 30, rlim_t{2} << 30};
    ::setrlimit(RLIMIT_AS, &memory);
}

// False where an exception got out.
bool run_one(const std::string& input) {
    current_input = &input;
    ::alarm(kHangSeconds);
    try {
        // A copy of its own, so that reading beyond the end is seen.
        const std::vector<std::uint8_t> bytes(input.begin(), input.end());
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    } catch (const std::exception& error) {
        fmt::print(stderr, "an exception that is not a deft::Error: {}\n", error.what());
        save_input();
        return false;
    }
    ::alarm(0);
    return true;
}

struct Arguments {
    double seconds = 0;
    std::uint64_t seed = std::random_device{}();
    std::string write_seeds;
    std::vector<fs::path> files;
};

Arguments parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const bool option = word == "--seconds" || word == "--seed" || word == "--write-seeds";
        if (!option) {
            arguments.files.emplace_back(word);
            continue;
        }
        if (++i == argc) throw std::runtime_error(word + " needs a value");
        if (word == "--seconds") arguments.seconds = std::stod(argv[i]);
        if (word == "--seed") arguments.seed = std::stoull(argv[i]);
        if (word == "--write-seeds") arguments.write_seeds = argv[i];
    }
    return arguments;
}

// Contents of files, and of the files in folders; an absent folder has none.
std::vector<std::string> corpus_of(const std::vector<fs::path>& files) {
    std::vector<fs::path> found;
    for (const fs::path& file : files) {
        if (!fs::is_directory(file)) {
            if (fs::exists(file)) found.push_back(file);
            continue;
        }
        for (const auto& entry : fs::directory_iterator(file)) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> inputs;
    for (const fs::path& file : found) inputs.push_back(deft::fuzz::read(file));
    return inputs;
}

int run(const Arguments& arguments) {
    std::vector<std::string> inputs = deft::fuzz::seeds();
    if (!arguments.write_seeds.empty()) {
        fs::create_directories(arguments.write_seeds);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            std::ofstream(fs::path(arguments.write_seeds) / fmt::format("seed_{}", i), std::ios::binary) << inputs[i];
        return 0;
    }
    for (std::string& input : corpus_of(arguments.files)) inputs.push_back(std::move(input));
    fmt::print("seed {}, {} inputs replayed\n", arguments.seed, inputs.size());
    std::fflush(stdout);
    for (const std::string& input : inputs)
        if (!run_one(input)) return 1;
    std::mt19937_64 random(arguments.seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(arguments.seconds);
    std::int64_t runs = 0;
    for (; std::chrono::steady_clock::now() < end; ++runs)
        if (!run_one(deft::fuzz::mutated(inputs[random() % inputs.size()], inputs, random))) return 1;
    fmt::print("{} mutated inputs in {} s\n", runs, arguments.seconds);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Arguments arguments = parse(argc, argv);
        deft::fuzz::scratch();
        failed_file = fs::path(argv[0]).filename().string() + ".failed_input";
        catch_crashes();
        return run(arguments);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}
