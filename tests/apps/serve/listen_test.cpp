// tests/apps/serve/listen_test.cpp - which of several addresses is listened on.
#include "apps/serve/listen.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace salient::serve {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses address_named(const char* host, const char* port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  EXPECT_EQ(::getaddrinfo(host, port, &hints, &found), 0);
  return {found, &::freeaddrinfo};
}

TEST(Listen, TakesTheFirstAddressThatTheMachineHas) {
  const Addresses foreign = address_named("192.0.2.1", "0");  // of the block for documents
  const Addresses own = address_named("127.0.0.1", "0");
  EXPECT_FALSE(listen_on_first(foreign.get()));
  EXPECT_EQ(errno, EADDRNOTAVAIL);
  foreign->ai_next = own.get();
  const Descriptor socket = listen_on_first(foreign.get());
  foreign->ai_next = nullptr;
  ASSERT_TRUE(socket);
  EXPECT_EQ(address_of(socket).substr(0, 10), "127.0.0.1:");
}

TEST(Listen, APortThatIsTakenIsNoReasonToListenElsewhere) {
  const Descriptor first = listen_on("127.0.0.1", 0);
  const std::string port = address_of(first).substr(10);
  const Addresses taken = address_named("127.0.0.1", port.c_str());
  const Addresses other = address_named("127.0.0.2", port.c_str());
  taken->ai_next = other.get();
  EXPECT_FALSE(listen_on_first(taken.get()));
  EXPECT_EQ(errno, EADDRINUSE);
  taken->ai_next = nullptr;
}

}  // namespace
}  // namespace salient::serve
