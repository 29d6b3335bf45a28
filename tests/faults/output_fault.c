// tests/faults/output_fault.c - a library to preload: the n-th output call below a folder kills the process, or fails.
//
// Environment:
//   SALIENT_FAULT_BELOW   the folder; calls on other paths are not counted
//   SALIENT_FAULT_AT      n, from 1; 0 or absent = nothing happens
//   SALIENT_FAULT_KIND    kill: SIGKILL before the call | torn: SIGKILL when half of its bytes are written |
//                         eio: this call fails, later ones work |
//                         enospc: every call from it on that needs space fails, as on a full disk
//   SALIENT_FAULT_LOG     a file, which gets a line for each call: its number, name and path
//
// Output calls are opening for writing, write, rename, link, symlink, unlink, rmdir, mkdir, fsync, truncate, fallocate,
// and close of a file that was opened for writing. stdio calls the kernel from inside libc, where no library comes
// between, so its functions are counted themselves: fopen, fwrite, fclose.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kMaxDescriptors = 4096 };
enum kind { kKill, kTorn, kEio, kEnospc };
enum need { kNeedsSpace, kNeedsNone };
enum { kTornWrite = -1 };  // a result of fault(): write half of it, then end the process

static atomic_long num_calls;
static char* path_of[kMaxDescriptors];     // of descriptors that are counted; null = not counted
static char is_folder[kMaxDescriptors];  // counted for its fsync, not for its close

