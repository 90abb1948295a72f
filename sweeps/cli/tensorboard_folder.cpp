#include "sweeps/cli/tensorboard_folder.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/whole_folder.h"
#include "reporting/views/tensorboard/event_files.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

// Absent, or an empty folder. Errors: usage.
void require_empty(const fs::path& target) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(target, error);
    if (!fs::exists(status) || (fs::is_directory(status) && fs::is_empty(target, error) && !error)) return;
    throw Error(ErrorKind::usage, fmt::format("{} already exists and is not an empty folder", target.string()),
                "name another folder with --out, or remove that one", target.string());
}

}  // namespace

fs::path write_tensorboard_folder(const reporting::ReportData& data, const fs::path& folder) {
    if (folder.empty())
        throw Error(ErrorKind::usage, "--format tensorboard writes a folder for each trial",
                    "name a folder for them: --out DIR");
    const std::vector<reporting::EventFile> files = reporting::event_files(data.sweep, data.curves);
    if (files.empty())
        throw Error(ErrorKind::missing,
                    fmt::format("no trial of sweep {} has a logged step or a score", data.sweep.name),
                    "train it first: deft run, then export again", "all files");
    const fs::path target = folder / report_page_file({}, data.sweep).stem();
    require_empty(target);
    make_folder(folder);
    static const results_db::TrialCurve kNoCurve;
    const fs::path temporary = folder / fmt::format(".{}.part", target.filename().string());
    write_whole_folder(target, temporary, [&](const fs::path& unfinished) {
        for (const reporting::EventFile& file : files) {
            const auto curve = data.curves.find(file.trial->config_hash);
            make_folder(unfinished / file.folder);
            write_file_atomically(
                unfinished / file.folder / file.name,
                reporting::event_file_bytes(*file.trial, curve == data.curves.end() ? kNoCurve : curve->second));
        }
    });
    return target;
}

}  // namespace deft::cli
