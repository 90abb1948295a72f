#pragma once
// A thin layer over SQLite's C interface: what is opened is closed, what is begun is ended, what fails throws.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace deft::results_db {

class Statement;

// Makes an empty file where there is none, with the mode that the umask leaves: SQLite itself lets only the owner
// write, and gives the log and its index the mode of the database.
void create_with_umask(const std::filesystem::path& file);

class Connection {
 public:
    enum class Mode {
        write,  // made where absent
        read,
        immutable,  // a file that nothing can change: no lock, no -shm, for read-only media
        memory,     // empty, and gone with the connection; `file` only names it in messages
    };

    // Errors: io, database; as every member function.
    Connection(const std::filesystem::path& file, Mode mode);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // One or more statements without parameters.
    void execute(const char* sql);
    // The first column of the only row; 0 without a row.
    std::int64_t integer(const char* sql);
    std::string text(const char* sql);
    std::int64_t last_id() const;
    std::int64_t changes() const;
    bool in_transaction() const;
    const std::string& file() const { return file_; }
    sqlite3* handle() const { return handle_; }

    // Throws what the connection's last error means to a user.
    [[noreturn]] void fail(const char* doing) const;

 private:
    friend class Statement;

    // A statement of that text, ready to bind: an idle one, or one prepared now.
    sqlite3_stmt* take(const char* sql);
    // Resets the statement and keeps it idle for the next of its text.
    void give_back(sqlite3_stmt* statement);

    std::string file_;
    sqlite3* handle_ = nullptr;
    // Keys are texts. SQLite itself prepares one again where the schema has changed since.
    std::map<std::string, std::vector<sqlite3_stmt*>, std::less<>> idle_;
    std::size_t idle_count_ = 0;
};

// A prepared statement, which its connection outlives. Parameters are bound in order; run() or the last step() makes it
// ready to bind again. Preparing a text takes longer than most rows do, so the connection keeps it for the next.
class Statement {
 public:
    Statement(Connection& connection, const char* sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    // Rebinds all parameters, from ?1.
    template <class... Values>
    Statement& bind(const Values&... values) {
        restart();
        int index = 0;
        (bind_one(++index, values), ...);
        return *this;
    }
    // Binds one more parameter; those before it are bound.
    template <class Value>
    void bind_at(int index, const Value& value) {
        bind_one(index, value);
    }
    // True when a row is there to read.
    bool step();
    // For a statement whose rows nobody wants.
    void run();

    bool is_null(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    std::span<const std::byte> blob(int column) const;  // until the next step
    std::optional<std::int64_t> maybe_integer(int column) const;
    std::optional<double> maybe_real(int column) const;

 private:
    void restart();
    void check(int code) const;
    void bind_one(int index, std::int64_t value);
    void bind_one(int index, int value) { bind_one(index, static_cast<std::int64_t>(value)); }
    void bind_one(int index, bool value) { bind_one(index, static_cast<std::int64_t>(value)); }
    void bind_one(int index, double value);  // NaN and infinity become NULL: their kind goes beside
    void bind_one(int index, std::string_view value);
    void bind_one(int index, const std::string& value) { bind_one(index, std::string_view(value)); }
    void bind_one(int index, const char* value) { bind_one(index, std::string_view(value)); }
    void bind_one(int index, std::nullptr_t);
    void bind_one(int index, std::span<const std::byte> blob);
    template <class T>
    void bind_one(int index, const std::optional<T>& value) {
        value ? bind_one(index, *value) : bind_one(index, nullptr);
    }

    Connection& connection_;
    sqlite3_stmt* statement_ = nullptr;
};

// Commits within its lifetime are on the disk when they return; others survive a crash of the process, not a power cut.
// Made and destroyed outside of transactions.
class SyncedCommits {
 public:
    explicit SyncedCommits(Connection& connection);
    ~SyncedCommits();
    SyncedCommits(const SyncedCommits&) = delete;
    SyncedCommits& operator=(const SyncedCommits&) = delete;

 private:
    Connection& connection_;
};

// BEGIN IMMEDIATE takes the write lock at once; a deferred one that is upgraded later would fail without waiting.
class Transaction {
 public:
    enum class Kind { write, read };
    explicit Transaction(Connection& connection, Kind kind = Kind::write);
    ~Transaction();  // rolls back what was not committed
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

 private:
    Connection& connection_;
    bool open_ = true;
};

}  // namespace deft::results_db
