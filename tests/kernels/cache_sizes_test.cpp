// Cache sizes as the kernel describes them.

#include "kernels/bench/cpu_peaks.h"

#include <initializer_list>
#include <utility>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft::kernels;

TEST_CASE("a cache's size is that of the data that a processor reaches", "[roofline]") {
    const deft::test::TemporaryFolder folder;
    const auto describe = [&](int index, const char* level, const char* type, const char* size) {
        const std::filesystem::path cache = folder.path() / ("index" + std::to_string(index));
        std::filesystem::create_directory(cache);
        for (const auto& [file, text] : {std::pair{"level", level}, {"type", type}, {"size", size}})
            std::ofstream(cache / file) << text << "\n";
    };
    describe(0, "1", "Instruction", "64K");
    describe(1, "1", "Data", "48K");
    describe(2, "2", "Unified", "1024K");
    describe(3, "3", "Unified", "32M");
    CHECK(cache_bytes(1, folder.path()) == 48 << 10);
    CHECK(cache_bytes(2, folder.path()) == 1 << 20);
    CHECK(cache_bytes(3, folder.path()) == 32 << 20);
    CHECK_FALSE(cache_bytes(4, folder.path()).has_value());
    describe(3, "3", "Unified", "12");
    CHECK(cache_bytes(3, folder.path()) == 12);
    // What cannot be read is left to the C library, which may know nothing either.
    describe(2, "2", "Unified", "99999999999999999999K");
    CHECK(cache_bytes(2, folder.path()) == cache_bytes(2, folder.path() / "nowhere"));
    CHECK(last_level_cache_bytes() > 0);
}
