#include "results_db/ingest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "results_db/compressed.h"
#include "results_db/expert_load_rows.h"
#include "results_db/nonfinite.h"
#include "results_db/record_row.h"
#include "results_db/store.h"

namespace deft::results_db {

namespace {

class LineReader {
 public:
    // Errors: io, where the file cannot be read or is shorter than the offset.
    LineReader(const std::filesystem::path& file, std::int64_t offset);
    ~LineReader();
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    // The next line without its newline, valid until the next call; false where none is whole. Errors: io.
    bool next(std::string_view& line);
    // Just after the last line that next() gave.
    std::int64_t offset() const { return offset_; }

 private:
    std::string path_;
    int file_ = -1;
    std::int64_t offset_ = 0;
    std::string buffer_;
    std::size_t begin_ = 0;    // of the next line in the buffer
    std::size_t scanned_ = 0;  // no newline between begin_ and here
};

constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::size_t kLongestLine = std::size_t{1} << 24;  // far above any record: a longer one is damage

LineReader::LineReader(const std::filesystem::path& file, std::int64_t offset) : path_(file.string()), offset_(offset) {
    file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    struct stat status {};
    if (fstat(file_, &status) != 0 || status.st_size < offset) {
        close(file_);
        throw JournalError(ErrorKind::io,
                           fmt::format("{} is shorter than the {} bytes already read from it", path_, offset),
                           "restore the file; a journal is only ever appended to", "the rows already stored");
    }
}

LineReader::~LineReader() {
    close(file_);
}

bool LineReader::next(std::string_view& line) {
    for (;;) {
        if (const std::size_t end = buffer_.find('\n', scanned_); end != std::string::npos) {
            line = std::string_view(buffer_).substr(begin_, end - begin_);
            offset_ += static_cast<std::int64_t>(end + 1 - begin_);
            begin_ = scanned_ = end + 1;
            return true;
        }
        buffer_.erase(0, begin_);
        begin_ = 0;
        scanned_ = buffer_.size();
        if (scanned_ > kLongestLine)
            throw JournalError(ErrorKind::io, fmt::format("{} is damaged: a line longer than {} bytes at byte {}",
                                                          path_, kLongestLine, offset_));
        buffer_.resize(scanned_ + kBlock);
        ssize_t got = -1;
        do {
            got = pread(file_, buffer_.data() + scanned_, kBlock, offset_ + static_cast<std::int64_t>(scanned_));
        } while (got < 0 && errno == EINTR);
        const int error = errno;
        buffer_.resize(scanned_ + static_cast<std::size_t>(got > 0 ? got : 0));
        if (got < 0) throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", path_, std::strerror(error)));
        if (got == 0) return false;
    }
}

struct AttemptPosition {
    std::int64_t bytes = 0, lines = 0, last_step = 0, code_id = 0;
    std::string workdir, config_hash;
};

AttemptPosition position_of(Connection& connection, std::int64_t attempt_id) {
    Statement query(connection,
                    "SELECT a.spool_bytes, a.spool_lines, a.code_id, a.workdir, e.config_hash,"
                    " (SELECT max(step) FROM train_point p WHERE p.attempt_id = a.id)"
                    " FROM attempt a JOIN experiment e ON e.id = a.experiment_id WHERE a.id = ?1");
    if (!query.bind(attempt_id).step())
        throw Error(ErrorKind::missing, fmt::format("the results database has no attempt {}", attempt_id));
    AttemptPosition position;
    position.bytes = query.integer(0);
    position.lines = query.integer(1);
    position.code_id = query.integer(2);
    position.workdir = query.text(3);
    position.config_hash = query.text(4);
    position.last_step = query.integer(5);
    return position;
}

// A line that no trial of ours wrote, told apart from a database that could not take it.
struct BadLine {
    std::string why;
};

// The line is whole, and nothing behind it is this trial's.
struct AnotherTrial {
    std::string why;
};

// The statements of one ingestion, prepared once.
class Rows {
 public:
    Rows(Connection& connection, std::int64_t attempt_id, const AttemptPosition& position)
        : connection_(connection),
          attempt_(attempt_id),
          code_(position.code_id),
          workdir_(position.workdir),
          config_hash_(position.config_hash),
          last_step_(position.last_step),
          point_(connection, ("INSERT INTO " + row_of<journal::TrainPoint>("train_point")).c_str()),
          forget_points_(connection, "DELETE FROM train_point WHERE attempt_id = ?1 AND step >= ?2"),
          forget_scores_(connection, "DELETE FROM evaluation WHERE attempt_id = ?1 AND step >= ?2"),
          add_metric_(connection, "INSERT INTO metric (name, unit, better) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING"),
          sampling_(connection, ("INSERT OR REPLACE INTO " + row_of<journal::Sampling>("sampling_point")).c_str()),
          forget_sampling_(connection, "DELETE FROM sampling_point WHERE attempt_id = ?1 AND step >= ?2"),
          experts_(connection, expert_load_insert().c_str()),
          forget_experts_(connection, "DELETE FROM expert_load WHERE attempt_id = ?1 AND step >= ?2"),
          score_(
              connection,
              "INSERT INTO evaluation (attempt_id, step, code_id, task, task_version, split, shots, metric_id, value,"
              " kind, n, stderr, chance, score_key) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, id, ?8, ?9, ?10, ?11, ?12, ?13"
              " FROM metric WHERE name = ?14 AND unit = ?15 AND better = ?16"
              " ON CONFLICT (attempt_id, step, task, task_version, split, shots, metric_id, code_id) DO UPDATE SET"
              " value = excluded.value, kind = excluded.kind, n = excluded.n, stderr = excluded.stderr,"
              " chance = excluded.chance, score_key = excluded.score_key"),
          scored_(connection,
                  "INSERT OR REPLACE INTO score (attempt_id, score_key, task, task_sha256, shots, documents, step,"
                  " model_sha256, seconds, cut_share, mean_shots, items, definition_sha256, scoring_version)"
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)") {}

