// Two trials, rows or sweeps side by side, by the real program.

#include <filesystem>

#include "base/json.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::kPlain;
using test::Ran;
using test::TinySweep;

namespace {

const std::string kTwoBudgets = "[axes.grid]\n\"train.budget_fraction\" = [1.0, 0.5]\n";

}  // namespace

TEST_CASE("deft compare of trials, rows, recipes and sweeps that were trained", "[slow]") {
    const TinySweep sweep(kPlain + test::kBothTechniques + kTwoBudgets, "[1, 2, 3]");
    const auto trained = [&](const char* rate) {
        return sweep
            .run({"--set", std::string("train.learning_rate=") + rate, "--set", "train.budget_tokens=40960", "--set",
                  "eval.every=\"10 times\""})
            .exit_code;
    };
    REQUIRE(trained("0.02") == kExitOk);
    const std::string root = sweep.root.string();
    const auto compare = [&](std::vector<std::string> words) {
        words.insert(words.end(), {"--root", root});
        return sweep.deft("compare", words);
    };
    const auto json = [&](std::vector<std::string> words) {
        words.insert(words.end(), {"--format", "json"});
        const Ran ran = compare(words);
        INFO(ran.err);
        REQUIRE(ran.exit_code == kExitOk);
        return parse_json(ran.out);
    };
    const Json rows = json({"plain 50%", "both at 50%", "--by", "flops"});
    REQUIRE(rows.at("rows").size() == 1);
    const Json& row = rows.at("rows").at(0);
    CHECK(row.at("losses").at("loss") == "validation");
    CHECK(row.at("losses").at("by") == "flops");
    CHECK(row.at("losses").at("at_equal_cost").size() == 10);
    CHECK(row.at("losses").at("at_equal_cost").at(9).at("interval").size() == 2);
    std::string keys;
    for (const Json& one : row.at("configuration")) keys += one.at("key").get<std::string>() + "\n";
    CHECK_THAT(keys, ContainsSubstring("random_ltd.min\n") && ContainsSubstring("curriculum.seqtru.min\n"));
    CHECK_THAT(keys, !ContainsSubstring("seed") && !ContainsSubstring("budget"));
    for (const Json& one : row.at("scores"))
        if (one.at("task") == "validation" && one.at("metric") == "loss") {
            INFO(one.value("why", ""));
            CHECK(one.at("verdict") != "-");
            CHECK(one.at("method") == "pooled");
            // Each seed ends at the same FLOPs, where its last validation is its score.
            const double of_scores =
                (one.at("a")[0].get<double>() + one.at("a")[1].get<double>() + one.at("a")[2].get<double>()) / 3;
            CHECK(row.at("losses").at("loss_of_a").at("loss").get<double>() == Approx(of_scores).epsilon(1e-6));
        }
    CHECK(json({"plain", "both"}).at("rows").size() == 2);

    const Json trials = json({"plain[budget_fraction=1.0]/1", "both[budget_fraction=1.0]/1"});
    REQUIRE(trials.at("rows").at(0).at("documents").size() == 1);
    CHECK(trials.at("rows").at(0).at("documents").at(0).at("documents") == 20);
    // Another scoring of one of them, of fewer documents, is not what its table shows.
    REQUIRE(sweep
                .deft("eval", {"plain[budget_fraction=1.0]/1", "--root", root, "--tasks", "embedded_questions",
                               "--documents", "7", "--store"})
                .exit_code == kExitOk);
    CHECK(json({"plain[budget_fraction=1.0]/1", "both[budget_fraction=1.0]/1"}).at("rows") == trials.at("rows"));
    // The same two by the starts of their hashes.
    const Json report = parse_json(sweep.deft("report", {"--root", root, "--format", "json"}).out);
    std::vector<std::string> hashes;  // plain, both
    for (const Json& trial : report.at("trials"))
        if (trial.at("seed") == 1 && trial.at("axes").at("train.budget_fraction") == 1.0)
            hashes.push_back(trial.at("config_hash").get<std::string>().substr(0, 12));
    REQUIRE(hashes.size() == 2);
    CHECK(json({hashes[0], hashes[1]}).at("rows") == trials.at("rows"));

    // Two sweeps of one file.
    const std::string first = rows.at("rows").at(0).at("a").get<std::string>().substr(0, 17);
    REQUIRE(trained("0.03") == kExitOk);
    const Json sweeps = json({first, "tiny"});
    CHECK(sweeps.at("rows").size() == 4);
    CHECK(sweeps.at("rows").at(0).at("configuration").size() == 1);
    CHECK(sweeps.at("rows").at(0).at("configuration").at(0).at("key") == "train.learning_rate");
    CHECK(sweeps.at("rows").at(0).at("scores").at(0).at("method") == "welch");
    CHECK(json({first + ":both 50%", "both 50%"}).at("rows").size() == 1);

    // In every format; a picture in the page, which a file may take.
    CHECK_THAT(compare({"plain", "both", "--format", "md"}).out, ContainsSubstring("B - A |"));
    CHECK_THAT(compare({"plain", "both", "--format", "csv"}).out, ContainsSubstring("validation loss,layer-tokens,"));
    CHECK_THAT(compare({"plain", "both", "--format", "tex"}).out, ContainsSubstring("\\begin{t"));
    const std::string page = (sweep.folder.path / "page.html").string();
    CHECK(compare({"plain", "both", "--format", "html", "--out", page}).exit_code == kExitOk);
    CHECK_THAT(test::read_text(page), ContainsSubstring("<svg "));

    const auto refused = [&](const std::vector<std::string>& words, int code, const char* says) {
        const Ran ran = compare(words);
        CHECK(ran.exit_code == code);
        CHECK(ran.out.empty());
        CHECK_THAT(ran.err, ContainsSubstring(says));
    };
    refused({"plian", "both"}, kExitUsage, "did you mean plain?");
    refused({"tinny:plain", "both"}, kExitUsage, "no sweep or recipe is named 'tinny'");
    refused({"tinny:plain", "both"}, kExitUsage, "did you mean tiny?");
    refused({"plain:finetune", "both"}, kExitUsage, "the table has no row 'plain:finetune'");
    refused({"plain/1", "both/1"}, kExitUsage, "'plain/1' may be plain[budget_fraction=1.0]/1 or");
    refused({"plain/7", "both/1"}, kExitUsage, "the table has no row 'plain/7'");
    refused({"tiny", "both"}, kExitUsage, "is a sweep and");
    refused({"plain 50%", "plain at 50%"}, kExitUsage, "is on both sides");
    refused({hashes[0], first + ":plain[budget_fraction=1.0]/1"}, kExitUsage, "is on both sides");
    refused({"plain", "both", "--by", "money"}, kExitUsage, "--by");
    refused({"0123456789ab", "both"}, kExitUsage, "0123456789ab");
    CHECK_THAT(compare({"plain", "both", "--by", "usd"}).out, ContainsSubstring("has no price"));
}

TEST_CASE("recipes whose names could be hashes are recipes") {
    const TinySweep sweep(
        "[[case]]\nname = \"facade\"\n[[case]]\nname = \"decade\"\n[case.train]\nweight_decay = 0.2\n");
    REQUIRE(sweep.run({}).exit_code == kExitOk);
    for (const char* seed : {"", "/1"}) {
        const Ran ran = sweep.deft("compare", {std::string("facade") + seed, std::string("decade") + seed, "--root",
                                               sweep.root.string(), "--format", "json"});
        CHECK(ran.exit_code == kExitOk);
        CHECK_THAT(ran.out, ContainsSubstring("\"key\": \"train.weight_decay\""));
    }
}
