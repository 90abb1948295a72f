#pragma once
// Slurm's sbatch, squeue, sacct and scancel as a few shell lines each.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/process.h"
#include "tests/catch.h"
#include "tests/sweeps/files.h"
#include "tests/with_variable.h"

namespace deft::test {

// A job is a session of its own. The queue has a file for each, named by its number. The first submission meets what
// the file `first` says, and a question whether Slurm would take a job the complaint in `refuses`.
inline constexpr const char* kFakeSbatch = R"sh(#!/bin/bash
here=$(dirname "$0")
[ "$1" = --version ] && { echo "slurm 24.05.1"; exit 0; }
if [[ " $* " == *" --test-only "* ]]; then
    echo "$*" >> "$here/test.log"
    [ -e "$here/refuses" ] && { cat "$here/refuses" >&2; exit 1; }
    exit 0
fi
echo "$*" >> "$here/sbatch.log"
env | grep -c '^SLURM_\|^SBATCH_' >> "$here/variables.log"
tasks=
for word in "$@"; do
    case "$word" in --job-name=*) name=${word#*=} ;; --array=0-*) tasks=$(seq 0 ${word#*=0-}) ;; esac
done
while [[ "$1" == -* ]]; do shift; done
number=$((100 + $(ls "$here/numbers" | grep -vc _)))
touch "$here/numbers/$number"
state=RUNNING; reason=None; begins=true; says=$number
if mv "$here/first" "$here/met" 2> /dev/null; then . "$here/met"; fi
for task in ${tasks:-own}; do
    id=$number; variable=
    [ $task = own ] || { id=${number}_$task; variable="export SLURM_ARRAY_TASK_ID=$task"; }
    echo "$id|$name|$state|$reason|n1" > "$here/queue/$id"
    cat > "$here/begin.$id" <<END
( exec > /dev/null 2>&1 < /dev/null
  export SLURM_JOB_ID=$number SLURM_JOB_NODELIST=n1
  $variable
  echo "$id|$name|RUNNING|None|n1" > "$here/queue/$id"
  setsid /bin/sh $* &
  echo \$! > "$here/numbers/$id"
  wait \$!
  mv "$here/queue/$id" "$here/last.$id" ) > /dev/null 2>&1 &
END
    $begins && . "$here/begin.$id"
done
echo "$says"
)sh";
inline constexpr const char* kFakeSqueue = R"sh(#!/bin/bash
here=$(dirname "$0")
echo "$*" >> "$here/squeue.log"
[ -e "$here/hang" ] && sleep 60
[ -e "$here/down" ] && { echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1; }
[ -e "$here/torn" ] && { echo "100|de"; exit 0; }
cat "$here"/queue/* 2> /dev/null
exit 0
)sh";
inline constexpr const char* kFakeSacct = R"sh(#!/bin/bash
here=$(dirname "$0")
[ -e "$here/sacct.txt" ] || { echo "Slurm accounting storage is disabled" >&2; exit 1; }
cat "$here/sacct.txt"
)sh";
inline constexpr const char* kFakeScancel = R"sh(#!/bin/bash
here=$(dirname "$0")
echo "$*" >> "$here/scancel.log"
for file in "$here"/queue/*; do
    number=$(basename "$file")
    [[ "$number" == "$1" || "$(cat "$file")" == *"|${1#--name=}|"* ]] || continue
    [[ "$2" == --state=* && "$(cat "$file")" != *"|${2#--state=}|"* ]] && continue
    sed -i 's/|[A-Z]*|/|CANCELLED|/' "$file"
    pid=$(cat "$here/numbers/$number")
    [ -n "$pid" ] && pkill -KILL -s "$pid"
done
exit 0
)sh";

class Cluster {
 public:
    explicit Cluster(const Folder& folder)
        : bin(folder.path / "bin"), path_("PATH", bin.string() + ":" + std::getenv("PATH")) {
        for (const char* name : {"queue", "numbers"}) std::filesystem::create_directories(bin / name);
        for (const auto& [name, text] : {std::pair{"sbatch", kFakeSbatch},
                                         {"squeue", kFakeSqueue},
                                         {"sacct", kFakeSacct},
                                         {"scancel", kFakeScancel}}) {
            write_file_atomically(bin / name, text);
            std::filesystem::permissions(bin / name, std::filesystem::perms::owner_all);
        }
    }

    // A test that ends early leaves no job.
    ~Cluster() {
        for (const auto& number : std::filesystem::directory_iterator(bin / "numbers"))
            if (const int leader = std::atoi(read_file(number.path()).c_str()); leader > 1)
                run_process({"pkill", "-KILL", "-s", std::to_string(leader)});
    }
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    std::string log(const std::string& name) const {
        return std::filesystem::exists(bin / name) ? read_file(bin / name) : "";
    }
    void write(const std::string& name, const std::string& text) const { write_file_atomically(bin / name, text); }
    void set_state(const std::string& number, const std::string& state) const {
        std::string line = read_file(bin / "queue" / number);
        const std::size_t begin = line.find('|', line.find('|') + 1) + 1;
        line.replace(begin, line.find('|', begin) - begin, state);
        write("queue/" + number, line);
    }
    // A job that waits begins.
    void begin(const std::string& number) const {
        CHECK(run_process({"bash", (bin / ("begin." + number)).string()}).exit_code == 0);
    }
    void remove(const std::string& name) const { std::filesystem::remove(bin / name); }

    std::filesystem::path bin;

 private:
    WithVariable path_;
};

}  // namespace deft::test
