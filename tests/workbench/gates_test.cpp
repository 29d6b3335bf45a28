// tests/workbench/gates_test.cpp - tokens of C++, and the gates on text and PTX, on what is to pass and what is not.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/workbench/bench_support.h"
#include "workbench/backend/host_compiler.h"
#include "workbench/ledger/archive.h"
#include "workbench/ledger/ledger.h"
#include "workbench/referee/lexer.h"
#include "workbench/referee/static_gate.h"

namespace salient::workbench::test {
namespace {

/// Tokens parted by blanks; literals as ' and ", the first of a line behind a |.
std::string spelled(const std::string& source) {
  std::string text;
  for (const Token& token : tokens_of(source)) {
    const char quote = token.kind == TokenKind::kString ? '"' : token.kind == TokenKind::kCharacter ? '\'' : 0;
    text += std::string(text.empty() ? "" : " ") + (token.starts_line ? "|" : "") +
            (quote != 0 ? quote + token.text + quote : token.text);
  }
  return text;
}

TEST(Lexer, ReadsTokensAsTheCompilerDoes) {
  EXPECT_EQ(spelled("int a=b+1; // rest\n/* x\n */c"), "|int a = b + 1 ; |c");
  EXPECT_EQ(spelled("as\\\nm as\\  \r\nm // no\\\nthing"), "|asm asm") << "joined lines";
  EXPECT_EQ(spelled("case'/*': x /* */ y"), "|case '/*' : x y");
  EXPECT_EQ(spelled("1'000'000 0x1p-3f 1'/*' .5e+1 1.e2"), "|1'000'000 0x1p-3f 1 '/*' .5e+1 1.e2");
  EXPECT_EQ(spelled("\"a\\\"/*\" '\\'' L\"x\""), "|\"a\\\"/*\" '\\'' L \"x\"");
  EXPECT_EQ(spelled("u8R\"x(a\\\n)\" b)x\" c"), "|\"a\\\n)\" b\" c") << "a raw string keeps its backslashes";
  EXPECT_EQ(spelled("%:include <a//b>\n#  include \"c\\\"\n"), "|# include <a//b> |# include \"c\\\"");
  EXPECT_EQ(spelled("a<:0:> <% %> b<::c> <:::d"), "|a [ 0 ] { } b < : : c > [ : : d");
  EXPECT_EQ(spelled("/* x */ # define A /*\n*/ 2\n3"), "|# define A 2 |3") << "a comment does not end a line";
  EXPECT_EQ(spelled("// ?\?/\nx"), "|x") << "trigraphs mean nothing in C++20";
  EXPECT_EQ(spelled(""), "");
}

TEST(Lexer, WhatCanBeReadInTwoWaysIsRefused) {
  for (const auto& [source, why] : {std::pair{"/* x", "comment without end"},
                                    {"\"x\n\"", "literal without end"},
                                    {"'x", "literal without end"},
                                    {"''", "empty character"},
                                    {"a\\u0062", "backslash"},
                                    {"a$b", "dollar"},
                                    {"a\xC3\xA9", "outside of ASCII"},
                                    {"// x\rasm", "carriage return"},
                                    {"a\fb", "control"},
                                    {"R\"(x", "raw string without end"},
                                    {"R\"0123456789abcdefg(x)0123456789abcdefg\"", "without a beginning"},
                                    {"#define A R\"(\n)\"", "lines of a directive"},
                                    {"#include <a\n>", "#include without end"}})
    EXPECT_COMPLAINT(tokens_of(source), ErrorKind::kBadData, why);
}

TEST(TextGate, WhatAScannerOfTextOverlooksIsRejected) {
  for (const char* text : {"int f(int c) { switch (c) { case'/*': asm(\"nop\"); } return '*/'; }\n",
                           "[[ gnu::constructor]] void f();\n",
                           "[\n[gnu::constructor]] void f();\n",
                           "<:<:gnu::used:>:> int a;\n",
                           "[[using gnu: used]] int a;\n",
                           "[/**/[nodiscard, gnu::section(\"x\")]] int a;\n",
                           "[[nodiscard(f(\"x\"))]] int a();\n",
                           "int n = 1'000; asm(\"nop\"); int m = 1'0;\n",
                           "auto s = R\"(\")\"; asm(\"nop\"); auto t = \"\\\"\";\n",
                           "a\\  \nsm(\"nop\");\n",
                           "%:include <thread>\n",
                           "/* */ # /* */ include <thread>\n",
                           "#include <cmath/*>\n",
                           "#pragma once_more\n",
                           "#define F(a) # a\n",
                           "%:define F(a, b) a %:%: b\n",
                           "__thread int a;\n",
                           "extern \"C\" { static void __asan_report_load4(unsigned long) {} }\n",
                           "extern \"C\" const char* __ubsan_default_options() { return \"\"; }\n",
                           "extern \"C\" void __sanitizer_set_death_callback(void (*)());\n",
                           "#if __has_include_next(<a>)\n",
                           "#if __has_include(<a/*>)\n",
                           "#line 7\n",
                           "#include CMATH\n"})
    EXPECT_TRUE(reject_text(text, BackendKind::kHost)) << text;
}

TEST(TextGate, EveryCandidateOfThePublishedRunsIsTakenAsItWas) {
  const std::filesystem::path workbench = SALIENT_WORKBENCH_DIR;
  const salient::test::Scratch scratch;
  const RunArchive archive(workbench / "results");
  for (const std::string& run : archive.runs()) (void)archive.unpack(run, scratch.path());
  std::size_t taken = 0;
  for (const std::filesystem::path& folder : {workbench / "results", workbench / "examples", scratch.path()})
    for (const auto& run : std::filesystem::directory_iterator(folder)) {
      if (!std::filesystem::exists(run.path() / "ledger.jsonl")) continue;
      const std::vector<Json> records = load_ledger(run.path());
      const BackendKind backend = text_of(records[0], "backend") == "cuda" ? BackendKind::kCuda : BackendKind::kHost;
      for (const Json& record : records) {
        if (record["kind"] != "assessment" || text_of(record, "verdict") == "STATIC_REJECT") continue;
        const auto reason = reject_text(read_object(run.path(), text_of(record, "source")), backend);
        EXPECT_FALSE(reason) << run.path() << ", record " << record["n"] << ": " << *reason;
        ++taken;
      }
    }
  EXPECT_GT(taken, 40U);
}

const char* const kPtx =
    ".version 9.0\n.visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u64 .ptr k_param_1\n)\n{\n\tret;\n}\n";

TEST(PtxGate, EntriesFitTheCase) {
  const Candidate one = parse_candidate("// launch k grid=1");
  EXPECT_FALSE(reject_ptx(kPtx, one, 2));
  EXPECT_TRUE(reject_ptx(kPtx, one, 3));
  EXPECT_TRUE(reject_ptx(kPtx, parse_candidate("// launch other grid=1"), 2));
}

TEST(PtxGate, WhatOutlivesALaunchOrLeavesTheKernelIsRejected) {
  const Candidate one = parse_candidate("// launch k grid=1");
  EXPECT_FALSE(reject_ptx(std::string(".global .align 1 .b8 _ZN4cute1_E[1];\n") + kPtx, one, 2)) << "a tag of one byte";
  EXPECT_TRUE(reject_ptx(
      std::string(".global .align 1 .b8 seen[1];\n") + kPtx + ".func f()\n{ st.global.u8 [seen], 1; }", one, 2))
      << "one byte counts launches";
  for (const char* line : {".visible .global .align 4 .b8 cache[1024];\n", ".global .align 8 .u64 seen;\n",
                           ".extern .func  (.param .b32 func_retval0) vprintf\n", "\tmov.u32 %r1, %clock;\n",
                           "\tnanosleep.u32 100;\n", ".global .texref t;\n", "\tmov.u64 %rd1, %globaltimer;\n"})
    EXPECT_TRUE(reject_ptx(std::string(line) + kPtx, one, 2)) << line;
}

/// The gate on a library that is made past the gate on text.
std::optional<std::string> reject_linked(const std::string& source, const char* flag = "-O1") {
  const salient::test::Scratch scratch;
  const std::string text = scratch / "k.cpp", object = scratch / "k.o", library = scratch / "k.so";
  (void)write_text_file(text, "extern \"C\" float k(float x) { return x; }\n" + source);
  EXPECT_EQ(run_process({"g++", "-std=c++20", "-w", "-fPIC", flag, "-c", text, "-o", object}, "", {}).exit_code, 0);
  const ProcessResult linked = run_process(link_command(object, library), "", {});
  EXPECT_EQ(linked.exit_code, 0) << source << linked.errors;
  return linked.exit_code != 0 ? std::nullopt : reject_library(library, LibraryKind::kPlain);
}

TEST(LibraryGate, WhatTheLoaderWouldRunOrLeaveOpenIsRejected) {
  EXPECT_FALSE(reject_linked(""));
  EXPECT_FALSE(
      reject_linked("static const char* const names[] = {\"a\", \"b\"}; extern \"C\" const char* name(int i) { "
                    "return names[i]; }"))
      << "addresses that are sealed";
  EXPECT_FALSE(reject_linked("#include <cmath>\nextern \"C\" float e(float x) { return std::exp(x); }"));
  const std::string table = " void f() {} void (*const table[])() = {f};";
  for (const char* const source :
       {"[[gnu::constructor]] void f() {}", "[[gnu::destructor]] void f() {}", "extern \"C\" void _init() {}",
        "extern \"C\" void _fini() {}", "int counter; extern \"C\" int* at() { return &counter; }",
        "int counter = 7; extern \"C\" int* at() { return &counter; }", "thread_local int t; int* at() { return &t; }",
        "extern \"C\" char* getenv(const char*); char* at() { return getenv(\"A\"); }",
        "extern \"C\" int* environ; int* at() { return environ; }",
        "extern \"C\" void f() {} extern \"C\" void* which() { return (void*)f; } extern \"C\" void g() "
        "__attribute__((ifunc(\"which\"))); void h() { g(); }",
        "[[gnu::section(\".data.rel.ro.x\")]] int kept = 1; [[gnu::section(\".bss.y\")]] int more;",
        "[[gnu::section(\".gnu.linkonce.d.x,\\\"a\\\",@progbits#\")]] int kept = 1; int* at() { return &kept; }",
        "asm(\".pushsection .rwx,\\\"awx\\\",@progbits\\n.long 1\\n.popsection\");",
        "asm(\".pushsection .note.GNU-stack,\\\"x\\\",@progbits\\n.popsection\"); int unsealed;"})
    EXPECT_TRUE(reject_linked(source)) << source;
  for (const char* section : {".init_array", ".fini_array", ".ctors", ".dtors", ".ctors.00001", ".init_array.5"})
    EXPECT_TRUE(reject_linked("[[gnu::used, gnu::section(\"" + std::string(section) + ",\\\"a\\\"#\")]]" + table))
        << section;
}

TEST(TextGate, WhatMacrosMakeIsSeenBehindThePreprocessor) {
  for (const char* text :
       {"[ [gnu::used]] int a;\n", "# 7 \"candidate.cpp\" 2\nint a; asm(\"\");\n", "int a = __builtin_apply(0);\n",
        "unsigned long t = __rdtsc();\n", "__attribute__((used)) int a;\n", "__thread int a;\n", "#pragma weak a\n",
        "const char* t = R\"(\n# 1 \"x\"\n)\"; asm(\"\");\n"})
    EXPECT_TRUE(reject_preprocessed(text)) << text;
  for (const char* text : {"# 1 \"candidate.cpp\" 1\nfloat a = __builtin_nanf(\"\");\n", "#pragma GCC unroll 4\n",
                           "float b = __builtin_ia32_addps(x, y);\n", "int csr_rows;\n", "int asmall;\n",
                           "int c = __builtin_expect(1, 1) + __builtin_clzll(3ull) + __builtin_popcount(1);\n"})
    EXPECT_FALSE(reject_preprocessed(text)) << text << *reject_preprocessed(text);
  for (const char* text : {"#define inline static\n", "#undef __AVX2__\n", "#define _Foo 1\n"})
    EXPECT_TRUE(reject_text(text, BackendKind::kHost)) << text;
}

TEST(TextGate, OrdinaryCodePasses) {
  for (const char* text :
       {"#include <cmath>\n#define F(x) ((x) + 1)\nint x = 'a';\n", "// asm in a comment\nint y = 1'000;\n",
        "const char* s = \"asm volatile\";\n", "#pragma GCC unroll 4\n", "#define A 1 + \\\n  2\n"})
    EXPECT_FALSE(reject_text(text, BackendKind::kHost)) << text << *reject_text(text, BackendKind::kHost);
  EXPECT_FALSE(reject_text("[[maybe_unused]] int a;\n[[nodiscard(\"x\"), likely]] int b();\n", BackendKind::kHost));
  EXPECT_FALSE(reject_text("#include <cub/block/block_reduce.cuh>\nasm(\"mov;\");\n", BackendKind::kCuda));
  EXPECT_TRUE(reject_text("k<<<1, 1>>>();", BackendKind::kCuda));
  EXPECT_TRUE(reject_text("#include <cub/../../etc/passwd>\n", BackendKind::kCuda));
}

/// What nvdisasm prints of a kernel k with these instructions.
std::string sass_of(const std::string& instructions) {
  std::string text = "\t.target\tsm_90a\n//--- .text.k ---\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n";
  std::istringstream lines(instructions);
  for (std::string line; std::getline(lines, line);) text += "        /*0010*/                   " + line + " ;\n";
  return text;
}

TEST(SassGate, WhatACaseHasNoUseForIsRejected) {
  const Candidate one = parse_candidate("# language cutile\n# launch k grid=1");
  for (const char* code : {"LDG.E.EL.64 R6, desc[UR10][R12.64+0x800]", "CCTL.IVALL", "CCTL.E.PF1 [R4]",
                           "S2R R0, SR_TID.X", "S2UR UR4, SR_CTAID.X", "CS2R R12, SRZ",
                           "CALL.REL.NOINC `($__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath)",
                           "LDC.64 R2, c[0x0][0x218]", "@!P0 BRA `(.L_x_0)", "ULDC.64 UR4, c[0x3][0x10]"})
    EXPECT_FALSE(reject_sass(sass_of(code), one)) << code << *reject_sass(sass_of(code), one);
  for (const char* code :
       {"S2UR UR9, SR_CLOCKLO", "CS2R R18, SR_CLOCKLO", "@P1 CS2R R12, SR_GLOBALTIMERLO", "S2UR UR13, SR_PM0",
        "NANOSLEEP 0x64", "LDC.64 R4, c[0x4][RZ]", "@!UP0 ULDC UR4, c[0x4][0x8]", "CCTL.E.PF2 [R12]",
        "CCTL.E.PML2 [R4]", "CCTL.E.DML2 [R12]", "CCTL.E.RML2 [R2]", "UBLKPF.L2 [UR6], UR16", "CALL.ABS.NOINC R20",
        "IADD3 R1, R2, R3\nEXIT\nNANOSLEEP R3"})
    EXPECT_TRUE(reject_sass(sass_of(code), one)) << code;
  EXPECT_TRUE(reject_sass(sass_of(""), one)) << "a kernel without code";
  EXPECT_TRUE(reject_sass(sass_of("EXIT"), parse_candidate("# language cutile\n# launch other grid=1")));
  EXPECT_TRUE(reject_sass("", one));
}

TEST(PtxGate, ASpellingOfAnAssemblyStringHidesNothing) {
  const Candidate one = parse_candidate("// launch k grid=1");
  const std::string head(kPtx, std::string(kPtx).find("\tret")), tail = "\tret;\n}\n";
  for (const char* text :
       {"  .global .b8 cache[1024];\n", "here: .global\n.b8 cache [ 1024 ];\n", "{ .global.b8 c[2]; }\n",
        "/* */ .global .align 1 .b8 grid[1][1024];\n", ".global .b8 a, b;\n", ".global .v4 .b8 a;\n",
        ".extern\n  .func f;\n", "mov.u32 %r1,%clock_hi;\n", ".global .b8 a[];\n"})
    EXPECT_TRUE(reject_ptx(head + text + tail, one, 2)) << text;
  for (const char* text :
       {"ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n", "// .global .b8 cache[1024];\n",
        "@%p1 st .global .f32 [%rd1], %f1;\n", ".pragma \"nounroll\";\n", "$L_1: bra $L_1;\n",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 4, [%r2];\n"})
    EXPECT_FALSE(reject_ptx(head + text + tail, one, 2)) << text;
  EXPECT_TRUE(reject_ptx(".visible .entry k(.param .u64 k_64, .param .u32 k_param_64)\n{ ret; }\n", one, 2))
      << "the name says nothing of the type";
}

}  // namespace
}  // namespace salient::workbench::test
