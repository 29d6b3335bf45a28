// tests/workbench/run_test.cpp - ledgers, and methods on made-up answers and verdicts: what is asked, kept and
// recorded.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/workbench/bench_support.h"
#include "workbench/app/late_backend.h"
#include "workbench/ledger/ledger.h"
#include "workbench/ledger/records.h"
#include "workbench/ledger/report.h"
#include "workbench/ledger/sha256.h"
#include "workbench/method/driver.h"
#include "workbench/method/recorded_run.h"
#include "workbench/referee/bottlenecks.h"

namespace salient::workbench::test {
namespace {

const Case& softsign() {
  static const Case given = load_case(cases_folder(), "softsign");
  return given;
}
const Prompts& prompts() {
  static const Prompts all(std::filesystem::path(SALIENT_WORKBENCH_DIR) / "prompts");
  return all;
}

std::string source(int number) { return "// launch k grid=1\n// version " + std::to_string(number) + "\n"; }

Timing timing_of(double start, double best, double candidate) {
  ShapeTimes times{.shape = "n=1", .bytes = 8, .flops = 1, .copy_rate = 1, .floor = 1e-9};
  for (int i = 0; i < 4; ++i) {
    times.start.push_back(start);
    times.best.push_back(best);
    times.best_again.push_back(best);
    times.candidate.push_back(candidate);
  }
  return {{times}};
}

Assessment timed(double start, double best, double candidate) {
  Assessment made;
  made.timing = timing_of(start, best, candidate);
  made.decision = decide(made.timing);
  made.finding = {made.decision.verdict, made.decision.reason, {}};
  return made;
}

Assessment failed(Verdict verdict) {
  Assessment made;
  made.finding = {verdict, "for a test", "line 1\nline 2\n"};
  return made;
}

/// Plays a method against prepared answers by role and prepared assessments, and writes down what it did.
struct Script {
  std::map<std::string, std::vector<Answer>> answers{};
  std::vector<Assessment> assessments{};
  std::string trace{};  ///< "coder coder judge(start) ..."
  std::vector<std::string> prompts{};
  std::vector<std::string> judged{};

