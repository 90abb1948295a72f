#include "engine/comm/tcp.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "base/error.h"

namespace deft::engine::tcp {

namespace {

constexpr const char* kUnchanged = "nothing was started";

// An address as the kernel takes it.
struct Address {
    sockaddr_storage storage{};
    socklen_t size = sizeof(sockaddr_storage);

    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Address address_of(const Host& host, std::uint16_t port) {
    Address address;
    if (host.is_v6 != 0) {
        sockaddr_in6 v6{};
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(port);
        std::memcpy(&v6.sin6_addr, host.bytes.data(), sizeof v6.sin6_addr);
        std::memcpy(&address.storage, &v6, address.size = sizeof v6);
    } else {
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
        std::memcpy(&v4.sin_addr, host.bytes.data(), sizeof v4.sin_addr);
        std::memcpy(&address.storage, &v4, address.size = sizeof v4);
    }
    return address;
}

// An IPv4 address that is written as one of IPv6 becomes IPv4's again: not every machine knows IPv6.
Host host_of(const sockaddr_storage& storage) {
    Host host;
    if (storage.ss_family == AF_INET6) {
        sockaddr_in6 v6;
        std::memcpy(&v6, &storage, sizeof v6);
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&v6.sin6_addr);
        host.is_v6 = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) ? 0 : 1;
        if (host.is_v6 != 0)
            std::copy_n(bytes, 16, host.bytes.begin());
        else
            std::copy_n(bytes + 12, 4, host.bytes.begin());
    } else {
        sockaddr_in v4;
        std::memcpy(&v4, &storage, sizeof v4);
        std::memcpy(host.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
    }
    return host;
}

void set(const Descriptor& socket, int level, int option, int value) {
    ::setsockopt(socket.number(), level, option, &value, sizeof value);
}

// Small messages leave at once, and a machine that fell silent is noticed within two minutes.
void set_up(const Descriptor& socket) {
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 60);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 10);
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, 6);
}

Descriptor socket_of(int family) {
    return Descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// 0, or the error.
int try_to_listen(const Descriptor& socket, Address address) {
    if (socket.number() < 0) return errno;
    set(socket, SOL_SOCKET, SO_REUSEADDR, 1);  // connections of an earlier run may not be quite gone
    if (::bind(socket.number(), address.get(), address.size) != 0) return errno;
    return ::listen(socket.number(), SOMAXCONN) == 0 ? 0 : errno;
}

int listen_anywhere(Descriptor& socket, std::uint16_t port) {
    socket = socket_of(AF_INET6);
    if (socket.number() >= 0) {
        set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
        Host any;
        any.is_v6 = 1;
        const int error = try_to_listen(socket, address_of(any, port));
        if (error != EADDRNOTAVAIL) return error;
    }
    socket = socket_of(AF_INET);
    return try_to_listen(socket, address_of(Host{}, port));
}

// A host's own name is often listed as its loopback, by which no other machine would find it: there it means all
// addresses.
bool is_name_of_loopback(const std::string& host) {
    std::array<std::uint8_t, 16> number{};
    return host == "localhost" || ::inet_pton(AF_INET, host.c_str(), number.data()) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), number.data()) == 1;
}

int listen_once(Descriptor& socket, const std::string& host, std::uint16_t port) {
    std::string ignored;
    const std::vector<Host> hosts = is_name_of_loopback(host) ? hosts_named(host, ignored) : std::vector<Host>{};
    if (hosts.empty() || !is_loopback(hosts[0])) return listen_anywhere(socket, port);
    int error = 0;
    for (const Host& own : hosts) {
        socket = socket_of(own.is_v6 != 0 ? AF_INET6 : AF_INET);
        error = try_to_listen(socket, address_of(own, port));
        if (error == 0 || error == EADDRINUSE) return error;
    }
    return error;
}

// A connection to a free port of this machine may be given that very port, and so be one with itself.
bool is_with_itself(const Descriptor& socket) {
    Address own, peer;
    return ::getsockname(socket.number(), own.get(), &own.size) == 0 &&
           ::getpeername(socket.number(), peer.get(), &peer.size) == 0 && own.size == peer.size &&
           std::memcmp(&own.storage, &peer.storage, own.size) == 0;
}

// 0, or the error.
int connected(const Descriptor& socket, Address address, Clock::time_point deadline) {
    if (socket.number() < 0) return errno;
    if (::connect(socket.number(), address.get(), address.size) != 0) {
        if (errno != EINPROGRESS && errno != EINTR) return errno;
        if (!wait_for(socket, POLLOUT, deadline)) return ETIMEDOUT;
        int error = 0;
        socklen_t size = sizeof error;
        if (::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
        if (error != 0) return error;
    }
    return is_with_itself(socket) ? ECONNREFUSED : 0;
}

// The outcome of a call that moves bytes: whether to try it again, once the socket is ready.
bool is_to_be_repeated(ssize_t count, const Descriptor& socket, short events, Clock::time_point deadline) {
    if (count >= 0) return count > 0;
    if (errno == EINTR) return true;
    return (errno == EAGAIN || errno == EWOULDBLOCK) && wait_for(socket, events, deadline);
}

}  // namespace

