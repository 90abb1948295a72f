// ZeRO-1 against plain data parallel on as many ranks as mpirun started: the same bits, and moments of the own share
// alone.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/engine/labelled_texts.h"
#include "tests/engine/small_vit.h"
#include "tests/ranks/rank_trainers.h"

using namespace deft::engine;
using namespace deft::test;

namespace {

constexpr double kClip = 0.05;  // below every norm of these tests

// Elements of a tensor as bits: -0 is not 0 here, and a NaN itself.
std::vector<std::byte> bits(const Tensor& tensor) {
    const auto* bytes = static_cast<const std::byte*>(tensor.data);
    return {bytes, bytes + tensor.bytes()};
}

template <class Real>
void check_same_bits(Trainer& plain, Trainer& zero) {
    const ParameterTable& all = plain.model().parameters();
    const ParameterTable& shared = zero.model().parameters();
    const int rank = all_ranks().rank();
    for (std::size_t i = 0; i < all.all().size(); ++i) {
        INFO(all[i].name);
        CHECK(bits(shared[i].value) == bits(all[i].value));
        const Share own = shared.elements_of_rank(shared[i], rank);
        for (int which = 0; which < all.moments(); ++which)
            CHECK(bits(shared.own_moment(shared[i], which)) ==
                  bits(all.own_moment(all[i], which).part(own.begin, own.size())));
    }
    CHECK(same_everywhere(all_parameters<Real>(zero)));
}

// The norm of what flat_gradients() holds.
template <class Real>
double norm_of(const Tensor& gradients) {
    double squares = 0;
    for (const Real value : gradients.elements<Real>())
        squares += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(squares);
}

template <class Real = float>
void check_zero(TrainerConfig config, const TrainingData& data) {
    config.batch_size = config.micro_batch_size = kBatch;
    config.optimizer.max_grad_norm = kClip;
    Trainer plain = on_ranks(config, data, all_ranks(), dtype_of<Real>);
    config.zero = 1;
    Trainer zero = on_ranks(config, data, all_ranks(), dtype_of<Real>);
    for (int step = 0; step < 4; ++step) {
        const StepResult a = plain.step(), b = zero.step();
        CHECK(a.grad_norm > kClip);
        CHECK(a.grad_norm == Approx(norm_of<Real>(plain.model().parameters().flat_gradients())).epsilon(1e-12));
        CHECK(b.grad_norm == a.grad_norm);
        CHECK(b.loss == a.loss);
        CHECK(b.token_loss == a.token_loss);
        CHECK(b.class_loss == a.class_loss);
    }
    CHECK(zero.counts().flops == plain.counts().flops);
    check_same_bits<Real>(plain, zero);
}

// The number of ranks that have moments of each tensor.
std::vector<int> owners(const ParameterTable& table) {
    std::vector<int> owners;
    for (const Parameter& p : table.all()) {
        int ranks = 0;
        for (int rank = 0; rank < table.owner().ranks; ++rank) ranks += table.elements_of_rank(p, rank).size() > 0;
        owners.push_back(ranks);
    }
    return owners;
}

}  // namespace

TEST_CASE(
    "ZeRO-1 gives a GPT the bits of plain data parallel, with random-LTD and token bypass, in single and double") {
    TrainerConfig config = tiny_config(4, 13);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    config.techniques.seqtru = Pacing{7, 13, 1, 3, 1};
    keep_tokens(config, 6);
    check_zero(config, corpus);
    check_zero<double>(config, corpus);
    config.techniques.dropping = bypass_on({1, 2}, {5, 11, 1, 6, 1}, 1, {0.5, {3, 30}});
    check_zero(config, corpus);
}

TEST_CASE("ZeRO-1 gives BERT, experts, images and labelled texts the bits of plain data parallel") {
    check_zero(bert_training(), small_samples(11));
    TrainerConfig experts = tiny_config(4, 13);
    for (const std::size_t layer : {1u, 3u}) experts.model.blocks[layer].experts = three_experts();
    check_zero(experts, tiny_corpus(4000, experts.model.vocab));
    TrainerConfig images = small_vit_training(4, kBatch);
    images.model = small_vit(PositionsOf::learned, Pooling::first, 0.2);
    check_zero(images, small_image_samples(20));
    check_zero(labelled_training(3, 7, 0.2), small_labelled_texts(20, 3));
}

TEST_CASE("ZeRO-1 gives SGD, whose momentum is shared alike, the bits of plain data parallel") {
    TrainerConfig config = tiny_config(3, 13);
    config.optimizer = {.kind = OptimizerKind::sgd, .momentum = 0.8, .weight_decay = 0.25};
    config.learning_rate.max = 0.5;
    check_zero(config, tiny_corpus(4000, config.model.vocab));
}

