#include "engine/train/gathered_moments.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "engine/io/tensor_pieces.h"

namespace deft::engine {

namespace {

// What rank 0 asks of another: elements of the moments that it has of a parameter; none of them: it may go on.
struct Request {
    std::int64_t parameter = 0, which = 0, first = 0, count = 0;
};

std::span<std::byte> bytes_of(Request& request) {
    return std::as_writable_bytes(std::span(&request, 1));
}

}  // namespace

std::string moment_name(const Parameter& parameter, int which) {
    return parameter.name + (which == 0 ? ".m" : ".v");
}

GatheredMoments::~GatheredMoments() {
    Request nothing;
    for (int rank = 1; rank < ranks_.size(); ++rank) ranks_.send(bytes_of(nothing), rank);
}

std::vector<NamedTensor> GatheredMoments::tensors() const {
    std::vector<NamedTensor> tensors;
    for (const Parameter& p : table_.all())
        for (int which = 0; which < table_.moments(); ++which)
            tensors.push_back({moment_name(p, which), p.value});
    return tensors;
}

void GatheredMoments::write(SafetensorsOutput& out) const {
    for (std::size_t i = 0; i < table_.all().size(); ++i)
        for (int which = 0; which < table_.moments(); ++which) write_moment(i, which, out);
}

void GatheredMoments::write_moment(std::size_t parameter, int which, SafetensorsOutput& out) const {
    const Tensor own = table_.own_moment(table_[parameter], which);
    write_in_pieces(exec_, own, {}, out);
    const std::int64_t bytes = size_of(own.dtype), at_once = kPieceBytes / bytes;
    std::vector<std::byte> piece;
    for (int rank = 1; rank < table_.owner().ranks; ++rank) {
        const std::int64_t elements = table_.elements_of_rank(table_[parameter], rank).size();
        for (std::int64_t first = 0; first < elements; first += at_once) {
            Request request{static_cast<std::int64_t>(parameter), which, first, std::min(at_once, elements - first)};
            ranks_.send(bytes_of(request), rank);
            piece.resize(static_cast<std::size_t>(request.count * bytes));
            ranks_.receive(piece, rank);
            out.write(piece.data(), request.count * bytes);
        }
    }
}

void answer_for_moments(Exec& exec, const ParameterTable& table, const Communicator& ranks) {
    std::vector<std::byte> staging;
    for (Request request;;) {
        ranks.receive(bytes_of(request), 0);
        if (request.count == 0) return;
        const Parameter& parameter = table[static_cast<std::size_t>(request.parameter)];
        const Tensor piece = table.own_moment(parameter, static_cast<int>(request.which)).part(request.first, request.count);
        const auto* values = static_cast<const std::byte*>(host_bytes(exec, piece, staging));
        ranks.send({values, static_cast<std::size_t>(piece.bytes())}, 0);
    }
}

}  // namespace deft::engine
