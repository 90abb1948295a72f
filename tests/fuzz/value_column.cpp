// engine/data_efficiency/sampling/value_column.h: the first byte's lowest bit says .npy, else CSV

#include "engine/data_efficiency/sampling/value_column.h"

#include "engine/io/npy.h"
#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    const auto file = fuzz::write((data[0] & 1) != 0 ? "x.npy" : "x.csv", fuzz::view(data + 1, size - 1));
    return fuzz::read_or_refuse([&] {
        const engine::ValueColumn column = engine::read_value_column(file);
        const auto samples = static_cast<std::int64_t>(column.value.size());
        if (engine::difficulty_of_column(file, samples).samples() != samples) throw std::logic_error("samples lost");
    });
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> seeds = {std::string(1, '\0') + "3\n-7\n 12 \r\n0\n",
                                      std::string(1, '\0') + "0.5\n-1e300\n7\n"};
    for (const bool floats : {false, true}) {
        const std::vector<double> reals = {0.5, -0.0, 3};
        const std::vector<std::uint64_t> integers = {5, 0, 9};
        if (floats)
            engine::write_npy(scratch() / "seed.npy", std::span<const double>(reals));
        else
            engine::write_npy(scratch() / "seed.npy", std::span<const std::uint64_t>(integers));
        seeds.push_back("\x01" + read(scratch() / "seed.npy"));
    }
    return seeds;
}
