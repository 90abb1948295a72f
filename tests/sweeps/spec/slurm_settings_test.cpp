// The settings of Slurm jobs: their option, their table, and times as sbatch takes them.

#include "sweeps/spec/slurm_settings.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"
#include "sweeps/spec/spec.h"
#include "sweeps/spec/sweep_keys.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::sweeps;
using test::refusal;

namespace {

SlurmSettings option_of(const std::string& option) {
    SlurmSettings settings;
    apply_slurm_option(option, settings);
    return settings;
}

}  // namespace

TEST_CASE("Times are read as sbatch reads them") {
    CHECK(slurm_seconds("90") == 5400);
    CHECK(slurm_seconds("1:30") == 90);
    CHECK(slurm_seconds("04:00:00") == 14'400);
    CHECK(slurm_seconds("1-6") == 108'000);
    CHECK(slurm_seconds("1-6:30") == 109'800);
    CHECK(slurm_seconds("1-06:30:15") == 109'815);
    for (const char* wrong : {"", "-", "1-", "-1", "1:2:3:4", "1h", "1:", ":1", "1-2-3", "99999999999"}) {
        CAPTURE(wrong);
        CHECK_FALSE(slurm_seconds(wrong));
    }
}

TEST_CASE("The option --slurm lays values over those of the sweep, and refuses what sbatch would not take") {
    CHECK(option_of("").partition.empty());
    const SlurmSettings settings = option_of("partition=gpu,time=04:00:00,mem=16G,account=lab");
    CHECK(settings.partition == "gpu");
    CHECK(settings.time == "04:00:00");
    CHECK(settings.mem == "16G");
    CHECK(settings.account == "lab");
    CHECK_THAT(refusal(ErrorKind::usage, [] { option_of("partion=gpu"); }),
               ContainsSubstring("did you mean partition?"));
    CHECK_THAT(refusal(ErrorKind::usage, [] { option_of("partition"); }), ContainsSubstring("write partition=VALUE"));
    CHECK_THAT(refusal(ErrorKind::usage, [] { option_of("time=soon"); }), ContainsSubstring("is not a time limit"));
    CHECK_THAT(refusal(ErrorKind::usage, [] { option_of("qos=a b"); }), ContainsSubstring("slurm.qos is not a word"));
    CHECK_THAT(refusal(ErrorKind::usage, [] { option_of("qos=a\nb"); }), ContainsSubstring("slurm.qos is not a word"));
}

TEST_CASE("The option --slurm takes lists and counts") {
    const SlurmSettings settings = option_of("partition=long,short,pack=4,qos=a");
    CHECK(settings.partition == "long,short");
    CHECK(settings.pack == 4);
    CHECK(settings.qos == "a");
    CHECK_THAT(refusal(ErrorKind::usage, [] { option_of("partition=gpu,time"); }),
               ContainsSubstring("time has no value"));
    for (const char* wrong : {"pack=", "pack=-1", "pack=many", "pack=2x", "pack=10001"}) {
        CAPTURE(wrong);
        CHECK_THAT(refusal(ErrorKind::usage, [&] { option_of(wrong); }), ContainsSubstring("pack takes a count"));
    }
    CHECK_THAT(refusal(ErrorKind::usage, [] { option_of("extra=--exclusive"); }),
               ContainsSubstring("[resources.slurm]"));
}

TEST_CASE("Attempts side by side divide over the nodes of a job, and fill it") {
    const SlurmSettings settings = option_of("gpus=a100,at_once=4,nodes=2");
    CHECK(settings.gpus == "a100");
    CHECK(settings.at_once == 4);
    CHECK(settings.nodes == 2);
    CHECK_THAT(
        refusal(ErrorKind::usage, [] { option_of("at_once=3,nodes=2"); }),
        ContainsSubstring("slurm.at_once = 3 does not divide over slurm.nodes = 2") && ContainsSubstring("at_once=4"));
    CHECK_THAT(refusal(ErrorKind::usage, [] { option_of("nodes=2"); }), ContainsSubstring("at_once=2"));
    CHECK_THAT(refusal(ErrorKind::usage, [] { option_of("at_once=4,pack=3"); }),
               ContainsSubstring("slurm.pack = 3 leaves a part of slurm.at_once = 4 idle"));
    for (const char* wrong : {"at_once=0", "nodes=0", "at_once=-1"}) {
        CAPTURE(wrong);
        CHECK_THAT(refusal(ErrorKind::usage, [&] { option_of(wrong); }), ContainsSubstring("takes a count"));
    }
    for (const char* wrong : {"gpus=a100:2", "gpus=a b", "gpus=4;5"}) {
        CAPTURE(wrong);
        CHECK_THAT(refusal(ErrorKind::usage, [&] { option_of(wrong); }), ContainsSubstring("is not a type of cards"));
    }
}

TEST_CASE("A limit that holds no start, signal and grace is refused before anything is submitted") {
    CHECK_NOTHROW(require_time(option_of(""), 120));
    CHECK(signal_seconds(120) == 180);
    CHECK(signal_seconds(0.5) == 61);
    CHECK_NOTHROW(require_time(option_of("time=5"), 120));
    CHECK_THAT(refusal(ErrorKind::usage, [] { require_time(option_of("time=4:59"), 120); }),
               ContainsSubstring("at least 5 minutes") && ContainsSubstring("grace_seconds (120)"));
}

TEST_CASE("[resources.slurm] is read strictly, and enters no hash") {
    const test::TemporaryFolder folder;
    const auto spec_with = [&](const std::string& table) {
        write_file_atomically(folder / "a.toml", "name = \"a\"\nseeds = [1]\n" + table + "[[case]]\nname = \"x\"\n");
        return load_spec((folder / "a.toml").string());
    };
    const Spec plain = spec_with(""), with = spec_with("[resources.slurm]\npartition = \"gpu\"\ntime = \"1-0\"\n");
    CHECK(with.slurm.partition == "gpu");
    CHECK(with.sha256 == plain.sha256);
    CHECK(
        sweep_schema().at("properties").at("resources").at("properties").at("slurm").at("properties").contains("qos"));
    CHECK_THAT(refusal(ErrorKind::config, [&] { spec_with("[resources.slurm]\npartion = \"gpu\"\n"); }),
               ContainsSubstring("a.toml:4:1") && ContainsSubstring("partition"));
    const Spec more =
        spec_with("[resources.slurm]\nextra = [\"--exclusive\", \"--gres=gpu:a100:1\"]\nsetup = \"env.sh\"\n");
    CHECK(more.slurm.extra == std::vector<std::string>{"--exclusive", "--gres=gpu:a100:1"});
    CHECK(more.slurm.setup == "env.sh");
    CHECK(more.sha256 == plain.sha256);
    for (const auto& [extra, why] : {std::pair{"-p gpu", "not an option of sbatch"},
                                     {"exclusive", "not an option of sbatch"},
                                     {"--", "not an option of sbatch"},
                                     {"--gres gpu", "not an option of sbatch"},
                                     {"--array=1-4", "which deft itself gives"},
                                     {"--output=x", "which deft itself gives"}}) {
        CAPTURE(extra);
        const std::string table = fmt::format("[resources.slurm]\nextra = [\"{}\"]\n", extra);
        CHECK_THAT(refusal(ErrorKind::config, [&] { spec_with(table); }), ContainsSubstring(why));
    }
    CHECK_THAT(refusal(ErrorKind::config, [&] { spec_with("[resources.slurm]\ntime = \"soon\"\n"); }),
               ContainsSubstring("is not a time limit"));
}
