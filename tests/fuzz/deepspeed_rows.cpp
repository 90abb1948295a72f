// engine/data_efficiency/sampling/deepspeed_rows.h: .idx, then .bin

#include "engine/data_efficiency/sampling/deepspeed_rows.h"

#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto files = fuzz::split(fuzz::view(data, size), 2);
    fuzz::write("x.idx", files[0]);
    fuzz::write("x.bin", files[1]);
    return fuzz::read_or_refuse([&] {
        const engine::IndexedRows rows(fuzz::scratch() / "x");
        std::int64_t sum = 0;
        rows.for_each_row([&](std::int64_t, std::int64_t first, std::int64_t length) {
            for (std::int64_t i = first; i < first + length; ++i) sum ^= rows.elements()[i];
        });
        fuzz::touch(&sum, sizeof sum);
    });
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> seeds;
    for (const std::int64_t most : {9L, 1'000L, 100'000L, 1'000'000'000'000L}) {
        const std::vector<std::int64_t> values = {0, 1, 2, most, 4, most};
        const engine::IntegerColumn column{values.data(), 6, engine::number_type<std::int64_t>()};
        engine::write_indexed_rows(scratch() / "seed", column, 3, [](std::int64_t row) { return row + 1; });
        seeds.push_back(join({read(scratch() / "seed.idx"), read(scratch() / "seed.bin")}));
    }
    return seeds;
}
