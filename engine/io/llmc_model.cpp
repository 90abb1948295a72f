#include "engine/io/llmc_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace deft::engine {

namespace {

constexpr std::size_t kHeaderBytes = 1024;

// The header's first entries.
struct Header {
    std::int32_t magic, version, positions, vocab, layers, heads, width, padded_vocab;
};

[[noreturn]] void refuse_llmc_model(const MappedFile& file, const std::string& why) {
    throw Error(ErrorKind::io, fmt::format("{}: no whole llm.c model: {}", file.path().string(), why),
                "make the file again, or copy it again whole", "everything");
}

Header checked_header(const MappedFile& file) {
    if (file.bytes().size() < kHeaderBytes) refuse_llmc_model(file, "shorter than its header");
    Header h{};
    std::memcpy(&h, file.bytes().data(), sizeof h);
    if (h.magic != kLlmcModelMagic)
        refuse_llmc_model(file, fmt::format("it begins with {}, not {}", h.magic, kLlmcModelMagic));
    if (h.version != 3 && h.version != 5)
        refuse_llmc_model(file, fmt::format("version {} is not read, only 3 (float32) and 5 (bfloat16)", h.version));
    constexpr std::int32_t kMostLayers = 10'000, kMostWidth = 1 << 20, kMostExtent = 1 << 24;  // no product overflows
    const auto require = [&](const char* what, std::int32_t value, std::int32_t most) {
        if (value < 1 || value > most) refuse_llmc_model(file, fmt::format("its {} is {}", what, value));
    };
    require("longest sequence", h.positions, kMostExtent);
    require("vocabulary", h.vocab, kMostExtent);
    require("number of layers", h.layers, kMostLayers);
    require("width", h.width, kMostWidth);
    require("number of heads", h.heads, h.width);
    require("padded vocabulary", h.padded_vocab, kMostExtent);
    if (h.width % h.heads != 0)
        refuse_llmc_model(file, fmt::format("{} heads do not divide a width of {}", h.heads, h.width));
    if (h.padded_vocab < h.vocab)
        refuse_llmc_model(file,
                          fmt::format("its padded vocabulary of {} is less than its {}", h.padded_vocab, h.vocab));
    return h;
}

// One of the 16 tensors: of all layers (layers, rows, columns), or of the model; columns 0: a vector.
struct Section {
    const char* name;
    bool of_layers;
    std::int64_t rows, columns;
    std::int64_t stored_rows;  // with padding

    std::int64_t elements() const { return stored_rows * std::max<std::int64_t>(1, columns); }
};

std::array<Section, 16> sections_of(const Header& h) {
    const std::int64_t C = h.width, T = h.positions;
    return {{{"wte.weight", false, h.vocab, C, h.padded_vocab},
             {"wpe.weight", false, T, C, T},
             {"ln_1.weight", true, C, 0, C},
             {"ln_1.bias", true, C, 0, C},
             {"attn.c_attn.weight", true, 3 * C, C, 3 * C},
             {"attn.c_attn.bias", true, 3 * C, 0, 3 * C},
             {"attn.c_proj.weight", true, C, C, C},
             {"attn.c_proj.bias", true, C, 0, C},
             {"ln_2.weight", true, C, 0, C},
             {"ln_2.bias", true, C, 0, C},
             {"mlp.c_fc.weight", true, 4 * C, C, 4 * C},
             {"mlp.c_fc.bias", true, 4 * C, 0, 4 * C},
             {"mlp.c_proj.weight", true, C, 4 * C, C},
             {"mlp.c_proj.bias", true, C, 0, C},
             {"ln_f.weight", false, C, 0, C},
             {"ln_f.bias", false, C, 0, C}}};
}

}  // namespace

LlmcModel read_llmc_model(std::shared_ptr<const MappedFile> file) {
    const Header h = checked_header(*file);
    LlmcModel model;
    model.dtype = h.version == 5 ? DType::bf16 : DType::f32;
    const std::array<Section, 16> sections = sections_of(h);
    std::int64_t elements = 0;
    for (const Section& section : sections) elements += section.elements() * (section.of_layers ? h.layers : 1);
    const auto wanted = static_cast<std::int64_t>(kHeaderBytes) + elements * size_of(model.dtype);
    const auto found = static_cast<std::int64_t>(file->bytes().size());
    if (found != wanted) refuse_llmc_model(*file, fmt::format("{} bytes where its header implies {}", found, wanted));

    model.config = gpt2_config(h.layers, h.width, h.heads, h.positions, h.vocab);
    model.weights.names = WeightNames::plain;
    const std::byte* at = file->bytes().data() + kHeaderBytes;
    for (const Section& section : sections)
        for (std::int32_t layer = 0; layer < (section.of_layers ? h.layers : 1); ++layer) {
            void* const data = const_cast<std::byte*>(at);  // a Tensor points to what may be written; this may not
            const Tensor tensor = section.columns == 0
                                      ? make_tensor(data, model.dtype, {section.rows})
                                      : make_tensor(data, model.dtype, {section.rows, section.columns});
            const std::string name =
                section.of_layers ? fmt::format("h.{}.{}", layer, section.name) : std::string(section.name);
            model.weights.tensors[name] = {tensor, file};
            at += section.elements() * size_of(model.dtype);
        }
    return model;
}

}  // namespace deft::engine
