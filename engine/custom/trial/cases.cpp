#include "engine/custom/trial/cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/custom/trial/report.h"

namespace orrery::custom::trial {
namespace {

const std::vector<SizePlan> kPlans = {{{7, 5, 3, 4, 6, 2}, {3}},
                                      {{1, 1, 1, 1, 1, 1}, {}},
                                      {{33, 64, 17, 8, 9, 5}, {2, 2}},
                                      {{1, 300, 2, 2, 2, 2}, {1}},
                                      {{130, 10, 6, 5, 3, 3}, {257}}};

class Making {
 public:
  Making(const Body& body, const SizePlan& plan, size_t variant, bool with_optional)
      : body_(body), plan_(plan), variant_(variant), with_optional_(with_optional), names_(plan.named) {}

  /// The case, or why the op does not take it.
  Result<Case> make() {
    const Signature& signature = body_.library().signature();
    Case made;
    made.attributes = planned_attributes(signature, names_);
    made.call = body_.start(made.attributes);
    for (size_t i = 0; i < signature.inputs.size(); ++i) {
      const InputPort& port = signature.inputs[i];
      if (!port.optional || with_optional_)
        made.call.inputs[i] = planned_tensor(port, plan_, names_, variant_);
      made.words += fmt::format("{}{} {}", i > 0 ? ", " : "", port.name, to_string(made.call.inputs[i]));
    }
    ORRERY_TRY(body_.complete(made.call));
    for (size_t i = 0; i < signature.inputs.size(); ++i)
      made.inputs.push_back(random_elements(made.call.inputs[i], random_));
    return made;
  }

 private:
  const Body& body_;
  const SizePlan& plan_;
  size_t variant_;
  bool with_optional_;
  SizeNames names_;
  std::mt19937 random_{7};
};

}  // namespace

std::vector<Case> cases_of(const Body& forward) {
  const Signature& signature = forward.library().signature();
  const char* trial = forward.library().op().trial;
  std::vector<SizePlan> plans = kPlans;
  if (trial) {
    auto said = plans_of(trial, kPlans.front());
    if (!said) fail(said.error().what);
    plans = *std::move(said);
  }
  size_t variants = 1;
  bool optional = false;
  for (const InputPort& input : signature.inputs) {
    variants = std::max(variants, input.types.empty() ? 3 : input.types.size());
    optional = optional || input.optional;
  }
  std::vector<Case> cases;
  std::string refused;
  for (size_t i = 0; i < plans.size(); ++i)
    for (size_t variant = 0; variant < (i == 0 ? variants : 1); ++variant)
      for (const bool with : {true, false}) {
        if (!with && (!optional || i > 0)) continue;
        tell("at", "its shape function");
        auto made = Making(forward, plans[i], variant, with).make();
        if (made)
          cases.push_back(*std::move(made));
        else if (made.error().code == ErrorCode::invalid_argument)
          fail(made.error().what);
        else if (refused.empty())
          refused = made.error().what;
      }
  if (cases.empty())
    fail(fmt::format("It takes none of the inputs that it was tried with ({}): say in .trial which sizes fit",
                     refused));
  return cases;
}

}  // namespace orrery::custom::trial
