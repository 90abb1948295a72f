// engine/io/npy.h

#include "engine/io/npy.h"

#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::write("x.npy", fuzz::view(data, size));
    return fuzz::read_or_refuse([&] {
        const engine::Npy npy = engine::read_npy(file);
        fuzz::touch(npy.data, static_cast<std::size_t>(npy.count * npy.type.bytes));
    });
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> seeds;
    const auto add = [&]<class T>(const std::vector<T>& values) {
        engine::write_npy(scratch() / "seed.npy", std::span<const T>(values));
        seeds.push_back(read(scratch() / "seed.npy"));
    };
    add(std::vector<std::int64_t>{3, -1, 7});
    add(std::vector<std::uint8_t>{3, 1, 7});
    add(std::vector<double>{0.5, -1e300});
    add(std::vector<float>{});
    return seeds;
}
