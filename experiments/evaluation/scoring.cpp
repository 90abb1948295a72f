#include "experiments/evaluation/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "engine/core/exec.h"
#include "kernels/ceil_div.h"

namespace deft::experiments {

std::vector<Score> score(engine::Transformer& model, engine::Exec& exec, std::span<const Request> requests,
                         std::int64_t batch, const BatchLoop& loop) {
    std::vector<Score> scores(requests.size());
    const std::int64_t T = model.config().max_seqlen;
    const std::vector<ScoringBatch> batches = scoring_batches(requests, T, batch * T);
    const auto compute = [&](std::int64_t i) {
        const ScoringBatch& rows = batches[static_cast<std::size_t>(i)];
        model.evaluate(exec, rows.samples());
        const auto R = static_cast<std::int64_t>(rows.target.size());
        BatchOutcome outcome;
        outcome.loss = engine::host_copy<float>(exec, model.loss.view({R}));             // (R)
        outcome.greedy = engine::host_copy<std::int32_t>(exec, model.greedy.view({R}));  // (R)
        return outcome;
    };
    const auto take = [&](std::int64_t i, const BatchOutcome& outcome) {
        const ScoringBatch& rows = batches[static_cast<std::size_t>(i)];
        for (std::size_t row = 0; row < rows.target.size(); ++row) {
            Score& result = scores[rows.request[row]];
            result.log_likelihood -= static_cast<double>(outcome.loss[row]);
            result.greedy = result.greedy && outcome.greedy[row] == 1;
        }
    };
    for_each_batch(loop, static_cast<std::int64_t>(batches.size()), compute, take);
    return scores;
}

CorpusLoss corpus_loss(engine::Transformer& model, engine::Exec& exec, const engine::TokenCorpus& corpus,
                       const engine::Tokenizer& tokenizer, std::int64_t max_tokens, std::int64_t batch,
                       const BatchLoop& loop) {
    const std::int64_t T = model.config().max_seqlen;
    const std::int64_t samples = std::min(corpus.samples(T), std::max<std::int64_t>(1, max_tokens / T));
    if (samples < 1)
        throw Error(ErrorKind::config, fmt::format("the validation text is shorter than one sample of {} tokens", T),
                    "supply more validation text or lower model.seqlen");
    double nats = 0;
    std::int64_t text_bytes = 0;
    std::vector<std::int64_t> seen(static_cast<std::size_t>(model.config().vocab), 0);  // (V), among the targets
    std::vector<std::int32_t> token, target;                                            // (B, T)
    const auto read = [&](std::int64_t number) {
        const std::int64_t first = number * batch, B = std::min(batch, samples - first);
        token.resize(static_cast<std::size_t>(B * T));
        target.resize(token.size());
        for (std::int64_t b = 0; b < B; ++b)
            engine::copy_sample(corpus, first + b, T, T, token.data() + b * T, target.data() + b * T);
        return B;
    };
    const auto compute = [&](std::int64_t number) {
        const std::int64_t B = read(number);
        model.load(exec, {B, T, token.data(), target.data()});
        model.evaluate(exec, B, T);
        return outcome_of(exec, model, B);
    };
    const auto take = [&](std::int64_t number, const BatchOutcome& outcome) {
        read(number);
        for (std::size_t i = 0; i < target.size(); ++i) {
            nats += static_cast<double>(outcome.loss[i]);
            text_bytes += tokenizer.token_bytes(target[i]);
            ++seen[static_cast<std::size_t>(target[i])];
        }
    };
    for_each_batch(loop, kernels::ceil_div(samples, batch), compute, take);
    CorpusLoss result;
    result.tokens = samples * T;
    for (const std::int64_t count : seen) {
        const double p = static_cast<double>(count) / static_cast<double>(result.tokens);
        if (count > 0) result.unigram_entropy -= p * std::log(p);
    }
    result.loss = nats / static_cast<double>(result.tokens);
    result.bits_per_byte = nats / std::numbers::ln2 / static_cast<double>(text_bytes);
    return result;
}

std::vector<Request> rolling_windows(std::span<const std::int32_t> tokens, std::int32_t prefix,
                                     std::int64_t max_length) {
    const auto L = static_cast<std::size_t>(max_length);
    std::vector<Request> windows;
    for (std::size_t begin = 0; begin < tokens.size();) {
        const std::size_t end = std::min(begin + L, tokens.size());
        Request window;
        if (begin == 0) {
            window.context = {prefix};
        } else {
            const std::size_t first = end - L - 1;  // end > L from the second window on
            window.context.assign(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                                  tokens.begin() + static_cast<std::ptrdiff_t>(begin));
        }
        window.continuation.assign(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                   tokens.begin() + static_cast<std::ptrdiff_t>(end));
        windows.push_back(std::move(window));
        begin = end;
    }
    return windows;
}

std::vector<Request> fitting_requests(const Request& request, std::int64_t max_length) {
    if (static_cast<std::int64_t>(request.continuation.size()) <= max_length) return {request};
    return rolling_windows(request.continuation, request.context.back(), max_length);
}

ScoredRow scored_row(const Request& request, std::int64_t max_seqlen) {
    std::vector<std::int32_t> tokens = request.context;
    tokens.insert(tokens.end(), request.continuation.begin(), request.continuation.end());
    const auto limit = static_cast<std::size_t>(max_seqlen) + 1;
    if (request.continuation.size() >= limit || request.context.empty())
        throw Error(ErrorKind::config,
                    fmt::format("a continuation of {} tokens does not fit a model of length {} with a token of context",
                                request.continuation.size(), max_seqlen),
                    "raise model.seqlen or leave the task out of eval.tasks");
    if (tokens.size() > limit) tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(limit));
    tokens.pop_back();
    return {std::move(tokens), request.continuation};
}

