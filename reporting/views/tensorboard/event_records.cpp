#include "reporting/views/tensorboard/event_records.h"

#include <array>
#include <bit>

namespace deft::reporting {

namespace {

constexpr std::array<std::uint32_t, 256> crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82F63B78u : 0);
        table[i] = value;
    }
    return table;
}

void put_little_endian(std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to.push_back(static_cast<char>(value >> 8 * i & 0xFF));
}

// A CRC of bytes that hold a CRC says little, so those that are stored are rotated and shifted.
std::uint32_t masked_crc(std::string_view bytes) {
    return std::rotr(crc32c(bytes), 15) + 0xA282EAD8u;
}

// ---------- the wire format of protobuf ----------

enum Wire : std::uint32_t { varint = 0, fixed64 = 1, counted_bytes = 2, fixed32 = 5 };

void put_varint(std::string& to, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
    to.push_back(static_cast<char>(value));
}

void put_key(std::string& to, std::uint32_t field, Wire wire) {
    put_varint(to, field << 3 | wire);
}

void put_integer(std::string& to, std::uint32_t field, std::int64_t value) {
    put_key(to, field, varint);
    put_varint(to, static_cast<std::uint64_t>(value));
}

void put_double(std::string& to, std::uint32_t field, double value) {
    put_key(to, field, fixed64);
    put_little_endian(to, std::bit_cast<std::uint64_t>(value), 8);
}

void put_float(std::string& to, std::uint32_t field, float value) {
    put_key(to, field, fixed32);
    put_little_endian(to, std::bit_cast<std::uint32_t>(value), 4);
}

void put_bytes(std::string& to, std::uint32_t field, std::string_view bytes) {
    put_key(to, field, counted_bytes);
    put_varint(to, bytes.size());
    to.append(bytes);
}

// ---------- messages, with the numbers of their fields ----------

constexpr std::int64_t kString = 7;  // DataType DT_STRING
constexpr std::int64_t kTensor = 2;  // DataClass DATA_CLASS_TENSOR

std::string event_at(const EventTime& time) {
    std::string event;
    put_double(event, 1, time.seconds);  // Event.wall_time
    put_integer(event, 2, time.step);    // Event.step
    return event;
}

std::string summary_event(const EventTime& time, std::string_view value) {
    std::string summary, event = event_at(time);
    put_bytes(summary, 1, value);  // Summary.value
    put_bytes(event, 5, summary);  // Event.summary
    return event;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
    static constexpr std::array<std::uint32_t, 256> kTable = crc_table();
    std::uint32_t crc = 0xFFFFFFFFu;
    for (const char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
    return ~crc;
}

std::string tf_record(std::string_view bytes) {
    std::string record;
    record.reserve(bytes.size() + 16);
    put_little_endian(record, bytes.size(), 8);
    put_little_endian(record, masked_crc(record), 4);
    record.append(bytes);
    put_little_endian(record, masked_crc(bytes), 4);
    return record;
}

std::string version_event(double seconds) {
    std::string event;
    put_double(event, 1, seconds);
    put_bytes(event, 3, "brain.Event:2");  // Event.file_version
    return event;
}

std::string scalar_event(const EventTime& time, std::string_view tag, double number) {
    std::string value;
    put_bytes(value, 1, tag);                         // Summary.Value.tag
    put_float(value, 2, static_cast<float>(number));  // Summary.Value.simple_value
    return summary_event(time, value);
}

std::string text_event(const EventTime& time, std::string_view tag, std::string_view markdown) {
    std::string plugin, metadata, tensor, value;
    put_bytes(plugin, 1, "text");       // SummaryMetadata.PluginData.plugin_name
    put_bytes(metadata, 1, plugin);     // SummaryMetadata.plugin_data
    put_integer(metadata, 4, kTensor);  // SummaryMetadata.data_class
    put_integer(tensor, 1, kString);    // TensorProto.dtype
    put_bytes(tensor, 2, {});           // TensorProto.tensor_shape: a scalar
    put_bytes(tensor, 8, markdown);     // TensorProto.string_val
    put_bytes(value, 1, tag);
    put_bytes(value, 8, tensor);    // Summary.Value.tensor
    put_bytes(value, 9, metadata);  // Summary.Value.metadata
    return summary_event(time, value);
}

}  // namespace deft::reporting
