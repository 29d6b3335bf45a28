// workbench/generator/secret.cpp - see secret.h.
#include "workbench/generator/secret.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "core/error.h"

namespace salient::workbench {

Secret::Secret(const std::string& variable) {
  char* const value = std::getenv(variable.c_str());
  if (value == nullptr || *value == '\0') return;
  size_ = std::strlen(value);
  void* const page = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || madvise(page, size_, MADV_DONTFORK) != 0)
    fail(ErrorKind::kHostMemory, "no memory for the key");
  page_ = static_cast<char*>(page);
  std::memcpy(page_, value, size_);
  explicit_bzero(value, size_);  // what ps and child processes could read
  (void)unsetenv(variable.c_str());
}

Secret::~Secret() {
  if (page_ == nullptr) return;
  explicit_bzero(page_, size_);
  (void)munmap(page_, size_);
}

}  // namespace salient::workbench
