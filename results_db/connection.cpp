#include "results_db/connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <cmath>
#include <cstring>
#include <new>

#include "base/descriptor.h"
#include "base/error.h"

namespace deft::results_db {

namespace {

constexpr int kBusyMilliseconds = 10000;
constexpr std::size_t kMostIdle = 256;  // prepared statements that a connection keeps

// A path as a URI, for the one option (immutable) that has no flag.
std::string immutable_uri(const std::string& path) {
    std::string uri = "file:";
    for (unsigned char c : path) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                           c == '.' || c == '-' || c == '_';
        uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
    }
    return uri + "?immutable=1";
}

std::string folder_of(const std::string& file) {
    return std::filesystem::path(file).parent_path().string();
}

// SQLite forgets the reason of a write that failed.
bool has_size_limit() {
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

[[noreturn]] void fail_with(sqlite3* handle, const std::string& file, int code, const char* doing) {
    const std::string detail = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    const int system = handle != nullptr ? sqlite3_system_errno(handle) : 0;
    const std::string reason = system != 0 ? detail + ": " + std::strerror(system) : detail;
    const std::string what = fmt::format("cannot {} the results database {}: {}", doing, file, reason);
    switch (code & 0xff) {
        case SQLITE_FULL:
            throw Error(ErrorKind::io, what,
                        fmt::format("free space under {} and run the same command again: finished trials are kept",
                                    folder_of(file)),
                        "the database: the transaction was rolled back");
        case SQLITE_IOERR:
            throw Error(ErrorKind::io, what,
                        (has_size_limit() ? "raise the limit on the size of a file (ulimit -f)"
                                          : "check the disk and the free space under " + folder_of(file)) +
                            " and run the same command again",
                        "the database: the transaction was rolled back");
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
        case SQLITE_AUTH:
            throw Error(ErrorKind::io, what,
                        fmt::format("make {} and the files in it readable and writable for this user, or choose "
                                    "another root folder",
                                    folder_of(file)),
                        "the database");
        case SQLITE_NOTADB:
            throw Error(ErrorKind::database, fmt::format("{} is not a deft results database", file),
                        "move the file away, or choose another root folder", "the file");
        case SQLITE_CORRUPT:
            throw Error(ErrorKind::database, fmt::format("the results database {} is corrupt: {}", file, reason),
                        "move it away and rebuild it from the run folders, or restore a backup", "the file");
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            throw Error(ErrorKind::database, what, "wait for the other program that holds it, then run again",
                        "the database");
        case SQLITE_NOMEM:
            throw Error(ErrorKind::memory, what);
        default:
            throw Error(ErrorKind::database, what, {}, "the database: the transaction was rolled back");
    }
}

}  // namespace

void create_with_umask(const std::filesystem::path& file) {
    // Never opened where it is there: closing it would end the locks that this process holds on it.
    const Descriptor created(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

Connection::Connection(const std::filesystem::path& file, Mode mode)
    : file_(mode == Mode::memory ? file.string() : std::filesystem::absolute(file).string()) {
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    flags |=
        mode == Mode::write || mode == Mode::memory ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    if (mode == Mode::immutable) flags |= SQLITE_OPEN_URI;
    const std::string name = mode == Mode::immutable ? immutable_uri(file_) : mode == Mode::memory ? ":memory:" : file_;
    if (mode == Mode::write) create_with_umask(file_);
    const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
    try {
        if (code != SQLITE_OK) fail_with(handle_, file_, code, "open");
        // A database asked for writing that SQLite could only open for reading would fail later, at the first row.
        if (mode == Mode::write && sqlite3_db_readonly(handle_, "main") == 1)
            fail_with(nullptr, file_, SQLITE_READONLY, "write to");
        sqlite3_busy_timeout(handle_, kBusyMilliseconds);
        // The file may come from elsewhere: nothing in it may run code or damage it through SQL.
        sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
        execute(
            "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON;"
            "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;");
    } catch (...) {
        sqlite3_close_v2(handle_);
        throw;
    }
}

Connection::~Connection() {
    for (const auto& [sql, statements] : idle_)
        for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
    sqlite3_close_v2(handle_);
}

sqlite3_stmt* Connection::take(const char* sql) {
    if (const auto found = idle_.find(std::string_view(sql)); found != idle_.end() && !found->second.empty()) {
        sqlite3_stmt* statement = found->second.back();
        found->second.pop_back();
        --idle_count_;
        return statement;
    }
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) fail("use");
    return statement;
}

void Connection::give_back(sqlite3_stmt* statement) {
    if (statement == nullptr) return;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (idle_count_ == kMostIdle) {
        sqlite3_finalize(statement);
        return;
    }
    try {
        const std::string_view sql = sqlite3_sql(statement);
        auto found = idle_.find(sql);
        if (found == idle_.end()) found = idle_.emplace(sql, std::vector<sqlite3_stmt*>{}).first;
        found->second.push_back(statement);
        ++idle_count_;
    } catch (const std::bad_alloc&) {
        sqlite3_finalize(statement);
    }
}

void Connection::execute(const char* sql) {
    if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail("use");
}

std::int64_t Connection::integer(const char* sql) {
    Statement statement(*this, sql);
    return statement.step() ? statement.integer(0) : 0;
}

std::string Connection::text(const char* sql) {
    Statement statement(*this, sql);
    return statement.step() ? statement.text(0) : std::string();
}

std::int64_t Connection::last_id() const {
    return sqlite3_last_insert_rowid(handle_);
}
std::int64_t Connection::changes() const {
    return sqlite3_changes64(handle_);
}
bool Connection::in_transaction() const {
    return sqlite3_get_autocommit(handle_) == 0;
}

void Connection::fail(const char* doing) const {
    fail_with(handle_, file_, sqlite3_extended_errcode(handle_), doing);
}

Statement::Statement(Connection& connection, const char* sql)
    : connection_(connection), statement_(connection.take(sql)) {}

Statement::~Statement() {
    connection_.give_back(statement_);
}

void Statement::restart() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

void Statement::check(int code) const {
    if (code != SQLITE_OK) connection_.fail("use");
}

bool Statement::step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) {
        sqlite3_reset(statement_);
        return false;
    }
    try {
        connection_.fail("use");
    } catch (...) {
        // A statement left in the middle would keep the transaction from being rolled back.
        sqlite3_reset(statement_);
        throw;
    }
}

