// The inspector's sections "Runs on" and "Computes in" of a node, a transfer or a scope.
#include "ui/inspector/inspector_page.h"
#include "ui/placement/scope_words.h"

namespace orrery::ui {

void InspectorPage::addPlace(const NodeFacts& facts) {
  Section* section = addSection("Runs on");
  const SessionPtr session = session_->session();
  const graph::GraphVersion model = session->model_graph(), shown = fused_ ? session->fused_graph() : model;
  const NodePlace place = places_.of(facts.id);
  const NodeId source = shown ? transferSource(*shown, facts.id) : NodeId{};
  if (source.valid()) {
    const double bytes = facts.values.empty() ? 0 : facts.values.back().bytes;
    return addTransferRows(theme_, section, place, places_.of(source).device, bytes);
  }
  addPlaceRows(theme_, section, place, places_.home);
  if (model && shown)
    addPlaceButton(theme_, section, menu_, session, scopeWord(modelPaths(*model, *shown, facts.id)));
}

void InspectorPage::addPlaces() {
  const SessionPtr session = session_->session();
  const graph::GraphVersion shown = fused_ ? session->fused_graph() : session->model_graph();
  if (!shown) return;
  Section* section = addSection("Runs on");
  const QString scopes = scopeWord({scope_});
  addPlaceRows(theme_, section, places_, nodesIn(*shown, scopes));
  addPlaceButton(theme_, section, menu_, session, scopes);
}

void InspectorPage::addPrecision(const NodeFacts& facts, const api::PlanStep* step) {
  if (facts.family == graph::OpFamily::data_movement || (step && step->computes.empty())) return;
  const SessionPtr session = session_->session();
  const graph::GraphVersion model = session->model_graph(), shown = fused_ ? session->fused_graph() : model;
  if (!model || !shown) return;
  Section* section = addSection("Computes in");
  const std::string asked(graph::precision_of(shown->node(facts.id)));
  addPrecisionRows(theme_, section,
                   QString::fromStdString(asked.empty() ? session->options().precision : asked), step);
  addPrecisionButton(theme_, section, precisionMenu_, session,
                     scopeWord(modelPaths(*model, *shown, facts.id)));
}

void InspectorPage::addPrecisions() {
  const SessionPtr session = session_->session();
  const graph::GraphVersion shown = fused_ ? session->fused_graph() : session->model_graph();
  if (!shown) return;
  Section* section = addSection("Computes in");
  const QString scopes = scopeWord({scope_});
  addPrecisionRows(theme_, section, *shown, nodesIn(*shown, scopes),
                   QString::fromStdString(session->options().precision));
  addPrecisionButton(theme_, section, precisionMenu_, session, scopes);
}

}  // namespace orrery::ui
