// tests/support/scratch.h - a folder for one test, small files in it, and the error that an action ends with.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/error.h"

namespace salient::test {

/// Made empty in the temporary folder, removed at the end.
class Scratch {
 public:
  Scratch() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = "salient-" + std::to_string(getpid()) + "-" + info->test_suite_name() + "-" + info->name();
    std::replace(name.begin(), name.end(), '/', '-');
    path_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Makes the folders on the way, too. @return path
inline std::filesystem::path write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The kind and text of the Error that `action` throws; a failure if it throws none.
struct Complaint {
  int exit_code = 0;
  std::string text{};
  bool mentions(std::string_view part) const { return text.find(part) != std::string::npos; }
};

template <class Action>
Complaint complaint_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one line: " << error.what();
    return {static_cast<int>(error.kind()), error.what()};
  }
  ADD_FAILURE() << "no error";
  return {};
}

#define EXPECT_COMPLAINT(action, code, part)                                                     \
  do {                                                                                           \
    const ::salient::test::Complaint complaint = ::salient::test::complaint_of([&] { action; }); \
    EXPECT_EQ(complaint.exit_code, static_cast<int>(code)) << complaint.text;                    \
    EXPECT_TRUE(complaint.mentions(part)) << complaint.text;                                     \
  } while (false)

}  // namespace salient::test
