#include "experiments/hardware.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/date.h"
#include "base/installed_files.h"
#include "base/suggestion.h"
#include "base/table_reader.h"

namespace deft::experiments {

namespace {

using Kind = ConfigNode::Kind;

DevicePeak read_peak(TableReader table) {
    static const std::vector<std::string> dtypes = {"fp16", "bf16", "tf32", "fp32", "fp64"};
    DevicePeak peak;
    peak.dtype = table.required<std::string>("dtype");
    peak.flops = table.required<double>("flops");
    table.finish();
    if (std::find(dtypes.begin(), dtypes.end(), peak.dtype) == dtypes.end())
        table.refuse("dtype", fmt::format("is \"{}\", which is not a number format", peak.dtype),
                     suggestion(peak.dtype, dtypes));
    if (!(peak.flops > 0 && peak.flops < 1e18)) table.refuse("flops", "must be above 0 and below 1e18 FLOP/s");
    return peak;
}

DeviceLink read_link(TableReader table) {
    DeviceLink link;
    link.name = table.required_text("name");
    link.bytes_per_second = table.required<double>("bytes_per_second");
    link.source = table.required_text("source");
    table.finish();
    if (!(link.bytes_per_second > 0 && link.bytes_per_second < 1e15))
        table.refuse("bytes_per_second", "must be above 0 and below 1e15");
    return link;
}

DeviceMachine read_machine(TableReader table) {
    DeviceMachine machine;
    machine.name = table.required_text("name");
    machine.devices = table.required<std::int64_t>("devices");
    machine.network = table.required_text("network");
    machine.bytes_per_second = table.required<double>("bytes_per_second");
    machine.source = table.required_text("source");
    table.finish();
    if (machine.devices < 1 || machine.devices > 1'000'000) table.refuse("devices", "must be 1 to 1000000");
    if (!(machine.bytes_per_second > 0 && machine.bytes_per_second < 1e15))
        table.refuse("bytes_per_second", "must be above 0 and below 1e15");
    return machine;
}

DevicePrice read_price(TableReader table) {
    DevicePrice price;
    price.usd_per_hour = table.required<double>("usd_per_hour");
    price.date = table.required<std::string>("date");
    price.source = table.required_text("source");
    table.finish();
    if (!(price.usd_per_hour >= 0 && price.usd_per_hour < 1e6)) table.refuse("usd_per_hour", "must be 0 or more");
    const auto date = parse_date(price.date);
    if (!date) table.refuse("date", "is not a date", "write it as \"2025-01-31\"");
    if (is_future(*date))
        table.refuse("date", fmt::format("is {}, which is in the future", price.date),
                     "write the date on which the price was read");
    return price;
}

const std::vector<ConfigNode>& tables_of(const ConfigNode& node, const std::string& name) {
    if (node.kind != Kind::array || node.items.empty())
        throw Error(ErrorKind::config, node.place, name + " must be an array of tables",
                    fmt::format("write [[{}]]", name));
    return node.items;
}

void read_peaks(const ConfigNode& node, const std::string& name, Device& device) {
    for (const ConfigNode& item : tables_of(node, name)) {
        DevicePeak peak = read_peak(TableReader(item, name));
        if (device.find_peak(peak.dtype) != nullptr)
            throw Error(ErrorKind::config, item.place, fmt::format("{} of {} is defined twice", name, peak.dtype));
        device.peaks.push_back(std::move(peak));
    }
}

void read_links(const ConfigNode& node, const std::string& name, Device& device) {
    for (const ConfigNode& item : tables_of(node, name)) {
        DeviceLink link = read_link(TableReader(item, name));
        if (std::any_of(device.links.begin(), device.links.end(),
                        [&](const DeviceLink& l) { return l.name == link.name; }))
            throw Error(ErrorKind::config, item.place, fmt::format("{} {} is defined twice", name, link.name));
        device.links.push_back(std::move(link));
    }
}

Device read_device(const std::string& name, const ConfigNode& node) {
    TableReader table(node, name);
    Device device;
    device.name = name;
    device.vendor = table.required_text("vendor");
    device.title = table.required_text("title");
    device.source = table.required_text("source");
    table.optional("memory_bytes", device.memory_bytes);
    if (table.optional_node("memory_bytes_per_second") != nullptr) {
        device.memory_bytes_per_second = table.required<double>("memory_bytes_per_second");
        if (!(device.memory_bytes_per_second > 0 && device.memory_bytes_per_second < 1e15))
            table.refuse("memory_bytes_per_second", "must be above 0 and below 1e15");
    }
    if (const ConfigNode* peaks = table.optional_node("peak")) read_peaks(*peaks, table.name("peak"), device);
    if (const ConfigNode* links = table.optional_node("link")) read_links(*links, table.name("link"), device);
    if (const ConfigNode* machine = table.optional_node("machine"))
        device.machine = read_machine(TableReader(*machine, table.name("machine")));
    if (const ConfigNode* price = table.optional_node("price"))
        device.price = read_price(TableReader(*price, table.name("price")));
    table.finish();
    if (device.memory_bytes < 0) table.refuse("memory_bytes", "must not be negative");
    return device;
}

}  // namespace

const DevicePeak* Device::find_peak(const std::string& dtype) const {
    for (const DevicePeak& peak : peaks)
        if (peak.dtype == dtype) return &peak;
    return nullptr;
}

std::vector<Device> parse_devices(const std::filesystem::path& file) {
    const ConfigNode root = parse_toml_file(file);
    std::vector<Device> devices;
    for (const auto& [name, node] : root.children) devices.push_back(read_device(name, node));
    return devices;
}

std::vector<Device> load_devices() {
    return parse_devices(installed_file("experiments/hardware.toml"));
}

Device device_named(const std::string& name, const Place& place) {
    std::vector<std::string> names;
    for (Device& device : load_devices()) {
        if (device.name == name) return device;
        names.push_back(device.name);
    }
    throw Error(ErrorKind::config, place, fmt::format("no device is called \"{}\" in experiments/hardware.toml", name),
                suggestion(name, names));
}

double DeviceUse::peak_flops() const {
    const DevicePeak* peak = device.find_peak(dtype);
    return peak == nullptr ? 0 : peak->flops;
}

std::optional<double> training_hours(const DeviceUse& use, double flops) {
    const double rate = static_cast<double>(use.devices) * use.peak_flops() * use.utilisation;
    if (!(rate > 0)) return {};
    return flops / rate / 3600;
}

}  // namespace deft::experiments
