#include "sweeps/sweep_note.h"

#include "base/files.h"
#include "base/json.h"

namespace deft::sweeps {

namespace {

std::filesystem::path note_file(const std::filesystem::path& root, const std::string& spec_sha256) {
    return root / "sweeps" / (spec_sha256 + ".json");
}

}  // namespace

void write_sweep_note(const std::filesystem::path& root, const Spec& spec, const std::string& command) {
    const std::filesystem::path file = note_file(root, spec.sha256);
    make_folder(file.parent_path());
    const Json note = {{"schema", "deft-sweep/1"}, {"name", spec.name},         {"title", spec.title},
                       {"scale", spec.scale},      {"baseline", spec.baseline}, {"file", spec.file.string()},
                       {"command", command}};
    write_file_atomically(file, note.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

SweepNote read_sweep_note(const std::filesystem::path& root, const std::string& spec_sha256) {
    const std::filesystem::path file = note_file(root, spec_sha256);
    if (!std::filesystem::exists(file)) return {};
    try {
        const Json note = Json::parse(read_file(file));
        const auto text = [&note](const char* key) { return note.at(key).get<std::string>(); };
        return {text("baseline"), text("scale"), text("title"),
                note.contains("command") ? text("command") : "deft run " + text("file")};
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::io, file.string() + " is damaged: " + error.what(),
                    "run the sweep again: it is written anew");
    }
}

}  // namespace deft::sweeps
