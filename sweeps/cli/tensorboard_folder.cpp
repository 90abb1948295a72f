#include "sweeps/cli/tensorboard_folder.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "reporting/views/tensorboard/event_files.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

// A folder that is removed with all it holds unless it is kept: what is half written has no name that readers look for.
class UnfinishedFolder {
 public:
    explicit UnfinishedFolder(const fs::path& beside) {
        std::string pattern = (beside.parent_path() / fmt::format(".{}.XXXXXX", beside.filename().string())).string();
        if (::mkdtemp(pattern.data()) == nullptr)
            throw Error(ErrorKind::io, fmt::format("cannot make {}: {}", pattern, std::strerror(errno)),
                        fix_for_write(errno), "all files");
        path_ = pattern;
        // mkdtemp lets only the owner in; the umask decides for folders of users.
        const ::mode_t mask = ::umask(0);
        ::umask(mask);
        ::chmod(pattern.c_str(), 0777 & ~mask);
    }
    ~UnfinishedFolder() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    UnfinishedFolder(const UnfinishedFolder&) = delete;
    UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;

    const fs::path& path() const { return path_; }
    void keep_as(const fs::path& name) {
        rename_durably(path_, name);
        path_.clear();
    }

 private:
    fs::path path_;
};

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
    UnfinishedFolder unfinished(fs::absolute(target));
    static const results_db::TrialCurve kNoCurve;
    for (const reporting::EventFile& file : files) {
        const auto curve = data.curves.find(file.trial->config_hash);
        make_folder(unfinished.path() / file.folder);
        write_file_atomically(
            unfinished.path() / file.folder / file.name,
            reporting::event_file_bytes(*file.trial, curve == data.curves.end() ? kNoCurve : curve->second));
    }
    unfinished.keep_as(fs::absolute(target));
    return target;
}

}  // namespace deft::cli
