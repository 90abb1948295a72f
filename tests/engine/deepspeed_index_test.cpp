// DeepSpeed's index files, built here byte by byte from the published layout, and the writer against them.

#include "engine/data_efficiency/sampling/deepspeed_index.h"

#include <limits>
#include <random>
#include <set>

#include "engine/data_efficiency/sampling/deepspeed_rows.h"
#include "tests/catch.h"
#include "tests/little_endian.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft::engine;
using deft::ErrorKind;
using deft::test::little_endian;
using deft::test::read_text;
using deft::test::refusal;
using deft::test::TemporaryFolder;
using deft::test::write_text;
namespace fs = std::filesystem;

namespace {

using Rows = std::vector<std::vector<std::int64_t>>;

std::string idx_bytes(int code, int width, const Rows& rows) {
    std::string text = std::string("MMIDIDX\0\0", 9) + little_endian(1, 8) +
                       little_endian(static_cast<std::uint64_t>(code), 1) + little_endian(rows.size(), 8) +
                       little_endian(2, 8);
    for (const auto& row : rows) text += little_endian(row.size(), 4);
    std::uint64_t offset = 0;
    for (const auto& row : rows) {
        text += little_endian(offset, 8);
        offset += row.size() * static_cast<std::uint64_t>(width);
    }
    return text + little_endian(0, 8) + little_endian(rows.size(), 8);
}

std::string bin_bytes(int width, const Rows& rows) {
    std::string text;
    for (const auto& row : rows)
        for (const std::int64_t element : row) text += little_endian(static_cast<std::uint64_t>(element), width);
    return text;
}

void write_rows(const fs::path& prefix, int code, int width, const Rows& rows) {
    write_text(prefix.string() + ".idx", idx_bytes(code, width, rows));
    write_text(prefix.string() + ".bin", bin_bytes(width, rows));
}

std::vector<std::int64_t> all(const IntegerColumn& column) {
    return {column.begin(), column.end()};
}

std::string wrong_rows(const std::string& idx, const std::string& bin) {
    const TemporaryFolder folder;
    write_text(folder / "r.idx", idx);
    write_text(folder / "r.bin", bin);
    return refusal(
        ErrorKind::io, [&] { const IndexedRows rows(folder / "r"); }, "/r.");
}

}  // namespace

