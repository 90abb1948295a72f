#include "base/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/json.h"

namespace deft::journal {

namespace {

// The name of each record in a line, and its fields.
struct RecordTable {
    const char* type;
    Fields fields;
};

const RecordTable& table_of(const Started*) {
    static const RecordTable table = {
        "started",
        {{"time_ms", at<&Started::time_ms>},
         {"pid", at<&Started::pid>},
         {"dataset_name", at<&Started::dataset_name>},
         {"dataset_sha256", at<&Started::dataset_sha256>},
         {"dataset_bytes", at<&Started::dataset_bytes>},
         {"dataset_tokens", at<&Started::dataset_tokens>},
         {"total_steps", at<&Started::total_steps>},
         {"parameters", at<&Started::parameters>},
         {"config_hash", at<&Started::config_hash>},
         {"resume_step", at<&Started::resume_step>, "", {.came_later = true}},
         {"note", at<&Started::note>, "", {.came_later = true}},
         {"resume_seconds", at<&Started::resume_seconds>, "", {.came_later = true}},
         {"start_note", at<&Started::start_note>, "", {.came_later = true}},
         {"active_parameters", at<&Started::active_parameters>, "", {.at_least = 0, .came_later = true}},
         {"start_seconds", at<&Started::start_seconds>, "", {.came_later = true}},
         {"recompute", at<&Started::recompute>, "", {.came_later = true}}}};
    return table;
}

const RecordTable& table_of(const Spent*) {
    static const RecordTable table = {"spent",
                                      {{"time_ms", at<&Spent::time_ms>},
                                       {"step", at<&Spent::step>},
                                       {"train_seconds", at<&Spent::train_seconds>},
                                       {"eval_seconds", at<&Spent::eval_seconds>},
                                       {"waited_seconds", at<&Spent::waited_seconds>}}};
    return table;
}

// The column `nonfinite` holds the kinds of the reals in this order.
const RecordTable& table_of(const TrainPoint*) {
    static const RecordTable table = {
        "train",
        {{"step", at<&TrainPoint::step>},
         {"input_tokens", at<&TrainPoint::input_tokens>, "", {.column = "tokens"}},
         {"unique_tokens", at<&TrainPoint::unique_tokens>},
         {"layer_tokens", at<&TrainPoint::layer_tokens>},
         {"flops", at<&TrainPoint::flops>},
         {"wall_ms", at<&TrainPoint::wall_ms>},
         {"loss", at<&TrainPoint::loss>},
         {"lr", at<&TrainPoint::lr>},
         {"grad_norm", at<&TrainPoint::grad_norm>},
         {"tokens_per_second", at<&TrainPoint::tokens_per_second>, "", {.column = "tok_per_s"}},
         {"seqlen", at<&TrainPoint::seqlen>},
         {"kept_tokens", at<&TrainPoint::kept_tokens>},
         {"sent_bytes", at<&TrainPoint::sent_bytes>, "", {.at_least = 0, .came_later = true}},
         {"expert_bytes", at<&TrainPoint::expert_bytes>, "", {.at_least = 0, .came_later = true}},
         {"head_names", at<&TrainPoint::head_names>, "", {.came_later = true}},
         {"head_losses", at<&TrainPoint::head_losses>, "", {.came_later = true}}}};
    return table;
}

const RecordTable& table_of(const Sampling*) {
    static const RecordTable table = {
        "sampling",
        {{"step", at<&Sampling::step>},
         {"pool", at<&Sampling::pool>},
         {"samples_drawn", at<&Sampling::samples_drawn>, "", {.column = "drawn"}},
         {"samples_repeated", at<&Sampling::samples_repeated>, "", {.column = "repeated"}},
         {"tokens_cut", at<&Sampling::tokens_cut>, "", {.column = "cut_tokens"}},
         {"tokens_padded", at<&Sampling::tokens_padded>, "", {.column = "padded_tokens"}},
         {"epochs", at<&Sampling::epochs>}}};
    return table;
}

const RecordTable& table_of(const ExpertLoad*) {
    static const RecordTable table = {"experts",
                                      {{"step", at<&ExpertLoad::step>},
                                       {"layer", at<&ExpertLoad::layer>, "", {.at_least = 0}},
                                       {"load", at<&ExpertLoad::load>},
                                       {"dropped", at<&ExpertLoad::dropped>},
                                       {"entropy", at<&ExpertLoad::entropy>},
                                       {"balance_loss", at<&ExpertLoad::balance_loss>},
                                       {"z_loss", at<&ExpertLoad::z_loss>}}};
    return table;
}

const RecordTable& table_of(const Evaluation*) {
    static const RecordTable table = {"evaluation",
                                      {{"step", at<&Evaluation::step>},
                                       {"task", at<&Evaluation::task>},
                                       {"task_version", at<&Evaluation::task_version>},
                                       {"split", at<&Evaluation::split>},
                                       {"shots", at<&Evaluation::shots>},
                                       {"metric", at<&Evaluation::metric>},
                                       {"unit", at<&Evaluation::unit>},
                                       {"better", at<&Evaluation::better>, "", {.one_of = {"lower", "higher", "none"}}},
                                       {"value", at<&Evaluation::value>},
                                       {"n", at<&Evaluation::n>, "", {.at_least = 0}},
                                       {"standard_error", at<&Evaluation::standard_error>},
                                       {"chance", at<&Evaluation::chance>},
                                       {"score_key", at<&Evaluation::score_key>, "", {.came_later = true}}}};
    return table;
}

const RecordTable& table_of(const Scored*) {
    static const RecordTable table = {
        "scored",
        {{"score_key", at<&Scored::score_key>},
         {"task", at<&Scored::task>},
         {"task_sha256", at<&Scored::task_sha256>},
         {"shots", at<&Scored::shots>, "", {.at_least = 0}},
         {"documents", at<&Scored::documents>, "", {.at_least = 0}},
         {"step", at<&Scored::step>},
         {"model_sha256", at<&Scored::model_sha256>},
         {"seconds", at<&Scored::seconds>},
         {"cut_share", at<&Scored::cut_share>},
         {"mean_shots", at<&Scored::mean_shots>},
         {"items", at<&Scored::items>},
         {"definition_sha256", at<&Scored::definition_sha256>, "", {.came_later = true}},
         {"scoring_version", at<&Scored::scoring_version>, "", {.at_least = 1, .came_later = true}}}};
    return table;
}

const RecordTable& table_of(const Artifact*) {
    static const RecordTable table = {
        "artifact",
        {{"kind",
          at<&Artifact::kind>,
          "",
          {.one_of = {"checkpoint", "log", "config", "plot", "profile", "eval_items", "report", "other"}}},
         {"path", at<&Artifact::path>},
         {"sha256", at<&Artifact::sha256>},
         {"bytes", at<&Artifact::bytes>},
         {"role", at<&Artifact::role>},
         {"step", at<&Artifact::step>}}};
    return table;
}

const RecordTable& table_of(const Lease*) {
    static const RecordTable table = {"lease",
                                      {{"time_ms", at<&Lease::time_ms>},
                                       {"until_ms", at<&Lease::until_ms>},
                                       {"doing", at<&Lease::doing>, "", {.came_later = true}}}};
    return table;
}

const RecordTable& table_of(const Ended*) {
    static const RecordTable table = {"ended",
                                      {{"time_ms", at<&Ended::time_ms>},
                                       {"state", at<&Ended::state>, "", {.one_of = {"ok", "failed", "stopped"}}},
                                       {"fail_class", at<&Ended::fail_class>},
                                       {"error", at<&Ended::error>},
                                       {"train_seconds", at<&Ended::train_seconds>},
                                       {"flops", at<&Ended::flops>, "", {.came_later = true}},
                                       {"step_seconds", at<&Ended::step_seconds>, "", {.came_later = true}},
                                       {"eval_seconds", at<&Ended::eval_seconds>},
                                       {"threads", at<&Ended::threads>},
                                       {"peak_rss_bytes", at<&Ended::peak_rss_bytes>},
                                       {"cpu_seconds", at<&Ended::cpu_seconds>},
                                       {"waited_seconds", at<&Ended::waited_seconds>, "", {.came_later = true}}}};
    return table;
}

[[noreturn]] void fail_field(const char* type, const Field& field, const std::string& how) {
    throw Error(ErrorKind::io, fmt::format("field '{}' of a journal line of type '{}' {}", field.key, type, how));
}

// Each returns what is wrong with the value, or nothing.
std::string read(const Json& value, const FieldRules& rules, std::string& out) {
    if (!value.is_string()) return "is not a string";
    out = value.get<std::string>();
    const bool known =
        rules.one_of.empty() || std::find(rules.one_of.begin(), rules.one_of.end(), out) != rules.one_of.end();
    return known ? "" : fmt::format("has the unknown value '{}'", out);
}

std::string read(const Json& value, const FieldRules& rules, std::int64_t& out) {
    const bool too_large = value.is_number_unsigned() &&
                           value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (!value.is_number_integer() || too_large) return "is not a 64-bit integer";
    out = value.get<std::int64_t>();
    if (!rules.at_least || static_cast<double>(out) >= *rules.at_least) return "";
    return *rules.at_least == 0 ? "is negative" : fmt::format("is below {:g}", *rules.at_least);
}

std::string read(const Json& value, const FieldRules&, double& out) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (value.is_number())
        out = value.get<double>();
    else if (value == "NaN")
        out = std::numeric_limits<double>::quiet_NaN();
    else if (value == "Infinity" || value == "-Infinity")
        out = value == "Infinity" ? kInfinity : -kInfinity;
    else
        return "is not a number";
    return "";
}

std::string read(const Json& value, const FieldRules& rules, std::vector<double>& out) {
    if (!value.is_array()) return "is not an array of numbers";
    std::vector<double> numbers(value.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (!read(value[i], rules, numbers[i]).empty()) return "is not an array of numbers";
    out = std::move(numbers);
    return "";
}

std::string read(const Json& value, const FieldRules&, std::vector<std::string>& out) {
    const auto is_text = [](const Json& item) { return item.is_string(); };
    if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_text)) return "is not an array of strings";
    out = value.get<std::vector<std::string>>();
    return "";
}

