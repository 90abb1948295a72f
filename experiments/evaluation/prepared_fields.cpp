#include "experiments/evaluation/prepared_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/utf8.h"
#include "experiments/evaluation/replace.h"
#include "experiments/evaluation/text_template.h"

namespace deft::experiments {

namespace {

// Reads fields of one record; each error names the task's place, the record and the field.
struct FieldsOf {
    const Records& records;
    const Record& record;
    const Place& place;

    const Json& at(const std::string& path) const { return field_at(records, record, path, place); }

    [[noreturn]] void refuse(const std::string& path, const std::string& what) const {
        throw Error(ErrorKind::config, place,
                    fmt::format("field '{}' of the record at {}:{} {}", path, records.file, record.line, what));
    }

    const std::string& text(const std::string& path) const {
        const Json& value = at(path);
        if (!value.is_string()) refuse(path, fmt::format("is {}, not text", value.type_name()));
        return value.get_ref<const std::string&>();
    }

    std::size_t items(const std::string& path) const {
        const Json& value = at(path);
        if (!value.is_array()) refuse(path, fmt::format("is {}, not a list", value.type_name()));
        return value.size();
    }

    std::size_t index(const std::string& path) const {
        const Json& value = at(path);
        if (!value.is_number_integer() || value.get<std::int64_t>() < 0) refuse(path, "is not an index");
        return value.get<std::size_t>();
    }
};

// Where each character of a text begins, and its end.
std::vector<std::size_t> character_starts(std::string_view text) {
    std::vector<std::size_t> starts;
    for (std::size_t at = 0; at < text.size(); at += decode_utf8(text, at).bytes) starts.push_back(at);
    starts.push_back(text.size());
    return starts;
}

// The option that the answer's letter names.
std::string answered_option(const FieldsOf& fields, std::size_t question) {
    const std::string path = fmt::format("answers.{}", question);
    const std::string& letter = fields.text(path);
    if (letter.size() != 1 || letter[0] < 'A' || letter[0] > 'Z') fields.refuse(path, "is not a letter of an option");
    return fields.text(fmt::format("options.{}.{}", question, letter[0] - 'A'));
}

void prepare_race(const Records& records, Record& record, const Place& place) {
    const FieldsOf fields{records, record, place};
    const std::size_t questions = fields.items("questions");
    if (questions == 0) fields.refuse("questions", "is empty");
    std::string context = "Article: " + fields.text("article") + "\n\n";
    for (std::size_t q = 0; q + 1 < questions; ++q) {
        const std::string& question = fields.text(fmt::format("questions.{}", q));
        const std::string answer = answered_option(fields, q);
        // The harness of 0.2.0 keeps a blank at the end and loses the question, and so do the published numbers.
        if (question.ends_with("  _  ."))
            context += question.substr(question.size() - 5) + answer + "\n";
        else
            context += "Question: " + question + "\nAnswer: " + answer + "\n";
    }
    const std::size_t last = questions - 1;
    context += fields.text(fmt::format("questions.{}", last));
    Json choices = fields.at(fmt::format("options.{}", last)), gold = fields.at(fmt::format("answers.{}", last));
    record.fields["context"] = std::move(context);
    record.fields["choices"] = std::move(choices);
    record.fields["gold"] = std::move(gold);
}

std::string with_highlights(std::string_view passage) {
    constexpr std::string_view kMark = "\n@highlight\n";
    std::string_view rest = strip(passage);
    std::size_t end = rest.find(kMark);
    std::string text = std::string(rest.substr(0, end)) + "\n\n";
    while (end != std::string_view::npos) {
        rest.remove_prefix(end + kMark.size());
        end = rest.find(kMark);
        text += "  - " + std::string(rest.substr(0, end)) + ".\n";
    }
    return text;
}

void prepare_record(const Records& records, Record& record, const Place& place) {
    const FieldsOf fields{records, record, place};
    const std::string& passage = fields.text("passage.text");
    const std::vector<std::size_t> starts = character_starts(passage);
    std::set<std::string> entities, answers;
    for (std::size_t e = 0; e < fields.items("passage.entities"); ++e) {
        const std::string path = fmt::format("passage.entities.{}", e);
        const std::size_t first = fields.index(path + ".start"), last = fields.index(path + ".end");
        if (first > last || last + 1 >= starts.size()) fields.refuse(path, "is not within passage.text");
        entities.insert(passage.substr(starts[first], starts[last + 1] - starts[first]));
    }
    for (std::size_t a = 0; a < fields.items("qas.answers"); ++a)
        answers.insert(fields.text(fmt::format("qas.answers.{}.text", a)));
    Json choices = Json::array();
    for (const std::string& entity : entities)
        choices.push_back(
            {{"entity", entity}, {"line", "  - " + replaced_all(fields.text("qas.query"), "@placeholder", entity)}});
    std::string context = with_highlights(passage);
    record.fields["context"] = std::move(context);
    record.fields["choices"] = std::move(choices);
    record.fields["answers"] = answers;
}

// The first `count` words, a space between them.
std::string first_words(std::string_view text, std::size_t count) {
    std::string words;
    std::size_t begun = 0;
    bool in_word = false;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decode_utf8(text, at);
        const bool space = is_whitespace(character.code);
        if (!space && !in_word && begun++ == count) break;
        if (!space && !in_word && !words.empty()) words += ' ';
        if (!space) words += text.substr(at, character.bytes);
        in_word = !space;
        at += character.bytes;
    }
    return words;
}

void prepare_wsc(const Records& records, Record& record, const Place& place) {
    const FieldsOf fields{records, record, place};
    const std::string &text = fields.text("text"), &pronoun = fields.text("target.span2_text");
    const std::string before = first_words(text, fields.index("target.span2_index"));
    // Counted in the text as it is, although `before` has lost doubled spaces: so does the harness.
    const auto skipped = static_cast<std::size_t>(count_code_points(before) + count_code_points(pronoun) + 1);
    const std::vector<std::size_t> starts = character_starts(text);
    const std::string after = text.substr(starts[std::min(skipped, starts.size() - 1)]);
    std::string passage = before + " *" + pronoun + "*" + after;
    constexpr std::pair<const char*, const char*> kTight[] = {
        {" n't", "n't"}, {" )", ")"}, {"( ", "("}, {"\" ", "\""}, {" \"", "\""}};
    for (const auto& [from, to] : kTight) passage = replaced_all(passage, from, to);
    for (const char* mark : {"'", ".", ","}) passage = replaced_all(passage, std::string(" ") + mark, mark);
    record.fields["passage"] = std::move(passage);
}

constexpr Preparation kPreparations[] = {{"race", prepare_race}, {"record", prepare_record}, {"wsc", prepare_wsc}};

}  // namespace

const Preparation* find_preparation(std::string_view name) {
    for (const Preparation& preparation : kPreparations)
        if (name == preparation.name) return &preparation;
    return nullptr;
}

}  // namespace deft::experiments
