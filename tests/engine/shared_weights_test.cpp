// Which gradients of a flat group are summed as which block of a model is done.

#include "engine/train/shared_weights.h"

#include "engine/models/transformer.h"
#include "engine/nn/block_stack.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"

using namespace deft::engine;

TEST_CASE("every weight of a block is among the elements that are summed once the block is done") {
    TrainerConfig config = tiny_config(12, 13);  // so that h.1. begins no name of h.11.
    config.model.blocks[3].experts = ExpertsConfig{.count = 3, .top = 2};
    Arena arena;
    const Transformer model =
        plan_and_commit(arena, [&](Arena& a) { return Transformer(a, config.model, Backend{}, 2); });
    const ParameterTable& table = model.parameters();
    const std::vector<SharedGroup> groups = shared_groups(table, config.model.blocks.size(), {}, {});
    REQUIRE(groups.size() == 2);
    for (const Parameter& parameter : table.all()) {
        INFO(parameter.name);
        const SharedGroup& shared = groups[is_decayed(parameter.kind) ? 0 : 1];
        const std::int64_t first = parameter.value.as<float>() - shared.group.value.as<float>();
        int blocks = 0;
        for (std::size_t block = 0; block < shared.of_block.size(); ++block) {
            const Share elements = shared.of_block[block];
            const bool inside = elements.begin <= first && first + parameter.value.numel() <= elements.end;
            CHECK(inside == parameter.name.starts_with(block_prefix(static_cast<std::int64_t>(block))));
            blocks += inside;
        }
        CHECK(blocks == (parameter.name.starts_with("h.") ? 1 : 0));
    }
    for (const SharedGroup& shared : groups) CHECK(shared.unrounded.empty());  // all is read as it is updated
}
