// Two attempts at one configuration: only the one that owns the checkpoints writes.

#include "experiments/checkpoint_owner.h"

#include "base/files.h"
#include "tests/experiments/whole_trial.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;

namespace {

TrialConfig owned_trial(const std::filesystem::path& folder) {
    TrialConfig config = parse_trial_config(
        parse_toml("[model]\nlayers = 1\nwidth = 16\nheads = 2\nseqlen = 16\n[data]\nembedded_bytes = 3000\n"
                   "[train]\nbatch_size = 4\nbudget_tokens = 1536\n",
                   "t.toml"),
        1, folder);
    config.log_every = 3;
    resolve_data(config);
    return config;
}

std::size_t checkpoints_in(const std::filesystem::path& folder) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.is_directory() ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("a folder's owner is the newest attempt; a folder without one is everybody's") {
    const test::TemporaryFolder folder;
    CheckpointOwner first(folder / "c", "first", 0), second(folder / "c", "second", 0);
    CHECK_NOTHROW(first.require());
    own_checkpoints(folder / "c", "first");
    CHECK_NOTHROW(first.require());
    CHECK_THROWS_AS(second.require(), NotOwner);
    own_checkpoints(folder / "c", "second");
    CHECK_NOTHROW(second.require());
    CHECK_THROWS_AS(first.require(), NotOwner);
    write_file_atomically(folder / "c" / "owner", "");
    CHECK_NOTHROW(first.require());
}

TEST_CASE("a look at the owner is repeated once it is old, and where a checkpoint asks") {
    const test::TemporaryFolder folder;
    CheckpointOwner owner(folder / "c", "first", 1000);
    CHECK_NOTHROW(owner.require());
    own_checkpoints(folder / "c", "second");
    CHECK_NOTHROW(owner.require());
    CHECK_THROWS_AS(owner.require_now(), NotOwner);
}

TEST_CASE("an attempt that another one replaced writes no checkpoint and no other line") {
    const test::TemporaryFolder folder;
    const TrialConfig config = owned_trial(folder.path());
    const TrialPlaces places{folder / "runs" / "old", folder / "data", folder / "checkpoints"};
    make_folder(places.run_folder);
    own_checkpoints(places.checkpoint_folder, "old");
    const std::filesystem::path journal = places.run_folder / "journal.jsonl";
    int steps = 0;
    std::string before;
    const int code = run_trial(config, places, {}, [&] {
        if (++steps < 5) return false;
        own_checkpoints(places.checkpoint_folder, "new");
        before = read_file(journal);
        return true;  // asked to stop, it would save and say so
    });
    CHECK(code == kExitWorkLeft);
    CHECK(steps == 5);
    CHECK_FALSE(before.empty());
    const std::string after = read_file(journal);
    CHECK(after.find("\"ended\"") == std::string::npos);
    CHECK(checkpoints_in(places.checkpoint_folder) == 0);
    // The owner goes on.
    const TrialPlaces next{folder / "runs" / "new", folder / "data", folder / "checkpoints"};
    make_folder(next.run_folder);
    CHECK(run_trial(config, next, {}, [] { return false; }) == kExitOk);
    CHECK(checkpoints_in(places.checkpoint_folder) == 1);
    CHECK(read_file(journal) == after);
}
