// Models of every combination of parts: gradients, and what must make no difference.

#include "tests/engine/model_parts.h"

#include "tests/engine/finite_differences.h"

using namespace deft::engine;

namespace {

std::vector<std::int32_t> all_positions() {
    std::vector<std::int32_t> all(Model::B * Model::T);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i % Model::T);
    return all;
}

}  // namespace

TEST_CASE("every combination of parts has the gradients of finite differences") {
    for (const NamedModel& named : all_models()) {
        INFO(named.name);
        Model model(named.config);
        check_finite_differences(model.transformer->parameters(), 1e-9, [&] { return model.train(); });
    }
}

TEST_CASE("kept tokens in a model of other parts have the gradients of finite differences") {
    const std::vector<std::int32_t> kept = {0, 2, 3, 1, 2, 5, 0, 4, 5};
    for (const TransformerConfig& config : {small_bert(), small_llama()}) {
        Model model(config);
        model.length = {6, 4, 1};
        check_finite_differences(model.transformer->parameters(), 1e-9,
                                 [&] { return model.train(0, Model::B, Accumulate::no, kept); });
    }
}

TEST_CASE(
    "layers in a row that share their kept tokens have the gradients of finite differences, and the same bits "
    "recomputed") {
    using Ints = std::vector<std::int32_t>;
    const Ints one_set = {0, 2, 3, 1, 2, 5, 0, 4, 5}, two_sets = {0, 2, 3, 1, 2, 5, 0, 4, 5, 1, 3, 4, 0, 1, 2, 2, 3, 5};
    TransformerConfig plain_post = small_bert();
    plain_post.input.dropout = 0;
    for (BlockConfig& block : plain_post.blocks) block.dropout = block.attention.dropout = 0;
    for (TransformerConfig config : {small_bert(), small_llama(), plain_post})
        for (const Ints& sets : {Ints{-1, 0, 0, -1}, Ints{0, 0, 0, 0}, Ints{0, 0, 1, 1}}) {
            config.blocks.resize(4, config.blocks[0]);
            const Ints& kept = sets.back() == 1 ? two_sets : one_set;
            INFO("sets " << sets[0] << sets[1] << sets[2] << sets[3]);
            Model model(config);
            model.set_of_layer = sets;
            check_finite_differences(model.transformer->parameters(), 1e-9,
                                     [&] { return model.train(0, Model::B, Accumulate::no, kept); });
            std::vector<std::vector<float>> gradients;
            for (const Recompute recompute : {Recompute::none, Recompute::activation, Recompute::block}) {
                Model single(config, DType::f32, 2, recompute);
                single.set_of_layer = sets;
                single.train(0, Model::B, Accumulate::no, kept);
                gradients.push_back(single.gradients<float>());
            }
            CHECK((gradients[1] == gradients[0]));
            CHECK((gradients[2] == gradients[0]));
        }
}

TEST_CASE("logits are those of the losses, also where the last layer took kept tokens") {
    const std::vector<std::int32_t> kept = {0, 2, 3, 1, 2, 5, 0, 4, 5};
    for (const TransformerConfig& config : {small_bert(), small_llama()}) {
        Model model(config);
        model.train(0, Model::B, Accumulate::no, kept);
        const std::int64_t V = config.vocab;
        std::vector<double> logits(static_cast<std::size_t>(Model::B * Model::T * V));
        model.transformer->logits(model.exec, make_tensor(logits.data(), DType::f64, {Model::B, Model::T, V}), Model::B,
                                  Model::T);
        for (std::int64_t row = 0; row < Model::B * Model::T; ++row) {
            const double* const z = &logits[static_cast<std::size_t>(row * V)];
            double sum = 0;
            for (std::int64_t v = 0; v < V; ++v) sum += std::exp(z[v]);
            const double loss = std::log(sum) - z[model.target[static_cast<std::size_t>(row)]];
            CHECK(model.transformer->loss.as<double>()[row] == Approx(loss).epsilon(1e-9));
        }
    }
}

TEST_CASE("keeping every token, and splitting a batch, change only rounding, whatever the parts") {
    for (const NamedModel& named : all_models()) {
        INFO(named.name);
        Model model(named.config);
        const double loss = model.train();
        const auto gradients = model.gradients<double>();
        CHECK(model.train(0, Model::B, Accumulate::no, all_positions()) == Approx(loss).epsilon(1e-12));
        check_close(model.gradients<double>(), gradients);
        const double first = model.train(0, 1, Accumulate::no), rest = model.train(1, 2, Accumulate::yes);
        CHECK(first + rest == Approx(loss).epsilon(1e-12));
        check_close(model.gradients<double>(), gradients);
    }
}