template <class Other>
std::string read(const Json&, const FieldRules&, Other&) {
    return "is of a type that no journal has";
}

void read_record(const Json& line, const RecordTable& table, void* record) {
    if (!line.is_object()) throw Error(ErrorKind::io, "a journal line is not a JSON object");
    if (const std::string found = type_of(line); found != table.type)
        throw Error(ErrorKind::io, fmt::format("a journal line of type '{}' where '{}' is read", found, table.type));
    for (const Field& field : table.fields) {
        const auto value = line.find(field.key);
        if (value == line.end() && field.rules.came_later) continue;
        if (value == line.end()) fail_field(table.type, field, "is missing");
        const auto read_into = [&](auto* out) { return read(*value, field.rules, *out); };
        if (const std::string wrong = std::visit(read_into, field.in(record)); !wrong.empty())
            fail_field(table.type, field, wrong);
    }
}

[[noreturn]] void fail_file(const std::string& path, const char* doing, int error) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const std::string where = folder.empty() ? "the current folder" : folder;
    const bool full = error == ENOSPC || error == EDQUOT || error == EIO;
    const std::string fix = error == EFBIG ? std::string("raise the limit on the size of a file (ulimit -f)")
                            : full         ? fmt::format("free space under {}", where)
                                           : fmt::format("make {} writable", where);
    throw Error(ErrorKind::io, fmt::format("cannot {} {}: {}", doing, path, std::strerror(error)),
                fix + " and run the same command again: finished trials are kept");
}

