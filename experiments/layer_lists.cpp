#include "experiments/layer_lists.h"

#include <fmt/format.h>

#include <charconv>

#include "experiments/size_limits.h"

namespace deft::experiments {

std::vector<std::int64_t> parse_layer_range(const TableReader& table, const std::string& text) {
    std::int64_t first = 0, last = -1;
    const char* const end = text.data() + text.size();
    const auto [dash, first_error] = std::from_chars(text.data(), end, first);
    if (first_error == std::errc{} && dash != end && *dash == '-') {
        const auto [stop, last_error] = std::from_chars(dash + 1, end, last);
        if (last_error != std::errc{} || stop != end) last = -1;
    }
    if (first < 0 || last < first || last >= kMostLayers)
        table.refuse("layers", fmt::format("is \"{}\", which is not a range", text),
                     "write it as \"1-22\", or [1, 2, 5]");
    std::vector<std::int64_t> layers;
    for (std::int64_t layer = first; layer <= last; ++layer) layers.push_back(layer);
    return layers;
}

void require_layers(const TableReader& table, const std::vector<std::int64_t>& layers, std::int64_t layers_of_model) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (layers[i] < 0 || layers[i] >= layers_of_model)
            table.refuse("layers",
                         fmt::format("names layer {}; model.layers is {}, counted from 0", layers[i], layers_of_model));
        if (i > 0 && layers[i] <= layers[i - 1])
            table.refuse("layers", fmt::format("names {} after {}", layers[i], layers[i - 1]),
                         "name each layer once, in ascending order");
    }
}

}  // namespace deft::experiments
