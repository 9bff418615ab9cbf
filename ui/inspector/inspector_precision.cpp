#include "ui/inspector/inspector_precision.h"

#include <map>

#include "ui/theme/format.h"

namespace orrery::ui {

void addPrecisionRows(const Theme& theme, Section* section, const QString& asked, const api::PlanStep* step) {
  NamedRows rows{{"asked", asked}};
  const QString computes = step ? QString::fromStdString(step->computes) : QString();
  if (step) rows.emplace_back("computes in", computes);
  section->setFigures(step ? computes : asked);
  addRows(theme, section, rows);
  if (step && !step->precision_reason.empty())
    addReason(theme, section,
              QString("asked for %1; computes in %2: %3")
                  .arg(asked, computes, QString::fromStdString(step->precision_reason)));
}

void addPrecisionRows(const Theme& theme, Section* section, const graph::Graph& shown,
                      const std::vector<NodeId>& nodes, const QString& own) {
  std::map<QString, int> counts;
  for (const NodeId node : nodes) {
    const std::string asked(graph::precision_of(shown.node(node)));
    ++counts[asked.empty() ? own : QString::fromStdString(asked)];
  }
  NamedRows rows;
  for (const auto& [precision, count] : counts)
    rows.emplace_back(
        format::count(count) + " of " + format::counted(static_cast<qint64>(nodes.size()), "node"),
        precision);
  section->setFigures(counts.size() == 1 ? counts.begin()->first : counts.empty() ? QString() : "mixed");
  addRows(theme, section, rows);
}

void addPrecisionButton(const Theme& theme, Section* section, PrecisionMenu* menu,
                        const std::shared_ptr<api::Session>& session, const QString& scopes) {
  if (scopes.isEmpty()) return;
  addMenuButton(theme, section,
                {"Compute in", "gear", "Choose how much it may round; the next message does",
                 [menu, session, scopes](QMenu* to) { menu->fill(to, *session, scopes); }});
}

}  // namespace orrery::ui
