// apps/serve/listen.cpp - see listen.h.
#include "apps/serve/listen.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "core/error.h"

namespace salient::serve {
namespace {

Descriptor try_to_listen(const addrinfo& address) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1;
  const bool listens = socket && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                       ::bind(socket.get(), address.ai_addr, address.ai_addrlen) == 0 &&
                       ::listen(socket.get(), SOMAXCONN) == 0;
  return listens ? std::move(socket) : Descriptor();
}

}  // namespace

Descriptor listen_on_first(const addrinfo* addresses) {
  for (const addrinfo* address = addresses; address != nullptr; address = address->ai_next) {
    Descriptor socket = try_to_listen(*address);
    if (socket || errno == EADDRINUSE) return socket;  // taken: an error, not a reason to answer elsewhere
  }
  return Descriptor();
}

Descriptor listen_on(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port_text = std::to_string(port);
  if (const int code = ::getaddrinfo(host.c_str(), port_text.c_str(), &hints, &found); code != 0)
    fail(ErrorKind::kUsage, "'" + host + "' is no address of this machine: " + ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  Descriptor socket = listen_on_first(found);
  if (!socket)
    fail(ErrorKind::kIo,
         "cannot listen on " + host + ", port " + port_text + ": " + std::generic_category().message(errno));
  return socket;
}

std::string address_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      ::getnameinfo(generic, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    fail(ErrorKind::kIo, "a socket without an address");
  const bool is_v6 = address.ss_family == AF_INET6;
  return (is_v6 ? "[" + std::string(host.data()) + "]" : std::string(host.data())) + ":" + port.data();
}

std::string peer_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool is_known = ::getpeername(socket.get(), generic, &size) == 0 &&
                        ::getnameinfo(generic, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) == 0;
  return is_known ? host.data() : "-";
}

}  // namespace salient::serve
