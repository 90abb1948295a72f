// deft db: care of the results database itself, and what goes from one to another.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "reporting/analysis/trace/origins.h"
#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/db_verify.h"
#include "sweeps/cli/evidence_files.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/driver/announced_lock.h"
#include "sweeps/driver/driver.h"

namespace deft::cli {

namespace {

int upgrade(const std::string& root) {
    const std::filesystem::path file = sweeps::database_file(root);
    const results_db::SchemaVersion found = results_db::schema_version(file), newest = results_db::newest_schema();
    if (found == newest) {
        print(fmt::format("{} has schema version {}, the newest.", file.string(), newest.number));
        return kExitOk;
    }
    { const results_db::Writer migrates(file, sweeps::announced_lock()); }
    print(fmt::format("{}: {} became version {}. Copy of the older file: {}", file.string(), found.words(),
                      newest.number, results_db::backup_of(file, found).string()));
    return kExitOk;
}

std::string run_suffix(const std::string& root) {
    return root == sweeps::kDefaultRoot ? std::string() : " --root " + reporting::shell_word(root);
}

struct EvidenceArguments {
    std::string sweep, out;
    std::size_t parts = 1;
    std::string root = sweeps::kDefaultRoot;
};

// "bert.jsonl" of five parts: "bert.1of5.jsonl".
std::filesystem::path file_of_part(const std::filesystem::path& file, std::size_t number, std::size_t of) {
    return file.parent_path() / fmt::format("{}.{:0{}}of{}{}", file.stem().string(), number, std::to_string(of).size(),
                                            of, file.extension().string());
}

// Parts of another count, which a merge of all files in the folder would mix with these.
void note_other_parts(const std::filesystem::path& file, const std::set<std::filesystem::path>& written) {
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::filesystem::path path = file.parent_path() / entry.path().filename();
        const std::string number = path.stem().extension().string();  // ".1of5"
        const bool is_part = path.extension() == file.extension() && path.stem().stem() == file.stem() &&
                             std::regex_match(number, std::regex("\\.[0-9]+of[0-9]+"));
        if ((is_part || path == file) && !written.contains(path))
            print_note(fmt::format("{} also exists, from another export", path.string()));
    }
}

// All of them or none.
void write_parts(const std::filesystem::path& file, const std::vector<results_db::Evidence>& parts) {
    if (parts.size() == 1) {
        print_to(file, parts.front().text);
        return;
    }
    if (file.empty()) throw Error(ErrorKind::usage, "several parts are several files", "name them with --out");
    const std::string name = file.filename().string();
    if (name.empty() || name == "." || name == ".." || std::filesystem::is_directory(file))
        throw Error(ErrorKind::usage, fmt::format("--out {} is a folder", file.string()),
                    "name a file, as in bert.jsonl, of which bert.1of6.jsonl is made");
    std::set<std::filesystem::path> written;
    std::deque<AtomicFile> outputs;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto [path, fresh] = written.insert(file_of_part(file, i + 1, parts.size()));
        AtomicFile& output = outputs.emplace_back(*path);
        output.write(parts[i].text);
        output.sync();
    }
    for (AtomicFile& output : outputs) output.finish();
    note_other_parts(file, written);
}

int write_evidence(const EvidenceArguments& arguments) {
    const results_db::Reader reader = open_results(arguments.root);
    const std::vector<results_db::Evidence> parts =
        reader.evidence_parts(sweep_name_of(arguments.sweep), arguments.parts);
    write_parts(arguments.out, parts);
    std::int64_t attempts = 0;
    for (const results_db::Evidence& part : parts) {
        print_note(fmt::format("{}: {} and {} in {} bytes; {}", part.sweep, counted(part.trials, "trial"),
                               counted(part.attempts, "ended attempt"), part.text.size(),
                               results_db::evidence_note(part.text)));
        attempts += part.attempts;
    }
    if (parts.front().running > 0)
        print_note(fmt::format("{} left out: what is under way has no result yet",
                               counted(parts.front().running, "running attempt is", "running attempts are")));
    return attempts > 0 ? kExitOk : kExitNothing;
}

void print_merged(const results_db::Merged& merged, const std::string& name) {
    if (merged.is_nothing()) {
        print(fmt::format("{}: nothing new for {}: {}, with the same numbers", name, merged.sweep,
                          counted(merged.known, "attempt already exists", "attempts already exist")));
        return;
    }
    print(fmt::format(
        "{}: {} has {}, {} and {} more{}", name, merged.sweep, counted(merged.trials, "trial"),
        counted(merged.attempts, "attempt"), counted(merged.verdicts, "verdict"),
        merged.known > 0 ? "; " + counted(merged.known, "attempt already existed", "attempts already existed") : ""));
    if (merged.points > 0)
        print(fmt::format("  {} more in the curves of existing attempts", counted(merged.points, "point")));
    if (merged.has_changed_first_run) print("  the date of its first run changed, and with it the rules of its claims");
    if (merged.is_joined && !merged.seeds.empty())
        print(fmt::format("  it was run with other seeds; {} {} are in its table now",
                          merged.seeds.size() == 1 ? "seed" : "seeds", fmt::join(merged.seeds, ", ")));
}

int merge(const std::vector<std::string>& paths, const std::string& root) {
    const std::vector<results_db::NamedEvidence> files = read_evidence(paths);
    { const results_db::Reader tried(files); }  // what is refused makes no database, and waits for no lock
    results_db::require_newest_schema(sweeps::database_file(root));
    results_db::Writer writer(sweeps::database_in(root), sweeps::announced_lock());
    const std::vector<results_db::Merged> all = writer.merge(files, run_suffix(root));
    for (std::size_t i = 0; i < all.size(); ++i) print_merged(all[i], files[i].name);
    return kExitOk;
}

}  // namespace

void add_db(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("db", "Care of the results database");
    command->require_subcommand(1);
    auto root = std::make_shared<std::string>(sweeps::kDefaultRoot);
    CLI::App* upgrading = command->add_subcommand(
        "upgrade", "Copy a database that an older deft left, and bring it to the newest schema");
    add_root(*upgrading, *root);
    upgrading->callback([root, &context] { context.exit_code = upgrade(*root); });

    auto exported = std::make_shared<EvidenceArguments>();
    CLI::App* exporting = command->add_subcommand(
        "export",
        "Write a sweep's results as a text of at most 300 kB that can be committed, merged and reported from");
    exporting->add_option("sweep", exported->sweep, "The sweep's name or file, or NAME@HASH as `deft status` shows it")
        ->required();
    add_root(*exporting, exported->root);
    exporting->add_option("--out", exported->out, "Write it to this file");
    add_number(*exporting, "--parts", exported->parts,
               "As that number of texts: the trials are dealt out to FILE.1of5.jsonl and so on; merge all of them",
               std::size_t{1}, results_db::kMostParts);
    exporting->callback([exported, &context] { context.exit_code = write_evidence(*exported); });

    auto files = std::make_shared<std::vector<std::string>>();
    auto target = std::make_shared<std::string>(sweeps::kDefaultRoot);
    CLI::App* merging = command->add_subcommand(
        "merge", "Add what such files, or databases of other machines, have and these results lack: all or nothing");
    merging
        ->add_option("files", *files,
                     "What `deft db export` wrote, also .gz or .zst; or a results.db, or the root that it is in")
        ->required();
    add_root(*merging, *target, "Where the results are that are added to");
    merging->callback([files, target, &context] { context.exit_code = merge(*files, *target); });
    add_db_verify(*command, context);
}

}  // namespace deft::cli
