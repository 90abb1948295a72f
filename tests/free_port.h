#pragma once
// A port of this machine's loopback that nobody has, and nobody else is given while this lives.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace deft::test {

// Bound and not listened at, so that a program which says that it may reuse the port listens there.
class FreePort {
 public:
    FreePort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const int yes = 1;
        ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0) return;
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
        number_ = ntohs(address.sin_port);
    }
    ~FreePort() { ::close(socket_); }
    FreePort(const FreePort&) = delete;
    FreePort& operator=(const FreePort&) = delete;

    std::uint16_t number() const { return number_; }

 private:
    int socket_;
    std::uint16_t number_ = 0;
};

}  // namespace deft::test
