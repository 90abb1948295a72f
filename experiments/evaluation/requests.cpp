#include "experiments/evaluation/requests.h"

#include <numeric>

#include "experiments/evaluation/prompt.h"

namespace deft::experiments {

namespace {

constexpr std::uint64_t kHarnessSeed = 42;

Document make_document(const Task& task, const Records& records, std::size_t index, const Records& pool,
                       std::vector<std::size_t> shots) {
    Document document;
    document.record = index;
    std::string examples;
    for (const std::size_t shot : shots) examples += worked_example(task, pool, pool.items[shot]) + "\n\n";
    document.shots = std::move(shots);
    Prompt prompt = make_prompt(task, records, records.items[index]);
    for (std::size_t c = 0; c < prompt.choices.size(); ++c)
        document.requests.push_back({examples + prompt.text_of(c), task.prompt.delimiter + prompt.choices[c]});
    document.choices = std::move(prompt.choices);
    document.gold = prompt.gold;
    return document;
}

}  // namespace

std::vector<Document> make_documents(const Task& task, const Records& records, const Records* pool,
                                     std::int64_t limit) {
    std::vector<std::size_t> order(records.items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    PythonRandom random(kHarnessSeed);
    if (task.shuffled) random.shuffle(order);
    if (limit > 0 && order.size() > static_cast<std::size_t>(limit)) order.resize(static_cast<std::size_t>(limit));

    std::vector<Document> documents;
    for (const std::size_t index : order) {
        std::vector<std::size_t> shots = pool != nullptr ? draw_shots(random, task, *pool, nullptr)
                                                         : draw_shots(random, task, records, &records.items[index]);
        documents.push_back(make_document(task, records, index, pool != nullptr ? *pool : records, std::move(shots)));
    }
    return documents;
}

}  // namespace deft::experiments
