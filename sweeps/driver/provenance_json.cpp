#include "sweeps/driver/provenance_json.h"

#include "base/json.h"

namespace deft::sweeps {

namespace {

std::string text_of(const Json& object, const char* key, const char* otherwise = "") {
    if (!object.is_object()) return otherwise;
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::int64_t count_of(const Json& object, const char* key) {
    if (!object.is_object()) return 0;
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace

Json code_json(const results_db::Code& code) {
    return {{"git_sha", code.git_sha},         {"git_branch", code.git_branch},      {"dirty", code.dirty},
            {"diff_sha256", code.diff_sha256}, {"compiler", code.compiler},          {"cxx_flags", code.cxx_flags},
            {"build_type", code.build_type},   {"binary_sha256", code.binary_sha256}};
}

Json host_json(const results_db::Host& host) {
    return {{"hostname", host.hostname}, {"arch", host.arch},       {"cpu_model", host.cpu_model},
            {"cores", host.cores},       {"threads", host.threads}, {"mem_bytes", host.mem_bytes},
            {"kernel", host.kernel},     {"os", host.os},           {"extra", Json::parse(host.extra_json)}};
}

results_db::Code code_of(const Json& json) {
    results_db::Code code;
    code.git_sha = text_of(json, "git_sha");
    if (code.git_sha.empty()) code.git_sha = "unknown";
    code.git_branch = text_of(json, "git_branch");
    code.diff_sha256 = text_of(json, "diff_sha256");
    code.dirty = !code.diff_sha256.empty();
    code.binary_sha256 = text_of(json, "binary_sha256");
    code.compiler = text_of(json, "compiler");
    code.cxx_flags = text_of(json, "cxx_flags");
    code.build_type = text_of(json, "build_type");
    return code;
}

results_db::Host host_of(const Json& json) {
    results_db::Host host;
    host.hostname = text_of(json, "hostname", "unknown");
    host.arch = text_of(json, "arch", "unknown");
    host.cpu_model = text_of(json, "cpu_model", "unknown");
    host.cores = count_of(json, "cores");
    host.threads = count_of(json, "threads");
    host.mem_bytes = count_of(json, "mem_bytes");
    host.kernel = text_of(json, "kernel");
    host.os = text_of(json, "os");
    if (json.is_object() && json.contains("extra") && json["extra"].is_object())
        host.extra_json = canonical_json(json["extra"]);
    return host;
}

}  // namespace deft::sweeps
