// The catalogue of data sets, and where their files are looked for.

#include "experiments/datasets/catalogue.h"

#include <map>
#include <set>

#include "experiments/datasets/file_hashes.h"
#include "experiments/datasets/find_file.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::experiments;
using test::TemporaryFolder;
using test::WithVariable;
using test::write_text;

namespace {

std::string entry_with(const std::string& file, const std::string& form = "", const std::string& entry = "") {
    return "[set]\nkind = \"corpus\"\ntitle = \"T\"\nlicence = \"L\"\nsource = \"S\"\n" + entry +
           "[[set.forms]]\nname = \"official\"\nreader = \"text\"\n" + form + "files = [\n    { " + file + " },\n]\n";
}

const std::string kHash(64, 'a');

// The parser's message about the text.
std::string wrong_entry(const std::string& text) {
    const TemporaryFolder folder;
    write_text(folder / "c.toml", text);
    return test::refusal([&] { parse_catalogue(folder / "c.toml"); });
}

}  // namespace

TEST_CASE("catalogue: the shipped one is whole, and names no file twice with different hashes", "[bare]") {
    const auto entries = load_catalogue();
    std::map<std::string, std::string> hashes;
    std::set<std::string> names;
    for (const CatalogueEntry& entry : entries) {
        INFO(entry.name);
        CHECK(names.insert(entry.name).second);
        CHECK_FALSE(entry.licence.empty());
        CHECK(entry.source.find("://") != std::string::npos);
        bool any_way = !entry.supply.empty();
        for (const CatalogueForm& form : entry.forms) {
            bool downloadable = true;
            for (const CatalogueFile& file : form.files) {
                downloadable = downloadable && !file.url.empty();
                const auto [known, fresh] = hashes.emplace(file.path, file.sha256);
                CHECK((fresh || known->second == file.sha256));
                CHECK((file.sha256 == "unknown" || file.bytes > 0));
            }
            any_way = any_way || downloadable;
        }
        CHECK(any_way);  // either an address for every file, or how to supply them
    }
    for (const char* name : {"books", "ptb", "pile", "tinyshakespeare", "gpt2", "bert-base-uncased", "hellaswag",
                             "lambada", "piqa", "arc_easy", "cola", "mnist", "cifar10", "cifar100"})
        CHECK(names.count(name) == 1);
}

TEST_CASE("catalogue: the small files of the mirror are what it says", "[bare]") {
    const std::filesystem::path mirror = mirror_folder();
    if (mirror.empty()) DEFT_SKIP("no data files: set DEFT_DATA_MIRROR");
    int checked = 0;
    for (const CatalogueEntry& entry : load_catalogue())
        for (const CatalogueForm& form : entry.forms)
            for (const CatalogueFile& file : form.files) {
                const auto path = look_in_folder(mirror, file.path);
                if (!path || file.bytes > 1'500'000) continue;
                const TextDigest digest = text_digest(*path);
                INFO(file.path);
                CHECK(digest.sha256 == file.sha256);
                CHECK(digest.bytes == file.bytes);
                ++checked;
            }
    CHECK(checked > 50);
}

TEST_CASE("catalogue: errors carry their place", "[bare]") {
    const std::string good = "path = \"a.txt\", sha256 = \"" + kHash + "\"";
    REQUIRE(wrong_entry(entry_with(good)) == "accepted");
    CHECK_THAT(wrong_entry(entry_with("path = \"a.txt\"")),
               ContainsSubstring("c.toml:10:") && ContainsSubstring("sha256"));
    CHECK_THAT(wrong_entry(entry_with("path = \"a.txt\", sha256 = \"ABC\"")),
               ContainsSubstring("c.toml:10:") && ContainsSubstring("64 lower-case hex digits"));
    for (const char* path : {"../a", "a/../../b", "/etc/passwd", ""})
        CHECK_THAT(wrong_entry(entry_with("path = \"" + std::string(path) + "\", sha256 = \"unknown\"")),
                   ContainsSubstring("c.toml:10:") && ContainsSubstring("inside a mirror folder"));
    for (const char* url : {"http://example.org/a.txt", "file:///etc/passwd", "ftp://example.org/a"})
        CHECK_THAT(wrong_entry(entry_with(good + ", url = \"" + url + "\"")), ContainsSubstring("https://"));
    CHECK_THAT(wrong_entry(entry_with(good + ", split = \"dev\"")), ContainsSubstring("none of"));
    CHECK_THAT(wrong_entry(entry_with(good + ", bytes = -1")), ContainsSubstring("negative"));
    CHECK_THAT(wrong_entry(entry_with(good + ", byte = 1")), ContainsSubstring("bytes"));
    CHECK_THAT(wrong_entry(entry_with(good, "", "licences = \"x\"\n")), ContainsSubstring("c.toml:6:"));
    CHECK_THAT(wrong_entry("[set]\nkind = \"corpus\"\ntitle = \"T\"\nlicence = \"L\"\nsource = \"S\"\n"),
               ContainsSubstring("forms is missing"));
}

