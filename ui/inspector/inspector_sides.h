// The inspector's section of two sides that are compared: a node's or a scope's time on either, their ratio,
// and how far its values are apart.
#pragma once

#include "ui/session/comparison.h"
#include "ui/widgets/section.h"

namespace orrery::ui {

/// Fills `section`; its figures are the ratio.
void fillSides(const Theme& theme, const SideLooks& sides, const SideFacts& facts, Section* section);

}  // namespace orrery::ui
