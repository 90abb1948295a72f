// Safetensors files: written in pieces, mapped, refused when damaged; tensors to and from them in pieces.

#include "engine/io/safetensors.h"

#include <bit>
#include <cstring>
#include <random>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "engine/io/tensor_pieces.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/small_disk.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;
namespace fs = std::filesystem;

namespace {

std::vector<float> random_floats(std::size_t count) {
    std::mt19937 random(std::random_device{}());
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& value : values) value = normal(random);
    return values;
}

// A file with that header and data, the header as long as it is.
std::string safetensors_bytes(const std::string& header, const std::string& data) {
    const std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

std::string bytes_of(const void* data, std::size_t size) {
    return {static_cast<const char*>(data), size};
}

}  // namespace

TEST_CASE("safetensors: a tensor that the header names twice is refused", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "t.safetensors";
    const std::string one = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
    write_file_atomically(file, safetensors_bytes("{" + one + "}", "1234"));
    CHECK(read_safetensors(file).tensors.size() == 1);
    write_file_atomically(file, safetensors_bytes("{" + one + "," + one + "}", "1234"));
    CHECK_THAT(refusal(ErrorKind::io, [&] { read_safetensors(file); }), ContainsSubstring("its header names a twice"));
}

TEST_CASE("safetensors: written, read, and refused when damaged", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "t.safetensors";
    float floats[6] = {1, 2, 3, 4, 5, 6};
    kernels::bf16 rounded[4] = {{0x3f80}, {0xbf80}, {0x4000}, {0x7fc0}};
    std::int64_t ids[2] = {-1, std::int64_t{1} << 40};
    write_safetensors(file,
                      {{"w", make_tensor(floats, DType::f32, {2, 3})},
                       {"ids", make_tensor(ids, DType::i64, {2})},
                       {"r", make_tensor(rounded, DType::bf16, {2, 2})}},
                      {{"step", "7"}});
    const std::string whole = read_file(file);
    {
        const SafetensorsFile read = read_safetensors(file);
        CHECK(read.metadata.at("step") == "7");
        CHECK(read.tensors.at("w").shape_text() == "(2, 3) f32");
        CHECK(read.tensors.at("r").shape_text() == "(2, 2) bf16");
        CHECK(std::memcmp(read.tensors.at("w").data, floats, sizeof floats) == 0);
        CHECK(std::memcmp(read.tensors.at("ids").data, ids, sizeof ids) == 0);
        CHECK(std::memcmp(read.tensors.at("r").data, rounded, sizeof rounded) == 0);
        // A view into the file itself, not a copy.
        CHECK(static_cast<const char*>(read.tensors.at("w").data) ==
              reinterpret_cast<const char*>(read.file->bytes().data()) + whole.size() - 24 - 16 - 8);
    }
    for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{30}, whole.size() - 1}) {
        write_file_atomically(file, whole.substr(0, size));
        CHECK_THROWS_AS(read_safetensors(file), Error);
    }
    write_file_atomically(file, whole + "x");
    CHECK_THROWS_AS(read_safetensors(file), Error);
    std::string hole = whole;
    hole.replace(hole.find("[0,24]"), 6, "[8,24]");
    write_file_atomically(file, hole);
    CHECK_THROWS_AS(read_safetensors(file), Error);
    std::string other = whole;
    other.replace(other.find("BF16"), 4, "F8XX");
    write_file_atomically(file, other);
    CHECK_THAT(refusal(ErrorKind::io, [&] { read_safetensors(file); }), ContainsSubstring("F32, BF16"));
}

