// engine/data/indexed_dataset.h: .idx, then .bin

#include "engine/data/indexed_dataset.h"

#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto files = fuzz::split(fuzz::view(data, size), 2);
    fuzz::write("x.idx", files[0]);
    fuzz::write("x.bin", files[1]);
    return fuzz::read_or_refuse([&] {
        const auto dataset = std::make_shared<const engine::IndexedDataset>(fuzz::scratch() / "x");
        const engine::TokenSpan tokens = dataset->tokens();
        fuzz::touch(tokens.data, static_cast<std::size_t>(tokens.size * tokens.width));
        for (std::int64_t d = 0; d <= dataset->documents(); ++d) (void)dataset->document_start(d);
        for (std::int64_t d = 0; d < dataset->documents(); ++d) {
            const engine::TokenCorpus corpus = engine::corpus_of_range(dataset, d, d + 1);
            fuzz::touch(corpus.tokens.data, static_cast<std::size_t>(corpus.tokens.size * corpus.tokens.width));
        }
    });
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> seeds;
    for (const std::int32_t vocab : {256, 100'000}) {
        engine::IndexedDatasetWriter writer(scratch() / "seed", vocab);
        writer.add_document(std::vector<std::int32_t>{1, 2, 3});
        writer.add_document({});
        writer.add_sequence(std::vector<std::int32_t>{4});
        writer.add_sequence(std::vector<std::int32_t>{5, 6});
        writer.end_document();
        writer.finish();
        seeds.push_back(join({read(scratch() / "seed.idx"), read(scratch() / "seed.bin")}));
    }
    return seeds;
}