#define REAL(name) ((__typeof__(&name))real(#name))
static void* real(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

/// "DIR/PATH" without links followed; DIR by its descriptor.
static const char* whole_path(int dir, const char* path, char* buffer) {
  if (path[0] == '/') return path;
  char base[PATH_MAX] = "";
  if (dir == AT_FDCWD) {
    if (getcwd(base, sizeof base) == NULL) return path;
  } else {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
    const ssize_t length = readlink(link, base, sizeof base - 1);
    if (length < 0) return path;
    base[length] = '\0';
  }
  snprintf(buffer, 2 * PATH_MAX, "%s/%s", base, path);
  return buffer;
}

static int is_below(const char* path) {
  const char* folder = getenv("SALIENT_FAULT_BELOW");
  const size_t length = folder == NULL ? 0 : strlen(folder);
  return length > 0 && strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static void log_call(long number, const char* name, const char* path) {
  const char* file = getenv("SALIENT_FAULT_LOG");
  if (file == NULL) return;
  char line[PATH_MAX + 128];
  const int length = snprintf(line, sizeof line, "%ld %s %s\n", number, name, path);
  const long descriptor = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return;
  (void)!syscall(SYS_write, descriptor, line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
  (void)syscall(SYS_close, descriptor);
}

static enum kind chosen_kind(void) {
  const char* text = getenv("SALIENT_FAULT_KIND");
  if (text == NULL || strcmp(text, "kill") == 0) return kKill;
  if (strcmp(text, "torn") == 0) return kTorn;
  if (strcmp(text, "eio") == 0) return kEio;
  if (strcmp(text, "enospc") == 0) return kEnospc;
  abort();
}

/// Counts a call on `path`. Returns 0 when it goes ahead, else the errno with which it fails, or kTornWrite.
static int fault(const char* name, const char* path, enum need need) {
  if (!is_below(path)) return 0;
  const int before = errno;
  const long number = atomic_fetch_add(&num_calls, 1) + 1;
  log_call(number, name, path);
  errno = before;
  const char* at_text = getenv("SALIENT_FAULT_AT");
  const long at = at_text == NULL ? 0 : atol(at_text);
  if (at <= 0 || number < at) return 0;
  const enum kind kind = chosen_kind();
  if (kind == kEnospc) return need == kNeedsSpace ? ENOSPC : 0;
  if (number > at) return 0;
  if (kind == kTorn && (strcmp(name, "write") == 0 || strcmp(name, "fwrite") == 0)) return kTornWrite;
  if (kind != kEio) (void)kill(getpid(), SIGKILL);
  return EIO;
}

/// For calls whose result is -1 and errno.
#define FAIL_OR(name, path, need)                    \
  do {                                               \
    const int code = fault(name, path, need);        \
    if (code != 0) {                                 \
      errno = code;                                  \
      return -1;                                     \
    }                                                \
  } while (0)

static int is_counted(int descriptor) {
  return descriptor >= 0 && descriptor < kMaxDescriptors && path_of[descriptor] != NULL;
}

static void remember(int descriptor, const char* path, int folder) {
  if (descriptor < 0 || descriptor >= kMaxDescriptors || !is_below(path)) return;
  path_of[descriptor] = strdup(path);
  is_folder[descriptor] = (char)folder;
}

static void forget(int descriptor) {
  if (!is_counted(descriptor)) return;
  free(path_of[descriptor]);
  path_of[descriptor] = NULL;
}

// Opening and closing.

static int open_counted(int dir, const char* path, int flags, mode_t mode) {
  char buffer[2 * PATH_MAX];
  const char* whole = whole_path(dir, path, buffer);
  const int is_output = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
  if (is_output) FAIL_OR("open", whole, kNeedsSpace);
  const int descriptor = (int)syscall(SYS_openat, dir, path, flags, mode);
  forget(descriptor);  // closed by a way that is not counted
  if (is_output || (flags & O_DIRECTORY) != 0) remember(descriptor, whole, !is_output);
  return descriptor;
}

#define MODE_OF(flags)                                        \
  mode_t mode = 0;                                            \
  if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) { \
    va_list rest;                                             \
    va_start(rest, flags);                                    \
    mode = (mode_t)va_arg(rest, unsigned);                    \
    va_end(rest);                                             \
  }

int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_counted(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_counted(AT_FDCWD, path, flags, mode);
}
int openat(int dir, const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_counted(dir, path, flags, mode);
}
int openat64(int dir, const char* path, int flags, ...) {
  MODE_OF(flags)
  return open_counted(dir, path, flags, mode);
}
int creat(const char* path, mode_t mode) {
  return open_counted(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

int close(int descriptor) {
  if (!is_counted(descriptor)) return REAL(close)(descriptor);
  const int code = is_folder[descriptor] ? 0 : fault("close", path_of[descriptor], kNeedsNone);
  forget(descriptor);
  const int result = REAL(close)(descriptor);
  if (code == 0) return result;
  errno = code;
  return -1;
}

int closedir(DIR* folder) {  // calls the kernel from inside libc, too
  forget(dirfd(folder));
  return REAL(closedir)(folder);
}

static FILE* fopen_counted(const char* path, const char* mode, FILE* (*next)(const char*, const char*)) {
  char buffer[2 * PATH_MAX];
  const char* whole = whole_path(AT_FDCWD, path, buffer);
  const int is_output = strpbrk(mode, "wa+") != NULL;
  const int code = is_output ? fault("fopen", whole, kNeedsSpace) : 0;
  if (code != 0) {
    errno = code;
    return NULL;
  }
  FILE* file = next(path, mode);
  if (file != NULL && is_output) remember(fileno(file), whole, 0);
  return file;
}
FILE* fopen(const char* path, const char* mode) { return fopen_counted(path, mode, REAL(fopen)); }
FILE* fopen64(const char* path, const char* mode) { return fopen_counted(path, mode, REAL(fopen64)); }

size_t fwrite(const void* data, size_t size, size_t count, FILE* file) {
  const int descriptor = fileno(file);
  const int code = is_counted(descriptor) ? fault("fwrite", path_of[descriptor], kNeedsSpace) : 0;
  if (code == 0) return REAL(fwrite)(data, size, count, file);
  if (code == kTornWrite) {
    (void)REAL(fwrite)(data, 1, size * count / 2, file);
    (void)fflush(file);
    (void)kill(getpid(), SIGKILL);
  }
  errno = code;
  return 0;
}

int fclose(FILE* file) {
  const int descriptor = fileno(file);
  const int is_file = is_counted(descriptor) && !is_folder[descriptor];
  const int code = is_file ? fault("fclose", path_of[descriptor], kNeedsNone) : 0;
  forget(descriptor);
  const int result = REAL(fclose)(file);
  if (code == 0) return result;
  errno = code;
  return EOF;
}

// What changes an open file.

#define FAIL_IF_COUNTED(name, descriptor, need) \
  if (is_counted(descriptor)) FAIL_OR(name, path_of[descriptor], need)

ssize_t write(int descriptor, const void* data, size_t size) {
  const int code = is_counted(descriptor) ? fault("write", path_of[descriptor], kNeedsSpace) : 0;
  if (code == 0) return REAL(write)(descriptor, data, size);
  if (code == kTornWrite) {
    (void)!REAL(write)(descriptor, data, size / 2);
    (void)kill(getpid(), SIGKILL);
  }
  errno = code;
  return -1;
}
ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  FAIL_IF_COUNTED("writev", descriptor, kNeedsSpace);
  return REAL(writev)(descriptor, parts, count);
}
ssize_t pwrite(int descriptor, const void* data, size_t size, off_t at) {
  FAIL_IF_COUNTED("pwrite", descriptor, kNeedsSpace);
  return REAL(pwrite)(descriptor, data, size, at);
}
ssize_t pwrite64(int descriptor, const void* data, size_t size, off64_t at) {
  FAIL_IF_COUNTED("pwrite", descriptor, kNeedsSpace);
  return REAL(pwrite64)(descriptor, data, size, at);
}
int ftruncate(int descriptor, off_t size) {
  FAIL_IF_COUNTED("ftruncate", descriptor, kNeedsSpace);
  return REAL(ftruncate)(descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) {
  FAIL_IF_COUNTED("ftruncate", descriptor, kNeedsSpace);
  return REAL(ftruncate64)(descriptor, size);
}
int fallocate(int descriptor, int mode, off_t at, off_t size) {
  FAIL_IF_COUNTED("fallocate", descriptor, kNeedsSpace);
  return REAL(fallocate)(descriptor, mode, at, size);
}
int posix_fallocate(int descriptor, off_t at, off_t size) {
  const int code = is_counted(descriptor) ? fault("posix_fallocate", path_of[descriptor], kNeedsSpace) : 0;
  return code != 0 ? code : REAL(posix_fallocate)(descriptor, at, size);
}
int fsync(int descriptor) {
  FAIL_IF_COUNTED("fsync", descriptor, kNeedsSpace);
  return REAL(fsync)(descriptor);
}
int fdatasync(int descriptor) {
  FAIL_IF_COUNTED("fdatasync", descriptor, kNeedsSpace);
  return REAL(fdatasync)(descriptor);
}

// What changes names.

#define FAIL_ON_PATH(name, dir, path, need)                       \
  char buffer[2 * PATH_MAX];                                      \
  FAIL_OR(name, whole_path(dir, path, buffer), need)

int rename(const char* from, const char* to) {
  FAIL_ON_PATH("rename", AT_FDCWD, to, kNeedsSpace);
  return REAL(rename)(from, to);
}
int renameat(int from_dir, const char* from, int to_dir, const char* to) {
  FAIL_ON_PATH("renameat", to_dir, to, kNeedsSpace);
  return REAL(renameat)(from_dir, from, to_dir, to);
}
int renameat2(int from_dir, const char* from, int to_dir, const char* to, unsigned flags) {
  FAIL_ON_PATH("renameat2", to_dir, to, kNeedsSpace);
  return REAL(renameat2)(from_dir, from, to_dir, to, flags);
}
int link(const char* from, const char* to) {
  FAIL_ON_PATH("link", AT_FDCWD, to, kNeedsSpace);
  return REAL(link)(from, to);
}
int linkat(int from_dir, const char* from, int to_dir, const char* to, int flags) {
  FAIL_ON_PATH("linkat", to_dir, to, kNeedsSpace);
  return REAL(linkat)(from_dir, from, to_dir, to, flags);
}
int symlink(const char* target, const char* path) {
  FAIL_ON_PATH("symlink", AT_FDCWD, path, kNeedsSpace);
  return REAL(symlink)(target, path);
}
int symlinkat(const char* target, int dir, const char* path) {
  FAIL_ON_PATH("symlinkat", dir, path, kNeedsSpace);
  return REAL(symlinkat)(target, dir, path);
}
int unlink(const char* path) {
  FAIL_ON_PATH("unlink", AT_FDCWD, path, kNeedsNone);
  return REAL(unlink)(path);
}
int unlinkat(int dir, const char* path, int flags) {
  FAIL_ON_PATH("unlinkat", dir, path, kNeedsNone);
  return REAL(unlinkat)(dir, path, flags);
}
int rmdir(const char* path) {
  FAIL_ON_PATH("rmdir", AT_FDCWD, path, kNeedsNone);
  return REAL(rmdir)(path);
}
int remove(const char* path) {
  FAIL_ON_PATH("remove", AT_FDCWD, path, kNeedsNone);
  return REAL(remove)(path);
}
int mkdir(const char* path, mode_t mode) {
  FAIL_ON_PATH("mkdir", AT_FDCWD, path, kNeedsSpace);
  return REAL(mkdir)(path, mode);
}
int mkdirat(int dir, const char* path, mode_t mode) {
  FAIL_ON_PATH("mkdirat", dir, path, kNeedsSpace);
  return REAL(mkdirat)(dir, path, mode);
}
int truncate(const char* path, off_t size) {
  FAIL_ON_PATH("truncate", AT_FDCWD, path, kNeedsSpace);
  return REAL(truncate)(path, size);
}
