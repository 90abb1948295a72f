// The documentation site builds without a warning.

#include <cstdlib>

#include "base/process.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

TEST_CASE("the documentation site builds without a warning", "[slow][bare]") {
    const char* mkdocs = std::getenv("DEFT_MKDOCS");
    if (mkdocs == nullptr) DEFT_SKIP("no mkdocs-material (PyPI; DEFT_MKDOCS names its mkdocs)");
    const deft::test::TemporaryFolder site;
    const deft::ProcessOutput ran =
        deft::run_process({"/bin/sh", "-c", R"("$0" build --strict --config-file "$1" --site-dir "$2" 2>&1)", mkdocs,
                           DEFT_SOURCE_DIR "/mkdocs.yml", site.path().string()});
    INFO(ran.out);
    CHECK(ran.exit_code == 0);
    CHECK(std::filesystem::exists(site / "results/index.html"));
    CHECK(std::filesystem::exists(site / "evidence/gpt_combined_proxy.svg"));
}
