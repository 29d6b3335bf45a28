// tests/apps/serve/host_names_test.cpp - hosts in one spelling, and which of them a server takes for its own.
#include "apps/serve/host_names.h"

#include <gtest/gtest.h>

namespace salient::serve {
namespace {

TEST(HostNames, OneHostHasOneSpelling) {
  for (const std::string same :
       {"localhost", "LocalHost", "localhost.", "localhost:80", "LOCALHOST.:65535", "localhost:"})
    EXPECT_EQ(host_of(same), "localhost") << same;
  for (const std::string same : {"[::1]", "[::1]:80", "[0:0:0:0:0:0:0:1]", "[::0001]:1"})
    EXPECT_EQ(host_of(same), "::1");
  EXPECT_EQ(host_of("127.0.0.1:8080"), "127.0.0.1");
  EXPECT_EQ(host_of("[::ffff:127.0.0.1]"), "127.0.0.1");
  EXPECT_EQ(host_of("[FE80::A]"), "fe80::a");
  EXPECT_EQ(host_of("a-b_c.d~e"), "a-b_c.d~e");
}

TEST(HostNames, WhatIsNoHostHasNone) {
  for (const std::string wrong : {"",         ".",           ":80",       "a..",    "a:b",
                                  "a:80:80",  "a:65536",     "a:-1",      "a:+1",   "a: 80",
                                  "a b",      "a,b",         "user@a",    "a/b",    "a%41",
                                  "a?b",      "::1",         "[::1",      "::1]",   "[::1]x",
                                  "[::1]:x",  "[]",          "[1.2.3.4]", "[v1.a]", "[fe80::1%25eth0]",
                                  "\xC3\xA4", "[localhost]", "a\tb"})
    EXPECT_EQ(host_of(wrong), std::nullopt) << wrong;
  EXPECT_EQ(host_of(std::string(256, 'a')), std::nullopt);
  EXPECT_EQ(host_of({"a\0b", 3}), std::nullopt);
}

TEST(HostNames, APersonWritesIpv6WithoutBracketsAndNoPort) {
  EXPECT_EQ(host_named("::1"), "::1");
  EXPECT_EQ(host_named("[::1]"), "::1");
  EXPECT_EQ(host_named("Models.Example"), "models.example");
  for (const std::string wrong : {"", "a:80", "[::1]:80", "http://a", "*"}) EXPECT_EQ(host_named(wrong), std::nullopt);
}

TEST(HostNames, AServerOnALoopbackAddressHasItAndLocalhostAlone) {
  const HostNames own("127.0.0.1:8080", "127.0.0.1", {});
  EXPECT_FALSE(own.is_any());
  EXPECT_TRUE(own.has("127.0.0.1") && own.has("localhost"));
  for (const std::string other :
       {"127.0.0.2", "127.1", "::1", "0.0.0.0", "localhost.example", "a.localhost", "10.0.0.1"})
    EXPECT_FALSE(own.has(other)) << other;
  const HostNames named("127.0.1.1:80", "MyHost", {"models.example", "fd00::1"});
  for (const std::string name : {"127.0.1.1", "localhost", "myhost", "models.example", "fd00::1"})
    EXPECT_TRUE(named.has(name)) << name;
  EXPECT_FALSE(named.has("other.example"));
  EXPECT_TRUE(HostNames("[::1]:80", "::1", {}).has("::1"));
  EXPECT_TRUE(HostNames("[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", {}).has("127.0.0.1"));
}

TEST(HostNames, AServerForOthersTakesAnyUnlessItHasAList) {
  for (const std::string address : {"0.0.0.0:80", "[::]:80", "10.1.2.3:80"}) {
    const HostNames any(address, "0.0.0.0", {});
    EXPECT_TRUE(any.is_any() && any.has("whatever.example")) << address;
  }
  const HostNames listed("0.0.0.0:80", "0.0.0.0", {"models.example"});
  EXPECT_TRUE(listed.has("models.example") && listed.has("localhost"));
  EXPECT_FALSE(listed.has("whatever.example"));
}

}  // namespace
}  // namespace salient::serve
