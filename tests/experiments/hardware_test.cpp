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
    CHECK_THAT(wrong_device(kDevice + peak + peak), ContainsSubstring("there twice"));
    const std::string link = "[[X.link]]\nname = \"L\"\nbytes_per_second = 1e9\nsource = \"s\"\n";
    CHECK(wrong_device(kDevice + link) == "accepted");
    CHECK_THAT(wrong_device(kDevice + link + link), ContainsSubstring("X.link L is there twice"));
    CHECK_THAT(wrong_device(kDevice + "link = []\n"), ContainsSubstring("[[X.link]]"));
    CHECK_THAT(wrong_device(kDevice + "[[X.link]]\nname = \"L\"\nbytes_per_second = 1e9\n"),
               ContainsSubstring("source is missing"));
    CHECK_THAT(wrong_device(kDevice + "[[X.link]]\nname = \"L\"\nbytes_per_second = 0.0\nsource = \"s\"\n"),
               ContainsSubstring("h.toml:7:"));
    CHECK_THAT(wrong_device(kDevice + "price = { usd_per_hour = 1.0, date = \"2025-13-01\", source = \"s\" }\n"),
               ContainsSubstring("is no date"));
    CHECK_THAT(wrong_device(kDevice + "price = { usd_per_hour = 1.0, source = \"s\" }\n"),
               ContainsSubstring("date is missing"));
}
