// Data files into a folder: copied, downloaded from a local https server, gone on with, verified.

#include "experiments/datasets/get_data.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/process.h"
#include "base/sha256.h"
#include "experiments/datasets/file_hashes.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::experiments;
using test::read_text;
using test::refusal;
using test::TemporaryFolder;
using test::WithVariable;
using test::write_text;

namespace fs = std::filesystem;

namespace {

CatalogueFile file_of(const std::string& path, const std::string& text, const std::string& url = "") {
    return {path, url, sha256(text), static_cast<std::int64_t>(text.size()), ""};
}

CatalogueEntry entry_of(std::vector<CatalogueFile> files, const std::string& supply = "ask for it") {
    CatalogueEntry entry;
    entry.name = "set";
    entry.supply = supply;
    entry.source = "https://example.org";
    entry.forms = {{"official", "files", "", std::move(files), 0}};
    return entry;
}

GetOptions between(const TemporaryFolder& folder, const char* from = "from") {
    GetOptions options;
    options.from = folder / from;
    options.to = folder / "to";
    return options;
}

// The names of all files below a folder.
std::vector<std::string> files_below(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file() && entry.path().extension() != ".lock")
            names.push_back(fs::relative(entry.path(), folder).string());
    std::sort(names.begin(), names.end());
    return names;
}

// The server of https_server.py, with a certificate made for the test.
class HttpsServer {
 public:
    explicit HttpsServer(const fs::path& folder) : folder_(folder) {
        fs::create_directory(folder_ / "served");
        const ProcessOutput made =
            run_process({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                         (folder_ / "key.pem").string(), "-out", (folder_ / "cert.pem").string()});
        if (made.exit_code != 0) return;
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        const std::vector<std::string> argv = {"/usr/bin/python3",
                                               DEFT_SOURCE_DIR "/tests/experiments/https_server.py",
                                               (folder_ / "served").string(),
                                               cert(),
                                               (folder_ / "key.pem").string(),
                                               (folder_ / "log").string()};
        pid_ = ::fork();
        if (pid_ == 0) {
            ::dup2(ends[1], STDOUT_FILENO);
            std::vector<char*> words;
            for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
            words.push_back(nullptr);
            ::execv(words[0], words.data());
            ::_exit(127);
        }
        ::close(ends[1]);
        std::string digits;
        for (char digit = 0; ::read(ends[0], &digit, 1) == 1 && digit != '\n';) digits.push_back(digit);
        ::close(ends[0]);
        port_ = std::atoi(digits.c_str());
    }
    ~HttpsServer() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    HttpsServer(const HttpsServer&) = delete;
    HttpsServer& operator=(const HttpsServer&) = delete;

    bool runs() const { return port_ > 0; }
    void serve(const std::string& name, const std::string& text) const { write_text(folder_ / "served" / name, text); }
    std::string url(const std::string& path) const { return "https://localhost:" + std::to_string(port_) + "/" + path; }
    std::string cert() const { return (folder_ / "cert.pem").string(); }
    // The requests: "/way/name range" a line.
    std::string log() const { return read_text(folder_ / "log"); }

 private:
    fs::path folder_;
    pid_t pid_ = -1;
    int port_ = 0;
};

constexpr const char* kNoServer = "no local https server: it takes openssl and /usr/bin/python3";

// Text whose positions are distinguishable.
std::string numbered_text() {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += "line " + std::to_string(i) + "\n";
    return text;
}

}  // namespace

TEST_CASE("get data: files are copied from a folder and verified", "[bare]") {
    const TemporaryFolder folder;
    fs::create_directories(folder / "from/a");
    write_text(folder / "from/a/one.txt", "one");
    write_text(folder / "from/a/two.txt", "two");
    const CatalogueEntry entry = entry_of({file_of("a/one.txt", "one"), file_of("a/two.txt", "two")});
    const auto got = get_data(entry, between(folder));
    REQUIRE(got.size() == 2);
    CHECK(got[1].how == GotFile::How::copied);
    CHECK(got[1].path == folder / "to/a/two.txt");
    CHECK(got[1].sha256 == sha256("two"));
    CHECK(files_below(folder / "to") == std::vector<std::string>{"a/one.txt", "a/two.txt"});
    CHECK(get_data(entry, between(folder))[0].how == GotFile::How::was_here);

    write_text(folder / "to/a/one.txt", "spoilt");
    CHECK_THAT(refusal(ErrorKind::io, [&] { get_data(entry, between(folder)); }),
               ContainsSubstring("one.txt") && ContainsSubstring("delete it"));
    fs::remove(folder / "to/a/one.txt");
    write_text(folder / "from/a/one.txt", "spoilt");
    CHECK_THAT(refusal(ErrorKind::io, [&] { get_data(entry, between(folder)); }), ContainsSubstring("another file"));
    CHECK(files_below(folder / "to") == std::vector<std::string>{"a/two.txt"});
}

