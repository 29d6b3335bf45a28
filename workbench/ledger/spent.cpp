// workbench/ledger/spent.cpp - see spent.h.
#include "workbench/ledger/spent.h"

#include "core/error.h"

namespace salient::workbench {

Spent& Spent::operator+=(const Spent& more) {
  tokens_asked += more.tokens_asked;
  tokens_answered += more.tokens_answered;
  seconds += more.seconds;
  return *this;
}

Spent Spent::operator-(const Spent& less) const {
  return {tokens_asked - less.tokens_asked, tokens_answered - less.tokens_answered, seconds - less.seconds};
}

double cost_of(const Spent& spent, const Prices& prices) {
  return (static_cast<double>(spent.tokens_asked) * prices.asked +
          static_cast<double>(spent.tokens_answered) * prices.answered) *
         1e-6;
}

Json json_of(const Spent& spent, const Prices& prices, double times) {
  Json json = Json::object();
  if (spent.seconds > 0) json["seconds"] = spent.seconds * times;
  if (spent.tokens() > 0) json["tokens"] = static_cast<double>(spent.tokens()) * times;
  if (const double cost = cost_of(spent, prices); cost > 0) json["cost"] = cost * times;
  return json;
}

Json json_of(const Step& step, const Prices& prices) {
  Json json = {{"bound", {{"from", step.from}, {"to", step.to}}}, {"spent", json_of(step.run, prices)}};
  if (step.to > step.from) json["spent_a_per_cent"] = json_of(step.step, prices, 1 / (step.to - step.from));
  return json;
}

Prices prices_of(const Json& first) {
  const Json prices = first.value("prices", Json::object());
  try {
    return {prices.value("asked", 0.0), prices.value("answered", 0.0)};
  } catch (const Json::exception& error) {
    fail(ErrorKind::kBadData, std::string("the prices of a ledger's first record: ") + error.what());
  }
}

Json json_of(const Prices& prices) { return {{"asked", prices.asked}, {"answered", prices.answered}}; }

}  // namespace salient::workbench
