#include "base/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace deft::journal {

namespace {

// JSON has no NaN and no infinity; they travel as strings.
Json real(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

// Reads one line's fields; every failure names the record type and the field.
class Fields {
 public:
    Fields(const Json& line, const char* type) : line_(line), type_(type) {
        if (!line.is_object()) throw Error(ErrorKind::io, "a journal line is no JSON object");
        if (const std::string found = type_of(line); found != type)
            throw Error(ErrorKind::io, fmt::format("a journal line of type '{}' where '{}' is read", found, type));
    }

    void read(const char* name, std::string& out) const {
        const Json& value = field(name);
        if (!value.is_string()) fail(name, "is no text");
        out = value.get<std::string>();
    }

    void read(const char* name, std::int64_t& out) const {
        const Json& value = field(name);
        const bool too_large = value.is_number_unsigned() &&
                               value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
        if (!value.is_number_integer() || too_large) fail(name, "is no 64-bit integer");
        out = value.get<std::int64_t>();
    }

    void read_count(const char* name, std::int64_t& out) const {
        read(name, out);
        if (out < 0) fail(name, "is negative");
    }

    void read(const char* name, double& out) const {
        const Json& value = field(name);
        if (value.is_number()) {
            out = value.get<double>();
        } else if (value == "NaN") {
            out = std::numeric_limits<double>::quiet_NaN();
        } else if (value == "Infinity") {
            out = std::numeric_limits<double>::infinity();
        } else if (value == "-Infinity") {
            out = -std::numeric_limits<double>::infinity();
        } else {
            fail(name, "is no number");
        }
    }

    void read(const char* name, std::vector<double>& out) const {
        const Json& value = field(name);
        const auto is_number = [](const Json& item) { return item.is_number(); };
        if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_number)) fail(name, "is no array of numbers");
        out = value.get<std::vector<double>>();
    }

    void read_one_of(const char* name, std::initializer_list<std::string_view> allowed, std::string& out) const {
        read(name, out);
        for (std::string_view word : allowed)
            if (out == word) return;
        fail(name, fmt::format("has the unknown value '{}'", out).c_str());
    }

 private:
    const Json& field(const char* name) const {
        const auto found = line_.find(name);
        if (found == line_.end()) fail(name, "is missing");
        return *found;
    }

    [[noreturn]] void fail(const char* name, const char* how) const {
        throw Error(ErrorKind::io, fmt::format("field '{}' of a journal line of type '{}' {}", name, type_, how));
    }

    const Json& line_;
    const char* type_;
};

[[noreturn]] void fail_file(const std::string& path, const char* doing, int error) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const std::string where = folder.empty() ? "the current folder" : folder;
    const bool full = error == ENOSPC || error == EDQUOT || error == EIO;
    throw Error(ErrorKind::io, fmt::format("cannot {} {}: {}", doing, path, std::strerror(error)),
                full
                    ? fmt::format("free space under {} and run the same command again: finished trials are kept", where)
                    : fmt::format("make {} writable and run the same command again", where));
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

Json to_json(const Started& record) {
    return {{"type", "started"},
            {"time_ms", record.time_ms},
            {"pid", record.pid},
            {"dataset_name", record.dataset_name},
            {"dataset_sha256", record.dataset_sha256},
            {"dataset_bytes", record.dataset_bytes},
            {"dataset_tokens", record.dataset_tokens},
            {"total_steps", record.total_steps},
            {"parameters", record.parameters},
            {"config_hash", record.config_hash},
            {"resume_step", record.resume_step},
            {"note", record.note},
            {"resume_seconds", real(record.resume_seconds)}};
}

Json to_json(const TrainPoint& record) {
    return {{"type", "train"},
            {"step", record.step},
            {"input_tokens", record.input_tokens},
            {"unique_tokens", record.unique_tokens},
            {"layer_tokens", record.layer_tokens},
            {"flops", real(record.flops)},
            {"wall_ms", record.wall_ms},
            {"loss", real(record.loss)},
            {"lr", real(record.lr)},
            {"grad_norm", real(record.grad_norm)},
            {"tokens_per_second", real(record.tokens_per_second)},
            {"seqlen", record.seqlen},
            {"kept_tokens", record.kept_tokens}};
}

Json to_json(const Sampling& record) {
    return {{"type", "sampling"},
            {"step", record.step},
            {"pool", record.pool},
            {"samples_drawn", record.samples_drawn},
            {"samples_repeated", record.samples_repeated},
            {"tokens_cut", record.tokens_cut},
            {"tokens_padded", record.tokens_padded},
            {"epochs", record.epochs}};
}

Json to_json(const Evaluation& record) {
    return {{"type", "evaluation"},
            {"step", record.step},
            {"task", record.task},
            {"task_version", record.task_version},
            {"split", record.split},
            {"shots", record.shots},
            {"metric", record.metric},
            {"unit", record.unit},
            {"better", record.better},
            {"value", real(record.value)},
            {"n", record.n},
            {"standard_error", real(record.standard_error)},
            {"chance", real(record.chance)}};
}

Json to_json(const Artifact& record) {
    return {{"type", "artifact"},    {"kind", record.kind}, {"path", record.path}, {"sha256", record.sha256},
            {"bytes", record.bytes}, {"role", record.role}, {"step", record.step}};
}

Json to_json(const Lease& record) {
    return {{"type", "lease"}, {"time_ms", record.time_ms}, {"until_ms", record.until_ms}, {"doing", record.doing}};
}

