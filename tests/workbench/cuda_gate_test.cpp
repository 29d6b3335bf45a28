// tests/workbench/cuda_gate_test.cpp - the gates on CUDA without a GPU: nvcc makes PTX of start kernels and attacks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/workbench/bench_support.h"
#include "workbench/making/new_case.h"
#include "workbench/referee/process.h"
#include "workbench/referee/static_gate.h"

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

/// Where scripts/setup.sh puts what it fetches, as the program looks for it.
std::filesystem::path cache_folder() {
  const char *const cache = std::getenv("XDG_CACHE_HOME"), *const home = std::getenv("HOME");
  if (cache != nullptr) return std::filesystem::path(cache) / "salient";
  return std::filesystem::path(home == nullptr ? "" : home) / ".cache/salient";
}

/// The folder of a Python with the languages' compilers, and of a disassembler: SALIENT_KERNEL_LANGUAGES names it, else
/// it is where scripts/setup.sh --languages puts them.
std::filesystem::path languages_folder() {
  const char* const named = std::getenv("SALIENT_KERNEL_LANGUAGES");
  return named != nullptr ? std::filesystem::path(named) : cache_folder() / "kernel-languages";
}

/// Whether candidates in the language can be compiled here.
bool has(Language language) {
  static const std::map<Language, std::string> packages = {{Language::kTriton, "triton"},
                                                           {Language::kCuteDsl, "cutlass.cute"},
                                                           {Language::kTilelang, "tilelang"},
                                                           {Language::kCutile, "cuda.tile"}};
  static std::map<Language, bool> known;
  const auto package = packages.find(language);
  if (package == packages.end()) return true;
  if (!known.contains(language))
    known[language] = runs({languages_folder() / "bin/python3", "-I", "-c", "import " + package->second}) &&
                      (language != Language::kCutile || runs({languages_folder() / "bin/nvdisasm", "--version"}));
  return known[language];
}

/// The candidate as the back end compiles it for a GPU that is not here.
std::variant<Artifact, Finding> compile(const std::filesystem::path& file, const Case& given,
                                        const std::filesystem::path& work,
                                        const std::vector<std::filesystem::path>& includes = {},
                                        const std::filesystem::path& lowered = {}) {
  std::variant<Candidate, Finding> read = read_candidate(read_text_file(file));
  if (const auto* rejected = std::get_if<Finding>(&read)) return *rejected;
  const CudaCompiler compiler{.nvcc = kNvcc,
                              .python = languages_folder() / "bin/python3",
                              .lowering = std::filesystem::path(SALIENT_WORKBENCH_DIR) / "python",
                              .lowered = lowered,
                              .keeps_lowered = !lowered.empty(),
                              .disassembler = languages_folder() / "bin/nvdisasm",
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

/// Whether the file can be compiled here, or is refused before.
bool is_for_this_machine(const std::filesystem::path& file) {
  const std::variant<Candidate, Finding> read = read_candidate(read_text_file(file));
  return std::holds_alternative<Finding>(read) || has(std::get<Candidate>(read).language);
}

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
  std::map<Language, std::size_t> seen;
  for (const auto& entry : std::filesystem::directory_iterator(cases_folder() / "kernels")) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() != ".ptx" && file.extension() != ".py") continue;
    ++seen[parse_candidate(read_text_file(file)).language];
    if (!is_for_this_machine(file)) continue;
    const std::string name = file.filename().string().substr(0, file.filename().string().find('.'));
    const Finding found = static_finding(file, load_case(cases_folder(), name), scratch.path());
    EXPECT_EQ(found.verdict, Verdict::kAccepted) << file << ": " << found.reason << "\n" << found.log;
  }
  EXPECT_GE(seen[Language::kPtx], 1U);
  EXPECT_GE(seen[Language::kTriton], 3U);
  for (const Language language : {Language::kCuteDsl, Language::kTilelang, Language::kCutile})
    EXPECT_GE(seen[language], 2U) << traits_of(language).word;
}

TEST(CudaGate, WhatPythonMadeIsKeptForMachinesWithoutIt) {
  if (!has_nvcc() || !has(Language::kCuteDsl)) GTEST_SKIP() << "no nvcc, or no CuTe of Python";
  const salient::test::Scratch scratch;
  const Case given = load_case(cases_folder(), "softsign");
  const std::filesystem::path file = cases_folder() / "kernels/softsign.cute.py", kept = scratch / "kept";
  ASSERT_TRUE(std::holds_alternative<Artifact>(compile(file, given, scratch / "first", {}, kept)));
  const Candidate candidate = parse_candidate(read_text_file(file));
  const CudaCompiler without{.nvcc = kNvcc,
                             .python = "/absent/python3",
                             .lowering = std::filesystem::path(SALIENT_WORKBENCH_DIR) / "python",
                             .lowered = kept,
                             .architecture = "sm_90a"};
  std::filesystem::create_directories(scratch / "second");
  EXPECT_TRUE(
      std::holds_alternative<Artifact>(make_cuda_backend(without, scratch / "second")->compile(candidate, given)));
  Candidate other = candidate;
  other.parameters[0].value = 512;
  EXPECT_COMPLAINT(make_cuda_backend(without, scratch / "second")->compile(other, given), ErrorKind::kNoInput,
                   "/absent/python3");
}

