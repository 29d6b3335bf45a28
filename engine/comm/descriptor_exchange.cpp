// engine/comm/descriptor_exchange.cpp - see descriptor_exchange.h.
#include "engine/comm/descriptor_exchange.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "engine/comm/agreement.h"
#include "engine/comm/host_share.h"

namespace salient {
namespace {

constexpr int kPatience = 30;  // seconds; all ranks are there when the exchange begins

[[noreturn]] void fail_to(const std::string& action) {
  fail(ErrorKind::kComm,
       "cannot " + action + " a file descriptor between ranks of this host: " + std::generic_category().message(errno));
}

/// Of a name that the system chooses, in no directory.
struct Address {
  sockaddr_un name{};
  socklen_t bytes = sizeof(sa_family_t);  // of the family alone: the system adds the name

  Address() { name.sun_family = AF_UNIX; }
  explicit Address(const std::string& path) : Address() {
    std::memcpy(name.sun_path, path.data(), path.size());
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&name); }
};

/// Receives and sends datagrams, which arrive whole and are never lost.
class Mailbox {
 public:
  Mailbox() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    Address any;
    const timeval patience{.tv_sec = kPatience, .tv_usec = 0};
    if (!socket_ || ::bind(socket_.get(), any.get(), any.bytes) != 0 ||
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0)
      fail_to("open a socket for");
  }

  std::string name() const {
    Address own;
    own.bytes = sizeof own.name;
    if (::getsockname(socket_.get(), own.get(), &own.bytes) != 0) fail_to("open a socket for");
    return {own.name.sun_path, own.bytes - offsetof(sockaddr_un, sun_path)};
  }

  void send(const std::string& to, int rank, const Descriptor& file) const {
    Address address(to);
    Message message(rank);
    message.header.msg_name = address.get();
    message.header.msg_namelen = address.bytes;
    cmsghdr* const rights = CMSG_FIRSTHDR(&message.header);
    *rights = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    const int number = file.get();
    std::memcpy(CMSG_DATA(rights), &number, sizeof number);
    while (::sendmsg(socket_.get(), &message.header, 0) < 0)
      if (errno != EINTR) fail_to("send");
  }

  /// @param rank  becomes the sender's
  Descriptor receive(int& rank) const {
    Message message(-1);
    while (::recvmsg(socket_.get(), &message.header, MSG_CMSG_CLOEXEC) < 0)
      if (errno != EINTR) fail_to("receive");
    const cmsghdr* const rights = CMSG_FIRSTHDR(&message.header);
    if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(sizeof(int)))
      fail(ErrorKind::kComm, "a rank of this host sent no file descriptor: its limit of open files may be reached");
    int number = -1;
    std::memcpy(&number, CMSG_DATA(rights), sizeof number);
    rank = message.rank;
    return Descriptor(number);
  }

 private:
  struct Message {
    explicit Message(int sender) : rank(sender) {
      header.msg_iov = &bytes;
      header.msg_iovlen = 1;
      header.msg_control = control;
      header.msg_controllen = sizeof control;
    }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;
    int rank;
    iovec bytes{&rank, sizeof rank};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    msghdr header{};
  };
  Descriptor socket_;
};

}  // namespace

std::vector<Descriptor> exchange_descriptors(Communicator& comm, const Descriptor& mine) {
  std::optional<Mailbox> mailbox;
  std::string name;
  together(comm, [&] {
    mailbox.emplace();
    name = mailbox->name();
  });
  const std::vector<std::string> names = gather_on_all(comm, name);
  std::vector<Descriptor> all(names.size());
  const auto own = static_cast<std::size_t>(comm.rank());
  together(comm, [&] {
    all[own] = Descriptor(::fcntl(mine.get(), F_DUPFD_CLOEXEC, 0));
    if (!all[own]) fail_to("copy");
    // One rank after the other sends. A rank that waits to send to another does so until that one receives, and the
    // first of those that have not sent has received from all before it: no ranks wait for each other in a circle.
    for (std::size_t sender = 0; sender < names.size(); ++sender) {
      if (sender == own) {
        for (std::size_t to = 0; to < names.size(); ++to)
          if (to != own) mailbox->send(names[to], comm.rank(), mine);
        continue;
      }
      while (!all[sender]) {
        int from = -1;
        Descriptor file = mailbox->receive(from);
        require(from >= 0 && static_cast<std::size_t>(from) < all.size(), "a rank of this run");
        all[static_cast<std::size_t>(from)] = std::move(file);
      }
    }
  });
  return all;
}

}  // namespace salient
