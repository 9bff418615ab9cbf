#include "ui/shell/workspaces.h"

#include <algorithm>

namespace orrery::ui {
namespace {

using Part = GraphView::Part;

constexpr auto kLeft = Qt::LeftDockWidgetArea, kRight = Qt::RightDockWidgetArea,
               kBelow = Qt::BottomDockWidgetArea;

/// What both have, of all that either has.
double likeness(const WorkspacePlan& plan, const std::vector<DockPlace>& seen) {
  const auto both = std::count_if(seen.begin(), seen.end(), [&](const DockPlace& place) {
    return std::any_of(plan.docks.begin(), plan.docks.end(), [&](const DockPlan& dock) {
      return dock.page == place.page && dock.area == place.area;
    });
  });
  const auto either = static_cast<double>(plan.docks.size() + seen.size()) - static_cast<double>(both);
  return either > 0 ? static_cast<double>(both) / either : 0;
}

}  // namespace

const std::vector<WorkspacePlan>& allWorkspaces() {
  static const std::vector<WorkspacePlan> all{
      {.id = "talk",
       .title = "&Talk",
       .use = "the conversation, the graph beside it",
       .parts = Part::lens,
       .foot = false,
       .docks = {{"library", kLeft, Joint::first, {272, 0}},
                 {"chat", kLeft, Joint::beside, {922, 0}},
                 {"latency", kBelow, Joint::first, {0, 230}},
                 {"inspector", kBelow, Joint::below, {0, 210}}}},
      {.id = "see",
       .title = "&See",
       .use = "the graph, large",
       .parts = Part::lens | Part::minimap | Part::strip | Part::step,
       .docks = {{"library", kLeft, Joint::first, {272, 215}},
                 {"outline", kLeft, Joint::below, {0, 650}},
                 {"inspector", kRight, Joint::first, {337, 0}}}},
      {.id = "edit",
       .title = "&Edit",
       .use = "the graph, what edits change and what they cost",
       .heat = false,
       .fused = false,
       .parts = Part::lens | Part::minimap,
       .docks = {{"history", kLeft, Joint::first, {258, 350}},
                 {"ops", kLeft, Joint::below, {0, 360}},
                 {"inspector", kRight, Joint::first, {324, 470}},
                 {"change", kRight, Joint::below, {0, 230}},
                 {"costs", kBelow, Joint::first, {880, 190}},
                 {"replies", kBelow, Joint::beside, {715, 0}}}},
      {.id = "measure",
       .title = "&Measure",
       .use = "sweeps and comparisons, the graph in their colours",
       .parts = Part::lens | Part::minimap,
       .docks = {{"inspector", kRight, Joint::first, {400, 270}},
                 {"latency", kRight, Joint::below, {0, 290}},
                 {"sweep", kBelow, Joint::first, {0, 350}},
                 {"compare", kBelow, Joint::tab},
                 {"depth", kBelow, Joint::tab}}},
      {.id = "lab",
       .title = "&Lab",
       .use = "kernels by themselves, against what the machine can do",
       .parts = {},
       .foot = false,
       .docks = {{"lab", kLeft, Joint::first, {1240, 0}}, {"own_ops", kLeft, Joint::tab}}}};
  return all;
}

const WorkspacePlan* findWorkspace(const QString& id) {
  const std::vector<WorkspacePlan>& all = allWorkspaces();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& plan) { return plan.id == id; });
  return found == all.end() ? nullptr : &*found;
}

const WorkspacePlan& firstWorkspace() { return *findWorkspace("talk"); }

const WorkspacePlan& workspaceLike(const std::vector<DockPlace>& seen) {
  const WorkspacePlan* best = &firstWorkspace();
  for (const WorkspacePlan& plan : allWorkspaces())
    if (likeness(plan, seen) > likeness(*best, seen)) best = &plan;
  return *best;
}

}  // namespace orrery::ui