Json to_json(const Ended& record) {
    return {{"type", "ended"},
            {"time_ms", record.time_ms},
            {"state", record.state},
            {"fail_class", record.fail_class},
            {"error", record.error},
            {"train_seconds", real(record.train_seconds)},
            {"flops", real(record.flops)},
            {"step_seconds", real(record.step_seconds)},
            {"eval_seconds", real(record.eval_seconds)},
            {"threads", record.threads},
            {"peak_rss_bytes", record.peak_rss_bytes},
            {"cpu_seconds", real(record.cpu_seconds)}};
}

std::string type_of(const Json& line) {
    if (!line.is_object()) return {};
    const auto found = line.find("type");
    return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void from_json(const Json& line, Started& record) {
    const Fields fields(line, "started");
    fields.read("time_ms", record.time_ms);
    fields.read("pid", record.pid);
    fields.read("dataset_name", record.dataset_name);
    fields.read("dataset_sha256", record.dataset_sha256);
    fields.read("dataset_bytes", record.dataset_bytes);
    fields.read("dataset_tokens", record.dataset_tokens);
    fields.read("total_steps", record.total_steps);
    fields.read("parameters", record.parameters);
    fields.read("config_hash", record.config_hash);
    // Absent from journals before there were checkpoints.
    if (line.contains("resume_step")) fields.read("resume_step", record.resume_step);
    if (line.contains("note")) fields.read("note", record.note);
    if (line.contains("resume_seconds")) fields.read("resume_seconds", record.resume_seconds);
}

void from_json(const Json& line, TrainPoint& record) {
    const Fields fields(line, "train");
    fields.read("step", record.step);
    fields.read("input_tokens", record.input_tokens);
    fields.read("unique_tokens", record.unique_tokens);
    fields.read("layer_tokens", record.layer_tokens);
    fields.read("flops", record.flops);
    fields.read("wall_ms", record.wall_ms);
    fields.read("loss", record.loss);
    fields.read("lr", record.lr);
    fields.read("grad_norm", record.grad_norm);
    fields.read("tokens_per_second", record.tokens_per_second);
    fields.read("seqlen", record.seqlen);
    fields.read("kept_tokens", record.kept_tokens);
}

void from_json(const Json& line, Sampling& record) {
    const Fields fields(line, "sampling");
    fields.read("step", record.step);
    fields.read("pool", record.pool);
    fields.read("samples_drawn", record.samples_drawn);
    fields.read("samples_repeated", record.samples_repeated);
    fields.read("tokens_cut", record.tokens_cut);
    fields.read("tokens_padded", record.tokens_padded);
    fields.read("epochs", record.epochs);
}

void from_json(const Json& line, Evaluation& record) {
    const Fields fields(line, "evaluation");
    fields.read("step", record.step);
    fields.read("task", record.task);
    fields.read("task_version", record.task_version);
    fields.read("split", record.split);
    fields.read("shots", record.shots);
    fields.read("metric", record.metric);
    fields.read("unit", record.unit);
    fields.read_one_of("better", {"lower", "higher", "none"}, record.better);
    fields.read("value", record.value);
    fields.read_count("n", record.n);
    fields.read("standard_error", record.standard_error);
    fields.read("chance", record.chance);
}

void from_json(const Json& line, Artifact& record) {
    const Fields fields(line, "artifact");
    fields.read_one_of("kind", {"checkpoint", "log", "config", "plot", "profile", "eval_items", "report", "other"},
                       record.kind);
    fields.read("path", record.path);
    fields.read("sha256", record.sha256);
    fields.read("bytes", record.bytes);
    fields.read("role", record.role);
    fields.read("step", record.step);
}

void from_json(const Json& line, Lease& record) {
    const Fields fields(line, "lease");
    fields.read("time_ms", record.time_ms);
    fields.read("until_ms", record.until_ms);
    if (line.contains("doing")) fields.read("doing", record.doing);
}

void from_json(const Json& line, Ended& record) {
    const Fields fields(line, "ended");
    fields.read("time_ms", record.time_ms);
    fields.read_one_of("state", {"ok", "failed", "stopped"}, record.state);
    fields.read("fail_class", record.fail_class);
    fields.read("error", record.error);
    fields.read("train_seconds", record.train_seconds);
    if (line.contains("flops")) fields.read("flops", record.flops);
    if (line.contains("step_seconds")) fields.read("step_seconds", record.step_seconds);
    fields.read("eval_seconds", record.eval_seconds);
    fields.read("threads", record.threads);
    fields.read("peak_rss_bytes", record.peak_rss_bytes);
    fields.read("cpu_seconds", record.cpu_seconds);
}

Writer::Writer(const std::filesystem::path& file) : path_(file.string()) {
    file_ = open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
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
    close(file_);
}

void Writer::write_line(const std::string& line) {
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

template void Writer::write(const Started&);
template void Writer::write(const TrainPoint&);
template void Writer::write(const Sampling&);
template void Writer::write(const Evaluation&);
template void Writer::write(const Artifact&);
template void Writer::write(const Lease&);
template void Writer::write(const Ended&);

void Writer::sync() {
    // EINVAL: a pipe or device has nothing to sync.
    while (fdatasync(file_) != 0) {
        if (errno == EINTR) continue;
        if (errno == EINVAL) return;
        fail_file(path_, "sync", errno);
    }
}

}  // namespace deft::journal
