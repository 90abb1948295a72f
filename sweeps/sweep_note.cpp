#include "sweeps/sweep_note.h"

#include "base/files.h"
#include "base/json.h"

namespace deft::sweeps {

namespace {

std::filesystem::path note_file(const std::filesystem::path& root, const std::string& spec_sha256) {
    return root / "sweeps" / (spec_sha256 + ".json");
}

}  // namespace

SweepNote sweep_note(const Spec& spec, const std::string& command, const std::string& points) {
    return {spec.baseline, spec.scale, spec.title, command, points, spec.paper};
}

void write_sweep_note(const std::filesystem::path& root, const Spec& spec, const SweepNote& note) {
    const std::filesystem::path file = note_file(root, spec.sha256);
    make_folder(file.parent_path());
    const Json json = {{"schema", "deft-sweep/1"},   {"name", spec.name},
                       {"title", note.title},        {"scale", note.scale},
                       {"baseline", note.baseline},  {"file", spec.file.string()},
                       {"command", note.command},    {"points", note.points},
                       {"paper", note.paper}};
    write_file_atomically(file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

SweepNote read_sweep_note(const std::filesystem::path& root, const std::string& spec_sha256) {
    const std::filesystem::path file = note_file(root, spec_sha256);
    if (!std::filesystem::exists(file)) return {};
    try {
        const Json note = Json::parse(read_file(file));
        const auto text = [&note](const char* key) { return note.at(key).get<std::string>(); };
        const auto later = [&](const char* key, const std::string& otherwise) {
            return note.contains(key) ? text(key) : otherwise;  // notes of older versions lack it
        };
        return {text("baseline"),
                text("scale"),
                text("title"),
                later("command", "deft run " + text("file")),
                later("points", text("file")),
                later("paper", "")};
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::io, file.string() + " is damaged: " + error.what(),
                    "run the sweep again: it is written anew");
    }
}

}  // namespace deft::sweeps