  RunSummary play(MethodOptions options, Ledger* ledger = nullptr) {
    const MethodContext context{.given = &softsign(),
                                .prompts = &test::prompts(),
                                .backend = BackendKind::kHost,
                                .start = source(0),
                                .options = options};
    const std::unique_ptr<Method> method = make_method(context);
    std::map<std::string, std::size_t> next;
    std::size_t next_assessment = 0;
    const Sources sources{
        .ask =
            [&](const Request& request) {
              trace += request.role + " ";
              prompts.push_back(request.prompt);
              const auto& list = answers[request.role];
              return next[request.role] < list.size() ? list[next[request.role]++] : Answer{false, {}, "no answer"};
            },
        .judge =
            [&](const std::string& text, const std::string& against, const MoreTests& more) {
              if (text == source(0)) {
                trace += "start ";
                return timed(4, 4, 2);  // by luck: it is no candidate all the same
              }
              trace += "judge" + std::string(more.shapes.empty() ? "" : "+shapes") +
                       (more.seeds.empty() ? "" : "+seeds") + "(" + against.substr(against.find("version "), 9) + ") ";
              judged.push_back(text);
              return assessments.at(next_assessment++);
            },
        .prices = {.asked = 2, .answered = 10}};
    return run_method(*method, source(0), sources,
                      [&](const std::string& kind, Json facts, const std::map<std::string, std::string>& texts) {
                        if (ledger == nullptr) return;
                        for (const auto& [key, text] : texts) facts[key] = ledger->put(text);
                        ledger->append(kind, facts);
                      });
  }
};

Answer says(const std::string& text) { return {true, text, {}}; }

TEST(CuteGen, ABadDepthIsDiagnosedThenPatchedAndTheBestStaysTheParent) {
  Script script;
  script.answers["coder"] = {says(source(1)), says(source(2)), says(source(3))};
  script.answers["diagnosis"] = {says("line 2 is wrong")};
  script.answers["repair"] = {says(R"({"edits": [{"from": 2, "to": 2, "lines": ["// version 9"]}]})")};
  script.assessments = {failed(Verdict::kCompileError), timed(2, 2, 1), timed(2, 1, 1.5), timed(2, 1, 0.5)};
  const RunSummary summary = script.play({.method = "cutegen", .rounds = 3, .repairs = 5, .language = "host"});
  EXPECT_EQ(script.trace,
            "coder judge(version 0) diagnosis repair judge(version 0) coder judge(version 9) coder judge(version 9) ");
  EXPECT_EQ(script.judged[1], "// launch k grid=1\n// version 9\n");
  EXPECT_EQ(summary.best, source(3));
  EXPECT_DOUBLE_EQ(summary.best_of_start, 4);
  EXPECT_NE(script.prompts[1].find("2| // version 1"), std::string::npos) << "the listing has line numbers";
  EXPECT_NE(script.prompts[1].find("COMPILE_ERROR: for a test"), std::string::npos);
}

TEST(CuteGen, ARequestSaysWhatWasTriedInTheWordsOfTheCandidates) {
  Script script;
  script.answers["coder"] = {says(source(1)), says("// ping-pong\n// launch k grid=1\n// version 2\n"),
                             says(source(3))};
  script.assessments = {timed(2, 2, 1), timed(2, 1, 0.5), timed(2, 1, 1)};
  script.play({.method = "cutegen", .rounds = 3, .repairs = 0, .language = "host"});
  EXPECT_EQ(script.prompts[1].find("ping-pong"), std::string::npos);
  EXPECT_NE(script.prompts[2].find("it began: ping-pong\n"), std::string::npos) << script.prompts[2];
}

TEST(CuteGen, RepairsEndAndBadAnswersCostNoMore) {
  Script script;
  script.answers["coder"] = {says("Sorry."), says(source(1)), says(source(2))};
  script.answers["diagnosis"] = {says("?"), says("?")};
  script.answers["repair"] = {says("no edits"), says(R"({"edits": [{"from": 1, "to": 0, "lines": ["//"]}]})")};
  script.assessments = {failed(Verdict::kIncorrect), failed(Verdict::kIncorrect), timed(1, 1, 1)};
  const RunSummary summary = script.play({.method = "cutegen", .rounds = 3, .repairs = 2, .language = "host"});
  EXPECT_EQ(script.trace,
            "coder coder judge(version 0) diagnosis repair diagnosis repair judge(version 0) coder judge(version 0) ");
  EXPECT_EQ(summary.best, source(0));
}

TEST(CuteGen, MeasurementsAreHeldBackByClassAndPolicy) {
  for (const auto& [policy, first] :
       {std::pair{ProfilePolicy::kFromStart, 1}, {ProfilePolicy::kLate, 2}, {ProfilePolicy::kNever, 9}}) {
    Script script;
    script.answers["coder"] = {says(source(1)), says(source(2)), says(source(3))};
    script.assessments = {timed(2, 2, 1), timed(2, 1, 0.9), timed(2, 0.9, 0.8)};
    (void)script.play({.method = "cutegen", .rounds = 3, .profile = policy, .language = "host"});
    for (int depth = 2; depth <= 3; ++depth)
      EXPECT_EQ(script.prompts[static_cast<std::size_t>(depth - 1)].find("GB/s") != std::string::npos, depth >= first)
          << depth;
  }
}

TEST(CuteGen, InCuteThePromptHasAWholeCandidateOfAnotherCase) {
  Script script;
  (void)script.play({.method = "cutegen", .rounds = 1, .language = "cute"});
  ASSERT_EQ(script.prompts.size(), 1U);
  EXPECT_NE(script.prompts[0].find("another case:\n```\n// relu by tensor copies"), std::string::npos);
  Script plain;
  (void)plain.play({.method = "cutegen", .rounds = 1, .language = "cuda"});
  EXPECT_EQ(plain.prompts[0].find("another case"), std::string::npos);
}

TEST(CuteGen, ACaseIsNotToldTheExampleThatSolvesIt) {
  const Case relu = load_case(cases_folder(), "relu");
  const MethodContext context{.given = &relu,
                              .prompts = &test::prompts(),
                              .backend = BackendKind::kHost,
                              .start = source(0),
                              .options = {.method = "cutegen", .rounds = 1, .language = "cute"}};
  const std::string task = task_text(context);
  EXPECT_NE(task.find("warpgroup_arrive"), std::string::npos) << "the rules stay";
  EXPECT_EQ(task.find("relu_tiles"), std::string::npos);
}

TEST(Astra, RolesTakeTurnsAndTheTesterAddsShapesAndSeeds) {
  Script script;
  script.answers["tester"] = {says(R"({"shapes": [{"n": 4095}], "seeds": [7]})")};
  script.answers["planner"] = {says("use vectors"), says("unroll")};
  script.answers["coder"] = {says(source(1)), says(source(2))};
  script.answers["profiler"] = {says("bound by memory")};
  script.assessments = {timed(2, 2, 1), failed(Verdict::kPrecision)};
  const RunSummary summary = script.play({.method = "astra", .rounds = 2, .language = "host"});
  EXPECT_EQ(script.trace,
            "start tester planner coder judge+shapes+seeds(version 0) profiler planner coder judge(version 1) ");
  EXPECT_EQ(summary.best, source(1));
  EXPECT_EQ(summary.judged, 2);
  EXPECT_EQ(summary.accepted, 1);
  EXPECT_NE(script.prompts[1].find("of the kernel above:\nn=1: "), std::string::npos)
      << "the first plan rests on the start kernel's times";
  EXPECT_NE(script.prompts[4].find("bound by memory"), std::string::npos) << "the planner reads the profiler";
}

TEST(Astra, RolesCanBeLeftOutButNotTheCoder) {
  Script script;
  script.answers["coder"] = {says(source(1))};
  script.assessments = {timed(2, 2, 1)};
  (void)script.play({.method = "astra", .rounds = 1, .language = "host", .roles = {"coder"}});
  EXPECT_EQ(script.trace, "start coder judge(version 0) ");
  EXPECT_COMPLAINT(script.play({.method = "astra", .roles = {"planner"}}), ErrorKind::kUsage, "coder");
  EXPECT_COMPLAINT(script.play({.method = "magic"}), ErrorKind::kUsage, "magic");
}

TEST(Single, ImpossibleStopsForAPerson) {
  Script script;
  script.answers["coder"] = {says(source(1)), says(source(2))};
  script.assessments = {timed(2, 2, 1e-10)};
  const RunSummary summary = script.play({.method = "single", .rounds = 2, .language = "host"});
  EXPECT_EQ(script.trace, "start coder judge(version 0) ");
  EXPECT_NE(summary.reason.find("stopped"), std::string::npos);
  EXPECT_EQ(summary.best, source(0));
}

std::string begins_from(int number) { return "BEGIN FROM, correct\n```\n" + source(number) + "```\n"; }

TEST(Beam, TheFastestCorrectKernelsAreTheParentsOfAGeneration) {
  Script script;
  script.answers["coder"] = {says(source(1)), says(source(2)), says("Sorry."), says(source(4)), says(source(5))};
  script.assessments = {timed(4, 4, 2), timed(4, 2, 3), failed(Verdict::kIncorrect), timed(4, 2, 1)};
  const RunSummary summary = script.play({.method = "beam", .rounds = 5, .language = "host", .width = 2});
  EXPECT_EQ(script.trace,
            "start coder judge(version 0) coder judge(version 1) coder coder judge(version 1) coder judge(version 1) ");
  const int parents[] = {0, 0, 1, 2, 1};  // the second is slower than the best, and a parent all the same
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NE(script.prompts[i].find(begins_from(parents[i])), std::string::npos) << script.prompts[i];
  EXPECT_NE(script.prompts[1].find("made of it so far:\n  ACCEPTED, 2.000x"), std::string::npos) << script.prompts[1];
  EXPECT_NE(script.prompts[4].find("no usable answer"), std::string::npos);
  EXPECT_EQ(summary.best, source(5));
}

TEST(Mcts, GoesDownWhereTheMeanRewardAndTheDoubtAreLargest) {
  Script script;
  script.answers["coder"] = {says(source(1)), says(source(2)), says(source(3)), says(source(4)), says(source(5))};
  script.assessments = {failed(Verdict::kCompileError), timed(4, 4, 2), timed(4, 2, 3), timed(4, 2, 1), timed(4, 1, 2)};
  const RunSummary summary = script.play({.method = "mcts", .rounds = 5, .language = "host", .width = 2});
  const int parents[] = {0, 0, 2, 2, 4};
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NE(script.prompts[i].find(begins_from(parents[i])), std::string::npos) << script.prompts[i];
  EXPECT_EQ(summary.best, source(4));
}

TEST(Until, AnyMethodEndsAtTheShareOfTheBoundThatWasAskedFor) {
  for (const char* name : {"single", "beam"}) {
    Script script;
    script.answers["coder"] = {says(source(1)), says(source(2)), says(source(3))};
    script.assessments = {timed(4e-9, 4e-9, 2.5e-9), timed(4e-9, 2.5e-9, 1.25e-9), timed(4e-9, 1.25e-9, 1.1e-9)};
    const RunSummary summary = script.play({.method = name, .rounds = 3, .language = "host", .stop_at = 75});
    EXPECT_EQ(summary.judged, 2) << name;
    EXPECT_EQ(summary.reason, "80.0 % of the measured bound, 75.0 % were asked for");
  }
}

TEST(TreeSearch, ALogNamesWhatHoldsAParentBack) {
  Script script;
  script.answers["coder"] = {says(source(1)), says(source(2))};
  Assessment spilling = timed(4e-9, 4e-9, 2e-9);
  spilling.notes = "    48 bytes stack frame, 40 bytes spill stores, 44 bytes spill loads\n";
  script.assessments = {spilling, timed(4e-9, 2e-9, 2e-9)};
  (void)script.play({.method = "beam", .rounds = 2, .language = "host", .width = 1});
  EXPECT_NE(script.prompts[1].find("(2.000x of start; register_spills)"), std::string::npos) << script.prompts[1];
  EXPECT_NE(script.prompts[1].find("register_spills: 48 bytes stack frame, 40 bytes spill stores"), std::string::npos);
}

TEST(Mcts, WhatHasNoCorrectChildIsAParentAgain) {
  Script script;
  script.answers["coder"] = {says(source(1)), says(source(2))};
  script.assessments = {failed(Verdict::kCompileError), failed(Verdict::kCompileError)};
  const RunSummary summary = script.play({.method = "mcts", .rounds = 2, .language = "host", .width = 1});
  EXPECT_NE(script.prompts[1].find(begins_from(0)), std::string::npos);
  EXPECT_EQ(summary.best, source(0));
}

TEST(Ledger, WhatAnAcceptedPerCentHasCostIsRecordedAndReported) {
  salient::test::Scratch scratch;
  Script script;
  Answer first = says(source(1)), second = says(source(2)), third = says(source(3));
  first.tokens_asked = 1000, first.tokens_answered = 500, first.seconds = 2;
  second.tokens_asked = 3000, third.tokens_answered = 500, third.seconds = 1;
  script.answers["coder"] = {first, second, third};
  Assessment judged = timed(4e-9, 4e-9, 2e-9);  // 25 to 50 % of the bound
  judged.seconds = 3;
  script.assessments = {judged, failed(Verdict::kIncorrect), timed(4e-9, 2e-9, 1.25e-9)};  // 50 to 80 %
  {
    Ledger ledger(scratch / "run");
    ledger.append("run", {{"case", "softsign"}, {"options", Json::object()}});
    const RunSummary summary = script.play({.method = "single", .rounds = 3, .language = "host"}, &ledger);
    EXPECT_EQ(summary.spent.tokens(), 5000);
    EXPECT_DOUBLE_EQ(summary.spent.seconds, 6);
    EXPECT_DOUBLE_EQ(summary.cost, 4000e-6 * 2 + 1000e-6 * 10);
  }
  std::vector<Json> best;
  for (const Json& record : load_ledger(scratch / "run"))
    if (record["kind"] == "best") best.push_back(record);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_NEAR(best[0]["bound"]["from"].get<double>(), 25, 1e-9);
  EXPECT_NEAR(best[1]["bound"]["to"].get<double>(), 80, 1e-9);
  EXPECT_DOUBLE_EQ(best[0]["spent"]["seconds"].get<double>(), 5);
  EXPECT_DOUBLE_EQ(best[0]["spent_a_per_cent"]["tokens"].get<double>(), 1500 / 25.0);
  EXPECT_DOUBLE_EQ(best[1]["spent"]["tokens"].get<double>(), 5000);
  EXPECT_NEAR(best[1]["spent_a_per_cent"]["tokens"].get<double>(), 3500 / 30.0, 1e-9);
  EXPECT_NEAR(best[1]["spent_a_per_cent"]["cost"].get<double>(), (3000 * 2 + 500 * 10) * 1e-6 / 30, 1e-12);
  EXPECT_NE(markdown_report(scratch / "run").find("| 3 | 50.0 | 80.0 | 6.0 | 5000 | 0.0180 | 0.0 | 117 |"),
            std::string::npos)
      << markdown_report(scratch / "run");
}

TEST(Ledger, AnImpossibleCandidateThatWasJudgedAgainCountsOnce) {
  salient::test::Scratch scratch;
  const auto assessment = [](const Assessment& made) {
    Json facts = json_of(made);
    facts["candidate"] = 1;
    return facts;
  };
  {
    Ledger ledger(scratch / "run");
    ledger.append("run", {{"case", "softsign"}});
    ledger.append("assessment", assessment(timed(2, 2, 1e-10)));
    ledger.append("end", {{"reason", "stopped: impossible"}});
    ledger.append("again", {{"reason", "a person looked at it"}});
    ledger.append("assessment", assessment(timed(2, 2, 1)));
    ledger.append("end", {{"reason", "all rounds are done"}});
  }
  RecordedRun record(scratch / "run", load_ledger(scratch / "run"));
  EXPECT_EQ(record.num_actions(), 1U);
  EXPECT_EQ(record.assessment().finding.verdict, Verdict::kAccepted);
  EXPECT_EQ(record.end_reason(), "all rounds are done");
}

TEST(Ledger, AVerdictOnSpeedNeedsSamples) {
  for (const Verdict verdict : {Verdict::kAccepted, Verdict::kSlower, Verdict::kNoise, Verdict::kPromoted}) {
    salient::test::Scratch scratch;
    Assessment forged = failed(verdict);
    forged.decision = {verdict, "for a test", 31.9, 31.9, 0.001};
    {
      Ledger ledger(scratch / "run");
      ledger.append("run", {{"case", "softsign"}});
      ledger.append("assessment", json_of(forged));
    }
    RecordedRun record(scratch / "run", load_ledger(scratch / "run"));
    EXPECT_COMPLAINT(record.assessment(), ErrorKind::kBadData, "without samples");
  }
}

TEST(LateBackend, IsMadeWhenSomethingIsJudged) {
  int made = 0;
  const auto make = [&]() -> std::unique_ptr<Backend> { return ++made, nullptr; };
  LateBackend backend(BackendKind::kCuda, make, make);
  const Referee referee(backend, softsign(), {});
  EXPECT_EQ(backend.kind(), BackendKind::kCuda);
  EXPECT_FALSE(referee.problems(1).empty());
  EXPECT_EQ(made, 0);
}

TEST(Ledger, AChangeAnywhereIsSeen) {
  salient::test::Scratch scratch;
  {
    Ledger ledger(scratch / "run");
    ledger.append("run", {{"case", "softsign"}, {"start", ledger.put("int x;\n")}});
    ledger.append("answer", {{"answer", ledger.put("\xFF\xFE no UTF-8")}, {"error", "\xC3"}});
    ledger.append("end", {{"reason", "done"}});
    EXPECT_COMPLAINT(Ledger(scratch / "run"), ErrorKind::kUsage, "a ledger already");
  }
  EXPECT_EQ(load_ledger(scratch / "run").size(), 3U);
  const std::string text = salient::test::read_bytes(scratch / "run/ledger.jsonl");
  std::string changed = text;
  changed.replace(changed.find("done"), 4, "gone");
  EXPECT_COMPLAINT(parse_ledger(changed, "L"), ErrorKind::kBadData, "L:3: the record was changed");
  std::string shorter = text;
  shorter.erase(text.find('\n') + 1, text.find('\n', text.find('\n') + 1) - text.find('\n'));
  EXPECT_COMPLAINT(parse_ledger(shorter, "L"), ErrorKind::kBadData, "L:2: records are numbered");
  EXPECT_COMPLAINT(parse_ledger(text.substr(0, text.size() - 9), "L"), ErrorKind::kBadData, "L:3: not a JSON object");
  EXPECT_COMPLAINT(parse_ledger("", "L"), ErrorKind::kBadData, "no record");
  std::ofstream(scratch / ("run/objects/" + sha256("int x;\n"))) << "int y;\n";
  EXPECT_COMPLAINT(load_ledger(scratch / "run"), ErrorKind::kBadData, "the content was changed");
}

TEST(Ledger, TimesByValuesAndEnergyComeBack) {
  Assessment made = timed(2, 1, 0.5);
  ShapeTimes& times = made.timing.shapes[0];
  for (const double candidate : {0.5, 0.7})
    times.by_values.push_back({"some", times.start, {candidate, candidate}, 1.5e9});
  times.by_values[1].values = "far";
  times.start_joules = 0.3;
  times.joules = 0.2;
  const Assessment again = assessment_of(Json::parse(json_of(made).dump()));
  ASSERT_EQ(again.timing.shapes[0].by_values.size(), 2U);
  EXPECT_EQ(again.timing.shapes[0].by_values[1].values, "far");
  EXPECT_EQ(again.timing.shapes[0].by_values[1].candidate, times.by_values[1].candidate);
  EXPECT_EQ(again.timing.shapes[0].by_values[1].clock, 1.5e9);
  EXPECT_EQ(again.timing.shapes[0].joules, 0.2);
  EXPECT_EQ(again.timing.shapes[0].start_joules, 0.3);
  EXPECT_EQ(decide(again.timing).verdict, Verdict::kInputDependent) << "decided by the record alone";
  EXPECT_NE(timing_text(again.timing).find("200.00 mJ, 1.50x less"), std::string::npos) << timing_text(again.timing);
}

TEST(Ledger, AssessmentsComeBackAndAreDecidedAlike) {
  const Assessment made = timed(2, 1, 0.5);
  const Assessment again = assessment_of(Json::parse(json_of(made).dump()));
  EXPECT_EQ(decide(again.timing).reason, made.finding.reason);
  EXPECT_EQ(again.finding.verdict, Verdict::kAccepted);
  EXPECT_COMPLAINT(assessment_of(Json::object()), ErrorKind::kBadData, "incomplete");
}

std::string names_of_notes(const std::string& notes, double candidate = 2e-9) {
  Assessment made = timed(4e-9, 4e-9, candidate);
  made.timing.shapes[0].shape = "n=1";
  made.timing.shapes[0].bytes = 8e6;
  made.notes = notes;
  return names_of(bottlenecks_of(made));
}

TEST(Bottlenecks, HaveNamesByTheFiguresThatShowThem) {
  EXPECT_EQ(names_of_notes(""), "");
  EXPECT_EQ(names_of_notes("    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"), "");
  EXPECT_EQ(names_of_notes("ncu: n=1, k: 2.00 us, 9.0 MB of memory traffic, 72.7 % of the warps that fit, 3.00 waves "
                           "of blocks, 100.0 % of the bytes of loaded sectors used, 0.0 % of the bytes of shared "
                           "wavefronts used\n"),
            "");
  EXPECT_EQ(names_of_notes("ncu: n=1, k: 2.00 us, 16.0 MB of memory traffic, 20.0 % of the warps that fit, 0.50 waves "
                           "of blocks, 25.0 % of the bytes of loaded sectors used, 12.5 % of the bytes of shared "
                           "wavefronts used\n"),
            "low_occupancy, uncoalesced_loads, bank_conflicts, too_few_blocks, excess_traffic");
  EXPECT_EQ(names_of_notes("ncu: n=2, k: 2.00 us, 16.0 MB of memory traffic\nncu: figures: none\nncu: \nncu:\n"), "")
      << "of another shape; and lines that are no figures";
  EXPECT_EQ(names_of_notes("", 1.1e-9), "memory_bound");
}

TEST(Bottlenecks, OneOfArithmeticAndASlowShapeAreSeenInTimes) {
  Assessment made = timed(4e-9, 4e-9, 1.1e-9);
  made.timing.shapes[0].copy_rate = 1e12;
  ShapeTimes slow = made.timing.shapes[0];
  slow.shape = "n=3";
  for (double& seconds : slow.candidate) seconds *= 2;
  made.timing.shapes.push_back(slow);
  const std::vector<Bottleneck> found = bottlenecks_of(made);
  EXPECT_EQ(names_of(found), "arithmetic_bound, slow_shape");
  EXPECT_EQ(found.at(1).evidence, "n=3: 45.5 % of the measured bound, the best shape has 90.9 %");
}

TEST(Report, EscapesWhatGeneratorsWrote) {
  salient::test::Scratch scratch;
  Ledger ledger(scratch / "run");
  ledger.append("run", {{"case", "<script>"}, {"options", Json::object()}});
  Json facts = json_of(failed(Verdict::kIncorrect));
  facts["reason"] = "<b> | evil";
  ledger.append("assessment", facts);
  EXPECT_EQ(html_report(scratch / "run").find("<script>"), std::string::npos);
  EXPECT_EQ(html_report(scratch / "run").find("<b>"), std::string::npos);
  EXPECT_NE(markdown_report(scratch / "run").find("&lt;b> / evil"), std::string::npos);
  EXPECT_EQ(line_difference("a\nb\nc\n", "a\nx\nc\n"), "  a\n- b\n+ x\n  c\n");
}

}  // namespace
}  // namespace salient::workbench::test
