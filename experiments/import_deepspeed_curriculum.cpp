#include "experiments/import_deepspeed_curriculum.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "base/suggestion.h"
#include "experiments/parse_techniques.h"

namespace deft::experiments {

namespace {

using What = ImportNote::What;

constexpr std::int64_t kHundredth = 100;

// How a difficulty of theirs grows.
struct Schedule {
    std::int64_t min = 0, max = 0, step = 1;
    std::string type;
    std::int64_t steps = 0;
    double root_degree = 1;
    std::vector<std::int64_t> difficulty, max_step;  // of fixed_discrete
};

// A stair: from `step` on, `value`.
struct Stair {
    std::int64_t step = 0, value = 0;
};

std::string lower_letters(const std::string& name) {
    std::string letters;
    for (const char c : name)
        if (c != '_' && c != '-') letters += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return letters;
}

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::string required_one_of(JsonReader& section, const char* key, const std::vector<std::string>& allowed) {
    const auto word = section.required<std::string>(key);
    if (std::find(allowed.begin(), allowed.end(), word) == allowed.end())
        section.refuse(key, fmt::format("is {}", Json(word).dump(-1, ' ', true)), suggestion(word, allowed));
    return word;
}

void require_at_least(const JsonReader& section, const char* key, std::int64_t value, std::int64_t least) {
    if (value < least) section.refuse(key, fmt::format("is {}, and must be at least {}", value, least));
}

Schedule read_schedule(JsonReader& section, std::vector<ImportNote>& notes) {
    Schedule s;
    s.min = section.required<std::int64_t>("min_difficulty");
    s.max = section.required<std::int64_t>("max_difficulty");
    if (s.min > s.max) section.refuse("min_difficulty", fmt::format("is {}, above max_difficulty = {}", s.min, s.max));
    s.type = required_one_of(section, "schedule_type", {"fixed_linear", "fixed_root", "fixed_discrete", "custom"});
    if (s.type == "custom") {
        (void)section.section("schedule_config");
        return s;
    }
    JsonReader config = section.required_section("schedule_config");
    if (s.type == "fixed_discrete") {
        s.difficulty = config.required<std::vector<std::int64_t>>("difficulty");
        s.max_step = config.required<std::vector<std::int64_t>>("max_step");
        if (s.max_step.empty() || s.difficulty.size() != s.max_step.size() + 1)
            config.refuse("difficulty", fmt::format("has {} values, and max_step {}: it must have one more",
                                                    s.difficulty.size(), s.max_step.size()));
    } else {
        s.steps = config.required<std::int64_t>("total_curriculum_step");
        s.step = config.required<std::int64_t>("difficulty_step");
        if (s.type == "fixed_root") s.root_degree = static_cast<double>(config.required<double>("root_degree"));
        require_at_least(config, "total_curriculum_step", s.steps, 1);
        require_at_least(config, "difficulty_step", s.step, 1);
        if (!(s.root_degree >= 1)) config.refuse("root_degree", "must be at least 1");
        if (s.min % s.step != 0)
            notes.push_back({section.name("min_difficulty"), What::defect,
                             fmt::format("theirs cuts {} to a multiple of {}, below the minimum (fixed upstream in "
                                         "#8334); ours stays at the minimum",
                                         s.min, s.step)});
        if (s.max % s.step != 0)
            notes.push_back({section.name("max_difficulty"), What::changed,
                             fmt::format("is not a multiple of {}: theirs stays below it until the root runs on past "
                                         "total_curriculum_step; ours is there at that step",
                                         s.step)});
    }
    note_unread(config, notes);
    return s;
}

// Where the discrete schedule changes, from step 0 on. Theirs counts from 1, takes the first i with t <= max_step[i],
// and stays where it first reached max_difficulty.
std::vector<Stair> stairs_of(const Schedule& s) {
    if (s.min >= s.max) return {{0, s.min}};
    std::vector<Stair> stairs;
    std::int64_t reached = 0;  // the last step that has a value
    for (std::size_t i = 0; i < s.difficulty.size(); ++i) {
        const bool last = i == s.max_step.size();
        if (!last && s.max_step[i] <= reached) continue;  // no step is left for it
        const Stair stair{stairs.empty() ? 0 : reached + 1, s.difficulty[i]};
        if (stairs.empty() || stairs.back().value != stair.value) stairs.push_back(stair);
        if (stair.value >= s.max) break;
        if (!last) reached = s.max_step[i];
    }
    return stairs;
}

std::string discrete_toml(const std::vector<Stair>& stairs) {
    if (stairs.size() == 1) return fmt::format("pacing = \"constant\"\nmin = {}\n", stairs.front().value);
    const std::int64_t steps = stairs.back().step;
    std::vector<std::string> points;
    for (const Stair& s : stairs)
        points.push_back(
            s.step == 0 || s.step == steps
                ? fmt::format("[{}, {}]", s.step == 0 ? 0 : 1, s.value)
                : fmt::format("[{}, {}]", static_cast<double>(s.step) / static_cast<double>(steps), s.value));
    return fmt::format("pacing = \"discrete\"\npoints = [{}]\nsteps = {}\n", fmt::join(points, ", "), steps);
}

// The growth of a table; nothing, and a note, where ours has no such growth.
std::optional<std::string> growth_toml(Schedule s, const JsonReader& section, std::vector<ImportNote>& notes,
                                       bool percentile) {
    const auto refuse = [&](const char* key, const std::string& why) {
        notes.push_back({section.name(key), What::not_converted, why});
        return std::nullopt;
    };
    if (s.type == "custom")
        return refuse("schedule_type", "custom is a function of a program; write it as pacing = \"points\"");
    if (percentile && s.max != kHundredth) {
        // Theirs cuts the samples into max_difficulty parts, whatever it is called.
        if (s.max < 1 || kHundredth % s.max != 0)
            return refuse("max_difficulty", fmt::format("theirs cuts the samples into {} parts, which are not whole "
                                                        "percentiles",
                                                        s.max));
        const std::int64_t scale = kHundredth / s.max;
        notes.push_back({section.name("max_difficulty"), What::changed,
                         fmt::format("theirs cuts the samples into {} parts: one is {} percentiles", s.max, scale)});
        s.min *= scale, s.max *= scale, s.step *= scale;
        for (std::int64_t& d : s.difficulty) d *= scale;
    }
    if (s.type == "fixed_discrete") {
        if (percentile)
            for (std::int64_t& d : s.difficulty) d = std::min(d, kHundredth);
        const std::vector<Stair> stairs = stairs_of(s);
        const auto falls = [](const Stair& a, const Stair& b) { return b.value < a.value; };
        if (std::adjacent_find(stairs.begin(), stairs.end(), falls) != stairs.end())
            return refuse("schedule_config.difficulty", "falls, and ours never does");
        if (stairs.front().value < 1) return refuse("schedule_config.difficulty", "begins below 1");
        return discrete_toml(stairs);
    }
    if (s.max < 1) return refuse("max_difficulty", "is below 1");
    if (s.min < 1) {
        notes.push_back({section.name("min_difficulty"), What::changed, "ours begins at 1"});
        s.min = 1;
    }
    std::string toml = fmt::format("min = {}\nmax = {}\ndifficulty_step = {}\n", s.min, s.max, s.step);
    toml += s.type == "fixed_linear" ? std::string("pacing = \"linear\"\n")
                                     : fmt::format("pacing = \"root\"\nroot_degree = {}\n", s.root_degree);
    return toml +
           fmt::format("steps = {}  # or duration, a fraction of the baseline's steps at this budget\n", s.steps);
}

// As TOML writes a key; control characters do not come here.
std::string toml_key(const std::string& name) {
    const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
    return bare ? name : Json(name).dump();
}

void add(ImportedCurriculum& curriculum, const std::string& name, const std::string& theirs,
         const std::optional<std::string>& body, const std::string& key, std::vector<ImportNote>& notes) {
    if (!body) {
        curriculum.metrics.push_back({name, fmt::format("# {}: not converted, see the notes.\n", theirs), false});
        return;
    }
    const bool taken = std::any_of(curriculum.metrics.begin(), curriculum.metrics.end(),
                                   [&](const auto& metric) { return metric.converted && metric.name == name; });
    if (taken) {
        notes.push_back({key, What::not_converted, fmt::format("another metric is curriculum.{} already", name)});
        return;
    }
    curriculum.metrics.push_back({name, fmt::format("[case.curriculum.{}]\n{}", toml_key(name), *body), true});
}

// Lengths that theirs hands to a function of the user's program.
std::optional<std::string> length_toml(const Schedule& schedule, const JsonReader& section,
                                       std::vector<ImportNote>& notes) {
    std::int64_t full = schedule.max;
    if (schedule.type == "fixed_discrete") full = stairs_of(schedule).back().value;
    const std::optional<std::string> growth = growth_toml(schedule, section, notes, false);
    if (!growth) return {};
    return fmt::format("# Grows to the full length: model.seqlen must be {}.\n{}", full, *growth);
}

void note_paths(JsonReader& section, const std::string& why, std::vector<ImportNote>& notes) {
    for (const char* key : {"index_to_sample_path", "index_to_metric_path"}) {
        std::string path;
        section.optional(key, path);
        if (!path.empty()) notes.push_back({section.name(key), What::ignored, why});
    }
}

// The papers' recipes name what Megatron-DeepSpeed's data_post_process does with a length: seqlen_truncate cuts,
// seqlen_reshape splits it into shorter rows.
bool is_cut(const std::string& letters) {
    return is_one_of(letters, {"seqtru", "seqlentruncate"});
}

bool is_reshaped(const std::string& letters) {
    return is_one_of(letters, {"seqres", "seqlenreshape"});
}

// Tables whose difficulty is the step's length, or has no effect.
void import_single_cluster(JsonReader& section, const std::string& name, const std::string& type,
                           ImportedCurriculum& curriculum, std::vector<ImportNote>& notes) {
    const Schedule schedule = read_schedule(section, notes);
    note_paths(section, "single_cluster reads no index, theirs neither", notes);
    const std::string key = section.name("clustering_type");
    const std::string letters = lower_letters(name);
    const bool says_how = is_cut(letters) || is_reshaped(letters);
    const bool length = says_how || is_one_of(letters, {"seqlen", "sequencelength"});
    if (type != "value" || !length) {
        notes.push_back({key, What::defect,
                         length
                             ? "single_cluster admits all samples at once, and a length is not a percentile: theirs "
                               "neither cuts nor orders; schedule_based was meant, which orders by real length, and "
                               "packed samples are all full"
                             : "single_cluster admits all samples at once: theirs orders nothing; schedule_based was "
                               "meant"});
        add(curriculum, name, name, {}, key, notes);
        return;
    }
    const std::string ours = is_reshaped(letters) ? "seqres" : "seqtru";
    if (!says_how)
        notes.push_back({key, What::changed,
                         "theirs leaves to the user's program whether samples are cut (seqtru) or laid out in shorter "
                         "rows (seqres), and this file does not say: seqtru was taken; rename the table for seqres"});
    add(curriculum, ours, name, length_toml(schedule, section, notes), section.name("schedule_type"), notes);
}

// The body of a table whose column is theirs, converted.
std::string column_lines(const std::string& name, const std::string& type) {
    return fmt::format("difficulty = \"{}\"\ncolumn = {}  # see the notes for how to make it\n", type,
                       Json(name + ".npy").dump());
}

void import_schedule_based(JsonReader& section, const std::string& name, const std::string& type,
                           ImportedCurriculum& curriculum, std::vector<ImportNote>& notes) {
    const Schedule schedule = read_schedule(section, notes);
    const std::string letters = lower_letters(name);
    const bool percentile = type == "percentile";
    if (percentile && schedule.step == 8)
        notes.push_back({section.name("schedule_config.difficulty_step"), What::defect,
                         "8 suits lengths; of percentiles it admits samples in twelve leaps, as one of their scripts "
                         "does unintentionally; converted unchanged"});
    const std::string key = section.name("clustering_type");
    if (is_one_of(letters,
                  {"seqlen", "sequencelength", "seqreo", "seqlenvocabularyrarity", "seqlenvocabrarity", "seqreovoc"})) {
        note_paths(section, "the metric was not converted", notes);
        notes.push_back({key, What::not_converted,
                         "orders samples by their real length (seqreo), which packed GPT samples refuse: they are all "
                         "full; use seqtru or seqres, with voc beside it"});
        add(curriculum, name, name, {}, key, notes);
        return;
    }
    if (is_one_of(letters, {"voc", "vocabularyrarity", "vocabrarity"})) {
        note_paths(section, "deft analyses the corpus itself", notes);
        std::optional<std::string> growth = growth_toml(schedule, section, notes, percentile);
        if (growth) growth = fmt::format("difficulty = \"{}\"\n{}", type, *growth);
        add(curriculum, "voc", name, growth, key, notes);
        return;
    }
    std::string samples, values;
    section.optional("index_to_sample_path", samples);
    section.optional("index_to_metric_path", values);
    if (samples.empty()) {
        notes.push_back({section.name("index_to_sample_path"), What::not_converted,
                         "is needed for a metric that deft does not know"});
        add(curriculum, name, name, {}, key, notes);
        return;
    }
    notes.push_back({section.name("index_to_sample_path"), What::changed,
                     "ours reads one value a sample: deft analyze --from-deepspeed FOLDER --metric NAME --column-out "
                     "COLUMN.npy, with --corpus and --seqlen, converts their index; NAME is the text before "
                     "_index_to_sample"});
    if (!values.empty())
        notes.push_back({section.name("index_to_metric_path"), What::ignored, "the column holds the values"});
    std::optional<std::string> growth = growth_toml(schedule, section, notes, percentile);
    if (growth) growth = column_lines(name, type) + *growth;
    // These names mean something else as keys of [curriculum].
    const bool reserved = name == "enabled" || is_reserved_metric(name);
    add(curriculum, reserved ? "deepspeed_" + name : name, name, growth, key, notes);
}

void import_metric(JsonReader section, const std::string& name, ImportedCurriculum& curriculum,
                   std::vector<ImportNote>& notes) {
    const std::string clustering = required_one_of(section, "clustering_type", {"schedule_based", "single_cluster"});
    const std::string type = required_one_of(section, "difficulty_type", {"value", "percentile"});
    if (clustering == "single_cluster")
        import_single_cluster(section, name, type, curriculum, notes);
    else
        import_schedule_based(section, name, type, curriculum, notes);
    note_unread(section, notes);
}

}  // namespace

void note_unread(const JsonReader& section, std::vector<ImportNote>& notes) {
    for (const std::string& key : section.unread())
        notes.push_back(
            {section.name(key), What::unknown, "theirs ignores it silently; " + suggestion(key, section.known())});
}

ImportedCurriculum import_curriculum(JsonReader section, std::vector<ImportNote>& notes) {
    ImportedCurriculum curriculum;
    section.optional("enabled", curriculum.enabled);
    std::string path;
    section.optional("data_cluster_path", path);
    if (!path.empty())
        notes.push_back(
            {section.name("data_cluster_path"), What::defect,
             "theirs keeps its state there, and resuming reads what later runs changed; ours keeps no state "
             "on disk"});
    if (std::optional<JsonReader> metrics = section.section("curriculum_metrics")) {
        for (const std::string& name : metrics->keys()) {
            if (name.empty() || metrics->name(name) != metrics->name("") + name)
                metrics->refuse(name, "is not a name for a metric");
            std::optional<JsonReader> metric = metrics->section(name);
            if (!metric) metrics->refuse(name, "must be an object");
            import_metric(*metric, name, curriculum, notes);
        }
    } else if (curriculum.enabled) {
        section.refuse("curriculum_metrics", "is needed");
    }
    note_unread(section, notes);
    return curriculum;
}

void import_legacy_curriculum(JsonReader section, ImportedCurriculum& curriculum, std::vector<ImportNote>& notes) {
    bool enabled = false;
    section.optional("enabled", enabled);
    std::string type = "seqlen";
    section.optional("curriculum_type", type);
    notes.push_back({section.name("enabled"), What::changed,
                     "this section was removed upstream (#8566); it is curriculum.seqtru here"});
    if (type != "seqlen") {
        notes.push_back({section.name("curriculum_type"), What::not_converted, "theirs knew seqlen alone"});
        add(curriculum, type, "curriculum_learning", {}, section.name("curriculum_type"), notes);
    } else if (enabled || section.has("schedule_type")) {
        const Schedule schedule = read_schedule(section, notes);
        // Where both are present, the enabled one decides.
        if (enabled && !curriculum.enabled) curriculum.metrics.clear();
        if (enabled || curriculum.metrics.empty()) {
            curriculum.enabled = curriculum.enabled || enabled;
            add(curriculum, "seqtru", "curriculum_learning", length_toml(schedule, section, notes),
                section.name("curriculum_type"), notes);
        } else {
            notes.push_back({section.name("enabled"), What::ignored, "is false"});
        }
    }
    note_unread(section, notes);
}

std::string curriculum_toml(const ImportedCurriculum& curriculum) {
    const bool any = std::any_of(curriculum.metrics.begin(), curriculum.metrics.end(),
                                 [](const auto& metric) { return metric.converted; });
    std::string toml;
    if (any) toml += fmt::format("\n[case.curriculum]\nenabled = {}\n", curriculum.enabled);
    for (const ImportedCurriculum::Metric& metric : curriculum.metrics) toml += "\n" + metric.toml;
    return toml;
}

}  // namespace deft::experiments
