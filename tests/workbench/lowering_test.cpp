// tests/workbench/lowering_test.cpp - what compilers in Python made is kept, judged again and never trusted, by a
// script in place of such a compiler.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/workbench/bench_support.h"
#include "workbench/backend/python_lowering.h"
#include "workbench/ledger/sha256.h"

namespace salient::workbench::test {
namespace {

/// Counts its calls, and answers or ends as the files beside it say.
const char* const kScript = R"(import json, pathlib, sys
here = pathlib.Path(__file__).parent
question = json.load(sys.stdin)
def code(name):
    return int((here / name).read_text()) if (here / name).exists() else 0
if question.get("judge_only"):
    print("line 7: the gate", file=sys.stderr)
    sys.exit(code("gate"))
with open(here / "calls", "a") as file:
    file.write("x")
if code("end"):
    print("the end", file=sys.stderr)
    sys.exit(code("end"))
pathlib.Path(question["out"]).write_text((here / "answer").read_text())
)";

struct Compiler {
  salient::test::Scratch scratch{};
  std::filesystem::path scripts = scratch / "scripts", kept = scratch / "kept";
  PythonCompiler of{.python = "python3", .scripts = scripts, .folder = scratch / "made", .kept = kept, .keeps = true};

  Compiler() {
    std::filesystem::create_directories(of.folder);
    std::filesystem::create_directories(scripts);
    for (const char* name : {"lower_cute_dsl.py", "lower_cutile.py"}) say(name, kScript);
    say("answer", R"({"ptx": "some"})");
  }

  void say(const char* name, const std::string& text) { std::ofstream(scripts / name) << text; }
  std::size_t calls() const {
    return std::filesystem::exists(scripts / "calls") ? std::filesystem::file_size(scripts / "calls") : 0;
  }
  std::variant<Lowered, Finding> lower(const std::string& language = "cute-dsl", const std::string& more = "") const {
    const bool has_blocks = language != "cutile";
    return lower_by_python(parse_candidate("# language " + language + "\n" + more + "# launch softsign grid=n" +
                                           (has_blocks ? " block=32" : "") + "\n"),
                           load_case(cases_folder(), "softsign"), of);
  }
  std::filesystem::path entry() const { return std::filesystem::directory_iterator(kept)->path(); }
};

TEST(Lowering, WhatIsKeptIsJudgedAgain) {
  Compiler compiler;
  EXPECT_EQ(std::get<Lowered>(compiler.lower()).ptx, "some");
  EXPECT_EQ(std::get<Lowered>(compiler.lower()).ptx, "some");
  EXPECT_EQ(compiler.calls(), 1U) << "the second one was kept";
  compiler.say("gate", "65");
  const Finding found = std::get<Finding>(compiler.lower());
  EXPECT_EQ(found.verdict, Verdict::kStaticReject);
  EXPECT_EQ(found.reason, "line 7: the gate");
  compiler.say("gate", "1");
  EXPECT_TRUE(std::holds_alternative<Lowered>(compiler.lower()));
  EXPECT_EQ(compiler.calls(), 2U) << "a gate that cannot judge leaves it to the compiler";
  compiler.of.python = "/absent/python3";
  EXPECT_TRUE(std::holds_alternative<Lowered>(compiler.lower())) << "nothing of the source runs here";
  EXPECT_COMPLAINT(compiler.lower("cute-dsl", "# param A=1\n"), ErrorKind::kNoInput, "/absent/python3");
}

TEST(Lowering, WhatIsDamagedIsMadeAgain) {
  Compiler compiler;
  std::size_t calls = 1;
  ASSERT_TRUE(std::holds_alternative<Lowered>(compiler.lower()));
  const std::string whole = read_text_file(compiler.entry());
  std::string changed = whole;
  changed.replace(changed.find("some"), 4, "more");
  for (const std::string& text : {whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1), changed,
                                  sha256("{}") + "\n{}", std::string()}) {
    std::ofstream(compiler.entry()) << text;
    const auto made = compiler.lower();
    ASSERT_TRUE(std::holds_alternative<Lowered>(made)) << std::get<Finding>(made).reason;
    EXPECT_EQ(std::get<Lowered>(made).ptx, "some");
    EXPECT_EQ(compiler.calls(), ++calls) << text;
    EXPECT_EQ(read_text_file(compiler.entry()), whole);
  }
  compiler.say("lowering.py", "# another version\n");
  ASSERT_TRUE(std::holds_alternative<Lowered>(compiler.lower()));
  EXPECT_EQ(compiler.calls(), ++calls) << "other scripts may lower otherwise";
}

TEST(Lowering, AFolderIsWrittenWhereThatWasAskedForAndCanBe) {
  Compiler compiler;
  compiler.of.keeps = false;
  ASSERT_TRUE(std::holds_alternative<Lowered>(compiler.lower()));
  EXPECT_FALSE(std::filesystem::exists(compiler.kept));
  compiler.of.keeps = true;
  for (const char* folder : {"/proc/none", "/dev/null"}) {
    compiler.of.kept = folder;
    EXPECT_TRUE(std::holds_alternative<Lowered>(compiler.lower())) << folder;
  }
}

TEST(Lowering, AnAnswerIsWhatTheLanguagesCompilerGives) {
  Compiler compiler;
  for (const char* answer :
       {"{\"ptx\": ", "{}", R"({"cubin": "AAAA"})", R"({"ptx": "some", "cubin": "AAAA"})", R"({"ptx": 3})", R"([])"}) {
    compiler.say("answer", answer);
    const auto made = compiler.lower();
    ASSERT_TRUE(std::holds_alternative<Finding>(made)) << answer;
    EXPECT_EQ(std::get<Finding>(made).verdict, Verdict::kCompileError) << answer;
  }
  for (const char* answer : {R"({"cubin": "A-A"})", R"({"ptx": "some"})"}) {
    compiler.say("answer", answer);
    EXPECT_EQ(std::get<Finding>(compiler.lower("cutile")).verdict, Verdict::kCompileError) << answer;
  }
  compiler.say("answer", R"({"cubin": "YWI="})");
  EXPECT_EQ(std::get<Lowered>(compiler.lower("cutile")).cubin, "ab");
  EXPECT_FALSE(std::filesystem::exists(compiler.kept) &&
               std::distance(std::filesystem::directory_iterator(compiler.kept), {}) != 1)
      << "nothing else is kept";
}

TEST(Lowering, WhatIsMissingIsSaidAndIsNoFaultOfTheCandidate) {
  Compiler compiler;
  compiler.say("end", "66");
  EXPECT_COMPLAINT(compiler.lower(), ErrorKind::kNoInput, "python3 has no nvidia-cutlass-dsl");
  compiler.say("end", "72");
  EXPECT_COMPLAINT(compiler.lower(), ErrorKind::kNoInput, "starts a program that is missing: the end");
}

TEST(Lowering, AnArrayNamesABuffer) {
  Compiler compiler;
  compiler.say("answer", R"({"cubin": "YWI="})");
  EXPECT_TRUE(std::holds_alternative<Lowered>(compiler.lower("cutile", "# scratch part f32 n\n# array part n 1\n")));
  const Finding found = std::get<Finding>(compiler.lower("cutile", "# array parts n 1\n"));
  EXPECT_EQ(found.verdict, Verdict::kLaunchError);
  EXPECT_EQ(found.reason, "array parts: there is no such buffer");
}

}  // namespace
}  // namespace salient::workbench::test
