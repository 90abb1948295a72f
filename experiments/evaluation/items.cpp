#include "experiments/evaluation/items.h"

#include <fmt/format.h>

#include <algorithm>

namespace deft::experiments {

PromptCut prompt_cut(const engine::Tokenizer& tokenizer, const Document& document, std::span<const Request> requests,
                     std::int64_t max_seqlen) {
    PromptCut result{false, static_cast<std::int64_t>(document.shot_starts.size())};
    for (std::size_t r = 0; r < requests.size(); ++r) {
        const std::vector<std::int32_t>& context = requests[r].context;
        // A continuation that is itself too long goes into windows, which see the context's last token.
        const std::int64_t room = max_seqlen + 1 - static_cast<std::int64_t>(requests[r].continuation.size());
        const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(room, 1));
        if (context.size() <= kept) continue;
        result.cut = true;
        std::size_t lost_bytes = document.requests[r].context.size();
        for (std::size_t t = context.size() - kept; t < context.size(); ++t)
            lost_bytes -= static_cast<std::size_t>(tokenizer.token_bytes(context[t]));
        const auto whole = std::count_if(document.shot_starts.begin(), document.shot_starts.end(),
                                         [&](std::size_t start) { return start >= lost_bytes; });
        result.shots = std::min<std::int64_t>(result.shots, whole);
    }
    return result;
}

std::vector<Item> items_of(const Task& task, std::span<const Document> documents, std::span<const Score> scores,
                           std::span<const PromptCut> cuts) {
    std::vector<Item> items;
    for (std::size_t d = 0; d < documents.size(); ++d) {
        const Document& document = documents[d];
        const std::span<const Score> own = scores.first(document.requests.size());
        scores = scores.subspan(own.size());
        const Outcome found = outcome(task, task.headline, document, own);
        items.push_back({static_cast<std::int64_t>(document.record), static_cast<std::int64_t>(found.chosen),
                         static_cast<std::int64_t>(document.gold), found.right, cuts[d].cut,
                         own[found.chosen].log_likelihood, own[document.gold].log_likelihood});
    }
    std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.document < b.document; });
    return items;
}

std::string items_text(std::span<const Item> items) {
    std::string text;
    for (const Item& item : items)
        text += fmt::format("{} {} {} {:d} {:d} {} {}\n", item.document, item.chosen, item.gold, item.right, item.cut,
                            item.chosen_log_likelihood, item.gold_log_likelihood);
    return text;
}

}  // namespace deft::experiments
