// The shape of Slurm jobs, and which attempts share one.

#include "sweeps/driver/slurm_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/catch.h"

using namespace deft;

namespace {

bool has_word(const std::vector<std::string>& argv, const std::string& word) {
    return std::ranges::find(argv, word) != argv.end();
}

sweeps::LaunchRequest request_of(int cores, int gpus, int nodes = 1, int ranks = 1) {
    return {"/root/runs/a.1", {DEFT_PROGRAM, "trial"}, {}, cores, gpus, 60, nodes, ranks};
}

std::vector<std::string> submitted(const sweeps::LaunchRequest& request, const sweeps::SlurmSettings& settings,
                                   std::size_t attempts) {
    return sweeps::submit_argv("/root/jobs/a.1", request, sweeps::shape_of_job(request, settings, attempts), settings);
}

}  // namespace

TEST_CASE("Attempts side by side ask for a task each, with cores and cards of their own") {
    const std::vector<std::string> argv = submitted(request_of(2, 1), {.gpus = "a100", .at_once = 4}, 9);
    for (const char* word : {"--nodes=1", "--ntasks=4", "--cpus-per-task=2", "--gpus=a100:4"}) {
        CAPTURE(word);
        CHECK(has_word(argv, word));
    }
    CHECK_FALSE(has_word(argv, "--no-kill"));
    // A job of fewer attempts is smaller.
    CHECK(has_word(submitted(request_of(2, 1), {.at_once = 4}, 3), "--ntasks=3"));
    CHECK(has_word(submitted(request_of(2, 1), {.at_once = 4}, 3), "--gpus=3"));
}

TEST_CASE("Attempts side by side on several nodes are as many on each") {
    const sweeps::SlurmSettings settings = {.gpus = "h100", .at_once = 6, .nodes = 3};
    const std::vector<std::string> argv = submitted(request_of(2, 1), settings, 6);
    for (const char* word : {"--nodes=3", "--ntasks=6", "--ntasks-per-node=2", "--cpus-per-task=2",
                             "--gpus-per-node=h100:2", "--no-kill"}) {
        CAPTURE(word);
        CHECK(has_word(argv, word));
    }
    const auto nodes = [&](std::size_t attempts) {
        return sweeps::shape_of_job(request_of(2, 1), settings, attempts).nodes;
    };
    CHECK(nodes(1) == 1);
    CHECK(nodes(2) == 1);
    CHECK(nodes(3) == 2);
    CHECK(nodes(5) == 3);
    CHECK(nodes(60) == 3);
}

TEST_CASE("The question to Slurm has the shape of a full job, and submits none") {
    const std::vector<std::string> argv =
        sweeps::test_argv(request_of(2, 0), {.partition = "cpu", .at_once = 4, .nodes = 2});
    for (const char* word : {"--test-only", "--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--partition=cpu"}) {
        CAPTURE(word);
        CHECK(has_word(argv, word));
    }
}

TEST_CASE("A job of ranks on several nodes asks for as many tasks on each") {
    const std::vector<std::string> argv = submitted(request_of(8, 4, 2, 4), {}, 1);
    for (const char* word :
         {"--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--cpus-per-task=2", "--gpus-per-node=2", "--no-kill"})
        CHECK(has_word(argv, word));
}

TEST_CASE("Attempts share a job where they are short, or where the sweep says how many") {
    const auto request = [](double seconds, int cores = 1) {
        sweeps::LaunchRequest made;
        made.argv = {"deft"};
        made.cores = cores;
        made.projected_seconds = seconds;
        return made;
    };
    const auto sizes = [](const std::vector<sweeps::LaunchRequest>& requests, std::int64_t most,
                          std::int64_t at_once = 1) {
        std::string text;
        for (const auto& job : sweeps::packed(requests, {.pack = most, .at_once = at_once}))
            text += fmt::format("{} ", job.size());
        return text;
    };
    // Unknown and long ones have a job each; the others fill half an hour.
    CHECK(sizes({request(0), request(0)}, 0) == "1 1 ");
    CHECK(sizes({request(600), request(600)}, 0) == "1 1 ");
    CHECK(sizes({request(500), request(500), request(500), request(500), request(500)}, 0) == "4 1 ");
    CHECK(sizes({request(500), request(0), request(500)}, 0) == "2 1 ");
    CHECK(sizes({request(500), request(500, 2), request(500)}, 0) == "2 1 ");
    CHECK(sizes({request(0), request(5000), request(0)}, 2) == "2 1 ");
    CHECK(sizes({request(0), request(0, 2), request(0)}, 2) == "2 1 ");
    // Side by side, half an hour holds as many times more.
    CHECK(sizes({request(0), request(0), request(0)}, 0, 2) == "2 1 ");
    CHECK(sizes(std::vector(10, request(500)), 0, 2) == "8 2 ");
    CHECK(sizes(std::vector(10, request(500)), 4, 2) == "4 4 2 ");
    // A long one does not wait for short ones.
    CHECK(sizes({request(500), request(500), request(5000)}, 0, 2) == "2 1 ");
    CHECK(sizes({request(500), request(5000), request(500)}, 0, 2) == "2 1 ");
}
