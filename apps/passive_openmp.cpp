// apps/passive_openmp.cpp - keeps LibTorch's OpenMP threads from spinning, in programs that are linked with this file.
#include <unistd.h>

#include <string_view>
#include <vector>

namespace salient {
namespace {

/// LibTorch's OpenMP threads spin after each region and take the cores from the batch workers. The variable that stops
/// them is read when its library starts, before main: so the program is started over with it, once, before any library
/// starts. That takes 20 ms; from main it took 220. (Setting it here would not do: the C library takes the environment
/// of the program's start later.)
void restart_with_passive_openmp(int /*argc*/, char** argv, char** environment) {
  std::vector<char*> variables;
  for (; *environment != nullptr; ++environment) {
    if (std::string_view(*environment).starts_with("OMP_WAIT_POLICY=")) return;
    variables.push_back(*environment);
  }
  char passive[] = "OMP_WAIT_POLICY=passive";
  variables.insert(variables.end(), {passive, nullptr});
  (void)execve("/proc/self/exe", argv, variables.data());  // returns only if it failed: then run on, a little slower
}
using AtStart = void(int, char**, char**);
[[gnu::section(".preinit_array"), gnu::used]] AtStart* const before_libraries = restart_with_passive_openmp;

}  // namespace
}  // namespace salient
