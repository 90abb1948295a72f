#include "engine/io/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/files.h"

namespace deft::engine {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kAlignment = 64;  // of the data, as the format asks

[[noreturn]] void malformed_npy(const std::filesystem::path& file, const std::string& why) {
    throw Error(ErrorKind::io, fmt::format("{}: {}", file.string(), why),
                "write a one-dimensional, little-endian array of integers or floats, as numpy.save does");
}

// The value of 'key': in the header's dictionary, up to the comma or bracket that ends it.
std::string_view entry(std::string_view header, std::string_view key) {
    std::size_t at = header.find(key);
    if (at == std::string_view::npos) return {};
    at = header.find(':', at);
    if (at == std::string_view::npos) return {};
    header.remove_prefix(at + 1);
    while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
    return header;
}

// A type such as "'<i8'"; one-byte types have no byte order: "'|u1'".
NumberType type_of(std::string_view descr, const std::filesystem::path& file) {
    for (const NumberType type :
         {NumberType{'i', 1}, NumberType{'u', 1}, NumberType{'i', 2}, NumberType{'u', 2}, NumberType{'i', 4},
          NumberType{'u', 4}, NumberType{'i', 8}, NumberType{'u', 8}, NumberType{'f', 4}, NumberType{'f', 8}})
        if (descr.starts_with(fmt::format("'{}{}'", type.bytes == 1 ? '|' : '<', type.text()))) return type;
    malformed_npy(file, "its elements are not little-endian integers of 1 to 8 bytes or floats of 4 or 8");
}

}  // namespace

Npy read_npy(const std::filesystem::path& file) {
    auto mapped = std::make_shared<const MappedFile>(file);
    const std::string_view bytes(reinterpret_cast<const char*>(mapped->bytes().data()), mapped->bytes().size());
    if (bytes.size() < 10 || bytes.substr(0, 6) != kMagic) malformed_npy(file, "no .npy file");
    const int version = bytes[6];
    if (version != 1 && version != 2) malformed_npy(file, fmt::format("format version {} is not read", version));
    const std::size_t prefix = version == 1 ? 10 : 12;
    std::uint32_t length = 0;
    if (bytes.size() < prefix) malformed_npy(file, "truncated in its header");
    std::memcpy(&length, bytes.data() + 8, prefix - 8);
    if (length > bytes.size() - prefix) malformed_npy(file, "truncated in its header");
    const std::string_view header = bytes.substr(prefix, length), data = bytes.substr(prefix + length);
    const NumberType type = type_of(entry(header, "'descr'"), file);
    const auto width = static_cast<std::size_t>(type.bytes);
    if (!entry(header, "'fortran_order'").starts_with("False")) malformed_npy(file, "it is in Fortran order");
    std::string_view shape = entry(header, "'shape'");
    std::uint64_t count = 0;
    if (shape.empty() || shape.front() != '(') malformed_npy(file, "its header has no shape");
    shape.remove_prefix(1);
    const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), count);
    const auto rest = static_cast<std::size_t>(end - shape.data());
    if (error != std::errc() || shape.substr(rest, 2) != ",)") malformed_npy(file, "it is not one-dimensional");
    if (count > data.size() / width || count * width != data.size())
        malformed_npy(file, fmt::format("{} bytes of data where its header declares {} elements", data.size(), count));
    if (reinterpret_cast<std::uintptr_t>(data.data()) % width != 0) malformed_npy(file, "its data is not aligned");
    return {data.data(), static_cast<std::int64_t>(count), type, mapped};
}

std::string npy_header(NumberType type, std::int64_t count) {
    std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({},), }}",
                                     type.bytes == 1 ? '|' : '<', type.text(), count);
    constexpr std::size_t kPrefix = 10;
    header.resize((kPrefix + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kPrefix, ' ');
    header.back() = '\n';
    const auto length = static_cast<std::uint16_t>(header.size());
    std::string bytes(kMagic);
    bytes += std::string_view("\x01\x00", 2);
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    return bytes + header;
}

void write_npy(const std::filesystem::path& file, NumberType type, const void* data, std::int64_t count) {
    std::string bytes = npy_header(type, count);
    if (count > 0) bytes.append(static_cast<const char*>(data), static_cast<std::size_t>(count * type.bytes));
    write_file_atomically(file, bytes);
}

NpyOutput::NpyOutput(const std::filesystem::path& file, NumberType type, std::int64_t count)
    : file_(file), width_(type.bytes) {
    const std::string header = npy_header(type, count);
    header_bytes_ = static_cast<std::int64_t>(header.size());
    file_.write_at(0, header);
}

void NpyOutput::write(std::int64_t first, const void* data, std::int64_t count) {
    file_.write_at(header_bytes_ + first * width_,
                   {static_cast<const char*>(data), static_cast<std::size_t>(count * width_)});
}

void NpyOutput::finish() {
    file_.finish();
}

}  // namespace deft::engine
