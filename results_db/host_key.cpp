#include "results_db/host_key.h"

#include <utility>

#include "base/json.h"
#include "base/sha256.h"

namespace deft::results_db {

namespace {

void take_text(const Json& object, const char* key, std::string& to) {
    const auto found = object.find(key);
    if (found != object.end() && found->is_string()) to = found->get<std::string>();
}

}  // namespace

std::int64_t rounded_memory(std::int64_t bytes) {
    for (std::int64_t size = std::int64_t{1} << 30; size < std::int64_t{1} << 60; size *= 2) {
        if (bytes <= size) return size;
        if (bytes <= size / 2 * 3) return size / 2 * 3;
    }
    return bytes;
}

std::string host_fingerprint(const Host& host) {
    const Json extra = try_parse_json(host.extra_json);
    const auto part = [&extra](const char* key) {
        const bool there = extra.is_object() && extra.contains(key);
        return there ? extra.at(key) : Json();
    };
    Json key = {host.arch,   host.cpu_model, host.cores,  host.threads, rounded_memory(host.mem_bytes),
                part("isa"), part("gpus"),   part("name")};
    if (host.cpu_model.empty() || host.cpu_model == "unknown") key.push_back(host.hostname);
    return sha256(key.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string machine_json(const Host& host) {
    Json machine = {
        {"hostname", host.hostname}, {"kernel", host.kernel}, {"os", host.os}, {"mem_bytes", host.mem_bytes}};
    if (Json extra = try_parse_json(host.extra_json); extra.is_object()) machine["extra"] = std::move(extra);
    return machine.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void override_machine(Host& host, const std::string& machine_json) {
    const Json machine = try_parse_json(machine_json);
    if (!machine.is_object()) return;
    take_text(machine, "hostname", host.hostname);
    take_text(machine, "kernel", host.kernel);
    take_text(machine, "os", host.os);
    const auto memory = machine.find("mem_bytes");
    if (memory != machine.end() && memory->is_number_integer()) host.mem_bytes = memory->get<std::int64_t>();
    const auto extra = machine.find("extra");
    if (extra != machine.end() && extra->is_object())
        host.extra_json = extra->dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace deft::results_db
