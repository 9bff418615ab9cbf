// The inspector's section "Computes in": what the chosen thing may round to, what it rounds to, and why that
// is finer than asked; the menu that asks for another, and measures what that would change.
#pragma once

#include "ui/inspector/inspector_placement.h"
#include "ui/placement/precision_menu.h"

namespace orrery::ui {

/// Rows of one node; `step` may be null while nothing is compiled.
void addPrecisionRows(const Theme& theme, Section* section, const QString& asked, const api::PlanStep* step);
/// Rows of a scope: how many of its nodes are asked for what.
void addPrecisionRows(const Theme& theme, Section* section, const graph::Graph& shown,
                      const std::vector<NodeId>& nodes, const QString& own);
/// The button that opens "Compute in" for the scopes of an edit.
void addPrecisionButton(const Theme& theme, Section* section, PrecisionMenu* menu,
                        const std::shared_ptr<api::Session>& session, const QString& scopes);

}  // namespace orrery::ui
