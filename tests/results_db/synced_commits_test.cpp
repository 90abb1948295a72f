// Which commits wait for the disk: counted below SQLite, by a file system of its own that passes everything on.

#include <sqlite3.h>

#include <atomic>
#include <cstring>

#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::results_db;

namespace {

// SQLite calls back through plain functions, which can reach nothing else.
std::atomic<int> syncs_of_log = 0;
sqlite3_vfs* real = nullptr;
sqlite3_io_methods counting;
const sqlite3_io_methods* passed_on = nullptr;

int sync_and_count(sqlite3_file* file, int flags) {
    ++syncs_of_log;
    return passed_on->xSync(file, flags);
}

int open_counted(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    const int code = real->xOpen(real, name, file, flags, out);
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_WAL) != 0) {
        passed_on = file->pMethods;
        std::memcpy(&counting, passed_on, sizeof counting);
        counting.xSync = sync_and_count;
        file->pMethods = &counting;
    }
    return code;
}

class CountingFiles {
 public:
    CountingFiles() {
        real = sqlite3_vfs_find(nullptr);
        counted_ = *real;
        counted_.zName = "counting";
        counted_.xOpen = open_counted;
        sqlite3_vfs_register(&counted_, 1);
    }
    ~CountingFiles() { sqlite3_vfs_unregister(&counted_); }
    CountingFiles(const CountingFiles&) = delete;
    CountingFiles& operator=(const CountingFiles&) = delete;

 private:
    sqlite3_vfs counted_{};
};

}  // namespace

TEST_CASE("the end of an attempt is on the disk when it is stored, and no other step waits for it") {
    const test::TemporaryFolder folder;
    const CountingFiles files;
    Writer writer(folder / "results.db");
    const auto trial_id = writer.add_trial(test::a_trial("h"));
    const auto code = writer.add_code(test::a_code()), host = writer.add_host(test::a_host());
    for (int number = 1; number <= 2; ++number) {
        const auto attempt =
            writer.begin_attempt(trial_id, code, host, test::an_attempt("u" + std::to_string(number), number));
        writer.set_running(attempt, {}, 1000);
        const int before = syncs_of_log;
        Outcome outcome;
        outcome.state = number == 1 ? "preempted" : "ok";
        if (number == 1) outcome.fail_class = "preempt";
        writer.end_attempt(attempt, outcome);
        CHECK(syncs_of_log > before);
        const int after = syncs_of_log;
        writer.add_trial(test::a_trial("other" + std::to_string(number)));
        CHECK(syncs_of_log == after);
    }
}