TEST(CudaGate, ACompilerThatGivesNoPtxIsJudgedByItsCubin) {
  if (!has_nvcc() || !has(Language::kCutile)) GTEST_SKIP() << "no nvcc, or no cuTile";
  const salient::test::Scratch scratch;
  const Case given = load_case(cases_folder(), "softsign");
  const auto made = compile(cases_folder() / "kernels/softsign.cutile.py", given, scratch.path());
  ASSERT_TRUE(std::holds_alternative<Artifact>(made)) << std::get<Finding>(made).reason;
  const Artifact& artifact = std::get<Artifact>(made);
  EXPECT_EQ(artifact.threads.at("softsign") % 32, 0) << "as the cubin says";
  const std::string cubin = read_text_file(artifact.file);
  const Candidate candidate = parse_candidate(read_text_file(cases_folder() / "kernels/softsign.cutile.py"));
  EXPECT_FALSE(reject_cubin(cubin, candidate, 3 + 3 + 1));
  EXPECT_TRUE(reject_cubin(cubin, candidate, 3)) << "arrays have extents and strides";
  Candidate as_ptx = candidate;
  as_ptx.language = Language::kPtx;
  EXPECT_TRUE(reject_cubin(cubin, as_ptx, 3 + 3 + 1)) << "memory of the module, which cuTile's driver alone reads";
  EXPECT_TRUE(reject_cubin(cubin.substr(0, 1000), candidate, 7));
}

TEST(CudaGate, ACubinSaysTheThreadsThatItsCompilerChose) {
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc";
  const salient::test::Scratch scratch;
  const auto cubin_of = [&](const std::string& directive) {
    salient::test::write_bytes(scratch / "k.ptx",
                               ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry "
                               "k(.param .u64 a)\n" +
                                   directive + "\n{\n  ret;\n}\n");
    EXPECT_TRUE(runs({kNvcc, "-cubin", "-arch=sm_90", scratch / "k.ptx", "-o", scratch / "k.cubin"}));
    return read_text_file(scratch / "k.cubin");
  };
  Candidate candidate = parse_candidate("# language cutile\n# launch k grid=1\n");
  const std::string whole = cubin_of(".reqntid 96, 2, 1");
  EXPECT_FALSE(reject_cubin(whole, candidate, 1));
  EXPECT_EQ(threads_of_cubin(whole).at("k"), 192);
  const std::string without = cubin_of("");
  EXPECT_NE(reject_cubin(without, candidate, 1).value_or("").find("how many threads"), std::string::npos);
  candidate.language = Language::kPtx;
  EXPECT_FALSE(reject_cubin(without, candidate, 1)) << "whose launch line says them";
  candidate.language = Language::kCutile;
  const std::string record{4, 0x10, 12, 0, 96, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0};
  std::string clipped = whole;
  ASSERT_NE(clipped.find(record), std::string::npos);
  clipped[clipped.find(record) + 2] = 8;  // its third number belongs to nothing
  EXPECT_NE(reject_cubin(clipped, candidate, 1).value_or("").find("no cubin"), std::string::npos);
}

TEST(CudaGate, TheSharedMemoryThatTritonChoseLiesBesideTheCubin) {
  if (!has_nvcc() || !has(Language::kTriton)) GTEST_SKIP() << "no nvcc, or no Triton";
  const salient::test::Scratch scratch;
  const Case given = load_case(cases_folder(), "matmul_bf16");
  const std::filesystem::path file = cases_folder() / "kernels/matmul_bf16.py";
  const auto made = compile(file, given, scratch.path());
  ASSERT_TRUE(std::holds_alternative<Artifact>(made)) << std::get<Finding>(made).reason;
  const Artifact again = read_artifact(std::get<Artifact>(made).file);
  ASSERT_TRUE(again.shared.contains("matmul"));
  EXPECT_GE(again.shared.at("matmul"), (128 + 128) * 64 * 2) << "a tile of each factor";
  const Candidate candidate = parse_candidate(read_text_file(file));
  const auto launches = again.completed(resolve_launches(candidate, {{"m", 300}, {"n", 200}, {"k", 64}}, 132));
  EXPECT_EQ(launches.at(0).block[0], 8 * 32);
  EXPECT_EQ(launches.at(0).grid[0], 2);
  EXPECT_EQ(launches.at(0).grid[1], 3);
  EXPECT_EQ(launches.at(0).smem, again.shared.at("matmul"));
}

TEST(CudaGate, TheExampleOfThePromptsInCutePasses) {
  const std::filesystem::path cute = cache_folder() / "cute";
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