TEST_CASE("catalogue: images have classes and readers of their own", "[bare]") {
    const auto entry = [](const std::string& kind, const std::string& classes, const std::string& reader,
                          const std::string& files) {
        return "[set]\nkind = \"" + kind + "\"\ntitle = \"T\"\nlicence = \"L\"\nsource = \"S\"\n" + classes +
               "[[set.forms]]\nname = \"official\"\nreader = \"" + reader + "\"\n" +
               (kind == "images" ? "images = 4\n" : "") + "files = [" + files + "]\n";
    };
    const auto file = [](const std::string& path, const std::string& split = "") {
        return "{ path = \"" + path + "\", sha256 = \"unknown\", split = \"" + split + "\" }, ";
    };
    const std::string size = "height = 4\nwidth = 4\nchannels = 1\n", ten = size + "classes = 10\n",
                      pair = file("a") + file("b");
    for (const char* reader : {"idx", "cifar10", "cifar100"})
        CHECK(wrong_entry(entry("images", ten, reader, pair)) == "accepted");
    CHECK_THAT(wrong_entry(entry("images", ten, "files", pair)), ContainsSubstring("none of"));
    CHECK_THAT(wrong_entry(entry("corpus", "", "idx", pair)), ContainsSubstring("none of"));
    CHECK_THAT(wrong_entry(entry("task", "", "text", pair)), ContainsSubstring("none of"));
    CHECK_THAT(wrong_entry(entry("picture", "", "files", pair)), ContainsSubstring("images"));
    CHECK_THAT(wrong_entry(entry("images", size, "idx", pair)), ContainsSubstring("classes is missing"));
    CHECK_THAT(wrong_entry(entry("images", size + "classes = -1\n", "idx", pair)), ContainsSubstring("at least 1"));
    CHECK_THAT(wrong_entry(entry("images", "classes = 10\n", "idx", pair)), ContainsSubstring("height is missing"));
    CHECK_THAT(wrong_entry(entry("task", ten, "files", pair)), ContainsSubstring("height"));
    CHECK_THAT(wrong_entry(entry("images", ten, "idx", file("a"))), ContainsSubstring("pairs"));
    CHECK_THAT(wrong_entry(entry("images", ten, "idx", file("a", "train") + file("b", "test"))),
               ContainsSubstring("pairs"));
    CHECK(wrong_entry(entry("images", ten, "cifar10", file("a", "train") + file("b", "test"))) == "accepted");
    CHECK_THAT(wrong_entry(entry("images", ten, "cifar10", file("a", "train"))), ContainsSubstring("and of test"));
    CHECK_THAT(wrong_entry(entry("images", ten, "cifar10", file("a", "train") + file("b", "valid"))),
               ContainsSubstring("and of test"));
}

TEST_CASE("catalogue: an unknown name is met with the nearest", "[bare]") {
    CHECK_THROWS_WITH(catalogue_entry("tinyshakespear"), ContainsSubstring("tinyshakespeare"));
    CHECK_THROWS_WITH(catalogue_entry("zzzzzzzz"), ContainsSubstring("deft data list"));
}

TEST_CASE("data files are looked for in the mirror, then among the downloads, then beside the sweep", "[bare]") {
    const TemporaryFolder folder;
    for (const char* place : {"mirror", "downloads", "home/.local/share/deft/data", "beside"})
        std::filesystem::create_directories(folder.path() / place);
    const WithVariable mirror("DEFT_DATA_MIRROR", (folder / "mirror").string()),
        data("DEFT_DATA", (folder / "downloads").string());
    const auto found = [&] { return look_for_data_file("f.txt", folder / "beside"); };
    CHECK_FALSE(found());
    write_text(folder / "beside/f.txt.zst", "");
    CHECK(found() == folder / "beside/f.txt.zst");
    write_text(folder / "downloads/f.txt.gz", "");
    CHECK(found() == folder / "downloads/f.txt.gz");
    write_text(folder / "mirror/f.txt", "");
    CHECK(found() == folder / "mirror/f.txt");
    CHECK_THROWS_WITH(find_data_file("g.txt", folder / "beside"), ContainsSubstring("mirror/g.txt") &&
                                                                      ContainsSubstring("downloads/g.txt") &&
                                                                      ContainsSubstring("beside/g.txt"));

    const WithVariable no_data("DEFT_DATA", ""), no_xdg("XDG_DATA_HOME", ""), home("HOME", (folder / "home").string());
    CHECK(download_folder() == folder / "home/.local/share/deft/data");
    const WithVariable xdg("XDG_DATA_HOME", "/x");
    CHECK(download_folder() == "/x/deft/data");
    const WithVariable nothing("XDG_DATA_HOME", ""), homeless("HOME", "");
    CHECK(download_folder().empty());
}