// The length of the file up to and including its last newline.
off_t whole_lines(int file, off_t size) {
    std::array<char, 4096> block{};
    off_t end = size;
    while (end > 0) {
        const off_t begin = end > static_cast<off_t>(block.size()) ? end - static_cast<off_t>(block.size()) : 0;
        const ssize_t got = pread(file, block.data(), static_cast<std::size_t>(end - begin), begin);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = EIO;  // shorter than it was a moment ago
        if (got <= 0) return -1;
        for (ssize_t i = got; i > 0; --i)
            if (block[static_cast<std::size_t>(i - 1)] == '\n') return begin + i;
        end = begin;
    }
    return 0;
}

}  // namespace

template <class Record>
const Fields& fields() {
    return table_of(static_cast<const Record*>(nullptr)).fields;
}

template <class Record>
Json to_json(const Record& record) {
    const RecordTable& table = table_of(&record);
    Json line = fields_json(table.fields, &record);
    line["type"] = table.type;
    // Optional records of few trials take no space in the lines of the others.
    for (const Field& field : table.fields)
        if (field.rules.came_later && line[field.key].is_array() && line[field.key].empty()) line.erase(field.key);
    return line;
}

template <class Record>
void from_json(const Json& line, Record& record) {
    read_record(line, table_of(&record), &record);
}

