// .npy files against the bytes that numpy.save writes.

#include "engine/io/npy.h"

#include "base/process.h"
#include "tests/catch.h"
#include "tests/little_endian.h"
#include "tests/python.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::engine;
using test::little_endian;
using test::read_text;
using test::TemporaryFolder;
using test::write_text;

namespace {

// As numpy.save writes it: version 1.0, a header padded with spaces and a line feed to a multiple of 64 bytes.
std::string numpy_file(const std::string& dictionary, const std::string& data) {
    std::string header = dictionary;
    while ((10 + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() & 255) +
           static_cast<char>(header.size() >> 8) + header + data;
}

const std::string kThree = "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }";
const std::string kThreeValues =
    little_endian(5, 8) + little_endian(static_cast<std::uint64_t>(-2), 8) + little_endian(1ULL << 40, 8);

std::string wrong_npy(const std::string& bytes) {
    const TemporaryFolder folder;
    write_text(folder / "a.npy", bytes);
    return test::refusal(
        ErrorKind::io, [&] { read_npy(folder / "a.npy"); }, "a.npy");
}

}  // namespace

TEST_CASE("npy: reads and writes numpy's bytes", "[bare][python]") {
    const TemporaryFolder folder;
    const std::string file = numpy_file(kThree, kThreeValues);
    REQUIRE(file.size() == 128 + 24);
    write_text(folder / "a.npy", file);
    const Npy read = read_npy(folder / "a.npy");
    REQUIRE(read.type == NumberType{'i', 8});
    const auto span = read.as<std::int64_t>();
    const std::vector<std::int64_t> values(span.begin(), span.end());
    CHECK(values == std::vector<std::int64_t>{5, -2, std::int64_t{1} << 40});
    write_npy(folder / "b.npy", span);
    CHECK(read_text(folder / "b.npy") == file);
    write_npy(folder / "empty.npy", std::span<const std::int64_t>());
    CHECK(read_text(folder / "empty.npy") ==
          numpy_file("{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }", ""));
    CHECK(read_npy(folder / "empty.npy").count == 0);
}

TEST_CASE("npy: version 2.0 has a longer header length", "[bare][python]") {
    std::string header = kThree;
    while ((12 + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    const std::string file = std::string("\x93NUMPY\x02\x00", 8) + static_cast<char>(header.size()) +
                             std::string(3, '\0') + header + kThreeValues;
    CHECK(wrong_npy(file) == "accepted");
    CHECK_THAT(wrong_npy(file.substr(0, 11)), ContainsSubstring("truncated"));
}

TEST_CASE("npy: every truncation is refused", "[bare][python]") {
    const std::string whole = numpy_file(kThree, kThreeValues);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO(size << " bytes");
        CHECK(wrong_npy(whole.substr(0, size)) != "accepted");
    }
    CHECK(wrong_npy(whole + "x") != "accepted");
}

TEST_CASE("npy: other types, orders, ranks and hostile shapes", "[bare][python]") {
    const auto with = [](const std::string& descr, const std::string& order, const std::string& shape) {
        return wrong_npy(numpy_file(
            "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }", kThreeValues));
    };
    CHECK(with("'<i8'", "False", "(3,)") == "accepted");
    CHECK(with("'<f8'", "False", "(3,)") == "accepted");
    CHECK(with("'<u4'", "False", "(6,)") == "accepted");
    CHECK(with("'|i1'", "False", "(24,)") == "accepted");
    CHECK_THAT(with("'<i4'", "False", "(3,)"), ContainsSubstring("24 bytes of data"));
    CHECK_THAT(with("'<f2'", "False", "(12,)"), ContainsSubstring("not little-endian integers"));
    CHECK_THAT(with("'>i8'", "False", "(3,)"), ContainsSubstring("not little-endian integers"));
    CHECK_THAT(with("'|O'", "False", "(3,)"), ContainsSubstring("not little-endian integers"));
    CHECK_THAT(with("'<i8'", "True", "(3,)"), ContainsSubstring("Fortran"));
    CHECK_THAT(with("'<i8'", "False", "(3, 1)"), ContainsSubstring("one-dimensional"));
    CHECK_THAT(with("'<i8'", "False", "()"), ContainsSubstring("one-dimensional"));
    CHECK_THAT(with("'<i8'", "False", "(-3,)"), ContainsSubstring("one-dimensional"));
    CHECK_THAT(with("'<i8'", "False", "(99999999999999999999999,)"), ContainsSubstring("one-dimensional"));
    // 2^61 + 3 elements of eight bytes are 24 bytes modulo 2^64.
    CHECK_THAT(with("'<i8'", "False", "(2305843009213693955,)"), ContainsSubstring("24 bytes of data"));
    CHECK_THAT(wrong_npy(numpy_file("{}", kThreeValues)), ContainsSubstring("not little-endian integers"));
    CHECK_THAT(wrong_npy("PK\x03\x04 an .npz file"), ContainsSubstring("no .npy file"));
}

TEST_CASE("npy: numpy itself writes and reads the same bytes", "[bare][python]") {
    const TemporaryFolder folder;
    const std::string script =
        "import sys, numpy\n"
        "numpy.save(sys.argv[1], numpy.array([5, -2, 1 << 40], dtype='<i8'))\n"
        "assert numpy.load(sys.argv[2]).tolist() == [5, -2, 1 << 40]\n";
    const std::vector<std::int64_t> values{5, -2, std::int64_t{1} << 40};
    write_npy(folder / "ours.npy", std::span(values));
    const std::string python = "/usr/bin/python3";
    if (test::run_python({"-c", "import numpy"}, python).exit_code != 0) DEFT_SKIP("no numpy for /usr/bin/python3");
    const ProcessOutput output =
        run_process({python, "-c", script, (folder / "theirs.npy").string(), (folder / "ours.npy").string()});
    REQUIRE(output.exit_code == 0);
    CHECK(read_text(folder / "theirs.npy") == read_text(folder / "ours.npy"));
}
