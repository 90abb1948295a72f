#include "experiments/evaluation/prompt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/json.h"
#include "experiments/evaluation/answers.h"

namespace deft::experiments {

namespace {

[[noreturn]] void refuse_gold(const TaskPrompt& prompt, const Records& records, const Record& record,
                              const std::string& what, const std::string& fix = {}) {
    throw Error(ErrorKind::config, prompt.gold_place,
                fmt::format("field '{}' of the record at {}:{} {}", prompt.gold, records.file, record.line, what), fix);
}

// An integer, or text that is one.
std::size_t index_of(const Json& value, const TaskPrompt& prompt, const Records& records, const Record& record) {
    std::int64_t index = -1;
    if (value.is_number_integer()) index = value.get<std::int64_t>();
    if (value.is_string()) {
        const std::string& text = value.get_ref<const std::string&>();
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), index);
        if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) index = -1;
    }
    if (index < 0)
        refuse_gold(prompt, records, record, "is not an index",
                    "name its values in their choices' order, as in prompt.gold_values = [false, true]");
    return static_cast<std::size_t>(index);
}

std::size_t gold_index(const TaskPrompt& prompt, const Records& records, const Record& record, std::size_t choices) {
    const Json& value = field_at(records, record, prompt.gold, prompt.gold_place);
    std::size_t gold = 0;
    if (prompt.gold_values.empty()) {
        gold = index_of(value, prompt, records, record);
    } else {
        const std::string text = value_text(value);
        const auto found = std::find(prompt.gold_values.begin(), prompt.gold_values.end(), text);
        if (found == prompt.gold_values.end())
            refuse_gold(prompt, records, record, fmt::format("is '{}'", text),
                        fmt::format("prompt.gold_values has {}", fmt::join(prompt.gold_values, ", ")));
        gold = static_cast<std::size_t>(found - prompt.gold_values.begin());
    }
    if (gold >= choices)
        refuse_gold(prompt, records, record, fmt::format("names choice {} of {}", gold, choices),
                    "indices count from 0");
    return gold;
}

std::vector<std::string> choices_of(const TaskPrompt& prompt, const Records& records, const Record& record) {
    std::vector<std::string> choices;
    for (const TextTemplate& choice : prompt.choices) choices.push_back(render(choice, records, record));
    if (prompt.choice_list.empty()) return choices;
    const Json& list = field_at(records, record, prompt.choice_list, prompt.choice->place);
    if (!list.is_array() || list.empty())
        throw Error(ErrorKind::config, prompt.choice->place,
                    fmt::format("field '{}' of the record at {}:{} is not a list of choices", prompt.choice_list,
                                records.file, record.line));
    for (const Json& item : list) choices.push_back(render(*prompt.choice, records, record, &item));
    return choices;
}

// The texts that a record lists as right; at least one.
std::vector<std::string> answers_of(const TaskPrompt& prompt, const Records& records, const Record& record) {
    const Json& list = field_at(records, record, prompt.answers, prompt.answers_place);
    const auto refuse = [&](const char* what) {
        throw Error(
            ErrorKind::config, prompt.answers_place,
            fmt::format("field '{}' of the record at {}:{} {}", prompt.answers, records.file, record.line, what),
            "name a field that lists the right answers as texts");
    };
    if (!list.is_array() || list.empty()) refuse("lists no answer");
    std::vector<std::string> answers;
    for (const Json& item : list) {
        if (!item.is_string()) refuse("lists a value that is not a string");
        answers.push_back(item.get<std::string>());
    }
    return answers;
}

[[noreturn]] void refuse_answer(const TaskPrompt& prompt, const Records& records, const Record& record,
                                const std::string& answer, const char* what) {
    throw Error(ErrorKind::config, prompt.answers_place,
                fmt::format("the right answer '{}' of the record at {}:{} {}", answer, records.file, record.line, what),
                "fix the record, or name another field as prompt.answers");
}