    // A point at or before one already stored means that the trial resumed from a checkpoint before it: what came after
    // is measured anew.
    void add(const journal::TrainPoint& point) {
        if (point.step <= last_step_) {
            forget_points_.bind(attempt_, point.step).run();
            forget_scores_.bind(attempt_, point.step).run();
            forget_sampling_.bind(attempt_, point.step).run();
            forget_experts_.bind(attempt_, point.step).run();
        }
        last_step_ = point.step;
        bind_record(point_, attempt_, point);
        point_.run();
    }

    // Of the epochs the newest stand for all: they only grow.
    void add(const journal::Sampling& sampling) {
        bind_record(sampling_, attempt_, sampling);
        sampling_.run();
        epochs_ = sampling.epochs;
    }

    void add(const journal::ExpertLoad& load) {
        if (load.load.empty()) throw BadLine{"it is of a layer without experts"};
        bind_expert_load(experts_, attempt_, load);
        experts_.run();
    }

    // What one row holds of many lines.
    void finish() {
        if (epochs_)
            Statement(connection_, "UPDATE attempt SET epochs_json = ?2 WHERE id = ?1")
                .bind(attempt_, Json(*epochs_).dump())
                .run();
    }

    void add(const journal::Evaluation& score) {
        add_metric_.bind(score.metric, score.unit, score.better).run();
        score_.bind(attempt_, score.step, code_, score.task, score.task_version, score.split, score.shots, score.value,
                    kind_of(score.value), score.n, score.standard_error, score.chance, score.score_key, score.metric,
                    score.unit, score.better);
        score_.run();
    }

    void add(const journal::Scored& scored) {
        const std::vector<std::byte> items = compressed(scored.items);
        scored_.bind(attempt_, scored.score_key, scored.task, scored.task_sha256, scored.shots, scored.documents,
                     scored.step, scored.model_sha256, scored.seconds, scored.cut_share, scored.mean_shots,
                     items.empty() ? std::nullopt : std::optional(std::span<const std::byte>(items)),
                     scored.definition_sha256, scored.scoring_version);
        scored_.run();
    }