TEST_CASE("get data: DEFT_DATA_MIRROR is a folder to copy from, --from alone counts where it is given", "[bare]") {
    const TemporaryFolder folder;
    fs::create_directories(folder / "mirror");
    fs::create_directories(folder / "from");
    write_text(folder / "mirror/one.txt", "one");
    const WithVariable mirror("DEFT_DATA_MIRROR", (folder / "mirror").string()),
        data("DEFT_DATA", (folder / "to").string());
    const CatalogueEntry entry = entry_of({file_of("one.txt", "one", "https://localhost:1/one.txt")});
    CHECK_THAT(
        refusal(ErrorKind::data, [&] { get_data(entry, between(folder)); }),
        ContainsSubstring("from lacks files") && ContainsSubstring("one.txt") && ContainsSubstring("ask for it"));
    CHECK(get_data(entry, {})[0].path == folder / "to/one.txt");
}

TEST_CASE("get data: what cannot be downloaded says how to supply it", "[bare]") {
    const TemporaryFolder folder;
    const WithVariable mirror("DEFT_DATA_MIRROR", "");
    GetOptions options;
    options.to = folder / "to";
    CHECK_THAT(refusal(ErrorKind::data, [&] { get_data(entry_of({file_of("one.txt", "one")}), options); }),
               ContainsSubstring("ask for it") && ContainsSubstring("deft data get set --from FOLDER"));
    CHECK_THAT(refusal(ErrorKind::data, [&] { get_data(entry_of({file_of("one.txt", "one")}, ""), options); }),
               ContainsSubstring("https://example.org"));
}

TEST_CASE("get data: the first form that can be had whole is taken", "[bare]") {
    const TemporaryFolder folder;
    fs::create_directories(folder / "from");
    write_text(folder / "from/b", "b");
    CatalogueEntry entry = entry_of({file_of("a", "a"), file_of("b", "b")});
    entry.forms.push_back({"mirror", "files", "", {file_of("b", "b")}});
    const auto got = get_data(entry, between(folder));
    REQUIRE(got.size() == 1);
    CHECK(got[0].sha256 == sha256("b"));
}

TEST_CASE("get data: an unknown hash is recorded once, and compared later", "[bare]") {
    const TemporaryFolder folder;
    fs::create_directories(folder / "from");
    write_text(folder / "from/a.txt", "as it was");
    CatalogueFile file = file_of("a.txt", "");
    file.sha256 = "unknown";
    file.bytes = 0;
    const CatalogueEntry entry = entry_of({file});
    const auto first = get_data(entry, between(folder));
    CHECK(first[0].recorded);
    CHECK(recorded_sha256(folder / "to", "a.txt") == sha256("as it was"));
    CHECK(expected_sha256(file, folder / "to") == sha256("as it was"));
    CHECK_FALSE(get_data(entry, between(folder))[0].recorded);
    fs::remove(folder / "to/a.txt");
    write_text(folder / "from/a.txt", "as it is now");
    CHECK_THAT(refusal(ErrorKind::io, [&] { get_data(entry, between(folder)); }),
               ContainsSubstring(sha256("as it was").substr(0, 12)));
    for (const char* damaged : {"{\"a.txt\": 5}", "[]", "{\"a.txt"}) {
        write_text(folder / "to/datasets.sha256.json", damaged);
        CHECK_THAT(refusal(ErrorKind::io, [&] { get_data(entry, between(folder)); }), ContainsSubstring("is damaged"));
    }
}

TEST_CASE("download: only https is spoken", "[bare]") {
    const TemporaryFolder folder;
    for (const char* url :
         {"http://localhost:1/a", "file:///etc/passwd", "ftp://localhost/a", "HTTPS://x", "/etc/passwd", ""})
        CHECK_THAT(refusal(ErrorKind::data, [&] { download(url, folder / "a", {}); }), ContainsSubstring("only https"));
    CHECK_THAT(refusal(ErrorKind::io, [&] { download("https://localhost:1/a", folder / "a", {}); }),
               ContainsSubstring("cannot download https://localhost:1/a"));
    CHECK(files_below(folder.path()).empty());
}