TEST_CASE("ZeRO-1 gives moments in bf16, rounded at random, the bits of plain data parallel") {
    TrainerConfig config = tiny_config(3, 13);
    config.optimizer.rounds_moments = true;
    check_zero(config, tiny_corpus(4000, config.model.vocab));
    check_zero<double>(config, tiny_corpus(4000, config.model.vocab));
    config.optimizer.kind = OptimizerKind::sgd;
    check_zero(config, tiny_corpus(4000, config.model.vocab));
}

TEST_CASE("shares tile both groups, cut tensors, and moments of a rank take what was planned for them") {
    TrainerConfig config = tiny_config(3, 13, kBatch);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    const RankOf here = all_ranks().rank_of();
    for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::sgd}) {
        config.optimizer.kind = kind;
        config.zero = 0;
        const std::int64_t whole = on_ranks(config, corpus).arena().region_bytes(Region::optimizer);
        CHECK(plan_memory(config, Backend{}, here).bytes == plan_memory(config, Backend{}).bytes);
        config.zero = 1;
        Trainer trainer = on_ranks(config, corpus);
        const ParameterTable& table = trainer.model().parameters();
        std::int64_t own = 0, planned = 0;
        for (const ParameterTable::Group& group : table.groups()) {
            const Share share = share_of(group.value.numel(), here.rank, here.ranks);
            CHECK(group.own.begin == share.begin);
            CHECK(group.m.numel() == share.size());
            own += share.size();
        }
        for (const PlannedBuffer& buffer : plan_memory(config, Backend{}, here).buffers)
            if (buffer.region == Region::optimizer) planned += buffer.bytes;
        CHECK(planned == own * moments_of(config.optimizer).count * 4);
        const std::int64_t bytes = trainer.arena().region_bytes(Region::optimizer);
        CHECK(bytes - planned < 2 * 16 * 4);  // the padding after each, up to the next multiple of 16 elements
        CHECK(trainer.arena().total_bytes() == plan_memory(config, Backend{}, here).bytes);
        all_ranks().all_reduce(std::span(&planned, 1));
        CHECK(planned == whole);
        CHECK(plan_memory(config, Backend{}).bytes == plan_memory(config, Backend{}, RankOf{0, 1}).bytes);
        if (here.ranks == 1) return;
        const std::vector<int> of_tensor = owners(table);
        CHECK(*std::max_element(of_tensor.begin(), of_tensor.end()) > 1);
        CHECK(*std::min_element(of_tensor.begin(), of_tensor.end()) == 1);
        const auto cut = std::max_element(of_tensor.begin(), of_tensor.end()) - of_tensor.begin();
        CHECK_THROWS_WITH(table.first_moment(table[static_cast<std::size_t>(cut)]), ContainsSubstring("are shared"));
    }
}

TEST_CASE("elements of every tensor belong to one rank each, in the order of ranks") {
    for (const int ranks : {1, 2, 3, 5}) {
        TrainerConfig config = tiny_config(2, 13);
        Arena arena;
        const Transformer model = plan_and_commit(arena, [&](Arena& a) {
            return Transformer(a, config.model, Backend{}, 2, Purpose::training, Recompute::none, KeptMoments{},
                               ModelRanks{.moments = {ranks - 1, ranks}});
        });
        const ParameterTable& table = model.parameters();
        for (const Parameter& p : table.all()) {
            std::int64_t at = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                const Share elements = table.elements_of_rank(p, rank);
                if (elements.size() == 0) continue;
                CHECK(elements.begin == at);
                at = elements.end;
            }
            CHECK(at == p.value.numel());
        }
    }
}

TEST_CASE("a step that diverges on one rank is reported on all, and leaves the weights of the step before") {
    TrainerConfig config = tiny_config(2, 13, kBatch);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    for (const int zero : {0, 1}) {
        config.zero = zero;
        Trainer trainer = on_ranks(config, corpus);
        trainer.step();
        // Only on the last rank, and in a weight that all rows meet.
        const Parameter& broken = parameter_of(trainer, "h.0.mlp.c_fc.bias");
        const float kept = broken.value.as<float>()[0];
        if (all_ranks().rank() == all_ranks().size() - 1)
            broken.value.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> before = values<float>(parameter_of(trainer, "h.1.mlp.c_fc.weight").value);
        try {
            trainer.step();
            FAIL("nothing was thrown");
        } catch (const deft::Error& error) {
            CHECK(error.kind() == deft::ErrorKind::nonfinite);
            CHECK(text_of_rank(all_ranks(), 0, error.what()) == error.what());
        }
        CHECK(values<float>(parameter_of(trainer, "h.1.mlp.c_fc.weight").value) == before);
        broken.value.as<float>()[0] = kept;
        CHECK(trainer.step().loss > 0);
    }
}
