#include <stdexcept>

#include "engine/data_efficiency/token_dropping/token_dropping.h"

namespace deft::engine {

// Each is defined in the dropper's file.
TokenDropper random_ltd_dropper();
TokenDropper token_bypass_dropper();

std::span<const TokenDropper> token_droppers() {
    static const std::vector<TokenDropper> droppers = {
        random_ltd_dropper(),
        token_bypass_dropper(),
    };
    return droppers;
}

const TokenDropper& token_dropper(const std::string& name) {
    for (const TokenDropper& dropper : token_droppers())
        if (dropper.name == name) return dropper;
    throw std::logic_error("unknown token dropper " + name);
}

std::vector<std::int32_t> layer_range(std::int64_t first, std::int64_t last) {
    std::vector<std::int32_t> layers;
    for (std::int64_t layer = first; layer <= last; ++layer) layers.push_back(static_cast<std::int32_t>(layer));
    return layers;
}

TokenDropping token_dropping(const std::string& name, std::int64_t layers, const Pacing& kept) {
    const TokenDropper& dropper = token_dropper(name);
    return {kept, dropper.default_layers(layers), 0, &dropper, dropper.new_settings()};
}

}  // namespace deft::engine