std::string type_of(const Json& line) {
    if (!line.is_object()) return {};
    const auto found = line.find("type");
    return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Writer::Writer(const std::filesystem::path& file) : path_(file.string()) {
    file_ = open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) fail_file(path_, "open", errno);
    // A killed trial may have left half a line; the next one must not be glued to it.
    struct stat status {};
    int error = 0;
    if (fstat(file_, &status) != 0) {
        error = errno;
    } else if (S_ISREG(status.st_mode) && status.st_size > 0) {
        const off_t whole = whole_lines(file_, status.st_size);
        if (whole < 0 || (whole < status.st_size && ftruncate(file_, whole) != 0)) error = errno;
    }
    if (error != 0) {
        close(file_);
        fail_file(path_, "open", error);
    }
}

Writer::~Writer() {
    if (file_ >= 0) close(file_);
}

Writer::Writer(Writer&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)), guard_(std::move(other.guard_)) {}

Writer& Writer::operator=(Writer&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    std::swap(guard_, other.guard_);
    return *this;
}

void Writer::write_line(const std::string& line) {
    if (file_ < 0) return;
    if (guard_) guard_();
    const std::string bytes = line + '\n';
    const off_t before = lseek(file_, 0, SEEK_END);
    std::size_t done = 0;
    // One write() a line; only a signal or a filling disk makes a second one, and that one gives the reason.
    while (done < bytes.size()) {
        const ssize_t wrote = ::write(file_, bytes.data() + done, bytes.size() - done);
        if (wrote > 0) {
            done += static_cast<std::size_t>(wrote);
            continue;
        }
        const int error = wrote < 0 ? errno : ENOSPC;
        if (error == EINTR) continue;
        // Where even this fails, the next opening cuts the torn line.
        if (done > 0 && before >= 0 && ftruncate(file_, before) != 0) done = 0;
        fail_file(path_, "append to", error);
    }
}

template <class Record>
void Writer::write(const Record& record) {
    // An error text may hold bytes that are no UTF-8: they are replaced, never a reason to lose the line.
    write_line(to_json(record).dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Writer::sync() {
    if (file_ < 0) return;
    // EINVAL: a pipe or device has nothing to sync.
    while (fdatasync(file_) != 0) {
        if (errno == EINTR) continue;
        if (errno == EINVAL) return;
        fail_file(path_, "sync", errno);
    }
}

template const Fields& fields<Started>();
template Json to_json(const Started&);
template void from_json(const Json&, Started&);
template void Writer::write(const Started&);
template const Fields& fields<Spent>();
template Json to_json(const Spent&);
template void from_json(const Json&, Spent&);
template void Writer::write(const Spent&);
template const Fields& fields<TrainPoint>();
template Json to_json(const TrainPoint&);
template void from_json(const Json&, TrainPoint&);
template void Writer::write(const TrainPoint&);
template const Fields& fields<Sampling>();
template Json to_json(const Sampling&);
template void from_json(const Json&, Sampling&);
template void Writer::write(const Sampling&);
template const Fields& fields<ExpertLoad>();
template Json to_json(const ExpertLoad&);
template void from_json(const Json&, ExpertLoad&);
template void Writer::write(const ExpertLoad&);
template const Fields& fields<Evaluation>();
template Json to_json(const Evaluation&);
template void from_json(const Json&, Evaluation&);
template void Writer::write(const Evaluation&);
template const Fields& fields<Scored>();
template Json to_json(const Scored&);
template void from_json(const Json&, Scored&);
template void Writer::write(const Scored&);
template const Fields& fields<Artifact>();
template Json to_json(const Artifact&);
template void from_json(const Json&, Artifact&);
template void Writer::write(const Artifact&);
template const Fields& fields<Lease>();
template Json to_json(const Lease&);
template void from_json(const Json&, Lease&);
template void Writer::write(const Lease&);
template const Fields& fields<Ended>();
template Json to_json(const Ended&);
template void from_json(const Json&, Ended&);
template void Writer::write(const Ended&);

}  // namespace deft::journal
