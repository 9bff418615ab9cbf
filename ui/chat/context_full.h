// What the chat says when the model's context is full, and what the person can do about it.
#pragma once

#include "ui/session/ui_error.h"

namespace orrery::ui {

/// Actions of contextFull() beside its offer of a larger context.
inline constexpr auto kLeaveOutOldest = "Leave out the oldest, write again";
inline constexpr auto kNewChat = "New chat";

/// Whether a reply failed because the conversation does not fit.
bool isContextFull(const UiError& error);
/// Of a reply that ended there, or of the error of a conversation that does not fit.
UiError contextFull(const api::ModelInfo& model, const UiError& error = {});

}  // namespace orrery::ui
