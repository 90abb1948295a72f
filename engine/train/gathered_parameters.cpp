#include "engine/train/gathered_parameters.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "engine/io/tensor_pieces.h"

namespace deft::engine {

namespace {

constexpr int kValues = -1;  // in place of the number of a moment

// Rank 0's request to another: elements of its part of a parameter; no elements: it may go on.
struct Request {
    std::int64_t parameter = 0, which = 0, first = 0, count = 0;
};

std::span<std::byte> bytes_of(Request& request) {
    return std::as_writable_bytes(std::span(&request, 1));
}

// A rank's part of a parameter, flat.
Tensor own_part(const ParameterTable& table, const Parameter& parameter, int which) {
    return which == kValues ? parameter.value.part(0, parameter.value.numel()) : table.own_moment(parameter, which);
}

}  // namespace

std::string moment_name(const Parameter& parameter, int which) {
    return parameter.name + (which == 0 ? ".m" : ".v");
}

Tensor shape_of_moment(const ParameterTable& table, const Parameter& parameter, int which) {
    Tensor whole = parameter.whole();
    whole.dtype = table.own_moment(parameter, which).dtype;
    return whole;
}

GatheredParameters::~GatheredParameters() {
    Request nothing;
    for (int rank = 1; rank < ranks_.size(); ++rank) ranks_.send(bytes_of(nothing), rank);
}

std::vector<NamedTensor> GatheredParameters::moments() const {
    std::vector<NamedTensor> tensors;
    for (const Parameter& p : table_.all())
        for (int which = 0; which < table_.moments(); ++which)
            tensors.push_back({moment_name(p, which), shape_of_moment(table_, p, which)});
    return tensors;
}

void GatheredParameters::write_moments(SafetensorsOutput& out) const {
    for (std::size_t i = 0; i < table_.all().size(); ++i) {
        const Parameter& p = table_[i];
        const int parts = p.is_divided ? expert_ranks_ : 1;  // each of which ranks share the moments of
        for (int which = 0; which < table_.moments(); ++which)
            for (int part = 0; part < parts; ++part)
                for (int sharing = 0; sharing < table_.owner_of(p).ranks; ++sharing)
                    write_from(part + sharing * parts, i, which, {0, table_.elements_of_rank(p, sharing).size()}, {},
                               out);
    }
}

void GatheredParameters::write_elements(const Parameter& parameter, Share elements, Layout layout,
                                        SafetensorsOutput& out) const {
    const std::int64_t of_rank = parameter.value.numel();
    for (int rank = 0; rank < expert_ranks_; ++rank) {
        const Share part = common_part(elements, {rank * of_rank, (rank + 1) * of_rank});
        if (part.size() > 0)
            write_from(rank, number_of(parameter), kValues, {part.begin - rank * of_rank, part.end - rank * of_rank},
                       layout, out);
    }
}

void GatheredParameters::write_from(int rank, std::size_t parameter, int which, Share elements, Layout layout,
                                    SafetensorsOutput& out) const {
    const Tensor own = own_part(table_, table_[parameter], which);
    if (rank == 0) return write_in_pieces(exec_, own.part(elements.begin, elements.size()), layout, out);
    const std::int64_t at_once = kPieceBytes / size_of(own.dtype);
    std::vector<std::byte> piece;
    for (std::int64_t first = elements.begin; first < elements.end; first += at_once) {
        Request request{static_cast<std::int64_t>(parameter), which, first, std::min(at_once, elements.end - first)};
        ranks_.send(bytes_of(request), rank);
        piece.resize(static_cast<std::size_t>(request.count * size_of(own.dtype)));
        ranks_.receive(piece, rank);
        write_in_pieces(exec_, make_tensor(piece.data(), own.dtype, {request.count}), layout, out);
    }
}

std::size_t GatheredParameters::number_of(const Parameter& parameter) const {
    const auto found = std::find_if(table_.all().begin(), table_.all().end(),
                                    [&](const Parameter& p) { return p.name == parameter.name; });
    return static_cast<std::size_t>(found - table_.all().begin());
}

void answer_for_parameters(Exec& exec, const ParameterTable& table, const Communicator& ranks) {
    std::vector<std::byte> staging;
    for (Request request;;) {
        ranks.receive(bytes_of(request), 0);
        if (request.count == 0) return;
        const Parameter& parameter = table[static_cast<std::size_t>(request.parameter)];
        const Tensor piece =
            own_part(table, parameter, static_cast<int>(request.which)).part(request.first, request.count);
        const auto* values = static_cast<const std::byte*>(host_bytes(exec, piece, staging));
        ranks.send({values, static_cast<std::size_t>(piece.bytes())}, 0);
    }
}

}  // namespace deft::engine
