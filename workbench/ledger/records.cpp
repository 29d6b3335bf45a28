// workbench/ledger/records.cpp - see records.h.
#include "workbench/ledger/records.h"

#include "core/error.h"

namespace salient::workbench {

Json json_of(const Timing& timing) {
  Json shapes = Json::array();
  for (const ShapeTimes& times : timing.shapes)
    shapes.push_back({{"shape", times.shape},
                      {"bytes", times.bytes},
                      {"flops", times.flops},
                      {"copy_rate", times.copy_rate},
                      {"flop_rate", times.flop_rate},
                      {"floor", times.floor},
                      {"start", times.start},
                      {"best", times.best},
                      {"best_again", times.best_again},
                      {"candidate", times.candidate}});
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const ShapeTimes& times = timing.shapes[s];
    for (const ValueTimes& one : times.by_values)
      shapes[s]["by_values"].push_back(
          {{"values", one.values}, {"start", one.start}, {"candidate", one.candidate}, {"clock", one.clock}});
    if (times.joules > 0) shapes[s].update({{"start_joules", times.start_joules}, {"joules", times.joules}});
  }
  return shapes;
}

Json json_of(const Assessment& assessment) {
  return {{"verdict", word_of(assessment.finding.verdict)},
          {"reason", assessment.finding.reason},
          {"seed", assessment.seed},
          {"problems", assessment.problems},
          {"size_rule", assessment.size_rule},
          {"tried", assessment.tried},
          {"device", assessment.device},
          {"notes", assessment.notes},
          {"timing", json_of(assessment.timing)},
          {"gain", assessment.decision.gain},
          {"of_start", assessment.decision.of_start},
          {"noise", assessment.decision.noise},
          {"seconds", assessment.seconds}};
}

Assessment assessment_of(const Json& json) {
  try {
    Assessment made;
    const auto verdict = verdict_of(json.at("verdict").get<std::string>());
    if (!verdict) fail(ErrorKind::kBadData, "a record with an unknown verdict");
    made.finding = {*verdict, json.at("reason").get<std::string>(), {}};
    made.seed = json.at("seed").get<std::uint64_t>();
    made.problems = json.at("problems").get<std::size_t>();
    made.size_rule = json.value("size_rule", 1);  // older records have none
    made.tried = json.value("tried", Variables{});
    made.device = json.value("device", "");  // older records have none
    made.notes = json.at("notes").get<std::string>();
    made.seconds = json.value("seconds", 0.0);  // older records have none
    for (const Json& one : json.at("timing")) {
      ShapeTimes times{.shape = one.at("shape").get<std::string>(),
                       .bytes = one.at("bytes").get<double>(),
                       .flops = one.at("flops").get<double>(),
                       .copy_rate = one.at("copy_rate").get<double>(),
                       .flop_rate = one.value("flop_rate", 0.0),  // older records have none
                       .floor = one.at("floor").get<double>()};
      one.at("start").get_to(times.start);
      one.at("best").get_to(times.best);
      one.at("best_again").get_to(times.best_again);
      one.at("candidate").get_to(times.candidate);
      if (times.start.empty() || times.best.empty() || times.best_again.empty() || times.candidate.empty())
        fail(ErrorKind::kBadData, "a record of a shape without samples");
      for (const Json& values : one.value("by_values", Json::array())) {  // of accepted ones; older records have none
        ValueTimes& of = times.by_values.emplace_back();
        values.at("values").get_to(of.values);
        values.at("start").get_to(of.start);
        values.at("candidate").get_to(of.candidate);
        of.clock = values.value("clock", 0.0);
        if (of.start.empty() || of.candidate.empty()) fail(ErrorKind::kBadData, "a record of a shape without samples");
      }
      times.start_joules = one.value("start_joules", 0.0);
      times.joules = one.value("joules", 0.0);
      made.timing.shapes.push_back(std::move(times));
    }
    made.decision = {made.finding.verdict, made.finding.reason, json.at("gain").get<double>(),
                     json.at("of_start").get<double>(), json.at("noise").get<double>()};
    return made;
  } catch (const Json::exception& error) {
    fail(ErrorKind::kBadData, std::string("an assessment's record is incomplete: ") + error.what());
  }
}

}  // namespace salient::workbench
