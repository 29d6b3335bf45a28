// tests/core/files/open_to_read_test.cpp - files alone are opened, and nothing waits.
#include "core/files/open_to_read.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "core/files/file_io.h"
#include "core/files/mapped_file.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch, test::write_bytes;

void make_socket(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.string().size(), sizeof address.sun_path);
  std::strcpy(address.sun_path, path.c_str());
  const Descriptor socket_end(socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(bind(socket_end.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

TEST(OpenToRead, SaysHowLongTheFileIs) {
  const Scratch scratch;
  const FileToRead opened = open_to_read(write_bytes(scratch / "text", "12345"));
  EXPECT_EQ(opened.bytes, 5);
  char text[6] = {};
  EXPECT_EQ(read(opened.file.get(), text, 5), 5);
  EXPECT_STREQ(text, "12345");
}

TEST(OpenToRead, RefusesWhatIsNoFile) {
  const Scratch scratch;
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  make_socket(scratch / "socket");
  std::filesystem::create_symlink("/dev/zero", scratch / "endless");
  EXPECT_COMPLAINT((void)open_to_read(scratch / "none"), 66, "none: cannot open: No such file");
  EXPECT_COMPLAINT((void)open_to_read(scratch.path()), 65, "is a folder, not a file");
  EXPECT_COMPLAINT((void)open_to_read(scratch / "pipe"), 65, "pipe: is a pipe, not a file");
  EXPECT_COMPLAINT((void)open_to_read(scratch / "socket"), 65, "socket: is a socket, not a file");
  EXPECT_COMPLAINT((void)open_to_read(scratch / "endless"), 65, "endless: is a device, not a file");
}

TEST(OpenToRead, IsWhatReadersUse) {
  const Scratch scratch;
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  EXPECT_COMPLAINT((void)read_text_file(scratch / "pipe"), 65, "is a pipe");
  EXPECT_COMPLAINT((void)digest_file("/dev/zero"), 65, "is a device");
  EXPECT_COMPLAINT(MappedFile file(scratch / "pipe"), 65, "is a pipe");
}

TEST(RefusePipe, RefusesNothingElse) {
  const Scratch scratch;
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  EXPECT_COMPLAINT(refuse_pipe(scratch / "pipe"), 65, "is a pipe");
  refuse_pipe(scratch / "none");
  refuse_pipe("/dev/null");
}

}  // namespace
}  // namespace salient
