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
#include "results_db/journal_rows.h"
#include "results_db/writer.h"

namespace deft::results_db {

namespace {

class LineReader {
 public:
    // Lines that begin before `end`. Errors: io, where the file cannot be read or is shorter than the offset.
    LineReader(const std::filesystem::path& file, std::int64_t offset, std::int64_t end);
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
    std::int64_t offset_ = 0, end_ = 0;
    std::string buffer_;
    std::size_t begin_ = 0;    // of the next line in the buffer
    std::size_t scanned_ = 0;  // no newline between begin_ and here
};

constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::size_t kLongestLine = std::size_t{1} << 24;  // far above any record: a longer one is damage

LineReader::LineReader(const std::filesystem::path& file, std::int64_t offset, std::int64_t end)
    : path_(file.string()), offset_(offset), end_(end) {
    file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    struct stat status {};
    if (fstat(file_, &status) != 0 || status.st_size < offset) {
        close(file_);
        throw ShorterJournal(ErrorKind::io,
                             fmt::format("{} is shorter than the {} bytes already read from it", path_, offset),
                             "restore the file; a journal is only ever appended to", "the rows already stored");
    }
}

LineReader::~LineReader() {
    close(file_);
}

bool LineReader::next(std::string_view& line) {
    if (offset_ >= end_) return false;
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

void take_line(const std::string_view text, JournalRows& rows, IngestResult& result) {
    const Json line = try_parse_json(text);
    if (line.is_discarded()) throw BadLine{"it is not valid JSON"};
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
    } else if (type == "spent") {
        rows.add(read_as<journal::Spent>(line));
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

// Lines that were skipped.
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
Damage take_lines(LineReader& lines, JournalRows& rows, const std::filesystem::path& journal, std::int64_t lines_before,
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

IngestResult ingest_journal(Connection& connection, std::int64_t attempt_id, const std::filesystem::path& journal,
                            std::int64_t end) {
    IngestResult result;
    std::error_code ignored;
    if (!std::filesystem::exists(journal, ignored)) return result;  // the trial has not begun to write
    Transaction transaction(connection);
    const AttemptPosition position = position_of(connection, attempt_id);
    LineReader lines(journal, position.bytes, end);
    JournalRows rows(connection, attempt_id, position);
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
             "the complete lines, which are stored");
    return result;
}

}  // namespace deft::results_db
