// The inspector's section "Runs on": where the chosen thing was asked to run and where it runs, why not where
// it was asked to, and the menu that places it; of a transfer, what it carries.
#pragma once

#include <functional>

#include "ui/inspector/inspector_facts.h"
#include "ui/placement/place_menu.h"
#include "ui/placement/places.h"
#include "ui/widgets/section.h"

namespace orrery::ui {

using NamedRows = std::vector<std::pair<QString, QString>>;
/// A name and a device or an amount, in the device's colour.
void addRows(const Theme& theme, Section* section, const NamedRows& rows);
/// Why something is not as it was asked for.
void addReason(const Theme& theme, Section* section, const QString& reason);
struct MenuButton {
  QString caption, icon, tip;
  std::function<void(QMenu*)> fill;  // each time that it opens
};
void addMenuButton(const Theme& theme, Section* section, const MenuButton& wanted);

/// The places of the graph that a node or a scope is shown of.
Places placesShown(const api::Session& session, const graph::Graph& shown, bool fused,
                   const api::PlanReport* plan);

/// Rows of the device asked for, the device and the reason.
void addPlaceRows(const Theme& theme, Section* section, const NodePlace& place, const QString& home);
/// Rows of a transfer: from, to, bytes of a step.
void addTransferRows(const Theme& theme, Section* section, const NodePlace& place, const QString& from,
                     double bytes);
/// Rows of a scope: how many nodes run where, and each reason once.
void addPlaceRows(const Theme& theme, Section* section, const Places& places,
                  const std::vector<NodeId>& nodes);
/// The button that opens "Run on" for the scopes of an edit.
void addPlaceButton(const Theme& theme, Section* section, PlaceMenu* menu,
                    const std::shared_ptr<api::Session>& session, const QString& scopes);
Token deviceToken(const QString& device);

}  // namespace orrery::ui
