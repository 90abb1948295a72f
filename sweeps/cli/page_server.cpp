#include "sweeps/cli/page_server.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/text.h"
#include "reporting/views/page/page.h"
#include "reporting/views/render/html.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "results_db/writer_lock.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/driver/root.h"

namespace deft::cli {

namespace {

constexpr const char* kText = "text/plain; charset=utf-8";

// Equal in time that does not depend on where the texts differ.
bool is_same_secret(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
    return difference == 0;
}

// A page of another site that was led to this address names its own host.
bool is_own_host(const ServedRoot& served, const PageRequest& request) {
    for (const char* name : {"127.0.0.1", "localhost"}) {
        const std::string host = fmt::format("{}:{}", name, served.port);
        if (request.host == host && (request.origin.empty() || request.origin == "http://" + host)) return true;
    }
    return false;
}

// Another value whenever the database, the file of its name or the life of its driver has changed.
std::string version_of(const std::filesystem::path& database) {
    std::string text;
    for (const char* suffix : {"", "-wal"}) {
        struct stat file {};
        if (::stat((database.string() + suffix).c_str(), &file) != 0) continue;
        text += fmt::format("{} {} {} {}.{} ", suffix, file.st_ino, file.st_size, file.st_mtim.tv_sec,
                            file.st_mtim.tv_nsec);
    }
    // The end of a driver that is killed changes no file.
    return sha256(text + (results_db::has_writer(database) ? "driver" : "")).substr(0, 16);
}

std::string state_text(const reporting::Results& sweep, bool has_driver) {
    std::size_t done = 0, train = 0, failed = 0;
    std::string steps;
    for (const reporting::Trial& trial : sweep.trials) {
        done += trial.state == "ok" ? 1 : 0;
        failed += trial.state == "failed" ? 1 : 0;
        if (trial.state != "running" && trial.state != "leased") continue;
        ++train;
        if (trial.last_point && trial.total_steps > 0)
            steps +=
                fmt::format("{}step {} of {}", steps.empty() ? " (" : ", ", trial.last_point->step, trial.total_steps);
    }
    std::string text = fmt::format("{} of {} done", done, counted(sweep.trials.size(), "trial"));
    if (failed > 0) text += fmt::format(", {} failed", failed);
    if (train == 0) return text + ".";
    text += fmt::format(", {} {}{}{}", train, train == 1 ? "trains" : "train", steps, steps.empty() ? "" : ")");
    return text + (has_driver ? "." : "; the driver has ended: run the sweep again, and it goes on.");
}

std::string list_page(const ServedRoot& served, const results_db::Reader& reader) {
    std::string out = reporting::page_head("Sweeps") + "<h1>Sweeps</h1>\n<ul>\n";
    for (const std::string& name : reader.sweep_names())
        out += fmt::format("<li><a href=\"/{}/page/{}\">{}</a></li>\n", served.token, reporting::html_escaped(name),
                           reporting::html_escaped(name));
    return out + "</ul>\n" + reporting::page_end();
}

std::string sweep_page(const ServedRoot& served, const results_db::Reader& reader, const std::string& name,
                       const std::string& version) {
    const std::filesystem::path database = sweeps::database_file(served.root);
    const reporting::ReportData data =
        report_data(reader, find_sweep(reader, name, reporting::unknown_inputs()), CurvesShown::on_page);
    const std::string state = state_text(data.sweep, results_db::has_writer(database));
    const std::string body =
        fmt::format(" data-live=\"/{}/state/{}\" data-version=\"{}\" data-state=\"{}\"", served.token,
                    reporting::html_escaped(name), version, reporting::html_escaped(state));
    return with_short_home(reporting::render_page(data, body));
}

PageResponse of_database(const ServedRoot& served, std::string_view what, const std::string& name) {
    // Before the reading: what is written meanwhile counts as newer.
    const std::string version = version_of(sweeps::database_file(served.root));
    if (what == "state") return {200, "application/json", json_text(Json{{"version", version}})};
    const results_db::Reader reader = open_results(served.root.string());
    const std::vector<std::string> names = reader.sweep_names();
    const bool is_list = what.empty() && names.size() != 1;
    return {.body = is_list ? list_page(served, reader)
                            : sweep_page(served, reader, what.empty() ? names.front() : name, version)};
}

}  // namespace

PageResponse answer(const ServedRoot& served, const PageRequest& request) {
    if (!is_own_host(served, request))
        return {403, kText, "This server answers on this machine alone, at the address that deft serve printed.\n"};
    const std::string_view path = request.path;
    const std::size_t end = path.find('/', 1);
    if (end == std::string_view::npos || !is_same_secret(path.substr(1, end - 1), served.token))
        return {404, kText, "The address needs the token that deft serve printed.\n"};
    const std::string_view rest = path.substr(end + 1);
    const std::size_t slash = rest.find('/');
    const std::string_view what = rest.substr(0, slash);
    const std::string name(slash == std::string_view::npos ? "" : rest.substr(slash + 1));
    if (!(rest.empty() || ((what == "page" || what == "state") && !name.empty())))
        return {404, kText, "No such page.\n"};
    try {
        return of_database(served, what, name);
    } catch (const Error& error) {
        const bool is_unknown = error.kind() == ErrorKind::usage;
        return {is_unknown ? 404 : 503, kText, with_short_home(error.what()) + std::string("\n")};
    }
}

}  // namespace deft::cli
