// engine/data_efficiency/sampling/deepspeed_index.h: how many samples (one byte) and which files there are (one bit
// each), then index_to_sample, index_to_metric, sample_to_metric and percentile_merged, each .idx and .bin

#include "engine/data_efficiency/sampling/deepspeed_index.h"

#include "tests/fuzz/target.h"

using namespace deft;

namespace {

constexpr const char* kFiles[] = {"m_index_to_sample", "m_index_to_metric", "m_sample_to_metric",
                                  "m_index_to_sample_percentile_merged"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const auto files = fuzz::split(fuzz::view(data + 2, size - 2), 8);
    for (std::size_t i = 0; i < 4; ++i) {
        const std::string name = kFiles[i];
        std::error_code absent;
        std::filesystem::remove(fuzz::scratch() / (name + ".idx").c_str(), absent);
        if ((data[1] >> i & 1) == 0) continue;
        fuzz::write((name + ".idx").c_str(), files[2 * i]);
        fuzz::write((name + ".bin").c_str(), files[2 * i + 1]);
    }
    return fuzz::read_or_refuse([&] {
        const engine::DifficultyIndex index = engine::read_deepspeed_index(fuzz::scratch().path(), "m", data[0]).index;
        std::int64_t sum = 0;
        for (std::int64_t rank = 0; rank < index.samples(); ++rank) sum ^= index.sorted_value(rank);
        fuzz::touch(&sum, sizeof sum);
    });
}

std::vector<std::string> fuzz::seeds() {
    const engine::DifficultyIndex index = engine::index_of_values({5, 3, 300, 3, 5, 70'000});
    engine::write_deepspeed_index(index, scratch().path(), "m");
    std::vector<std::string> files, seeds;
    for (const std::string name : kFiles)
        for (const char* end : {".idx", ".bin"}) files.push_back(read(scratch() / (name + end).c_str()));
    for (const char there : {3, 4, 8}) seeds.push_back(std::string{6, there} + join(files));
    return seeds;
}