void Statement::run() {
    while (step()) {
    }
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}
double Statement::real(int column) const {
    return sqlite3_column_double(statement_, column);
}

std::span<const std::byte> Statement::blob(int column) const {
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
    return {data, data == nullptr ? 0 : static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string Statement::text(int column) const {
    const unsigned char* bytes = sqlite3_column_text(statement_, column);
    if (bytes == nullptr) return {};
    return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::optional<std::int64_t> Statement::maybe_integer(int column) const {
    if (is_null(column)) return std::nullopt;
    return integer(column);
}

std::optional<double> Statement::maybe_real(int column) const {
    if (is_null(column)) return std::nullopt;
    return real(column);
}

void Statement::bind_one(int index, std::int64_t value) {
    check(sqlite3_bind_int64(statement_, index, value));
}

void Statement::bind_one(int index, double value) {
    check(std::isfinite(value) ? sqlite3_bind_double(statement_, index, value) : sqlite3_bind_null(statement_, index));
}

void Statement::bind_one(int index, std::string_view value) {
    // A null pointer would bind NULL; an empty text is a value.
    const char* bytes = value.empty() ? "" : value.data();
    check(sqlite3_bind_text64(statement_, index, bytes, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_one(int index, std::nullptr_t) {
    check(sqlite3_bind_null(statement_, index));
}

void Statement::bind_one(int index, std::span<const std::byte> blob) {
    check(sqlite3_bind_blob64(statement_, index, blob.data(), blob.size(), SQLITE_TRANSIENT));
}

SyncedCommits::SyncedCommits(Connection& connection) : connection_(connection) {
    connection_.execute("PRAGMA synchronous = FULL");
}

SyncedCommits::~SyncedCommits() {
    try {
        connection_.execute("PRAGMA synchronous = NORMAL");
    } catch (const std::exception&) {
        // Later commits are synced as well: slower, and nothing worse.
    }
}

Transaction::Transaction(Connection& connection, Kind kind) : connection_(connection) {
    connection.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
    // A full disk may have ended the transaction already.
    if (open_ && connection_.in_transaction())
        sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
    connection_.execute("COMMIT");
    open_ = false;
}

}  // namespace deft::results_db
