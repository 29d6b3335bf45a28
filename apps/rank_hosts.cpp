// apps/rank_hosts.cpp - see rank_hosts.h.
#include "apps/rank_hosts.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "apps/serve/listen.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/host/machine.h"

namespace salient {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestLine = 65536;
constexpr std::chrono::seconds kHelloPatience{5};  // a stranger that connects and says nothing holds up the others
constexpr const char* kGreeting = "salient-host";

// mpirun's remote shell: "agent HOST COMMAND...". Hands the command to the process behind the pipes, waits for its end.
constexpr const char* kAgent = R"(#!/bin/sh
host=$1; shift
printf '%s\n' "$*" >"$0.$host.command" && read -r code <"$0.$host.code" && exit "$code"
exit 1
)";

bool wait_to_read(int socket, Clock::time_point deadline) {
  pollfd waits{socket, POLLIN, 0};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int found = ::poll(&waits, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (found >= 0 || errno != EINTR) return found > 0;
  }
}

/// @return without its end; none: the other side is gone, is late, or sends no line
std::optional<std::string> read_line(int socket, Clock::time_point deadline) {
  std::string line;
  char letter = 0;
  while (line.size() < kLongestLine && wait_to_read(socket, deadline)) {
    if (::recv(socket, &letter, 1, 0) <= 0) return std::nullopt;
    if (letter == '\n') return line;
    line.push_back(letter);
  }
  return std::nullopt;
}

bool send_line(int socket, const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const auto count = ::send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

std::string place_of(const Meeting& meeting) { return meeting.address + ", port " + std::to_string(meeting.port); }

/// What a host says of itself, in a line. The job comes last, since it may have blanks.
std::string hello_of(const Meeting& meeting, const RankHost& own) {
  std::ostringstream text;
  text << kGreeting << ' ' << own.first_rank << ' ' << own.num_ranks << ' ' << meeting.num_ranks << ' ' << own.name
       << ' ' << meeting.job;
  return text.str();
}

/// @param refusal  why a host of this program cannot take part
/// @return none for a stranger, and for a host that is refused
std::optional<RankHost> host_in(const std::string& hello, const Meeting& meeting, std::string& refusal) {
  std::istringstream text(hello);
  std::string greeting, job;
  RankHost host;
  int num_ranks = 0;
  if (!(text >> greeting >> host.first_rank >> host.num_ranks >> num_ranks >> host.name) || greeting != kGreeting)
    return std::nullopt;
  std::getline(text >> std::ws, job);
  const bool fits = host.first_rank > 0 && host.num_ranks > 0 && host.num_ranks <= num_ranks - host.first_rank;
  if (job != meeting.job)
    refusal = "the job is '" + meeting.job + "', not '" + job + "'";
  else if (num_ranks != meeting.num_ranks)
    refusal = "the job has " + std::to_string(meeting.num_ranks) + " ranks, not " + std::to_string(num_ranks);
  else if (!fits)
    refusal = "the ranks of " + host.name + " are none of the job";
  if (!refusal.empty()) return std::nullopt;
  return host;
}

Descriptor listen_everywhere(int port) {
  try {
    return serve::listen_on("::", port);
  } catch (const Error&) {  // a machine without IPv6
    return serve::listen_on("0.0.0.0", port);
  }
}

Descriptor connect_once(const Meeting& meeting) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(meeting.address.c_str(), std::to_string(meeting.port).c_str(), &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Descriptor socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket && ::connect(socket.get(), one->ai_addr, one->ai_addrlen) == 0) return socket;
  }
  return {};
}

/// The first host may start later, and its name be known later.
Descriptor connect_to_first(const Meeting& meeting) {
  const Clock::time_point deadline = Clock::now() + meeting.patience;
  for (;;) {
    if (Descriptor socket = connect_once(meeting)) return socket;
    if (Clock::now() >= deadline)
      fail(ErrorKind::kIo, "after " + std::to_string(meeting.patience.count()) +
                               " s the first host (MASTER_ADDR) does "
                               "not listen: " +
                               place_of(meeting));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

/// Ends with this process, should that be killed. @return its exit code
int run_in_shell(const std::string& command) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail_with_errno("fork", "start a process");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() == parent) ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The connection of a host, and the two pipes that mpirun's agent for it opens.
struct Line {
  Descriptor connection, command, code;
  std::string text{};  ///< of the command, as far as it has come
};

Descriptor make_pipe(const std::filesystem::path& path) {
  if (::mkfifo(path.c_str(), 0600) != 0) fail_with_errno(path, "make a pipe");
  Descriptor both(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));  // both: it never ends, no open() waits
  if (!both) fail_with_errno(path, "open");
  return both;
}

void tell_agent(Line& line, const std::string& code) {
  const std::string text = code + "\n";
  (void)!::write(line.code.get(), text.data(), text.size());
  line.connection = Descriptor();
}

/// What mpirun has for the host, as far as it is there, goes to it as one line.
void hand_on(Line& line) {
  std::array<char, 4096> piece{};
  for (ssize_t count = 0; (count = ::read(line.command.get(), piece.data(), piece.size())) > 0;)
    line.text.append(piece.data(), static_cast<std::size_t>(count));
  if (!line.text.ends_with('\n')) return;
  line.text.pop_back();
  std::replace(line.text.begin(), line.text.end(), '\n', ' ');
  if (!send_line(line.connection.get(), line.text)) tell_agent(line, "1");
  line.text.clear();
}