namespace {

std::size_t shared_length(const ScoredRow& a, const ScoredRow& b) {
    return static_cast<std::size_t>(
        std::mismatch(a.input.begin(), a.input.end(), b.input.begin(), b.input.end()).first - a.input.begin());
}

bool belong_together(const ScoredRow& a, const ScoredRow& b) {
    return 4 * shared_length(a, b) >= std::max(a.input.size(), b.input.size());
}

// Rows that share what they begin with.
struct Group {
    std::vector<std::size_t> members;
    std::size_t length = 0;  // of the longest
};

// The longest first. A row without continuation asks nothing and is in none.
std::vector<Group> groups_of(std::span<const ScoredRow> rows) {
    std::vector<Group> groups;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].continuation.empty()) continue;
        if (groups.empty() || !belong_together(rows[groups.back().members[0]], rows[i])) groups.emplace_back();
        groups.back().members.push_back(i);
        groups.back().length = std::max(groups.back().length, rows[i].input.size());
    }
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.length > b.length; });
    return groups;
}

// The rows of each batch. The first group, the longest, gives its T; only a group that no batch can hold is divided.
std::vector<std::vector<std::size_t>> batch_members(std::span<const Group> groups, std::size_t positions) {
    std::vector<std::vector<std::size_t>> batches;
    std::size_t room = 0;  // rows that the last batch can still take
    for (const Group& group : groups) {
        if (group.members.size() > room) room = 0;
        for (const std::size_t row : group.members) {
            if (room == 0) {
                batches.emplace_back();
                room = positions / group.length;
            }
            batches.back().push_back(row);
            --room;
        }
    }
    return batches;
}

ScoringBatch packed_batch(std::span<const ScoredRow> rows, std::span<const std::size_t> members) {
    ScoringBatch batch;
    std::size_t T = 0;
    for (const std::size_t row : members) T = std::max(T, rows[row].input.size());
    batch.rows = static_cast<std::int64_t>(members.size());
    batch.length = static_cast<std::int64_t>(T);
    batch.source.assign(members.size() * T, 0);
    std::size_t leader = 0;  // the row whose beginning the next ones may share
    for (std::size_t b = 0; b < members.size(); ++b) {
        const ScoredRow& row = rows[members[b]];
        const bool follows = b > 0 && belong_together(rows[members[leader]], row);
        if (!follows) leader = b;
        const std::size_t shared = follows ? shared_length(rows[members[leader]], row) : 0;
        std::copy_n(&batch.source[leader * T], shared, &batch.source[b * T]);
        for (std::size_t t = shared; t < row.input.size(); ++t) {
            batch.source[b * T + t] = static_cast<std::int32_t>(batch.computed.size());
            batch.computed.push_back(static_cast<std::int32_t>(b * T + t));
            batch.position.push_back(static_cast<std::int32_t>(t));
            batch.token.push_back(row.input[t]);
        }
        const std::size_t first_scored = row.input.size() - row.continuation.size();
        for (std::size_t i = 0; i < row.continuation.size(); ++i) {
            batch.scored.push_back(batch.source[b * T + first_scored + i]);
            batch.target.push_back(row.continuation[i]);
            batch.request.push_back(members[b]);
        }
    }
    return batch;
}

}  // namespace

std::vector<ScoringBatch> scoring_batches(std::span<const Request> requests, std::int64_t max_seqlen,
                                          std::int64_t positions) {
    std::vector<ScoredRow> rows;
    for (const Request& request : requests) rows.push_back(scored_row(request, max_seqlen));
    std::vector<ScoringBatch> batches;
    for (const std::vector<std::size_t>& members : batch_members(groups_of(rows), static_cast<std::size_t>(positions)))
        batches.push_back(packed_batch(rows, members));
    return batches;
}

}  // namespace deft::experiments
