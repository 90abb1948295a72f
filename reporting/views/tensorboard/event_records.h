#pragma once
// Event files as TensorBoard reads them: records of TFRecord, each a protobuf message `tensorflow.Event`. The formats
// are those of tensorflow/core/lib/io/record_writer.cc and tensorflow/core/util/event.proto.

#include <cstdint>
#include <string>
#include <string_view>

namespace deft::reporting {

// CRC-32C (Castagnoli), as RFC 3720 defines it.
std::uint32_t crc32c(std::string_view bytes);

// Length, masked CRC of the length, the bytes, masked CRC of the bytes.
std::string tf_record(std::string_view bytes);

// When and at which step an event happened.
struct EventTime {
    double seconds = 0;  // since 1970
    std::int64_t step = 0;
};

// Messages; tf_record() makes a record of each. A file begins with that of its version.
std::string version_event(double seconds);
// A number as a 32-bit float, which is what such files hold.
std::string scalar_event(const EventTime& time, std::string_view tag, double value);
// Markdown for the dashboard "Text".
std::string text_event(const EventTime& time, std::string_view tag, std::string_view markdown);

}  // namespace deft::reporting
