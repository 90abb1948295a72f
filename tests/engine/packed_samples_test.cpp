// Packed samples give each position what the plain forward pass gives it.

#include <memory>
#include <random>

#include "engine/core/exec.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"

using namespace deft::engine;

namespace {

// Random samples of which each shares a random beginning with one before it; every position is scored, some twice.
struct Packed {
    std::int64_t B, T;
    std::vector<std::int32_t> token, target;                  // (B, T)
    std::vector<std::int32_t> computed, source, scored;       // (M), (B, T), (R = B T)
    std::vector<std::int32_t> own_token = {}, position = {};  // (M), of the rows that are computed

    PackedSamples samples() const { return {B, T, own_token, position, computed, source, scored, target}; }
};

Packed draw_packed(std::uint64_t seed, std::int64_t B, std::int64_t T, std::int64_t vocab) {
    std::uint64_t draw = 0;
    const auto below = [&](std::int64_t limit) {
        return static_cast<std::int32_t>(
            deft::kernels::philox_u32(seed, deft::kernels::RandomPurpose::tests, 0, 0, draw++, 0) %
            static_cast<std::uint32_t>(limit));
    };
    Packed packed{B, T, {}, {}, {}, {}, {}};
    const auto N = static_cast<std::size_t>(B * T);
    packed.token.resize(N);
    packed.source.resize(N);
    for (std::int64_t b = 0; b < B; ++b) {
        const std::int64_t shared = b == 0 ? 0 : below(T), from = b == 0 ? 0 : below(b);
        for (std::int64_t t = 0; t < T; ++t) {
            const auto here = static_cast<std::size_t>(b * T + t), there = static_cast<std::size_t>(from * T + t);
            packed.token[here] = t < shared ? packed.token[there] : below(vocab);
            packed.source[here] = t < shared ? packed.source[there] : static_cast<std::int32_t>(packed.computed.size());
            if (t >= shared) {
                packed.computed.push_back(static_cast<std::int32_t>(here));
                packed.own_token.push_back(packed.token[here]);
                packed.position.push_back(static_cast<std::int32_t>(t));
            }
            packed.scored.push_back(packed.source[here]);
            packed.target.push_back(below(vocab));
        }
    }
    return packed;
}

template <class Real>
void check_packed(DType dtype, double tolerance) {
    const TrainerConfig config = tiny_config(3, 13, 5);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer trainer(config, corpus, 2, dtype);
    Transformer& model = trainer.model();
    Exec& exec = trainer.exec();
    const std::uint64_t seed = std::random_device{}();
    for (const auto& [B, T] : {std::pair<std::int64_t, std::int64_t>{5, 13}, {1, 1}, {7, 9}, {3, 4}}) {
        const Packed packed = draw_packed(seed + static_cast<std::uint64_t>(B), B, T, config.model.vocab);
        model.evaluate(exec, packed.samples());
        const auto losses = host_copy<Real>(exec, model.loss.view({B * T}));
        const auto greedy = host_copy<std::int32_t>(exec, model.greedy.view({B * T}));
        // The plain pass takes a sample at a time: (7, 9) are more rows than a micro-batch has.
        for (std::int64_t b = 0; b < B; ++b) {
            model.load(exec, {1, T, &packed.token[static_cast<std::size_t>(b * T)],
                              &packed.target[static_cast<std::size_t>(b * T)]});
            model.evaluate(exec, 1, T);
            const auto plain = host_copy<Real>(exec, model.loss.view({T}));
            const auto plain_greedy = host_copy<std::int32_t>(exec, model.greedy.view({T}));
            for (std::int64_t t = 0; t < T; ++t) {
                const auto here = static_cast<std::size_t>(b * T + t), there = static_cast<std::size_t>(t);
                INFO("sample " << b << " position " << t << " of " << B << " x " << T << ", seed " << seed);
                CHECK(static_cast<double>(losses[here]) ==
                      Approx(static_cast<double>(plain[there])).epsilon(tolerance));
                CHECK(greedy[here] == plain_greedy[there]);
            }
        }
    }
}

}  // namespace

TEST_CASE("packed samples give each position the loss of the plain pass") {
    check_packed<double>(DType::f64, 1e-12);
    check_packed<float>(DType::f32, 1e-5);
}

TEST_CASE("packed samples are refused with tokens outside the vocabulary and by models that look ahead") {
    TrainerConfig config = tiny_config(1, 13, 5);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer trainer(config, corpus, 1, DType::f32);
    Packed packed = draw_packed(1, 2, 3, config.model.vocab);
    packed.target[2] = static_cast<std::int32_t>(config.model.vocab);
    CHECK_THROWS_WITH(trainer.model().evaluate(trainer.exec(), packed.samples()),
                      ContainsSubstring("target 31 lies outside the vocabulary of 31"));
    for (BlockConfig& block : config.model.blocks) block.attention.causal = false;
    Trainer ahead(config, corpus, 1, DType::f32);
    CHECK_THROWS_AS(ahead.model().evaluate(ahead.exec(), draw_packed(1, 2, 3, 31).samples()), std::logic_error);
}

TEST_CASE("a model planned for inference gives the same bits in less memory, at every depth, and refuses to train") {
    for (const std::int64_t layers : {1, 2, 3, 6}) {
        const TrainerConfig config = tiny_config(layers, 13, 5);
        const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
        Trainer trainer(config, corpus, 2, DType::f32);
        Transformer& model = trainer.model();
        const Backend backend{Device::cpu, DType::f32, 2};
        Arena arena(Device::cpu);
        const auto asked = plan_and_commit(arena, [&](Arena& a) {
            return std::make_unique<Transformer>(a, config.model, backend, 5, Purpose::inference);
        });
        Exec exec = make_exec(backend, arena);
        for (std::size_t i = 0; i < model.parameters().all().size(); ++i) {
            const Tensor from = model.parameters()[i].value;
            write_tensor(exec, asked->parameters()[i].value,
                         host_copy<float>(trainer.exec(), from.view({from.numel()})).data());
            CHECK_FALSE(asked->parameters()[i].grad);
        }
        const Packed packed = draw_packed(std::random_device{}(), 5, 13, config.model.vocab);
        model.evaluate(trainer.exec(), packed.samples());
        asked->evaluate(exec, packed.samples());
        const Tensor loss = model.loss.view({5 * 13}), other = asked->loss.view({5 * 13});
        CHECK(host_copy<float>(trainer.exec(), loss) == host_copy<float>(exec, other));
        for (Transformer* one : {&model, asked.get()}) {
            Exec& of = one == &model ? trainer.exec() : exec;
            one->load(of, {5, 13, packed.token.data(), packed.target.data()});
            one->evaluate(of, 5, 13);
        }
        CHECK(host_copy<float>(trainer.exec(), loss) == host_copy<float>(exec, other));
        CHECK_THROWS_AS(asked->forward_backward(exec, 5, 13, {}, {}, {}, Accumulate::no), std::logic_error);

        // Without gradients and moments; activations do not grow with the layers.
        const std::int64_t weights = model.parameters().count() * 4;
        CHECK(arena.total_bytes() <= plan_memory(config, backend).bytes - 3 * weights);
    }
}
