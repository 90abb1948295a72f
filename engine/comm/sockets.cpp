#include "engine/comm/sockets.h"

#include <chrono>
#include <utility>
#include <vector>

#include "engine/comm/handshake.h"
#include "engine/comm/mesh.h"

namespace deft::engine::sockets {

namespace {

// Each group has its own connections: one group's unfinished sends do not block another.
class SocketRanks final : public Transport {
 public:
    // sockets (ranks), of ranks with those numbers among all.
    SocketRanks(std::shared_ptr<Mesh> mesh, int rank, std::vector<Descriptor> sockets, const std::vector<int>& numbers)
        : mesh_(std::move(mesh)), rank_(rank), links_(sockets.size()) {
        for (std::size_t r = 0; r < links_.size(); ++r) {
            links_[r].rank = numbers[r];
            links_[r].socket = std::move(sockets[r]);
            if (static_cast<int>(r) == rank_) continue;
            mesh_->add(links_[r]);
            others_.push_back(&links_[r]);
        }
    }
    ~SocketRanks() override {
        for (const Link* const link : others_) mesh_->remove(*link);
    }

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(links_.size()); }

    // The connections of this group carry where those of the part are to be made.
    std::shared_ptr<Transport> split(int color) override {
        struct Offer {
            std::int32_t color = 0;
            std::uint32_t port = 0;
            std::uint64_t key = 0;
        };
        const Door door(host_of_door());
        std::vector<Offer> offers(links_.size());
        offers[at(rank_)] = {color, door.port(), door.key()};
        for (Link* const link : others_) begin(*link, MessageKind::split, &offers[at(rank_)], sizeof(Offer));
        awaited_.clear();
        for (std::size_t r = 0; r < links_.size(); ++r)
            if (static_cast<int>(r) != rank_) await(links_[r], MessageKind::split, &offers[r], sizeof(Offer));
        mesh_->exchange(awaited_, others_);

        int rank = 0;
        std::vector<DoorAddress> places;
        std::vector<int> numbers;
        for (std::size_t r = 0; r < links_.size(); ++r) {
            if (offers[r].color != color) continue;
            if (static_cast<int>(r) == rank_) rank = static_cast<int>(places.size());
            const tcp::Host host = static_cast<int>(r) == rank_ ? tcp::Host{} : tcp::peer_of(links_[r].socket);
            places.push_back({host, offers[r].port, links_[r].rank, offers[r].key});
            numbers.push_back(links_[r].rank);
        }
        auto sockets = connect_pairs(rank, places, door, 1, Clock::now() + Meeting().patience);
        return std::make_shared<SocketRanks>(mesh_, rank, std::move(sockets[0]), numbers);
    }

    void begin_sending(std::span<const Outgoing> pieces) override {
        for (std::size_t r = 0; r < links_.size(); ++r) {
            if (pieces[r].bytes == 0) continue;
            mesh_->begin(links_[r], MessageKind::pieces, pieces[r]);
            count_sent(pieces[r].bytes);
        }
    }

    void receive(std::span<const Incoming> pieces) override {
        awaited_.clear();
        for (std::size_t r = 0; r < links_.size(); ++r)
            if (pieces[r].bytes > 0) await(links_[r], MessageKind::pieces, pieces[r].at, pieces[r].bytes);
        mesh_->exchange(awaited_, {});
    }

    void finish_sending() override { mesh_->exchange({}, others_); }

    void broadcast(std::byte* values, std::size_t bytes, int root) override {
        if (rank_ != root) return take(links_[at(root)], MessageKind::broadcast, values, bytes);
        for (Link* const link : others_) begin(*link, MessageKind::broadcast, values, bytes);
        mesh_->exchange({}, others_);
        count_sent(bytes * others_.size());
    }

    void send(const std::byte* values, std::size_t bytes, int to) override {
        Link* const link = &links_[at(to)];
        begin(*link, MessageKind::message, values, bytes);
        mesh_->exchange({}, std::span(&link, 1));
        count_sent(bytes);
    }

    void receive(std::byte* values, std::size_t bytes, int from) override {
        take(links_[at(from)], MessageKind::message, values, bytes);
    }

    // Rank 0 hears from all, and then answers all.
    void barrier() override {
        if (rank_ != 0) {
            begin(links_[0], MessageKind::barrier, nullptr, 0);
            return take(links_[0], MessageKind::barrier, nullptr, 0);
        }
        awaited_.clear();
        for (Link* const link : others_) await(*link, MessageKind::barrier, nullptr, 0);
        mesh_->exchange(awaited_, {});
        for (Link* const link : others_) begin(*link, MessageKind::barrier, nullptr, 0);
        mesh_->exchange({}, others_);
    }

    void leave() override { mesh_->leave(); }

 private:
    // The loopback address by which all others know this rank, where they are on its machine; else empty.
    std::string host_of_door() const {
        std::string host;
        for (const Link* const link : others_) {
            const tcp::Host own = tcp::own_of(link->socket);
            if (!tcp::is_loopback(own) || (!host.empty() && host != tcp::number_of(own))) return "";
            host = tcp::number_of(own);
        }
        return host;
    }

    static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

    void begin(Link& link, MessageKind kind, const void* values, std::size_t bytes) {
        mesh_->begin(link, kind, {static_cast<const std::byte*>(values), bytes});
    }
    void await(Link& link, MessageKind kind, void* values, std::size_t bytes) {
        awaited_.push_back({&link, kind, {static_cast<std::byte*>(values), bytes}});
    }
    void take(Link& link, MessageKind kind, void* values, std::size_t bytes) {
        awaited_.clear();
        await(link, kind, values, bytes);
        mesh_->exchange(awaited_, {});
    }

    std::shared_ptr<Mesh> mesh_;
    int rank_;
    std::vector<Link> links_;    // (ranks); that of this rank itself is unused
    std::vector<Link*> others_;  // (ranks - 1)
    std::vector<Arriving> awaited_;
};

}  // namespace

std::shared_ptr<Transport> join(const Meeting& meeting) {
    if (meeting.ranks == 1) return {};
    const Door door(meeting.host);
    const std::vector<DoorAddress> places = meet(meeting, door);
    std::vector<int> numbers;
    for (const DoorAddress& place : places) numbers.push_back(place.rank);
    auto sockets = connect_pairs(meeting.rank, places, door, 2, Clock::now() + meeting.patience);
    auto mesh = std::make_shared<Mesh>(std::move(sockets[0]));
    return std::make_shared<SocketRanks>(std::move(mesh), meeting.rank, std::move(sockets[1]), numbers);
}

}  // namespace deft::engine::sockets