/// Until mpirun, which has the other end of `lifeline`, is gone.
void relay(std::vector<Line>& lines, const Descriptor& lifeline) {
  for (;;) {
    std::vector<pollfd> waits{{lifeline.get(), POLLIN, 0}};
    for (const Line& line : lines) {  // poll() passes over descriptors below 0
      waits.push_back({line.connection.get(), POLLIN, 0});
      waits.push_back({line.connection ? line.command.get() : -1, POLLIN, 0});
    }
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;
    if (waits[0].revents != 0) return;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (waits[1 + 2 * i].revents != 0)
        tell_agent(lines[i], read_line(lines[i].connection.get(), Clock::now() + kHelloPatience).value_or("1"));
      else if (waits[2 + 2 * i].revents != 0)
        hand_on(lines[i]);
    }
  }
}

/// mpirun takes its agent's command line apart at blanks, and a list of agents at colons.
std::filesystem::path folder_for_agent() {
  std::string folder = std::filesystem::temp_directory_path();
  if (folder.find_first_of(" \t:") != std::string::npos) folder = "/tmp";
  std::string made = folder + "/salient-ranks-XXXXXX";
  if (::mkdtemp(made.data()) == nullptr) fail_with_errno(folder, "make a folder");
  return made;
}

/// OpenMPI 4 reads the first group, OpenMPI 5 the second.
void set_agent(const std::filesystem::path& agent, std::size_t num_hosts) {
  const std::string command = "/bin/sh " + agent.string(), hosts = std::to_string(std::max<std::size_t>(num_hosts, 2));
  for (const std::string prefix : {"OMPI_MCA_plm_rsh_", "PRTE_MCA_plm_ssh_"}) {
    ::setenv((prefix + "agent").c_str(), command.c_str(), 1);
    ::setenv((prefix + "no_tree_spawn").c_str(), "1", 1);
    ::setenv((prefix + "num_concurrent").c_str(), hosts.c_str(), 1);
  }
  ::setenv("OMPI_MCA_orte_leave_session_attached", "1", 1);
  ::setenv("PRTE_MCA_prte_leave_session_attached", "1", 1);
}

}  // namespace

std::string name_of_machine() {
  std::string name = host_name();
  name.resize(std::min(name.find('.'), name.size()));
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '-';
  return name;
}

std::vector<RankHost> meet_hosts(const Meeting& meeting, int own_ranks) {
  const Descriptor listener = listen_everywhere(meeting.port);
  const Clock::time_point deadline = Clock::now() + meeting.patience;
  std::vector<RankHost> hosts;
  for (int here = own_ranks; here < meeting.num_ranks;) {
    if (!wait_to_read(listener.get(), deadline))
      fail(ErrorKind::kIo, "after " + std::to_string(meeting.patience.count()) + " s " + std::to_string(here) + " of " +
                               std::to_string(meeting.num_ranks) +
                               " ranks are there; the hosts of the others meet at " + place_of(meeting) +
                               " (MASTER_ADDR)");
    Descriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection) continue;
    const auto hello = read_line(connection.get(), std::min(deadline, Clock::now() + kHelloPatience));
    std::string refusal;
    auto host = host_in(hello.value_or(""), meeting, refusal);
    if (!refusal.empty()) send_line(connection.get(), "refused " + refusal);
    if (!host) continue;
    host->connection = std::move(connection);
    // Started again, a host takes its own place; ranks that two hosts claim are those of the later one.
    std::erase_if(hosts, [&](const RankHost& other) {
      return other.first_rank < host->first_rank + host->num_ranks &&
             host->first_rank < other.first_rank + other.num_ranks;
    });
    if (host->first_rank >= own_ranks) hosts.push_back(std::move(*host));
    here = own_ranks;
    for (const RankHost& other : hosts) here += other.num_ranks;
  }
  std::sort(hosts.begin(), hosts.end(),
            [](const RankHost& a, const RankHost& b) { return a.first_rank < b.first_rank; });
  return hosts;
}

int work_for_first_host(const Meeting& meeting, const RankHost& own) {
  const Descriptor first = connect_to_first(meeting);
  send_line(first.get(), hello_of(meeting, own));
  // The other hosts may come as late as the first one waits for them.
  const auto command = read_line(first.get(), Clock::now() + meeting.patience + kHelloPatience);
  if (!command)
    fail(ErrorKind::kComm, "the first host (MASTER_ADDR), " + place_of(meeting) + ", ended before the start");
  if (constexpr std::string_view kRefused = "refused "; command->starts_with(kRefused))
    fail(ErrorKind::kUsage,
         command->substr(kRefused.size()) + ", says the first host (MASTER_ADDR), " + place_of(meeting));
  const int code = run_in_shell(*command);
  send_line(first.get(), std::to_string(code));
  return code;
}

std::string lead_mpirun_to(std::vector<RankHost> hosts, int own_ranks) {
  const std::filesystem::path folder = folder_for_agent(), agent = folder / "agent";
  std::ofstream(agent) << kAgent;
  std::string list = name_of_machine() + ":" + std::to_string(own_ranks);
  std::vector<Line> lines;
  for (RankHost& host : hosts) {
    const std::string name = host.name + "-" + std::to_string(host.first_rank);
    list += "," + name + ":" + std::to_string(host.num_ranks);
    lines.push_back({std::move(host.connection), make_pipe(agent.string() + "." + name + ".command"),
                     make_pipe(agent.string() + "." + name + ".code")});
  }
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) fail_with_errno(folder, "make a pipe");
  const pid_t child = ::fork();
  if (child < 0) fail_with_errno("fork", "start a process");
  if (child == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);  // it ends after mpirun
    ::close(ends[1]);
    relay(lines, Descriptor(ends[0]));
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    ::_exit(0);
  }
  ::close(ends[0]);  // the other stays open for mpirun, and tells the child when that ends
  set_agent(agent, hosts.size());
  return list;
}

}  // namespace salient
