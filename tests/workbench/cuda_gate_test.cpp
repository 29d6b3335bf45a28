// tests/workbench/cuda_gate_test.cpp - the gates on CUDA without a GPU: nvcc makes PTX of start kernels and attacks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "tests/workbench/bench_support.h"
#include "workbench/making/new_case.h"
#include "workbench/referee/process.h"

namespace salient::workbench::test {
namespace {

const char* const kNvcc = "nvcc";

bool runs(const std::vector<std::string>& command) {
  try {
    return run_process(command, "", {}).exit_code == 0;
  } catch (const Error&) {
    return false;
  }
}

bool has_nvcc() { return runs({kNvcc, "--version"}); }

/// A Python with Triton: SALIENT_TRITON_PYTHON names it, else it is python3.
std::string triton_python() {
  const char* const named = std::getenv("SALIENT_TRITON_PYTHON");
  return named == nullptr ? "python3" : named;
}
bool has_triton() {
  static const bool has = runs({triton_python(), "-c", "import triton"});
  return has;
}

/// The candidate as the back end compiles it for a GPU that is not here.
std::variant<Artifact, Finding> compile(const std::filesystem::path& file, const Case& given,
                                        const std::filesystem::path& work,
                                        const std::vector<std::filesystem::path>& includes = {}) {
  std::variant<Candidate, Finding> read = read_candidate(read_text_file(file));
  if (const auto* rejected = std::get_if<Finding>(&read)) return *rejected;
  const CudaCompiler compiler{.nvcc = kNvcc,
                              .python = triton_python(),
                              .lowering = std::filesystem::path(SALIENT_WORKBENCH_DIR) / "python",
                              .includes = includes,
                              .architecture = "sm_90a"};
  return make_cuda_backend(compiler, work)->compile(std::get<Candidate>(read), given);
}

/// What the CUDA back end finds before anything is run; ACCEPTED means nothing.
Finding static_finding(const std::filesystem::path& file, const Case& given, const std::filesystem::path& work,
                       const std::vector<std::filesystem::path>& includes = {}) {
  std::variant<Artifact, Finding> made = compile(file, given, work, includes);
  const auto* const rejected = std::get_if<Finding>(&made);
  return rejected == nullptr ? Finding{} : *rejected;
}

/// Whether the file can be compiled here; of Triton that needs a Python with it.
bool is_for_this_machine(const std::filesystem::path& file) { return file.extension() != ".py" || has_triton(); }

TEST(CudaGate, EveryStartKernelPasses) {
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc";
  const salient::test::Scratch scratch;
  for (const Case& given : load_cases(cases_folder())) {
    ASSERT_FALSE(given.cuda_start.empty()) << given.name;
    const Finding found = static_finding(given.cuda_start, given, scratch.path());
    EXPECT_EQ(found.verdict, Verdict::kAccepted) << given.name << ": " << found.reason;
  }
}

TEST(CudaGate, StartKernelsInOtherLanguagesPass) {
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc";
  const salient::test::Scratch scratch;
  std::size_t in_ptx = 0, in_triton = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cases_folder() / "kernels")) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() != ".ptx" && file.extension() != ".py") continue;
    ++(file.extension() == ".ptx" ? in_ptx : in_triton);
    if (!is_for_this_machine(file)) continue;
    const Finding found = static_finding(file, load_case(cases_folder(), file.stem()), scratch.path());
    EXPECT_EQ(found.verdict, Verdict::kAccepted) << file << ": " << found.reason << "\n" << found.log;
  }
  EXPECT_GE(in_ptx, 1U);
  EXPECT_GE(in_triton, 3U);
}

TEST(CudaGate, TheSharedMemoryThatTritonChoseLiesBesideTheCubin) {
  if (!has_nvcc() || !has_triton()) GTEST_SKIP() << "no nvcc, or no Triton";
  const salient::test::Scratch scratch;
  const Case given = load_case(cases_folder(), "matmul_bf16");
  const std::filesystem::path file = cases_folder() / "kernels/matmul_bf16.py";
  const auto made = compile(file, given, scratch.path());
  ASSERT_TRUE(std::holds_alternative<Artifact>(made)) << std::get<Finding>(made).reason;
  const Artifact again = read_artifact(std::get<Artifact>(made).file);
  ASSERT_TRUE(again.shared.contains("matmul"));
  EXPECT_GE(again.shared.at("matmul"), (128 + 128) * 64 * 2) << "a tile of each factor";
  const Candidate candidate = parse_candidate(read_text_file(file));
  const auto launches = again.with_shared_memory(resolve_launches(candidate, {{"m", 300}, {"n", 200}, {"k", 64}}, 132));
  EXPECT_EQ(launches.at(0).block[0], 8 * 32);
  EXPECT_EQ(launches.at(0).grid[0], 2);
  EXPECT_EQ(launches.at(0).grid[1], 3);
  EXPECT_EQ(launches.at(0).smem, again.shared.at("matmul"));
}

TEST(CudaGate, TheExampleOfThePromptsInCutePasses) {
  const char* const home = std::getenv("HOME");
  const std::filesystem::path cute = std::filesystem::path(home == nullptr ? "" : home) / ".cache/salient/cute";
  if (!has_nvcc() || !std::filesystem::exists(cute)) GTEST_SKIP() << "no nvcc, or no headers of CuTe";
  const salient::test::Scratch scratch;
  const std::filesystem::path example = std::filesystem::path(SALIENT_WORKBENCH_DIR) / "prompts/example_cute.txt";
  const Finding found = static_finding(example, load_case(cases_folder(), "relu"), scratch.path(), {cute});
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
                                         parse_case(case_text(made), scratch / "mine.case"), scratch.path());
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
    if (!is_for_this_machine(entry.path())) continue;
    const Finding found = static_finding(entry.path(), load_case(cases_folder(), name), scratch.path());
    const bool is_static = expected == "STATIC_REJECT" || expected == "COMPILE_ERROR";
    EXPECT_STREQ(word_of(found.verdict), is_static ? expected.c_str() : "ACCEPTED")
        << entry.path() << ": " << found.reason;
    rejected += is_static ? 1U : 0U;
  }
  EXPECT_GE(rejected, 10U);
}

}  // namespace
}  // namespace salient::workbench::test
