// Answers of deft serve without a browser.

#include "sweeps/cli/page_server.h"

#include <cstdint>
#include <fstream>

#include "base/files.h"
#include "results_db/writer_lock.h"
#include "sweeps/gate/finished_sweep.h"
#include "tests/sweeps/browser.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::test;
using Catch::Matchers::Contains;

namespace {

cli::ServedRoot served(const TinySweep& sweep) {
    return {sweep.root, "secret", 8080};
}

cli::PageResponse get(const TinySweep& sweep, const std::string& path, const std::string& host = "127.0.0.1:8080",
                      const std::string& origin = "") {
    return cli::answer(served(sweep), {path, host, origin});
}

std::int64_t resident_kib(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string key; status >> key;) {
        std::int64_t value = 0;
        if (key == "VmRSS:" && status >> value) return value;
    }
    return 0;
}

}  // namespace

TEST_CASE("a served page needs the token, and this machine's name") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == 0);
    results_db::Connection(sweep.root / "results.db", results_db::Connection::Mode::write)
        .execute("UPDATE sweep SET title = '<script>alert(1)</script>'");
    CHECK(get(sweep, "/secret/").status == 200);
    CHECK(get(sweep, "/secret/", "localhost:8080").status == 200);
    for (const char* path : {"/", "", "/secret", "/secre/", "/secretx/", "//", "/wrong/page/tiny", "/../secret/"})
        CHECK(get(sweep, path).status == 404);
    CHECK(get(sweep, "/secret/page/other").status == 404);
    CHECK(get(sweep, "/secret/results.db").status == 404);
    CHECK(get(sweep, "/secret/page/../../results.db").status == 404);
    for (const char* host : {"127.0.0.1", "127.0.0.1:80", "evil.example:8080", ""})
        CHECK(get(sweep, "/secret/", host).status == 403);
    CHECK(get(sweep, "/secret/", "127.0.0.1:8080", "http://evil.example").status == 403);
    CHECK(get(sweep, "/secret/", "127.0.0.1:8080", "http://127.0.0.1:8080").status == 200);
    const std::string page = get(sweep, "/secret/page/tiny").body;
    CHECK_THAT(page, Contains("&lt;script&gt;alert(1)") && !Contains("<script>alert") &&
                         Contains("data-live=\"/secret/state/tiny\"") && Contains("1 of 1 trial done."));
}

TEST_CASE("the version of a served page changes with the database and with its driver") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == 0);
    const std::string before = get(sweep, "/secret/state/tiny").body;
    CHECK(get(sweep, "/secret/state/tiny").body == before);
    const std::filesystem::path database = sweep.root / "results.db";
    CHECK_FALSE(results_db::has_writer(database));
    {
        const results_db::Writer writer(database);
        CHECK(results_db::has_writer(database));
        CHECK(get(sweep, "/secret/state/tiny").body != before);
        CHECK(get(sweep, "/secret/page/tiny").status == 200);
    }
    std::filesystem::copy(database, sweep.root / "copy.db");
    const std::string at_rest = get(sweep, "/secret/state/tiny").body;
    std::filesystem::rename(sweep.root / "copy.db", database);
    CHECK(get(sweep, "/secret/state/tiny").body != at_rest);
}

TEST_CASE("a database that a served page cannot read is said, and left as it is") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == 0);
    const std::filesystem::path database = sweep.root / "results.db";
    SECTION("damaged") {
        std::filesystem::resize_file(database, 5000);
        const std::string bytes = read_file(database);
        const cli::PageResponse answered = get(sweep, "/secret/page/tiny");
        CHECK(answered.status == 503);
        CHECK_THAT(answered.type, Contains("text/plain"));
        CHECK(read_file(database) == bytes);
    }
    SECTION("newer") {
        results_db::Connection(database, results_db::Connection::Mode::write).execute("PRAGMA user_version = 99");
        const cli::PageResponse answered = get(sweep, "/secret/page/tiny");
        CHECK(answered.status == 503);
        CHECK_THAT(answered.body, Contains("newer deft"));
    }
    SECTION("replaced by another program's") {
        std::filesystem::remove(database);
        results_db::Connection(database, results_db::Connection::Mode::write)
            .execute("PRAGMA application_id = 7; CREATE TABLE other (a)");
        const std::string bytes = read_file(database);
        CHECK(get(sweep, "/secret/page/tiny").status == 503);
        CHECK(get(sweep, "/secret/state/tiny").status == 200);
        CHECK(read_file(database) == bytes);
    }
    SECTION("gone") {
        std::filesystem::remove(database);
        CHECK(get(sweep, "/secret/page/tiny").status == 503);
        CHECK_FALSE(std::filesystem::exists(database));
    }
}

TEST_CASE("a database that stays locked is said, after a wait", "[slow]") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == 0);
    results_db::Connection other(sweep.root / "results.db", results_db::Connection::Mode::write);
    other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE");
    const cli::PageResponse answered = get(sweep, "/secret/page/tiny");
    CHECK(answered.status == 503);
    CHECK_THAT(answered.body, Contains("locked"));
    other.execute("ROLLBACK; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sweep");
    CHECK(get(sweep, "/secret/page/tiny").status == 200);
}

TEST_CASE("deft serve refuses a port in use and a root without results") {
    const TinySweep sweep(kPlain);
    CHECK(sweep.deft("serve", {"--root", sweep.root.string()}).exit_code != 0);
    REQUIRE(sweep.run().exit_code == 0);
    httplib::Server other;
    const int port = other.bind_to_any_port("127.0.0.1");
    const Ran ran = sweep.deft("serve", {"--root", sweep.root.string(), "--port", std::to_string(port)});
    CHECK(ran.exit_code != 0);
    CHECK_THAT(ran.err, Contains(fmt::format("port {} is in use", port)) && Contains("--port"));
}

TEST_CASE("deft serve compresses no page, and gives back the memory of each that it has sent") {
    const TemporaryFolder folder;
    sweeps::SweepSize size;
    size.points = 2;
    sweeps::write_finished_sweep(folder.path(), size);
    const std::filesystem::path said = folder / "served";
    const Process server({DEFT_PROGRAM, "serve", "--root", folder.path().string()}, said, folder / "served.err");
    std::string address;
    REQUIRE(wait_until([&] {
        const std::string text = std::filesystem::exists(said) ? read_file(said) : "";
        const std::size_t at = text.find("http://"), end = text.find('\n', at);
        if (at == std::string::npos || end == std::string::npos) return false;
        address = text.substr(at, end - at);
        return true;
    }));
    const std::size_t path = address.find('/', std::string("http://").size());
    std::int64_t first = 0, last = 0;
    for (int page = 0; page < 6; ++page) {
        httplib::Client client(address.substr(0, path));  // another connection, which another thread answers
        client.set_read_timeout(120);
        const auto answer = client.Get(address.substr(path).c_str(), {{"Accept-Encoding", "gzip, br"}});
        REQUIRE(answer);
        CHECK(answer->status == 200);
        CHECK_FALSE(answer->has_header("Content-Encoding"));
        last = resident_kib(server.pid());
        if (page == 0) first = last;
    }
    CHECK(first > 0);
#ifndef __SANITIZE_ADDRESS__          // which keeps what is freed
    CHECK(last < first + 60 * 1024);  // each of six threads kept 40 MB
#endif
}