TEST_CASE("safetensors: the bytes of a file are those of the format's definition", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "t.safetensors";
    std::int32_t ids[3] = {1, 2, 3};
    kernels::bf16 rounded[1] = {{0x3f80}};
    const std::vector<NamedTensor> tensors = {{"z", make_tensor(ids, DType::i32, {3, 1})},
                                              {"a", make_tensor(rounded, DType::bf16, {1})},
                                              {"none", make_tensor(nullptr, DType::f32, {0, 4})}};
    // Written out by hand: keys sorted, offsets in the order of writing, filled up with spaces to a multiple of eight.
    std::string header = R"({"__metadata__":{"format":"pt"},"a":{"data_offsets":[12,14],"dtype":"BF16","shape":[1]},)"
                         R"("none":{"data_offsets":[14,14],"dtype":"F32","shape":[0,4]},)"
                         R"("z":{"data_offsets":[0,12],"dtype":"I32","shape":[3,1]}})";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const std::string expected = safetensors_bytes(header, bytes_of(ids, 12) + bytes_of(rounded, 2));
    CHECK(write_safetensors(file, tensors, {{"format", "pt"}}) == sha256(expected));
    CHECK(read_file(file) == expected);

    SafetensorsOutput pieces(file, tensors, {{"format", "pt"}});
    pieces.write(ids, 5);
    pieces.write(reinterpret_cast<const char*>(ids) + 5, 7);
    pieces.write(rounded, 2);
    CHECK(pieces.finish() == sha256(expected));
    CHECK(read_file(file) == expected);
}

