#include "ui/chat/context_full.h"

#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

/// Twice the context, as far as the model goes; 0: it is that large.
int64_t largerContext(const api::ModelInfo& model) {
  const int64_t wanted = std::min(2 * model.memory.context, model.context_length);
  return wanted > model.memory.context ? wanted : 0;
}

}  // namespace

bool isContextFull(const UiError& error) {
  return error.code == ErrorCode::invalid_argument && error.where == "context";
}

UiError contextFull(const api::ModelInfo& model, const UiError& error) {
  UiError full;
  full.code = ErrorCode::invalid_argument;
  full.title = "The context is full";
  full.what = isContextFull(error)
                  ? error.what
                  : QString("The conversation has used all %1 tokens, so the reply ends here")
                        .arg(format::count(model.memory.context));
  full.advice = "Leave out the oldest messages, use a larger context, or begin a new chat";
  full.actions = {kLeaveOutOldest, kNewChat};
  const int64_t larger = largerContext(model);
  if (larger == 0)
    full.advice = "Leave out the oldest messages or begin a new chat; the model knows no larger context";
  else
    addOffer(full, {"context", std::to_string(larger)}, offerTitle({"context", std::to_string(larger)}));
  return full;
}

}  // namespace orrery::ui
