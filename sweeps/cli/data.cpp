// deft data: lists, copies and downloads the data sets of the catalogue.

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiments/datasets/catalogue.h"
#include "experiments/datasets/file_hashes.h"
#include "experiments/datasets/find_file.h"
#include "experiments/datasets/get_data.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "reporting/text.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/data_tokens.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/progress.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;
using experiments::CatalogueEntry;
using experiments::CatalogueFile;
using experiments::CatalogueForm;
using experiments::GotFile;

// Width of a licence in the list; `deft data info` shows the full text.
constexpr int kLicenceWidth = 40;

struct InfoArguments {
    std::string name;
    bool verify = false;
};

struct GetArguments {
    std::string name, from, to;
};

// Where the file was found: "mirror", "downloaded" or "beside" (in the current folder); otherwise "missing".
std::string whereabouts(const CatalogueFile& file) {
    const auto found = experiments::look_for_data_file(file.path, ".");
    if (!found) return "missing";
    if (const fs::path mirror = experiments::mirror_folder(); !mirror.empty())
        if (experiments::look_in_folder(mirror, file.path) == found) return "mirror";
    if (const fs::path folder = experiments::download_folder(); !folder.empty())
        if (experiments::look_in_folder(folder, file.path) == found) return "downloaded";
    return "beside";
}

std::string whereabouts(const CatalogueForm& form) {
    std::string where;
    std::size_t here = 0;
    for (const CatalogueFile& file : form.files) {
        const std::string place = whereabouts(file);
        if (place == "missing") continue;
        ++here;
        where = where.empty() || where == place ? place : "several places";
    }
    if (here == 0) return "missing";
    return here == form.files.size() ? where : fmt::format("{} of {} files", here, form.files.size());
}

std::string bytes_of(const CatalogueForm& form) {
    std::int64_t bytes = 0;
    for (const CatalogueFile& file : form.files) {
        if (file.bytes == 0) return "-";
        bytes += file.bytes;
    }
    return reporting::si(static_cast<double>(bytes), "B");
}

std::string shortened(const std::string& text, int width) {
    return reporting::display_width(text) <= width ? text : reporting::cut_to_width(text, width - 3) + "...";
}

int run_list() {
    using reporting::Align;
    reporting::Table table;
    table.caption = "Data sets";
    table.columns = {
        {"name", Align::left}, {"kind", Align::left}, {"licence", Align::left}, {"where", Align::left}, {"size"}};
    for (const CatalogueEntry& entry : experiments::load_catalogue()) {
        const CatalogueForm form = experiments::form_at_hand(entry, ".");
        table.rows.push_back(
            {entry.name, entry.kind, shortened(entry.licence, kLicenceWidth), whereabouts(form), bytes_of(form)});
    }
    table.notes.push_back(
        "Size of the uncompressed files; \"-\": unknown. "
        "deft data info NAME shows the full entry.");
    table.notes.push_back(fmt::format("Searched: DEFT_DATA_MIRROR={}, {} and the current folder.",
                                      experiments::mirror_folder().string(), experiments::download_folder().string()));
    print(table);
    return kExitOk;
}

// "missing" or the path, and with `verify` the result of the hash check. Sets `wrong` if the hash differs.
std::string file_state(const CatalogueFile& file, bool verify, bool& wrong) {
    const auto path = experiments::look_for_data_file(file.path, ".");
    if (!path) return "missing";
    std::string state = fmt::format("{}: {}", whereabouts(file), path->string());
    if (!verify) return state;
    const std::string expected = experiments::expected_sha256(file, experiments::download_folder());
    const std::string found = experiments::text_digest(*path).sha256;
    wrong = wrong || (!expected.empty() && found != expected);
    return state + (expected.empty()    ? fmt::format(", hash {} (the catalogue has no hash)", found)
                    : found == expected ? ", hash verified"
                                        : fmt::format(", HASH WRONG: {}", found));
}