TEST_CASE(
    "the float model of any parts is the double model, with the same bits on any threads and however recomputed") {
    int number = 0;
    for (const NamedModel& named : all_models()) {
        INFO(named.name);
        Model exact(named.config), plain(named.config, DType::f32);
        const std::vector<std::int32_t> kept = {0, 2, 3, 1, 2, 5, 0, 4, 5};
        for (const auto& index : {std::vector<std::int32_t>{}, kept}) {
            CHECK(plain.train(0, 3, Accumulate::no, index) ==
                  Approx(exact.train(0, 3, Accumulate::no, index)).epsilon(1e-5));
            const auto gradients = plain.gradients<float>();
            const auto expected = exact.gradients<double>();
            double error = 0, size = 0;
            for (std::size_t i = 0; i < expected.size(); ++i) {
                error += std::pow(static_cast<double>(gradients[i]) - expected[i], 2);
                size += std::pow(expected[i], 2);
            }
            CHECK(error < 1e-9 * size);
            const auto gradients_of = [&](int threads, Recompute recompute) {
                Model other(named.config, DType::f32, threads, recompute);
                other.train(0, 3, Accumulate::no, index);
                return other.gradients<float>();
            };
            CHECK((gradients_of(1, Recompute::activation) == gradients));
            CHECK((gradients_of(1, Recompute::block) == gradients));
            // Threads wait long for each other on a busy machine: of all combinations every seventh.
            if (++number % 7 != 0) continue;
            CHECK((gradients_of(2, Recompute::none) == gradients));
            CHECK((gradients_of(3, Recompute::block) == gradients));
        }
    }
}

TEST_CASE("padding changes nothing, whatever values it has") {
    for (const TransformerConfig& config : {small_bert(), small_llama()}) {
        Model model(config);
        model.length = {6, 4, 2};
        for (std::int64_t b = 0; b < Model::B; ++b)
            for (std::int64_t t = model.length[static_cast<std::size_t>(b)]; t < Model::T; ++t)
                model.target[static_cast<std::size_t>(b * Model::T + t)] = deft::kernels::kIgnoreTarget;
        const double loss = model.train();
        const auto first = model.gradients<double>();
        model.token[Model::T + 4] = 9;
        model.segment[2 * Model::T + 3] = 0;
        CHECK(model.train() == loss);
        CHECK((model.gradients<double>() == first));
        model.length[2] = 1;  // the test can fail: a target after the sample's end
        model.train();
        CHECK((model.gradients<double>() != first));
    }
}

TEST_CASE("dropout is of training alone, and of the number of a sample's draw") {
    Model model(small_bert());
    const double loss = model.train();
    const auto gradients = model.gradients<double>();
    model.train();
    CHECK((model.gradients<double>() == gradients));
    model.transformer->evaluate(model.exec, Model::B, Model::T);
    const double without = model.loss();
    model.transformer->evaluate(model.exec, Model::B, Model::T);
    CHECK(model.loss() == without);
    CHECK(without / (Model::B * Model::T) != Approx(loss).epsilon(1e-3));
    model.draw[1] = 4;
    CHECK(model.train() != Approx(loss).epsilon(1e-6));
    CHECK((model.gradients<double>() != gradients));
}

TEST_CASE("no two dropouts of a model drop the same values") {
    // The stream is a sum of ones, each dropped or doubled, that the parts named in `ones` add; the head shows it as it
    // is.
    const auto stream_of = [](const std::vector<std::string>& ones) {
        TransformerConfig config = gpt2_config(2, 8, 2, 6, 8);
        config.input.positions = Positions::none;
        config.input.dropout = 0.5;
        for (BlockConfig& block : config.blocks) block.dropout = 0.5;
        config.final_norm.reset();
        config.head->tied = false;
        Model model(config);
        for (const Parameter& p : model.transformer->parameters().all()) {
            const bool is_one = std::find(ones.begin(), ones.end(), p.name) != ones.end();
            std::fill_n(p.value.as<double>(), p.value.numel(), is_one ? 1.0 : 0.0);
            for (std::int64_t i = 0; p.name == "lm_head.weight" && i < 8; ++i) p.value.as<double>()[i * 8 + i] = 1;
        }
        model.train();
        std::vector<double> stream(Model::B * Model::T * 8);
        model.transformer->logits(model.exec, make_tensor(stream.data(), DType::f64, {Model::B, Model::T, 8}), Model::B,
                                  Model::T);
        return stream;
    };
    const std::vector<std::string> parts = {"wte.weight", "h.0.attn.c_proj.bias", "h.0.mlp.c_proj.bias",
                                            "h.1.attn.c_proj.bias", "h.1.mlp.c_proj.bias"};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto alone = stream_of({parts[i]});
        CHECK(std::count(alone.begin(), alone.end(), 2.0) + std::count(alone.begin(), alone.end(), 0.0) == 144);
        CHECK(std::count(alone.begin(), alone.end(), 2.0) > 40);
        for (std::size_t j = i + 1; j < parts.size(); ++j) {
            INFO(parts[i] << " and " << parts[j]);
            const auto both = stream_of({parts[i], parts[j]});
            CHECK(std::count(both.begin(), both.end(), 2.0) > 40);  // kept by one of the two alone
        }
    }
}