// The answer of each choice in the list, and the first right one.
void find_right_choice(const TaskPrompt& task, const Records& records, const Record& record, Prompt& prompt) {
    prompt.answers = answers_of(task, records, record);
    for (const Json& item : field_at(records, record, task.choice_list, task.choice->place))
        prompt.choice_answers.push_back(render(*task.answer, records, record, &item));
    const auto found = std::find(prompt.choice_answers.begin(), prompt.choice_answers.end(), prompt.answers.front());
    if (found == prompt.choice_answers.end())
        refuse_answer(task, records, record, prompt.answers.front(), "is none of the choices");
    prompt.gold = static_cast<std::size_t>(found - prompt.choice_answers.begin());
}

void accept_answers(const TaskPrompt& task, const Records& records, const Record& record, Prompt& prompt) {
    const std::vector<std::string> accepted = answers_of(task, records, record);
    prompt.shown = task.answer ? render(*task.answer, records, record) : accepted.front();
    prompt.choices = without_prefixed(accepted);
    const auto found = std::find_if(prompt.choices.begin(), prompt.choices.end(),
                                    [&](const std::string& choice) { return prompt.shown.starts_with(choice); });
    if (found == prompt.choices.end())
        refuse_answer(task, records, record, prompt.shown, "begins with none of those accepted");
    prompt.gold = static_cast<std::size_t>(found - prompt.choices.begin());
}

}  // namespace

Prompt make_prompt(const Task& task, const Records& records, const Record& record) {
    Prompt prompt;
    for (const TextTemplate& text : task.prompt.text) prompt.texts.push_back(render(text, records, record));
    if (task.kind == TaskKind::short_answer) {
        accept_answers(task.prompt, records, record, prompt);
        return prompt;
    }
    if (task.kind == TaskKind::last_word) {
        prompt.choices.push_back(render(*task.prompt.target, records, record));
    } else {
        prompt.choices = choices_of(task.prompt, records, record);
        if (task.prompt.answers.empty())
            prompt.gold = gold_index(task.prompt, records, record, prompt.choices.size());
        else
            find_right_choice(task.prompt, records, record, prompt);
        if (task.prompt.group) prompt.group = render(*task.prompt.group, records, record);
    }
    prompt.shown = prompt.choices[prompt.gold];
    return prompt;
}

std::string worked_example(const Task& task, const Records& records, const Record& record) {
    const Prompt prompt = make_prompt(task, records, record);
    return prompt.text_of(prompt.gold) + task.prompt.delimiter + prompt.shown;
}

std::vector<std::size_t> draw_shots(PythonRandom& random, const Task& task, const Records& pool, const Record* self) {
    if (task.shots == 0) return {};
    const auto shots = static_cast<std::size_t>(task.shots);
    const std::size_t draws = self == nullptr ? shots : shots + 1;
    if (pool.items.size() < draws)
        throw Error(ErrorKind::config, task.shot_pool ? task.shot_pool->place : task.records.place,
                    fmt::format("{} shots need {} records, {} has {}", shots, draws, pool.file, pool.items.size()),
                    "lower shots or name a larger shot_pool");
    std::vector<std::size_t> drawn = random.sample(pool.items.size(), draws);
    if (self != nullptr)
        std::erase_if(drawn, [&](std::size_t index) { return pool.items[index].fields == self->fields; });
    if (drawn.size() > shots) drawn.resize(shots);
    return drawn;
}

namespace {

constexpr std::uint64_t kHarnessSeed = 42;

Document make_document(const Task& task, const Records& records, std::size_t index, const Records& pool,
                       std::vector<std::size_t> shots) {
    Document document;
    document.record = index;
    std::string examples;
    for (const std::size_t shot : shots) {
        document.shot_starts.push_back(examples.size());
        examples += worked_example(task, pool, pool.items[shot]) + "\n\n";
    }
    document.shots = std::move(shots);
    Prompt prompt = make_prompt(task, records, records.items[index]);
    for (std::size_t c = 0; c < prompt.choices.size(); ++c)
        document.requests.push_back({examples + prompt.text_of(c), task.prompt.delimiter + prompt.choices[c]});
    document.choices = std::move(prompt.choices);
    document.gold = prompt.gold;
    document.answers = std::move(prompt.answers);
    document.choice_answers = std::move(prompt.choice_answers);
    document.group = std::move(prompt.group);
    return document;
}

}  // namespace

bool Document::is_right(std::size_t choice) const {
    if (choice_answers.empty()) return choice == gold;
    return std::find(answers.begin(), answers.end(), choice_answers[choice]) != answers.end();
}

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