    void add(const journal::Artifact& artifact) {
        const std::string path = (std::filesystem::path(workdir_) / artifact.path).lexically_normal().string();
        Statement(connection_,
                  "INSERT INTO artifact (sha256, bytes, kind, path) VALUES (?1, ?2, ?3, ?4)"
                  " ON CONFLICT (sha256, path) DO UPDATE SET present = 1")
            .bind(artifact.sha256, artifact.bytes, artifact.kind, path)
            .run();
        Statement(connection_,
                  "INSERT INTO attempt_artifact (attempt_id, artifact_id, role, step)"
                  " SELECT ?1, id, ?2, ?3 FROM artifact WHERE sha256 = ?4 AND path = ?5 ON CONFLICT DO NOTHING")
            .bind(attempt_, artifact.role, artifact.step, artifact.sha256, path)
            .run();
    }

    void add(const journal::Started& started) {
        if (!started.config_hash.empty() && started.config_hash != config_hash_ && !is_former(started.config_hash))
            throw AnotherTrial{fmt::format("the journal is of configuration {}, the attempt of {}", started.config_hash,
                                           config_hash_)};
        std::optional<std::int64_t> dataset;
        if (!started.dataset_name.empty() || !started.dataset_sha256.empty()) {
            Statement(connection_,
                      "INSERT INTO dataset (sha256, name, n_bytes, n_tokens) VALUES (?1, ?2, ?3, ?4)"
                      " ON CONFLICT (sha256, name) DO NOTHING")
                .bind(started.dataset_sha256, started.dataset_name, started.dataset_bytes, started.dataset_tokens)
                .run();
            Statement find(connection_, "SELECT id FROM dataset WHERE sha256 = ?1 AND name = ?2");
            find.bind(started.dataset_sha256, started.dataset_name);
            if (find.step()) dataset = find.integer(0);
        }
        Statement(connection_,
                  "UPDATE attempt SET dataset_id = ?2, total_steps = ?3, parameters = ?4,"
                  " started_ms = ifnull(started_ms, ?5), resume_step = ?6,"
                  " resumed_from = CASE WHEN ?6 > 0 THEN (SELECT b.id FROM attempt b WHERE b.number < attempt.number"
                  "  AND b.experiment_id = attempt.experiment_id AND b.resume_step IS NOT NULL"
                  "  AND b.kind = 'train' ORDER BY b.number DESC LIMIT 1) END, active_parameters = ?7,"
                  // Going on from a checkpoint starts from nothing else: what was told before stands.
                  " start_note = CASE WHEN ?6 > 0 THEN start_note ELSE ?8 END WHERE id = ?1")
            .bind(attempt_, dataset, started.total_steps, started.parameters, started.time_ms, started.resume_step,
                  started.active_parameters, started.start_note)
            .run();
    }

    void add(const journal::Ended& ended) {
        Statement(connection_,
                  "UPDATE attempt SET train_seconds = ?2, eval_seconds = ?3, threads = ?4, cpu_seconds = ?5,"
                  " peak_rss_bytes = ?6 WHERE id = ?1")
            .bind(attempt_, ended.train_seconds, ended.eval_seconds, ended.threads, ended.cpu_seconds,
                  ended.peak_rss_bytes)
            .run();
    }

 private:
    // A hash that an older program gave the same training.
    bool is_former(const std::string& hash) {
        Statement query(connection_,
                        "SELECT 1 FROM former_hash f JOIN attempt a ON a.experiment_id = f.experiment_id"
                        " WHERE f.config_hash = ?1 AND a.id = ?2");
        return query.bind(hash, attempt_).step();
    }

