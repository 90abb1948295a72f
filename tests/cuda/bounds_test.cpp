// The kernels under AddressSanitizer, to which every buffer of the emulated device ends with its last byte.

#include "tests/catch.h"
#include "tests/cuda/children.h"
#include "tests/cuda/small_cases.h"

namespace deft::kernels::cases {
namespace {

test::Command bounds_program(const std::vector<std::string>& arguments) {
    test::Command command;
#ifdef DEFT_BOUNDS_PROGRAM
    command = {DEFT_BOUNDS_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
#endif
    return command;
}

TEST_CASE("AddressSanitizer sees a kernel that reads an item past its buffer, and none in the smallest cases",
          "[slow][bare]") {
    std::vector<test::Command> commands = {bounds_program({"tiny", "read_behind", "all"}),
                                           bounds_program({"tiny", "block_sum", "all"})};
    if (commands.front().empty()) DEFT_SKIP("the kernels are not built with AddressSanitizer here");
    constexpr std::size_t kMostItems = 4096;
    for (const char* type : {"f32", "bf16"}) {
        test::Command& command = commands.emplace_back(bounds_program({"1", type, "all"}));
        for (const OpCase& op : small_cases(1, kMostItems)) command.push_back(op.name);
        CHECK(command.size() > 80);
    }
    const std::vector<test::Ended> ended = test::run_children(commands);
    CHECK(ended[0].exit_code == 66);
    CHECK_THAT(ended[0].printed, ContainsSubstring("use-after-poison") && ContainsSubstring("add_up"));
    for (std::size_t i = 1; i < ended.size(); ++i) {
        INFO(ended[i].printed.substr(0, 4000));
        CHECK(ended[i].exit_code == 0);
    }
}

}  // namespace
}  // namespace deft::kernels::cases
