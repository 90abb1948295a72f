#include "sweeps/driver/rank_cards.h"

#include <cstdlib>
#include <map>
#include <string>

#include "tests/catch.h"
#include "tests/with_variable.h"

using namespace deft::sweeps;

TEST_CASE("a rank sees all GPUs of its slot, its own first") {
    CHECK(own_card_first("GPU-a,GPU-b,GPU-c", 0) == "GPU-a,GPU-b,GPU-c");
    CHECK(own_card_first("GPU-a,GPU-b,GPU-c", 1) == "GPU-b,GPU-c,GPU-a");
    CHECK(own_card_first("GPU-a,GPU-b,GPU-c", 2) == "GPU-c,GPU-a,GPU-b");
    CHECK(own_card_first("GPU-a", 3) == "GPU-a");
    CHECK(own_card_first("", 1) == "");
}

TEST_CASE("ranks on the hosts of a hostfile see as many cards as a host has ranks, unless cards are named") {
    {
        const deft::test::WithVariable cards("CUDA_VISIBLE_DEVICES", "");
        ::unsetenv("CUDA_VISIBLE_DEVICES");
        show_cards(3);
        use_own_card(1);
        CHECK(std::string(std::getenv("CUDA_VISIBLE_DEVICES")) == "1,2,0");
    }
    const deft::test::WithVariable cards("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b");
    show_cards(3);
    CHECK(std::string(std::getenv("CUDA_VISIBLE_DEVICES")) == "GPU-a,GPU-b");
}

TEST_CASE("a rank's card is that of its number on its node") {
    using Set = std::map<std::string, std::string>;
    const auto number = [](const Set& set) {
        return rank_of_machine(5, [&](const char* name) {
            const auto found = set.find(name);
            return found == set.end() ? nullptr : found->second.c_str();
        });
    };
    Set step = {{"SLURM_JOB_ID", "7"},
                {"SLURM_STEP_ID", "0"},
                {"SLURM_STEP_NUM_TASKS", "8"},
                {"SLURM_PROCID", "5"},
                {"SLURM_LOCALID", "1"}};
    CHECK(number(step) == 1);
    CHECK(own_card_first("GPU-a,GPU-b,GPU-c,GPU-d", number(step)) == "GPU-b,GPU-c,GPU-d,GPU-a");
    // mpirun in a step of one task.
    step["SLURM_STEP_NUM_TASKS"] = "1";
    step["SLURM_LOCALID"] = "0";
    CHECK(number(step) == 5);
    step["OMPI_COMM_WORLD_LOCAL_RANK"] = "3";
    CHECK(number(step) == 3);
    CHECK(number({}) == 5);
}
