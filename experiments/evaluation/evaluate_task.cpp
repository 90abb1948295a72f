#include "experiments/evaluation/evaluate_task.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "experiments/datasets/find_file.h"
#include "experiments/evaluation/scoring.h"
#include "experiments/evaluation/text_template.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

RecordContext record_context(const Task& task, const TaskRun& run) {
    return {task.file.parent_path(), run.base_folder, run.embedded_seed, run.documents};
}

// Scores in the requests' order; `windowed` tells whether any continuation had to be cut into windows.
std::vector<Score> score_long(const std::vector<Request>& requests, const TaskRun& run, bool& windowed) {
    std::vector<Request> parts;
    std::vector<std::size_t> request_of;
    for (std::size_t r = 0; r < requests.size(); ++r)
        for (Request& part : fitting_requests(requests[r], run.model.config().max_seqlen)) {
            parts.push_back(std::move(part));
            request_of.push_back(r);
        }
    windowed = parts.size() > requests.size();
    const std::vector<Score> part_scores = score(run.model, run.exec, parts, run.batch, run.between_batches);
    std::vector<Score> scores(requests.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
        Score& result = scores[request_of[p]];
        result.log_likelihood += part_scores[p].log_likelihood;
        result.greedy = result.greedy && part_scores[p].greedy;
    }
    return scores;
}

std::vector<Metric> score_documents(const Task& task, const TaskRun& run, const Records& records, bool& windowed) {
    std::optional<Records> pool;
    if (task.shots > 0 && task.shot_pool) pool = load_records(*task.shot_pool, record_context(task, run));
    const std::vector<Document> documents = make_documents(task, records, pool ? &*pool : nullptr, run.documents);
    std::vector<Request> requests;
    for (const Document& document : documents)
        for (const TextRequest& request : document.requests) requests.push_back(encode_request(run.tokenizer, request));
    return document_metrics(task, documents, score_long(requests, run, windowed));
}

// Tokens of the texts under the tokenizer that token_perplexity counts by, where its files are.
std::optional<std::int64_t> reference_tokens(const Task& task, const TaskRun& run,
                                             const std::vector<std::string>& texts) {
    if (std::find(task.metrics.begin(), task.metrics.end(), "token_perplexity") == task.metrics.end()) return {};
    const auto vocabulary = look_for_data_file(task.perplexity.tokenizer + "/vocab.json", run.base_folder);
    if (!vocabulary) return {};
    const engine::Tokenizer tokenizer = engine::load_tokenizer(vocabulary->parent_path());
    std::int64_t tokens = 0;
    for (const std::string& text : texts) tokens += static_cast<std::int64_t>(tokenizer.encode(text).size());
    return tokens;
}

std::vector<Metric> score_texts(const Task& task, const TaskRun& run, const Records& records) {
    ScoredTexts scored = scored_texts(task, records, run.documents);
    std::vector<Request> windows;
    for (const std::string& text : scored.texts)
        for (Request& window : rolling_windows(run.tokenizer.encode(text), run.tokenizer.end_of_document(),
                                               run.model.config().max_seqlen))
            windows.push_back(std::move(window));
    for (const Score& window : score(run.model, run.exec, windows, run.batch, run.between_batches))
        scored.totals.log_likelihood += window.log_likelihood;
    scored.totals.tokens = reference_tokens(task, run, scored.texts);
    return text_metrics(task, scored.totals);
}

}  // namespace

Request encode_request(const engine::Tokenizer& tokenizer, const TextRequest& request) {
    Request encoded{tokenizer.encode(request.context), tokenizer.encode(request.continuation)};
    if (encoded.context.empty()) encoded.context.push_back(tokenizer.end_of_document());
    return encoded;
}

ScoredTexts scored_texts(const Task& task, const Records& records, std::int64_t limit) {
    ScoredTexts result;
    std::string joined;
    for (const Record& record : records.items) {
        if (limit > 0 && result.totals.texts == limit) break;
        const std::string text = render(task.prompt.text[0], records, record);
        const std::string counted = task.prompt.counted ? render(*task.prompt.counted, records, record) : text;
        ++result.totals.texts;
        result.totals.words +=
            task.perplexity.words_and_records ? count_words(counted) + 1 : count_whitespace_pieces(counted);
        result.totals.bytes += static_cast<std::int64_t>(counted.size());
        if (task.perplexity.one_document)
            joined += text;
        else
            result.texts.push_back(text);
    }
    if (task.perplexity.one_document) result.texts.push_back(std::move(joined));
    return result;
}

std::vector<journal::Evaluation> evaluate_task(const Task& task, const TaskRun& run) {
    const Records records = load_records(task.records, record_context(task, run));
    bool windowed = false;
    const std::vector<Metric> metrics = task.kind == TaskKind::perplexity
                                            ? score_texts(task, run, records)
                                            : score_documents(task, run, records, windowed);
    std::vector<journal::Evaluation> evaluations;
    for (const Metric& metric : metrics) {
        journal::Evaluation evaluation;
        evaluation.step = run.step;
        evaluation.task = task.name;
        evaluation.task_version = task.version + (windowed ? ", long continuations in windows" : "");
        evaluation.split = task.split;
        evaluation.shots = task.shots;
        evaluation.metric = metric.name;
        evaluation.unit = metric.unit;
        evaluation.better = metric.better;
        evaluation.value = metric.value;
        evaluation.n = metric.n;
        evaluation.standard_error = metric.standard_error;
        evaluation.chance = metric.chance;
        evaluations.push_back(std::move(evaluation));
    }
    return evaluations;
}

std::vector<journal::Evaluation> evaluate_tasks(const std::vector<std::string>& names, const TaskRun& run) {
    std::vector<Task> tasks;
    for (const std::string& name : names) tasks.push_back(load_task(name, run.base_folder));
    std::vector<journal::Evaluation> all;
    for (const Task& task : tasks) {
        std::vector<journal::Evaluation> evaluations = evaluate_task(task, run);
        std::move(evaluations.begin(), evaluations.end(), std::back_inserter(all));
    }
    return all;
}

}  // namespace deft::experiments