TEST_CASE("safetensors: what does not fit its header is a mistake in the program, and leaves the old file", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "t.safetensors";
    write_file_atomically(file, "old");
    float values[4] = {};
    const NamedTensor tensor{"w", make_tensor(values, DType::f32, {4})};
    CHECK_THROWS_AS(SafetensorsOutput(file, {tensor, tensor}, {}), std::logic_error);
    {
        SafetensorsOutput out(file, {tensor}, {});
        out.write(values, 12);
        CHECK_THROWS_AS(out.finish(), std::logic_error);
        CHECK_THROWS_AS(out.write(values, 5), std::logic_error);
    }
    CHECK(read_file(file) == "old");
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("safetensors: a full disk is an error, and leaves the old file", "[bare]") {
    const TemporaryFolder folder;
    const SmallDisk disk(folder / "disk", 256);
    if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
    write_file_atomically(disk / "t", "old");
    const std::vector<float> values = random_floats(100'000);
    Exec exec;
    CHECK_THAT(
        refusal(ErrorKind::io,
                [&] {
                    const Tensor tensor = make_tensor(const_cast<float*>(values.data()), DType::f32, {1000, 100});
                    SafetensorsOutput out(disk / "t", {{"w", tensor}}, {});
                    write_in_pieces(exec, tensor, {}, out);
                    out.finish();
                }),
        ContainsSubstring("No space left"));
    CHECK(read_file(disk / "t") == "old");
    CHECK(std::distance(fs::directory_iterator(folder / "disk"), fs::directory_iterator()) == 1);
}

// Odd sizes, smaller than a piece and larger, with pieces that end inside a row and blocks that end inside a tile.
TEST_CASE("tensors go to a file and come back in pieces, transposed and rounded on request", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "t.safetensors";
    struct Extents {
        std::int64_t rows, columns;
    };
    // The last two are a little longer than a piece, whichever way they are walked.
    static_assert(kPieceBytes == 4 * 1024 * 4096);
    for (const auto [rows, columns] :
         {Extents{1, 1}, {3, 5}, {33, 67}, {101, 1}, {1, 77}, {1027, 4103}, {4103, 1027}}) {
        const std::vector<float> values = random_floats(static_cast<std::size_t>(rows * columns));
        const Tensor own = make_tensor(const_cast<float*>(values.data()), DType::f32, {rows, columns});
        for (const bool transposed : {false, true}) {
            for (const DType dtype : {DType::f32, DType::bf16}) {
                INFO(rows << " x " << columns << (transposed ? ", transposed, " : ", ") << dtype_name(dtype));
                Exec exec;
                Tensor stored = own;
                stored.dtype = dtype;
                if (transposed) std::swap(stored.shape[0], stored.shape[1]);
                // A tensor of one byte's worth before it, so that it is at an odd place of the file.
                kernels::bf16 first[1] = {{0x1234}};
                SafetensorsOutput out(file, {{"first", make_tensor(first, DType::bf16, {1})}, {"w", stored}}, {});
                out.write(first, 2);
                write_in_pieces(exec, own, {dtype, transposed}, out);
                out.finish();

                const SafetensorsFile read = read_safetensors(file);
                const Tensor& from = read.tensors.at("w");
                const auto* bytes = static_cast<const char*>(from.data);
                std::vector<float> back(values.size(), -7);
                read_in_pieces(exec, {make_tensor(back.data(), DType::f32, {rows, columns}), from, transposed},
                               *read.file);
                std::size_t wrong_stored = 0, wrong_read = 0;
                for (std::int64_t r = 0; r < rows; ++r)
                    for (std::int64_t c = 0; c < columns; ++c) {
                        const float value = values[static_cast<std::size_t>(r * columns + c)];
                        const std::int64_t at = transposed ? c * rows + r : r * columns + c;
                        const float expected = dtype == DType::f32 ? value : kernels::to_float(kernels::to_bf16(value));
                        const kernels::bf16 half = kernels::to_bf16(value);
                        wrong_stored += dtype == DType::f32 ? std::memcmp(bytes + 4 * at, &value, 4) != 0
                                                            : std::memcmp(bytes + 2 * at, &half, 2) != 0;
                        wrong_read += back[static_cast<std::size_t>(r * columns + c)] != expected;
                    }
                CHECK(wrong_stored == 0);
                CHECK(wrong_read == 0);
            }
        }
    }
}

TEST_CASE("a weight is rounded to the nearest bf16, ties to even, and widened exactly", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "t.safetensors";
    // bf16 has eight bits of significand: between 1 and 2 its step is 1/128. By hand:
    float values[] = {1.0f, 1.0f + 1.0f / 256, 1.0f + 3.0f / 256, 1.004f, -1.0f - 1.0f / 256, 1.75e38f, 1e-40f, -0.0f};
    const std::uint16_t expected[] = {0x3f80, 0x3f80, 0x3f82, 0x3f81, 0xbf80, 0x7f04, 0x0001, 0x8000};
    const Tensor own = make_tensor(values, DType::f32, {8});
    Exec exec;
    SafetensorsOutput out(file, {{"w", make_tensor(nullptr, DType::bf16, {8})}}, {});
    write_in_pieces(exec, own, {DType::bf16, false}, out);
    out.finish();
    const SafetensorsFile read = read_safetensors(file);
    const auto* stored = read.tensors.at("w").as<kernels::bf16>();
    float back[8];
    read_in_pieces(exec, {make_tensor(back, DType::f32, {8}), read.tensors.at("w"), false}, *read.file);
    for (int i = 0; i < 8; ++i) {
        INFO(values[i]);
        CHECK(stored[i].bits == expected[i]);
        CHECK(std::bit_cast<std::uint32_t>(back[i]) == std::uint32_t{expected[i]} << 16);
    }
}

TEST_CASE("a header that another program did not fill up leaves tensors unaligned, and they are read", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "t.safetensors";
    std::string header = R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})";
    while (header.size() % 4 != 3) header += ' ';
    const std::vector<float> values = random_floats(6);
    write_file_atomically(file, safetensors_bytes(header, bytes_of(values.data(), 24)));
    const SafetensorsFile read = read_safetensors(file);
    Exec exec;
    std::vector<float> back(6), turned(6);
    read_in_pieces(exec, {make_tensor(back.data(), DType::f32, {2, 3}), read.tensors.at("w"), false}, *read.file);
    read_in_pieces(exec, {make_tensor(turned.data(), DType::f32, {3, 2}), read.tensors.at("w"), true}, *read.file);
    CHECK(back == values);
    CHECK(turned == std::vector<float>{values[0], values[3], values[1], values[4], values[2], values[5]});
}

TEST_CASE("a file that is cut short once it is mapped is an error, and no signal", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "t.safetensors";
    const std::vector<float> values = random_floats(300'000);
    write_safetensors(file, {{"w", make_tensor(const_cast<float*>(values.data()), DType::f32, {600, 500})}}, {});
    const SafetensorsFile read = read_safetensors(file);
    fs::resize_file(file, 5000);
    Exec exec;
    std::vector<float> back(values.size());
    for (const bool transposed : {false, true})
        CHECK_THAT(refusal(ErrorKind::io,
                           [&] {
                               read_in_pieces(
                                   exec,
                                   {make_tensor(back.data(), DType::f32, {500, 600}), read.tensors.at("w"), transposed},
                                   *read.file);
                           }),
                   ContainsSubstring("cut short"));
}
