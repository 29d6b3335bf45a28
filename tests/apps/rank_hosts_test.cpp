// tests/apps/rank_hosts_test.cpp - hosts that meet by TCP, and the remote shell that mpirun has of it.
#include "apps/rank_hosts.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <iterator>
#include <utility>

#include "apps/serve/listen.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using namespace std::chrono_literals;

/// On this machine, at a port that nobody has.
Meeting meeting_for(int num_ranks, std::chrono::seconds patience = 60s) {
  const std::string address = serve::address_of(serve::listen_on("127.0.0.1", 0));
  return {"127.0.0.1", std::stoi(address.substr(address.rfind(':') + 1)), "a job", num_ranks, patience};
}

std::future<int> join(const Meeting& meeting, int first_rank, int num_ranks, const char* name = "there") {
  return std::async(std::launch::async, [=] { return work_for_first_host(meeting, {first_rank, num_ranks, name}); });
}

/// To who listens on this machine, as soon as that does.
Descriptor connect_to(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (;;) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return socket;
  }
}

/// As mpirun calls it. @return its exit code
int call_agent(const std::string& host, const std::string& command) {
  const int status = std::system((std::getenv("OMPI_MCA_plm_rsh_agent") + (" " + host + " '" + command + "'")).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(RankHosts, MpirunsAgentReachesEveryHostAndLearnsHowItsCommandEnds) {
  const test::Scratch scratch;
  const Meeting meeting = meeting_for(5);
  auto later = join(meeting, 4, 1), earlier = join(meeting, 2, 2);
  auto hosts = meet_hosts(meeting, 2);
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[0].first_rank, 2);
  EXPECT_EQ(hosts[1].first_rank, 4);
  EXPECT_EQ(lead_mpirun_to(std::move(hosts), 2), name_of_machine() + ":2,there-2:2,there-4:1");
  const std::string file = (scratch / "said").string();
  EXPECT_EQ(call_agent("there-4", "echo \"from rank 4\" >" + file), 0);
  EXPECT_EQ(later.get(), 0);
  EXPECT_EQ(call_agent("there-2", "exit 7"), 7);
  EXPECT_EQ(earlier.get(), 7);
  std::ifstream said(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(said), {}), "from rank 4\n");
}

TEST(RankHosts, TheAgentOfAHostThatIsGoneFails) {
  const Meeting meeting = meeting_for(2);
  auto meets = std::async(std::launch::async, [&] { return meet_hosts(meeting, 1); });
  Descriptor gone = connect_to(meeting.port);
  const std::string hello = "salient-host 1 1 2 gone a job\n";
  ASSERT_EQ(::send(gone.get(), hello.data(), hello.size(), 0), static_cast<ssize_t>(hello.size()));
  auto hosts = meets.get();
  gone = Descriptor();
  (void)lead_mpirun_to(std::move(hosts), 1);
  EXPECT_EQ(call_agent("gone-1", "true"), 1);
}

TEST(RankHosts, StrangersAndOtherJobsDoNotCount) {
  const Meeting meeting = meeting_for(2);
  auto hosts = std::async(std::launch::async, [&] { return meet_hosts(meeting, 1); });
  Meeting other = meeting;
  other.job = "another";
  EXPECT_COMPLAINT(work_for_first_host(other, {1, 1, "there"}), ErrorKind::kUsage, "the job is 'a job', not 'another'");
  other = meeting;
  other.num_ranks = 3;
  EXPECT_COMPLAINT(work_for_first_host(other, {1, 1, "there"}), ErrorKind::kUsage, "the job has 2 ranks, not 3");
  EXPECT_COMPLAINT(work_for_first_host(meeting, {1, 2, "there"}), ErrorKind::kUsage, "ranks of there are none");
  auto own = join(meeting, 1, 1);
  EXPECT_EQ(hosts.get().size(), 1U);  // and their connections end here
  EXPECT_COMPLAINT(own.get(), ErrorKind::kComm, "ended before the start");
}

TEST(RankHosts, AHostThatComesAgainTakesItsOwnPlace) {
  const Meeting meeting = meeting_for(3);
  auto meets = std::async(std::launch::async, [&] { return meet_hosts(meeting, 1); });
  std::array<std::future<int>, 2> twice{join(meeting, 1, 1), join(meeting, 1, 1)};
  while (twice[0].wait_for(1ms) != std::future_status::ready && twice[1].wait_for(1ms) != std::future_status::ready) {
  }
  auto other = join(meeting, 2, 1);
  const auto hosts = meets.get();
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[0].first_rank, 1);
  EXPECT_EQ(hosts[1].first_rank, 2);
}

TEST(RankHosts, WhoIsMissingIsSaid) {
  EXPECT_COMPLAINT(meet_hosts(meeting_for(4, 0s), 1), ErrorKind::kIo, "after 0 s 1 of 4 ranks are there");
  EXPECT_COMPLAINT(work_for_first_host(meeting_for(4, 0s), {1, 1, "there"}), ErrorKind::kIo, "does not listen");
  const Meeting meeting = meeting_for(2);
  const Descriptor taken = serve::listen_on("0.0.0.0", meeting.port);
  EXPECT_COMPLAINT(meet_hosts(meeting, 1), ErrorKind::kIo, "Address already in use");
}

}  // namespace
}  // namespace salient
