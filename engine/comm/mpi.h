#pragma once
// Bytes between ranks, through MPI: mpi.cpp where the build has it, no_mpi.cpp where it has not.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace deft::engine::mpi {

struct Group;  // ranks that talk with each other, and what left this one

bool is_there();
// Of all processes that were started with this one; null where no launcher of MPI did. Errors: missing, without MPI.
std::shared_ptr<Group> of_launcher();
std::shared_ptr<Group> split(const std::shared_ptr<Group>& group, int color);
int rank(const Group& group);
int size(const Group& group);
std::int64_t bytes_sent(const Group& group);

// What goes to or comes from one rank, where it stands.
template <class Byte>
struct Piece {
    Byte* at = nullptr;
    std::size_t bytes = 0;
};
// (ranks) pieces each. What a rank sends to itself is copied, and counts as nothing sent. Pieces that are sent and those
// that are received do not overlap.
void exchange(Group& group, std::span<const Piece<const std::byte>> sent, std::span<const Piece<std::byte>> received);
void broadcast(Group& group, std::byte* values, std::size_t bytes, int root);
void send(Group& group, const std::byte* values, int bytes, int to);
void receive(Group& group, std::byte* values, int bytes, int from);
void barrier(Group& group);
// This process ends without a word to the others, which the launcher then ends.
void leave(Group& group);

}  // namespace deft::engine::mpi