TEST_CASE("a segment's vector is that of its tokens alone") {
    TransformerConfig config = small_bert();
    config.input.dropout = 0;
    for (BlockConfig& block : config.blocks) block.dropout = block.attention.dropout = 0;
    Model model(config);
    const double both = model.train();
    std::fill(model.segment.begin(), model.segment.end(), 0);
    CHECK(model.train() != Approx(both).epsilon(1e-6));
    for (const Parameter& p : model.transformer->parameters().all()) {
        if (p.name != "wse.weight") continue;
        const auto gradient = values<double>(p.grad);  // (2, C)
        const auto unused = std::span(gradient).subspan(gradient.size() / 2);
        CHECK(std::all_of(unused.begin(), unused.end(), [](double g) { return g == 0; }));
        CHECK(gradient[0] != 0);
    }
    model.segment[3] = 2;
    CHECK_THROWS_WITH(model.train(), ContainsSubstring("segment 2 of a model that has 2"));
    CHECK_THROWS_WITH(model.transformer->load(model.exec, {1, 6, model.token.data(), model.target.data()}),
                      ContainsSubstring("given none"));
}

TEST_CASE("rotary positions are those of the sample, not of the kept rows") {
    // Positions 2, 3, 5 of six, alone in every layer, are a sample of three tokens at the same distances:
    // what rotary attention sees is how far two tokens are from each other.
    TransformerConfig config = small_llama();
    config.blocks.resize(1);
    Model model(config);
    const auto losses_of_layer_0 = [&](std::vector<std::int32_t> kept) {
        const std::vector<std::int32_t> sets = {0};
        model.transformer->load(model.exec, {1, Model::T, model.token.data(), model.target.data()});
        const auto K = static_cast<std::int64_t>(kept.size());
        const KeptTokens tokens{make_tensor(kept.data(), DType::i32, {1, 1, K}), sets};
        model.transformer->forward_backward(model.exec, 1, Model::T, tokens, {}, {}, Accumulate::no);
        std::vector<double> losses;
        for (const std::int32_t at : kept) losses.push_back(model.transformer->loss.as<double>()[at]);
        return losses;
    };
    model.token = {4, 4, 7, 2, 4, 9};
    model.target = {1, 1, 3, 5, 1, 6};
    const auto later = losses_of_layer_0({2, 3, 5});
    model.token = {7, 2, 4, 9, 4, 4};
    model.target = {3, 5, 1, 6, 1, 1};
    const auto earlier = losses_of_layer_0({0, 1, 3});
    for (std::size_t i = 0; i < 3; ++i) CHECK(earlier[i] == Approx(later[i]).epsilon(1e-12));
    model.token = {7, 2, 9, 4, 4, 4};
    model.target = {3, 5, 6, 1, 1, 1};
    CHECK(losses_of_layer_0({0, 1, 2})[2] != Approx(later[2]).epsilon(1e-6));  // the last one is nearer
}

TEST_CASE("a class is that of its sample alone, and one without a class has no part in the loss") {
    TransformerConfig config = small_bert();
    config.input.dropout = 0;
    for (BlockConfig& block : config.blocks) block.dropout = block.attention.dropout = 0;
    Model model(config);
    model.train();
    const auto both = values<double>(model.transformer->class_loss);  // (B)
    CHECK(both[1] == 0);
    model.class_target = {2, 1, 0};
    model.train();
    const auto three = values<double>(model.transformer->class_loss);
    CHECK(three[0] == both[0]);
    CHECK(three[1] > 0);
    CHECK(three[2] == both[2]);
    std::vector<double> logits(3 * 3);
    model.transformer->class_logits(model.exec, make_tensor(logits.data(), DType::f64, {3, 3}));
    for (std::size_t b = 0; b < 3; ++b) {
        double sum = 0;
        for (std::size_t v = 0; v < 3; ++v) sum += std::exp(logits[3 * b + v]);
        CHECK(three[b] == Approx(std::log(sum) - logits[3 * b + static_cast<std::size_t>(model.class_target[b])]));
    }
    model.transformer->evaluate(model.exec, Model::B, Model::T);
    CHECK((values<double>(model.transformer->class_loss) == three));
    const auto hit = values<std::int32_t>(model.transformer->class_greedy);
    for (std::size_t b = 0; b < 3; ++b) {
        const auto likeliest = std::max_element(&logits[3 * b], &logits[3 * b] + 3) - &logits[3 * b];
        CHECK((hit[b] != 0) == (likeliest == model.class_target[b]));
    }
    model.class_target[0] = 3;
    CHECK_THROWS_WITH(model.train(), ContainsSubstring("class 3 of a model with 3 classes"));
    CHECK_THROWS_WITH(model.transformer->load(
                          model.exec, {1, 6, model.token.data(), model.target.data(), nullptr, model.segment.data()}),
                      ContainsSubstring("given none"));
}
