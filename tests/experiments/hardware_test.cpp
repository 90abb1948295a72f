// The devices that plans know, and how strictly their file is read.

#include "experiments/hardware.h"

#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;

namespace {

std::string wrong_device(const std::string& text) {
    const test::TemporaryFolder folder;
    test::write_text(folder / "h.toml", text);
    return test::refusal([&] { parse_devices(folder / "h.toml"); });
}

const std::string kDevice = "[X]\nvendor = \"V\"\ntitle = \"T\"\nsource = \"S\"\n";

}  // namespace

TEST_CASE("Devices have the peaks and the memory of their data sheets") {
    const Device v100 = device_named("V100", {});
    CHECK(v100.peaks.front().dtype == "fp16");
    CHECK(v100.peaks.front().flops == 125e12);
    CHECK(v100.memory_bytes == 32'000'000'000);
    CHECK(device_named("A100-80GB", {}).find_peak("bf16")->flops == 312e12);
    CHECK(device_named("H100-SXM", {}).find_peak("bf16")->flops == 989e12);
    CHECK(device_named("H200", {}).memory_bytes == 141'000'000'000);
    CHECK(device_named("cpu core", {}).peaks.empty());
    REQUIRE(v100.links.size() == 2);
    CHECK(v100.links[0].name == "NVLink");
    CHECK(v100.links[0].bytes_per_second == 150e9);
    CHECK(device_named("A100-40GB", {}).links[0].bytes_per_second == 300e9);
    CHECK(device_named("H100-SXM", {}).links[0].bytes_per_second == 450e9);
    CHECK(device_named("H200", {}).links[1].bytes_per_second == 64e9);
    CHECK(device_named("cpu core", {}).links.empty());
    for (const Device& device : load_devices()) CHECK(!device.source.empty());
    CHECK(training_hours({v100, "fp16", 2, 0.5}, 125e12 * 3600) == 1.0);
    CHECK(!training_hours({device_named("cpu core", {}), "", 2, 0.5}, 1e12));
}

TEST_CASE("A file of devices is read strictly, with places") {
    CHECK(wrong_device(kDevice) == "accepted");
    CHECK_THAT(wrong_device(kDevice + "memory = 1\n"),
               ContainsSubstring("h.toml:5:") && ContainsSubstring("memory_bytes"));
    CHECK_THAT(wrong_device("[X]\nvendor = \"V\"\n"), ContainsSubstring("X.title is missing"));
    CHECK_THAT(wrong_device("X = 3\n"), ContainsSubstring("h.toml:1:"));
    CHECK_THAT(wrong_device(kDevice + "[[X.peak]]\ndtype = \"fp61\"\nflops = 1e12\n"),
               ContainsSubstring("did you mean fp16?"));
    CHECK_THAT(wrong_device(kDevice + "[[X.peak]]\ndtype = \"fp16\"\nflops = -1.0\n"), ContainsSubstring("h.toml:7:"));
    CHECK_THAT(wrong_device(kDevice + "peak = []\n"), ContainsSubstring("[[X.peak]]"));
    const std::string peak = "[[X.peak]]\ndtype = \"fp16\"\nflops = 1e12\n";
    CHECK_THAT(wrong_device(kDevice + peak + peak), ContainsSubstring("defined twice"));
    const std::string link = "[[X.link]]\nname = \"L\"\nbytes_per_second = 1e9\nsource = \"s\"\n";
    CHECK(wrong_device(kDevice + link) == "accepted");
    CHECK_THAT(wrong_device(kDevice + link + link), ContainsSubstring("X.link L is defined twice"));
    CHECK_THAT(wrong_device(kDevice + "link = []\n"), ContainsSubstring("[[X.link]]"));
    CHECK_THAT(wrong_device(kDevice + "[[X.link]]\nname = \"L\"\nbytes_per_second = 1e9\n"),
               ContainsSubstring("source is missing"));
    CHECK_THAT(wrong_device(kDevice + "[[X.link]]\nname = \"L\"\nbytes_per_second = 0.0\nsource = \"s\"\n"),
               ContainsSubstring("h.toml:7:"));
    CHECK_THAT(wrong_device(kDevice + "price = { usd_per_hour = 1.0, date = \"2025-13-01\", source = \"s\" }\n"),
               ContainsSubstring("is not a date"));
    CHECK_THAT(wrong_device(kDevice + "price = { usd_per_hour = 1.0, source = \"s\" }\n"),
               ContainsSubstring("date is missing"));
}

TEST_CASE("Memory and networks of machines are read with their sources, and wrong ones refused with the place") {
    const Device v100 = device_named("V100", {});
    CHECK(v100.memory_bytes_per_second == 900e9);
    CHECK(device_named("A100-40GB", {}).memory_bytes_per_second == 1555e9);
    CHECK(device_named("A100-80GB", {}).memory_bytes_per_second == 2039e9);
    CHECK(device_named("H100-SXM", {}).memory_bytes_per_second == 3350e9);
    CHECK(device_named("H200", {}).memory_bytes_per_second == 4800e9);
    REQUIRE(v100.machine);
    CHECK(v100.machine->name == "DGX-1");
    CHECK(v100.machine->devices == 8);
    CHECK(v100.machine->bytes_per_second == 4 * 100e9 / 8 / 8);  // four ports, bits, eight devices
    CHECK(device_named("A100-80GB", {}).machine->bytes_per_second == 8 * 200e9 / 8 / 8);
    CHECK(device_named("H200", {}).machine->bytes_per_second == 8 * 400e9 / 8 / 8);
    CHECK(!device_named("cpu core", {}).machine);
    CHECK(device_named("cpu core", {}).memory_bytes_per_second == 0);
    for (const Device& device : load_devices()) {
        CHECK((!device.machine || !device.machine->source.empty()));
        CHECK((device.peaks.empty() || (device.memory_bytes_per_second > 0 && device.machine)));
    }

    for (const char* rate : {"0.0", "-1e9", "1e15"})
        CHECK_THAT(wrong_device(kDevice + "memory_bytes_per_second = " + std::string(rate) + "\n"),
                   ContainsSubstring("h.toml:5:27"));
    const auto machine = [](const std::string& devices, const std::string& rate,
                            const std::string& source = "source = \"s\"\n") {
        return kDevice + "[X.machine]\nname = \"M\"\nnetwork = \"N\"\ndevices = " + devices +
               "\nbytes_per_second = " + rate + "\n" + source;
    };
    CHECK(wrong_device(machine("1", "1e9")) == "accepted");
    CHECK_THAT(wrong_device(machine("0", "1e9")),
               ContainsSubstring("h.toml:8:11") && ContainsSubstring("1 to 1000000"));
    CHECK_THAT(wrong_device(machine("8", "0.0")), ContainsSubstring("h.toml:9:20"));
    CHECK_THAT(wrong_device(machine("8", "1e15")), ContainsSubstring("h.toml:9:20"));
    CHECK_THAT(wrong_device(machine("8", "1e9", "")), ContainsSubstring("X.machine.source is missing"));
    CHECK_THAT(wrong_device(machine("8", "1e9", "source = \"s\"\nport = 4\n")), ContainsSubstring("h.toml:11:"));
}

TEST_CASE("A device has a price an hour only where one was published, with its date and source") {
    CHECK(device_named("A100-40GB", {}).price->usd_per_hour == 1.844);
    CHECK(device_named("H100-SXM", {}).price->usd_per_hour == 4.916);
    CHECK(device_named("H200", {}).price->usd_per_hour == 5.408);
    CHECK(device_named("H200", {}).price->date == "2024-12-31");
    for (const char* name : {"V100", "A100-80GB"}) CHECK_FALSE(device_named(name, {}).price);
}

TEST_CASE("A price is refused where it is of the future, or no price") {
    const auto price = [](const std::string& usd, const std::string& date) {
        return wrong_device(kDevice + "[X.price]\nusd_per_hour = " + usd + "\ndate = \"" + date +
                            "\"\nsource = \"s\"\n");
    };
    CHECK(price("1.5", "2025-01-31") == "accepted");
    CHECK(price("0.0", "2025-01-31") == "accepted");
    CHECK_THAT(price("1.5", "2990-01-31"), ContainsSubstring("h.toml:7:8") &&
                                               ContainsSubstring("2990-01-31, which is in the future") &&
                                               ContainsSubstring("write the date on which the price was read"));
    CHECK_THAT(price("-0.5", "2025-01-31"), ContainsSubstring("h.toml:6:16") && ContainsSubstring("must be 0 or more"));
    CHECK_THAT(price("nan", "2025-01-31"), ContainsSubstring("h.toml:6:16"));
    CHECK_THAT(price("\"1.5\"", "2025-01-31"), ContainsSubstring("h.toml:6:16"));
    CHECK_THAT(price("1.5", "31.1.2025"), ContainsSubstring("h.toml:7:8") && ContainsSubstring("is not a date"));
}
