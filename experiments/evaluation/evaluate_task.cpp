#include "experiments/evaluation/evaluate_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/metric.h"
#include "base/text.h"
#include "experiments/datasets/find_file.h"
#include "experiments/evaluation/generation_time.h"
#include "experiments/evaluation/scoring.h"
#include "experiments/evaluation/text_template.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

constexpr const char* kWindowed = "long continuations in windows";

RecordContext record_context(const Task& task, const TaskRun& run) {
    return {task.file.parent_path(), run.base_folder, run.embedded_seed, run.documents};
}

// Scores in the requests' order; `windowed` is set where any continuation had to be cut into windows.
std::vector<Score> score_long(const std::vector<Request>& requests, const TaskRun& run, bool& windowed) {
    std::vector<Request> parts;
    std::vector<std::size_t> request_of;
    for (std::size_t r = 0; r < requests.size(); ++r)
        for (Request& part : fitting_requests(requests[r], run.model.config().max_seqlen)) {
            parts.push_back(std::move(part));
            request_of.push_back(r);
        }
    windowed = parts.size() > requests.size();
    const std::vector<Score> part_scores = score(run.model, run.exec, parts, run.batch, run.loop);
    std::vector<Score> scores(requests.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
        Score& result = scores[request_of[p]];
        result.log_likelihood += part_scores[p].log_likelihood;
        result.greedy = result.greedy && part_scores[p].greedy;
    }
    return scores;
}

// Results of a task before they are written.
struct Measured {
    std::vector<MetricValue> metrics;
    std::vector<Item> items;
    double cut_share = 0, mean_shots = 0;
    std::string departure;  // what was done otherwise than the task's version says; empty: nothing
};

void count_cuts(const std::vector<PromptCut>& cuts, Measured& measured) {
    for (const PromptCut& of : cuts) {
        measured.cut_share += of.cut ? 1 : 0;
        measured.mean_shots += static_cast<double>(of.shots);
    }
    measured.cut_share /= static_cast<double>(cuts.size());
    measured.mean_shots /= static_cast<double>(cuts.size());
}

Measured score_documents(const Task& task, const TaskRun& run, const Records& records) {
    std::optional<Records> pool;
    if (task.shots > 0 && task.shot_pool) pool = load_records(*task.shot_pool, record_context(task, run));
    const std::vector<Document> documents = make_documents(task, records, pool ? &*pool : nullptr, run.documents);
    std::vector<Request> requests;
    std::vector<PromptCut> cuts;
    for (const Document& document : documents) {
        const std::size_t first = requests.size();
        for (const TextRequest& request : document.requests) requests.push_back(encode_request(run.tokenizer, request));
        cuts.push_back(
            prompt_cut(run.tokenizer, document, std::span(requests).subspan(first), run.model.config().max_seqlen));
    }
    Measured measured;
    count_cuts(cuts, measured);
    bool windowed = false;
    const std::vector<Score> scores = score_long(requests, run, windowed);
    if (windowed) measured.departure = kWindowed;
    measured.metrics = document_metrics(task, documents, scores);
    measured.items = items_of(task, documents, scores, cuts);
    return measured;
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

Measured score_texts(const Task& task, const TaskRun& run, const Records& records) {
    ScoredTexts scored = scored_texts(task, records, run.documents);
    std::vector<Request> windows;
    for (const std::string& text : scored.texts)
        for (Request& window : rolling_windows(run.tokenizer.encode(text), run.tokenizer.end_of_document(),
                                               run.model.config().max_seqlen))
            windows.push_back(std::move(window));
    for (const Score& window : score(run.model, run.exec, windows, run.batch, run.loop))
        scored.totals.log_likelihood += window.log_likelihood;
    scored.totals.tokens = reference_tokens(task, run, scored.texts);
    Measured measured;
    measured.metrics = text_metrics(task, scored.totals);
    return measured;
}

Measured measure(const Task& task, const TaskRun& run) {
    if (task.kind == TaskKind::generation) {
        const std::vector<double> seconds = time_generation(task, run.model, run.exec, run.backend, run.batch,
                                                            run.tokenizer.end_of_document(), run.loop);
        Measured measured;
        measured.metrics = generation_metrics(task, seconds);
        if (const std::int64_t tokens = tokens_drawn(task, run.model.config()); tokens < task.generation.tokens)
            measured.departure = fmt::format("texts end after {} tokens, with the model's positions", tokens);
        return measured;
    }
    const Records records = load_records(task.records, record_context(task, run));
    return task.kind == TaskKind::perplexity ? score_texts(task, run, records) : score_documents(task, run, records);
}

std::string note_of(const Task& task, const Measured& measured) {
    std::string note;
    if (measured.cut_share > 0) note = fmt::format("{:.1f}% of prompts lost their beginning", 100 * measured.cut_share);
    if (measured.cut_share > 0 && task.shots > 0)
        note +=
            fmt::format(", {:.1f} of {} are left whole on average", measured.mean_shots, counted(task.shots, "shot"));
    if (!measured.departure.empty()) note.append(note.empty() ? "" : "; ").append(measured.departure);
    return note;
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

TaskResult evaluate_task(const Task& asked, const TaskRun& run) {
    require_prompts(asked);
    const Task task = with_shots(asked, run.shots);
    Measured measured = measure(task, run);
    std::string version = scored_version(task);
    if (!measured.departure.empty()) version.append(", ").append(measured.departure);
    TaskResult result;
    for (const MetricValue& metric : measured.metrics) {
        journal::Evaluation evaluation;
        evaluation.step = run.step;
        evaluation.task = task.name;
        evaluation.task_version = version;
        evaluation.split = task.split;
        evaluation.shots = task.shots;
        evaluation.metric = metric.name;
        const Metric& entry = *find_metric(metric.name);
        evaluation.unit = entry.unit;
        evaluation.better = to_text(entry.better);
        evaluation.value = metric.value;
        evaluation.n = metric.n;
        evaluation.standard_error = metric.standard_error;
        evaluation.chance = metric.chance;
        result.scores.push_back(std::move(evaluation));
    }
    result.items = std::move(measured.items);
    result.cut_share = measured.cut_share;
    result.mean_shots = measured.mean_shots;
    result.note = note_of(task, measured);
    return result;
}

}  // namespace deft::experiments