TEST_CASE("deepspeed rows: each of its eight type codes") {
    const TemporaryFolder folder;
    const struct {
        int code, width;
        std::int64_t least, most;
    } types[] = {{1, 1, 0, 255},
                 {2, 1, -128, 127},
                 {3, 2, -32'768, 32'767},
                 {4, 4, -2'147'483'648, 2'147'483'647},
                 {5, 8, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()},
                 {6, 2, 0, 65'535},
                 {7, 4, 1, 4'294'967'295},
                 {8, 8, 0, std::numeric_limits<std::int64_t>::max()}};
    for (const auto& type : types) {
        INFO("code " << type.code);
        write_rows(folder / "r", type.code, type.width, {{type.least, 5}, {}, {type.most}});
        const IndexedRows rows(folder / "r");
        CHECK(rows.rows() == 3);
        CHECK(all(rows.elements()) == std::vector<std::int64_t>{type.least, 5, type.most});
        std::vector<std::int64_t> lengths;
        rows.for_each_row([&](std::int64_t, std::int64_t, std::int64_t length) { lengths.push_back(length); });
        CHECK(lengths == std::vector<std::int64_t>{2, 0, 1});
    }
}

TEST_CASE("deepspeed rows: codes that other programs give other types are refused where the elements may be theirs") {
    // 1.0 and 2.5 as 32-bit floats: code 7 in fairseq's old order.
    const Rows floats = {{0x3f800000}, {0x40200000}};
    CHECK_THAT(wrong_rows(idx_bytes(7, 4, floats), bin_bytes(4, floats)),
               ContainsSubstring("code 7") && ContainsSubstring("code 5"));
    // 64-bit floats under 6 or 7, 32-bit ones under 6, and Megatron's two-byte tokens under 8: their widths differ.
    const Rows two = {{1, 2}, {3}};
    for (const auto& [code, width] : {std::pair{6, 4}, {6, 8}, {7, 8}, {8, 2}}) {
        INFO("code " << code << " of " << width << " bytes");
        CHECK_THAT(wrong_rows(idx_bytes(code, width, two), bin_bytes(width, two)),
                   ContainsSubstring("row 1 begins at byte"));
    }
    // One row is ambiguous by its offset; the size of the .bin decides.
    CHECK_THAT(wrong_rows(idx_bytes(8, 2, {{1, 2}}), bin_bytes(2, {{1, 2}})),
               ContainsSubstring("4 bytes where its index declares 16"));
    CHECK_THAT(wrong_rows(idx_bytes(9, 2, two), bin_bytes(2, two)), ContainsSubstring("type code 9"));
    CHECK_THAT(wrong_rows(idx_bytes(0, 2, two), bin_bytes(2, two)), ContainsSubstring("type code 0"));
    CHECK_THAT(wrong_rows(idx_bytes(8, 8, {{-1}}), bin_bytes(8, {{-1}})), ContainsSubstring("above 2^63"));
}

TEST_CASE("deepspeed rows: every truncation of either file, and hostile counts, are refused") {
    const Rows rows = {{1, 2}, {3}};
    const std::string idx = idx_bytes(3, 2, rows), bin = bin_bytes(2, rows);
    REQUIRE(wrong_rows(idx, bin) == "accepted");
    for (std::size_t size = 0; size < idx.size(); ++size) CHECK(wrong_rows(idx.substr(0, size), bin) != "accepted");
    for (std::size_t size = 0; size < bin.size(); ++size) CHECK(wrong_rows(idx, bin.substr(0, size)) != "accepted");
    CHECK(wrong_rows(idx + "x", bin) != "accepted");
    CHECK(wrong_rows(idx, bin + "x") != "accepted");
    const auto with = [&](std::size_t at, std::uint64_t value, int width) {
        std::string bad = idx;
        bad.replace(at, static_cast<std::size_t>(width), little_endian(value, width));
        return wrong_rows(bad, bin);
    };
    CHECK_THAT(with(9, 2, 8), ContainsSubstring("version 2"));
    for (const std::uint64_t rows_claimed : {0ULL, 1ULL, 3ULL, 1ULL << 60, ~0ULL})
        CHECK(with(18, rows_claimed, 8) != "accepted");
    for (const std::uint64_t borders : {0ULL, 1ULL, 3ULL, 1ULL << 61, ~0ULL}) CHECK(with(26, borders, 8) != "accepted");
    CHECK_THAT(with(34, 0xffffffff, 4), ContainsSubstring("length -1"));
    CHECK(with(34, 0x7fffffff, 4) != "accepted");
    CHECK(with(42, 2, 8) != "accepted");  // an offset
    CHECK_THAT(with(58, 3, 8), ContainsSubstring("document 0"));
}

TEST_CASE("deepspeed rows: a row of more than 2^31 - 1 elements is refused before anything is written") {
    const TemporaryFolder folder;
    const IntegerColumn many{nullptr, std::int64_t{1} << 31, {'u', 1}};
    CHECK_THROWS_WITH(write_indexed_rows(folder / "r", many, 1, [](std::int64_t) { return std::int64_t{1} << 31; }),
                      ContainsSubstring("row 0") && ContainsSubstring("2147483648 elements"));
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("deepspeed index: the writer's bytes, by hand") {
    const TemporaryFolder folder;
    write_deepspeed_index(index_of_values({300, 2, 300, 2, 7}), folder.path(), "voc");
    const auto check = [&](const std::string& name, int code, int width, const Rows& rows) {
        INFO(name);
        CHECK(read_text(folder / ("voc_" + name + ".idx").c_str()) == idx_bytes(code, width, rows));
        CHECK(read_text(folder / ("voc_" + name + ".bin").c_str()) == bin_bytes(width, rows));
    };
    check("sample_to_metric", 3, 2, {{300}, {2}, {300}, {2}, {7}});
    check("index_to_metric", 3, 2, {{2}, {7}, {300}});
    check("index_to_sample", 1, 1, {{1, 3}, {4}, {0, 2}});
    check("index_to_sample_percentile_merged", 1, 1, {{1, 3}, {4}, {0, 2}});
}

TEST_CASE("deepspeed index: 250 distinct values are merged by twos") {
    const TemporaryFolder folder;
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < 250; ++i) values.push_back(i * 3);
    write_deepspeed_index(index_of_values(values), folder.path(), "m");
    const IndexedRows merged(folder / "m_index_to_sample_percentile_merged");
    CHECK(merged.rows() == 125);
    merged.for_each_row([](std::int64_t, std::int64_t, std::int64_t length) { CHECK(length == 2); });
}

TEST_CASE("deepspeed index: what is written is read again, from any of its files") {
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    std::vector<std::int64_t> values(1'000);
    for (auto& value : values) value = static_cast<std::int64_t>(random() % 90) * 1'000'000'007 - 5;
    const DifficultyIndex index = index_of_values(values);
    const TemporaryFolder folder;
    write_deepspeed_index(index, folder.path(), "m");
    const auto same = [&] {
        const auto [read, has_values] = read_deepspeed_index(folder.path(), "m", 1'000);
        CHECK(has_values);
        return all(read.value) == all(index.value) && all(read.order) == all(index.order);
    };
    CHECK(same());
    fs::remove(folder / "m_index_to_sample.idx");
    CHECK(same());
    fs::remove(folder / "m_sample_to_metric.idx");  // the groups alone: 90 values are merged by ones
    const DeepSpeedIndex ordered = read_deepspeed_index(folder.path(), "m", 1'000);
    CHECK(all(ordered.index.order) == all(index.order));
    CHECK_FALSE(ordered.has_values);
    fs::remove(folder / "m_index_to_sample_percentile_merged.idx");
    CHECK_THROWS_WITH(same(), ContainsSubstring("m_index_to_sample") && ContainsSubstring("missing"));
}

TEST_CASE("deepspeed index: samples that are missing, twice there or of another corpus are refused") {
    const TemporaryFolder folder;
    const auto says = [&](const Rows& samples, const Rows& values, std::int64_t count) {
        write_rows(folder / "m_index_to_sample", 4, 4, samples);
        write_rows(folder / "m_index_to_metric", 5, 8, values);
        return refusal(ErrorKind::io, [&] { read_deepspeed_index(folder.path(), "m", count); });
    };
    CHECK(says({{1, 0}, {2}}, {{5}, {6}}, 3) == "accepted");
    CHECK_THAT(says({{1, 0}, {2}}, {{5}, {6}}, 4), ContainsSubstring("orders 3 samples, and the corpus has 4"));
    CHECK_THAT(says({{1, 1}, {2}}, {{5}, {6}}, 3), ContainsSubstring("sample 1 twice"));
    CHECK_THAT(says({{1, 0}, {3}}, {{5}, {6}}, 3), ContainsSubstring("has sample 3"));
    CHECK_THAT(says({{1, -1}, {2}}, {{5}, {6}}, 3), ContainsSubstring("has sample -1"));
    CHECK_THAT(says({{1, 0}, {2}}, {{5}}, 3), ContainsSubstring("one analysis"));
    CHECK_THAT(says({{1, 0}, {2}}, {{5, 6}, {}}, 3), ContainsSubstring("row 0 has 2 values"));
}
