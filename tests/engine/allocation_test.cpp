// A training step allocates nothing, nor does a token that is generated. Every operator new of the process is counted
// by who called it; those of the oneDNN library are counted apart.

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "engine/generation/generator.h"
#include "tests/catch.h"
#include "tests/engine/bert_corpus.h"
#include "tests/engine/labelled_texts.h"
#include "tests/engine/tiny.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<long> ours{0}, library{0};
std::atomic<void*> first_caller{nullptr};

void* counted(std::size_t bytes, void* caller) {
    if (counting.load(std::memory_order_relaxed)) {
        Dl_info info{};
        const bool found = dladdr(caller, &info) != 0 && info.dli_fname != nullptr;
        const bool by_library = found && std::strstr(info.dli_fname, "dnnl") != nullptr;
        (by_library ? library : ours).fetch_add(1);
        void* none = nullptr;
        if (!by_library) first_caller.compare_exchange_strong(none, caller);
    }
    void* memory = std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
    return counted(bytes, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes) {
    return counted(bytes, __builtin_return_address(0));
}
// Not inlined: GCC would see free() meet what a new of its own knowledge made, and warn.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

using namespace deft::engine;

TEST_CASE("a training step allocates nothing of its own") {
    TrainerConfig config = tiny_config(4, 37, 6);
    config.techniques.dropping = random_ltd(config.model.layers(), Pacing{8, 37, 4, 40, 1});
    config.techniques.seqtru = Pacing{8, 37, 1, 30, 1};
    config.micro_batch_size = 4;
    TrainerConfig bypass = config;
    bypass.techniques.dropping =
        token_dropping("token_bypass", config.model.layers(), config.techniques.dropping->kept);
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer random(config, corpus, 2), learnt(bypass, corpus, 2);
    // The first steps have the shortest rows, so that what grows with a row would grow while it is counted.
    std::mt19937_64 lengths(5);
    deft::test::Documents documents;
    for (const std::vector<int>& document : deft::test::random_lengths(lengths, 40)) {
        documents.emplace_back();
        for (const int length : document)
            documents.back().emplace_back(static_cast<std::size_t>(length), deft::test::kFirstWord);
    }
    const auto vocabulary = deft::test::numbered_vocabulary(9, 0);
    config.model.vocab = vocabulary->vocab();
    for (BlockConfig& block : config.model.blocks) block.attention.causal = false;
    const MaskingRule masking{.whole_words = true};
    const auto samples = std::make_shared<const BertSamples>(deft::test::corpus_of(documents), vocabulary,
                                                             SampleShape{.seqlen = 37}, masking, 1);
    Trainer masked(config, samples, 2);
    TrainerConfig of_labels = deft::test::labelled_training(3, 6, 0.1);
    of_labels.epoch_samples = 20;
    Trainer labelled(of_labels, deft::test::small_labelled_texts(20, 3), 2);
    for (Trainer* trainer : {&random, &learnt, &masked, &labelled}) {
        trainer->step();
        counting = true;
        for (int i = 0; i < 20; ++i) trainer->step();
        counting = false;
    }
    INFO("allocations by oneDNN: " << library << ", first other caller (see addr2line): " << first_caller.load());
    CHECK(ours == 0);
    counting = true;
    int* volatile one = new int(1);  // volatile: the pair must not be optimised away
    delete one;
    counting = false;
    CHECK(ours == 1);  // the counter counts
}

TEST_CASE("generating a text allocates nothing of its own") {
    const TransformerConfig config = tiny_config(4, 37, 6).model;
    const Backend backend{Device::cpu, DType::f32, 2};
    Arena arena;
    const auto model = plan_and_commit(
        arena, [&](Arena& a) { return std::make_unique<Transformer>(a, config, backend, 1, Purpose::inference); });
    Exec exec = make_exec(backend, arena);
    initialise(exec, model->parameters(), 1, config.init_std, config.layers());
    ours = library = 0;
    first_caller = nullptr;
    for (const SamplingConfig& sampling : {SamplingConfig{}, SamplingConfig{0.8, 20, 0.9, 3}}) {
        Generator generator(*model, exec, backend, {3, 0, sampling});
        const std::vector<std::int32_t> prompt(16, 1);
        // The first products of a process set oneDNN up, through functions of the standard library that are also ours.
        generator.begin(prompt);
        counting = true;
        generator.begin(prompt);
        while (!generator.is_done()) generator.step();
        counting = false;
    }
    INFO("allocations by oneDNN: " << library << ", first other caller (see addr2line): " << first_caller.load());
    CHECK(ours == 0);
}
