// deft bench history through the program.

#include "results_db/writer.h"
#include "tests/reporting/history/invented_past.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

TEST_CASE("deft bench history prints a table and writes a page", "[bench_history]") {
    const TinySweep sweep("");
    const std::filesystem::path root = sweep.folder.path / "runs", html = sweep.folder.path / "history.html";
    const Ran empty = sweep.deft("bench", {"history", "--root", root});
    CHECK(empty.exit_code == kExitNothing);
    std::filesystem::create_directories(root);
    test::Past past;
    past.cases = {{"steady", R"({"case":"1"})", 1e-3, {}}, {"slow", R"({"case":"2"})", 1e-6, {{20, 1.2}}}};
    {
        results_db::Writer writer(root / "results.db");
        const Ran none = sweep.deft("bench", {"history", "--root", root});
        CHECK(none.exit_code == kExitNothing);
        CHECK_THAT(none.err,
                   ContainsSubstring("no benchmark has been recorded") && ContainsSubstring("deft bench import"));
        test::write_past(writer, past);
    }
    const Ran ran = sweep.deft("bench", {"history", "--html", html, "--root", root});
    CHECK(ran.exit_code == kExitOk);
    CHECK(ran.out.find("slow/2") < ran.out.find("steady/1"));
    CHECK_THAT(ran.out,
               ContainsSubstring("x from") && ContainsSubstring("2024-05-21") && ContainsSubstring("bench-box"));
    CHECK_THAT(read_file(html),
               ContainsSubstring("<h3>slow/2 (cpu)</h3>") && ContainsSubstring("<h3>steady/1 (cpu)</h3>"));
    const Ran one = sweep.deft("bench", {"history", "-k", "steady*", "--root", root});
    CHECK_THAT(one.out, ContainsSubstring("steady/1") && !ContainsSubstring("slow/2"));
    const Ran unknown = sweep.deft("bench", {"history", "-k", "none*", "--root", root});
    CHECK(unknown.exit_code == kExitUsage);
    CHECK_THAT(unknown.err, ContainsSubstring("no series of the history matches none*"));
}