    Connection& connection_;
    std::int64_t attempt_, code_;
    std::string workdir_, config_hash_;
    std::int64_t last_step_;
    std::optional<std::vector<double>> epochs_;
    Statement point_, forget_points_, forget_scores_, add_metric_, sampling_, forget_sampling_, experts_, forget_experts_, score_,
        scored_;
};

template <class Record>
Record read_as(const Json& line) {
    try {
        Record record;
        journal::from_json(line, record);
        return record;
    } catch (const Error& error) {
        throw BadLine{error.what()};
    }
}

void take_line(const std::string_view text, Rows& rows, IngestResult& result) {
    const Json line = try_parse_json(text);
    if (line.is_discarded()) throw BadLine{"it is no JSON"};
    const std::string type = journal::type_of(line);
    if (type == "train") {
        result.last_point = read_as<journal::TrainPoint>(line);
        rows.add(*result.last_point);
    } else if (type == "sampling") {
        rows.add(read_as<journal::Sampling>(line));
    } else if (type == "experts") {
        rows.add(read_as<journal::ExpertLoad>(line));
    } else if (type == "evaluation") {
        rows.add(read_as<journal::Evaluation>(line));
    } else if (type == "scored") {
        rows.add(read_as<journal::Scored>(line));
    } else if (type == "artifact") {
        rows.add(read_as<journal::Artifact>(line));
    } else if (type == "lease") {
        result.lease = read_as<journal::Lease>(line);
    } else if (type == "started") {
        result.started = read_as<journal::Started>(line);
        result.ended.reset();  // an earlier end was not the last word
        rows.add(*result.started);
    } else if (type == "ended") {
        result.ended = read_as<journal::Ended>(line);
        rows.add(*result.ended);
    } else {
        throw BadLine{fmt::format("it has the unknown type '{}'", type)};
    }
}

// What was passed over.
struct Damage {
    std::int64_t lines = 0, first = 0;
    std::string why;

    void add(std::int64_t number, const std::string& reason) {
        if (++lines == 1) {
            first = number;
            why = reason;
        }
    }
};

[[noreturn]] void fail(const std::filesystem::path& journal, std::int64_t number, const std::string& what,
                       const char* unchanged) {
    throw JournalError(ErrorKind::io, Place{journal.string(), static_cast<int>(number), 0}, what,
                       "run the same command again: the trial is repeated from its last checkpoint", unchanged);
}

// All whole lines there are. Errors: JournalError, for another trial's.
Damage take_lines(LineReader& lines, Rows& rows, const std::filesystem::path& journal, std::int64_t lines_before,
                  IngestResult& result) {
    Damage damage;
    for (std::string_view line; lines.next(line);) {
        const std::int64_t number = lines_before + ++result.lines;
        try {
            take_line(line, rows, result);
        } catch (const BadLine& bad) {
            damage.add(number, bad.why);
        } catch (const AnotherTrial& other) {
            fail(journal, number, other.why, "the rows already stored");
        }
    }
    return damage;
}

}  // namespace

IngestResult ingest_journal(Connection& connection, std::int64_t attempt_id, const std::filesystem::path& journal) {
    IngestResult result;
    std::error_code ignored;
    if (!std::filesystem::exists(journal, ignored)) return result;  // the trial has not begun to write
    Transaction transaction(connection);
    const AttemptPosition position = position_of(connection, attempt_id);
    LineReader lines(journal, position.bytes);
    Rows rows(connection, attempt_id, position);
    const Damage damage = take_lines(lines, rows, journal, position.lines, result);
    if (result.lines == 0) return result;
    rows.finish();
    Statement(connection, "UPDATE attempt SET spool_bytes = ?2, spool_lines = ?3 WHERE id = ?1")
        .bind(attempt_id, lines.offset(), position.lines + result.lines)
        .run();
    transaction.commit();
    if (damage.lines > 0)
        fail(journal, damage.first,
             fmt::format("a damaged line: {}; {} passed over, {} taken in", damage.why,
                         counted(damage.lines, "damaged line"), counted(result.lines - damage.lines, "line")),
             "the lines that are whole, which are stored");
    return result;
}

}  // namespace deft::results_db