bool is_loopback(const Host& host) {
    constexpr std::array<std::uint8_t, 16> kLoopback6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    return host.is_v6 != 0 ? host.bytes == kLoopback6 : host.bytes[0] == 127;
}

std::string number_of(const Host& host) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(host.is_v6 != 0 ? AF_INET6 : AF_INET, host.bytes.data(), text.data(), text.size());
    return text.data();
}

std::string text_of(const Host& host, std::uint16_t port) {
    return fmt::format(fmt::runtime(host.is_v6 != 0 ? "[{}]:{}" : "{}:{}"), number_of(host), port);
}

std::vector<Host> hosts_named(const std::string& name, std::string& problem) {
    addrinfo asked{};
    asked.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(name.c_str(), nullptr, &asked, &found);
    if (error != 0) {
        problem = fmt::format("the name {} is not known: {}", name, ::gai_strerror(error));
        return {};
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
    std::vector<Host> hosts;
    for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
        if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
        sockaddr_storage storage{};
        std::memcpy(&storage, entry->ai_addr, entry->ai_addrlen);
        hosts.push_back(host_of(storage));
    }
    return hosts;
}

Descriptor listen_at(const std::string& host, std::uint16_t port) {
    // Who held the port a moment ago may be about to end.
    const Clock::time_point deadline = Clock::now() + std::chrono::seconds(2);
    for (;;) {
        Descriptor socket;
        const int error = listen_once(socket, host, port);
        if (error == 0) return socket;
        if (error != EADDRINUSE || port == 0)
            throw Error(ErrorKind::io, fmt::format("this rank cannot listen at port {}: {}", port, error_text(error)),
                        "set MASTER_PORT, or DEFT_PORT, to a port that this user may listen at", kUnchanged);
        if (Clock::now() > deadline)
            throw Error(ErrorKind::io, fmt::format("port {} of {}, at which ranks are to meet, is taken", port, host),
                        "set MASTER_PORT, or DEFT_PORT, to a free port, the same on all ranks", kUnchanged);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

std::uint16_t port_of(const Descriptor& listener) {
    Address own;
    ::getsockname(listener.number(), own.get(), &own.size);
    // The port is at the same offset in both families.
    sockaddr_in v4;
    std::memcpy(&v4, &own.storage, sizeof v4);
    return ntohs(v4.sin_port);
}

Descriptor accept_from(const Descriptor& listener) {
    Descriptor socket(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.number() < 0 && (errno == EMFILE || errno == ENFILE))
        throw Error(ErrorKind::io, fmt::format("a rank cannot open one more connection: {}", error_text(errno)),
                    "raise the limit of open files: ulimit -n", kUnchanged);
    if (socket.number() >= 0) set_up(socket);
    return socket;
}

Descriptor connect_to(const Host& host, std::uint16_t port, Clock::time_point deadline, std::string& problem) {
    Descriptor socket = socket_of(host.is_v6 != 0 ? AF_INET6 : AF_INET);
    const int error = connected(socket, address_of(host, port), deadline);
    if (error != 0) {
        problem = error_text(error);
        return Descriptor();
    }
    set_up(socket);
    return socket;
}

Host own_of(const Descriptor& socket) {
    Address own;
    ::getsockname(socket.number(), own.get(), &own.size);
    return host_of(own.storage);
}

Host peer_of(const Descriptor& socket) {
    Address peer;
    ::getpeername(socket.number(), peer.get(), &peer.size);
    return host_of(peer.storage);
}

bool wait_for(const Descriptor& socket, short events, Clock::time_point deadline) {
    for (;;) {
        pollfd waiting{socket.number(), events, 0};
        if (::poll(&waiting, 1, milliseconds_until(deadline)) > 0) return true;
        if (Clock::now() >= deadline) return false;
    }
}

bool read_whole(const Descriptor& socket, std::span<std::byte> bytes, Clock::time_point deadline) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t count = ::recv(socket.number(), bytes.data() + done, bytes.size() - done, 0);
        if (!is_to_be_repeated(count, socket, POLLIN, deadline)) return false;
        if (count > 0) done += static_cast<std::size_t>(count);
    }
    return true;
}

bool write_whole(const Descriptor& socket, std::span<const std::byte> bytes, Clock::time_point deadline) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t count = ::send(socket.number(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (!is_to_be_repeated(count, socket, POLLOUT, deadline)) return false;
        if (count > 0) done += static_cast<std::size_t>(count);
    }
    return true;
}

int milliseconds_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 1, 1 << 30));
}

}  // namespace deft::engine::tcp
