// tests/workbench/cuda_gate_test.cpp - the gates on CUDA without a GPU: nvcc makes PTX of start kernels and attacks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "tests/workbench/bench_support.h"
#include "workbench/making/new_case.h"
#include "workbench/referee/process.h"
#include "workbench/referee/static_gate.h"

namespace salient::workbench::test {
namespace {

const char* const kNvcc = "nvcc";

bool has_nvcc() {
  try {
    return run_process({kNvcc, "--version"}, "", {}).exit_code == 0;
  } catch (const Error&) {
    return false;
  }
}

/// What the CUDA back end finds before anything is run; ACCEPTED means nothing.
Finding static_finding(const std::filesystem::path& file, const Case& given, const std::filesystem::path& ptx,
                       const std::string& include = ".") {
  std::variant<Candidate, Finding> read = read_candidate(read_text_file(file));
  if (const auto* rejected = std::get_if<Finding>(&read)) return *rejected;
  const auto& candidate = std::get<Candidate>(read);
  if (auto reason = reject_text(candidate.source, BackendKind::kCuda)) return {Verdict::kStaticReject, *reason, {}};
  const ProcessResult made = run_process({kNvcc, "-ptx", "-std=c++20", "-w", "-arch=sm_90a", "-I" + include, "-x", "cu",
                                          file.string(), "-o", ptx.string()},
                                         "", {});
  if (made.exit_code != 0) return {Verdict::kCompileError, made.errors, {}};
  const std::size_t parameters = given.buffers.size() + given.dims.size() + candidate.scratch.size();
  if (auto reason = reject_ptx(read_text_file(ptx), candidate, parameters))
    return {Verdict::kStaticReject, *reason, {}};
  return {};
}

TEST(CudaGate, EveryStartKernelPasses) {
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc";
  const salient::test::Scratch scratch;
  for (const Case& given : load_cases(cases_folder())) {
    ASSERT_FALSE(given.cuda_start.empty()) << given.name;
    const Finding found = static_finding(given.cuda_start, given, scratch / "kernel.ptx");
    EXPECT_EQ(found.verdict, Verdict::kAccepted) << given.name << ": " << found.reason;
  }
}

TEST(CudaGate, TheExampleOfThePromptsInCutePasses) {
  const char* const home = std::getenv("HOME");
  const std::filesystem::path cute = std::filesystem::path(home == nullptr ? "" : home) / ".cache/salient/cute";
  if (!has_nvcc() || !std::filesystem::exists(cute)) GTEST_SKIP() << "no nvcc, or no headers of CuTe";
  const salient::test::Scratch scratch;
  const std::filesystem::path example = std::filesystem::path(SALIENT_WORKBENCH_DIR) / "prompts/example_cute.txt";
  const Finding found = static_finding(example, load_case(cases_folder(), "relu"), scratch / "kernel.ptx", cute);
  EXPECT_EQ(found.verdict, Verdict::kAccepted) << found.reason;
}

TEST(CudaGate, WhatIsMadeOfAStrangersKernelPasses) {
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc";
  const salient::test::Scratch scratch;
  const std::filesystem::path strangers = fixtures_folder().parent_path() / "strangers";
  for (const char* name : {"softsign", "matmul_tiles"}) {
    const std::string source = read_text_file(strangers / (std::string(name) + ".cu"));
    NewCase made{.name = "mine", .file = "theirs.cu", .backend = BackendKind::kCuda};
    made.kernel = find_kernels(source, BackendKind::kCuda).front();
    made.text = text_for_kernel(source, BackendKind::kCuda, made.kernel);
    const bool is_product = !made.kernel.template_parameters.empty();
    if (is_product) made.template_arguments = {"16"};
    read_parameters(made);
    set_buffers(made, is_product ? "A=M*K; B=K*N; C=M*N" : "");
    set_shapes(made, is_product ? "M=512 N=512 K=512" : "n=100000");
    made.formulas = {is_product ? "C[i < M, j < N] = sum(t, 0, K, A[i*K+t] * B[t*N+j])"
                                : "y[i] = x[i] / (1 + abs(x[i]))"};
    made.block = is_product ? "16 block_y=16" : "256";
    made.grid = is_product ? "ceil(N,16) grid_y=ceil(M,16)" : "ceil(n,256)";
    (void)write_text_file(scratch / (made.name + name + ".cu"), kernel_text(made));
    const Finding found = static_finding(scratch / (made.name + name + ".cu"),
                                         parse_case(case_text(made), scratch / "mine.case"), scratch / "kernel.ptx");
    EXPECT_EQ(found.verdict, Verdict::kAccepted) << name << ": " << found.reason << found.log;
  }
}

TEST(CudaGate, AttacksThatNeedNoGpuToBeSeenAreRejected) {
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc";
  const salient::test::Scratch scratch;
  std::size_t rejected = 0;
  for (const auto& entry : std::filesystem::directory_iterator(fixtures_folder().parent_path() / "cuda_fixtures")) {
    std::istringstream lines(read_text_file(entry.path()));
    std::string line, word, expected, name;
    std::getline(lines, line);
    lines >> word >> word >> expected >> word >> name;
    const Finding found = static_finding(entry.path(), load_case(cases_folder(), name), scratch / "kernel.ptx");
    const bool is_static = expected == "STATIC_REJECT" || expected == "COMPILE_ERROR";
    EXPECT_STREQ(word_of(found.verdict), is_static ? expected.c_str() : "ACCEPTED")
        << entry.path() << ": " << found.reason;
    rejected += is_static ? 1U : 0U;
  }
  EXPECT_GE(rejected, 10U);
}

}  // namespace
}  // namespace salient::workbench::test