int run_info(const InfoArguments& arguments) {
    const CatalogueEntry entry = experiments::catalogue_entry(arguments.name);
    std::string text = fmt::format("{}: {}\n  kind     {}\n  licence  {}\n  source   {}\n", entry.name, entry.title,
                                   entry.kind, entry.licence, entry.source);
    if (!entry.supply.empty()) text += fmt::format("  supply   {}\n", entry.supply);
    bool wrong = false;
    for (const CatalogueForm& form : entry.forms) {
        text += fmt::format("  form     {} (reader: {})\n", form.name, form.reader);
        if (!form.note.empty()) text += fmt::format("           {}\n", form.note);
        for (const CatalogueFile& file : form.files) {
            text += fmt::format("    {}{}\n", file.path, file.split.empty() ? "" : "  (" + file.split + ")");
            text += fmt::format("      {}\n", file_state(file, arguments.verify, wrong));
            text += fmt::format("      {}, sha256 {}\n",
                                file.bytes > 0 ? fmt::format("{} bytes", file.bytes) : "size unknown", file.sha256);
            if (!file.url.empty()) text += fmt::format("      {}\n", file.url);
        }
    }
    print(text);
    if (wrong) throw Error(ErrorKind::io, "a hash is wrong: see above", "delete the file and get it again");
    return kExitOk;
}

int run_get(const GetArguments& arguments) {
    const CatalogueEntry entry = experiments::catalogue_entry(arguments.name);
    print_message(fmt::format("{}: licence: {}\n", entry.name, entry.licence));
    sweeps::ProgressLine line;
    experiments::GetOptions options;
    options.from = arguments.from;
    options.to = arguments.to;
    options.progress = [&](const CatalogueFile& file, std::int64_t here, std::int64_t all) {
        line.show(fmt::format("{} {}", reporting::si(static_cast<double>(here), "B"), file.path),
                  all > 0 ? static_cast<double>(here) / static_cast<double>(all) : -1);
        return true;
    };
    const std::vector<GotFile> files = experiments::get_data(entry, options);
    line.clear();
    for (const GotFile& file : files) {
        const char* how = file.how == GotFile::How::was_here ? "already here"
                          : file.how == GotFile::How::copied ? "copied"
                                                             : "downloaded";
        print(fmt::format("{}: {}, {} {}", file.path.string(), how,
                          file.recorded ? "unverified hash recorded:" : "sha256", file.sha256));
    }
    return kExitOk;
}

}  // namespace

void add_data(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("data", "List, get and tokenize data sets, and train tokenizers");
    command->require_subcommand(1);
    CLI::App* list = command->add_subcommand("list", "List the data sets and where they are on this machine");
    list->callback([&context] { context.exit_code = run_list(); });

    auto about = std::make_shared<InfoArguments>();
    CLI::App* info = command->add_subcommand("info", "Show the full entry of a data set");
    info->add_option("name", about->name, "Name, as printed by deft data list")->required();
    info->add_flag("--verify", about->verify, "Check the hashes of the files on this machine");
    info->callback([about, &context] { context.exit_code = run_info(*about); });

    auto wanted = std::make_shared<GetArguments>();
    CLI::App* get = command->add_subcommand(
        "get",
        "Copy a data set from a mirror folder (--from or DEFT_DATA_MIRROR), or download it over https, and verify "
        "it.\n"
        "Downloads were tested against a local server only, never against the addresses of the catalogue.");
    get->add_option("name", wanted->name, "Name, as printed by deft data list")->required();
    get->add_option("--from", wanted->from, "Copy from this folder without downloading")->check(CLI::ExistingDirectory);
    get->add_option("--to", wanted->to, "Destination folder (default: DEFT_DATA, else ~/.local/share/deft/data)");
    get->callback([wanted, &context] { context.exit_code = run_get(*wanted); });

    add_data_tokenize(*command, context);
    add_data_train_tokenizer(*command, context);
    add_data_dump_samples(*command, context);
}

}  // namespace deft::cli