TEST_CASE("download: from a local https server, whole, redirected, refused", "[bare]") {
    const TemporaryFolder folder;
    const HttpsServer server(folder.path());
    if (!server.runs()) DEFT_SKIP(kNoServer);
    const std::string text = numbered_text();
    server.serve("a.txt", text);
    DownloadOptions options;
    const auto fails = [&](const std::string& path) {
        return refusal(ErrorKind::io, [&] { download(server.url(path), folder / "got", options); });
    };
    CHECK_THAT(fails("ranges/a.txt"), ContainsSubstring("certificate"));  // nobody vouches for it
    options.ca_file = server.cert();
    std::int64_t seen = 0;
    options.progress = [&](std::int64_t here, std::int64_t) {
        seen = std::max(seen, here);
        return true;
    };
    for (const char* path : {"ranges/a.txt", "plain/a.txt", "again/a.txt"}) {
        download(server.url(path), folder / "got", options);
        CHECK(read_text(folder / "got") == text);
    }
    CHECK(seen > 0);
    fs::remove(folder / "got");
    CHECK_THAT(fails("to-http/a.txt"), ContainsSubstring("cannot download"));
    CHECK_THAT(fails("to-file/a.txt"), ContainsSubstring("cannot download"));
    CHECK_THAT(fails("ranges/none.txt"), ContainsSubstring("404"));
    CHECK_FALSE(fs::exists(folder / "got"));
    options.most_bytes = static_cast<std::int64_t>(text.size()) - 1;
    CHECK_THAT(fails("ranges/a.txt"), ContainsSubstring("more than the"));
    options.most_bytes = 0;
    options.progress = [](std::int64_t, std::int64_t) { return false; };
    CHECK_THAT(fails("ranges/a.txt"), ContainsSubstring("stopped"));
}

TEST_CASE("download: goes on where it broke off", "[bare]") {
    const TemporaryFolder folder;
    const HttpsServer server(folder.path());
    if (!server.runs()) DEFT_SKIP(kNoServer);
    const std::string text = numbered_text();
    server.serve("a.txt", text);
    const WithVariable mirror("DEFT_DATA_MIRROR", "");
    GetOptions options;
    options.to = folder / "to";
    options.ca_file = server.cert();
    const CatalogueEntry broken = entry_of({file_of("a.txt", text, server.url("slow/a.txt"))});
    CHECK_THAT(refusal(ErrorKind::io, [&] { get_data(broken, options); }), ContainsSubstring("unchanged"));
    CHECK(files_below(folder / "to") == std::vector<std::string>{"a.txt.part"});
    const std::string half = std::to_string(text.size() / 2);
    CHECK(std::to_string(fs::file_size(folder / "to/a.txt.part")) == half);

    SECTION("with a server that knows ranges") {
        CHECK(get_data(broken, options)[0].how == GotFile::How::downloaded);
        CHECK_THAT(server.log(), ContainsSubstring("/slow/a.txt bytes=" + half + "-\n"));
    }
    SECTION("with one that does not") {
        get_data(entry_of({file_of("a.txt", text, server.url("plain/a.txt"))}), options);
        CHECK_THAT(server.log(), ContainsSubstring("/plain/a.txt bytes=" + half + "-\n/plain/a.txt \n"));
    }
    SECTION("with a part that is whole") {
        write_text(folder / "to/a.txt.part", text);
        const std::string log = server.log();
        get_data(broken, options);
        CHECK(server.log() == log);
    }
    SECTION("with a part of something else: refused, and restarted the next time") {
        write_text(folder / "to/a.txt.part", std::string(1000, 'x'));
        const CatalogueEntry good = entry_of({file_of("a.txt", text, server.url("ranges/a.txt"))});
        CHECK_THAT(refusal(ErrorKind::io, [&] { get_data(good, options); }), ContainsSubstring("is expected of a.txt"));
        CHECK(files_below(folder / "to").empty());
        get_data(good, options);
    }
    CHECK(read_text(folder / "to/a.txt") == text);
    CHECK(files_below(folder / "to") == std::vector<std::string>{"a.txt"});
}

TEST_CASE("download: a file of unknown hash is never gone on with", "[bare]") {
    const TemporaryFolder folder;
    const HttpsServer server(folder.path());
    if (!server.runs()) DEFT_SKIP(kNoServer);
    server.serve("a.txt", "the text");
    const WithVariable mirror("DEFT_DATA_MIRROR", "");
    GetOptions options;
    options.to = folder / "to";
    options.ca_file = server.cert();
    CatalogueFile file{"a.txt", server.url("ranges/a.txt"), "unknown", 0, ""};
    fs::create_directories(folder / "to");
    write_text(folder / "to/a.txt.part", "old");
    const auto got = get_data(entry_of({file}), options);
    CHECK(got[0].recorded);
    CHECK(read_text(folder / "to/a.txt") == "the text");
    CHECK(server.log() == "/ranges/a.txt \n");
}
