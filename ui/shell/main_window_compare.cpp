// What the window does with two sides that run the same text: curves, the graph's colours, columns.
#include "ui/shell/graph_figures.h"
#include "ui/shell/main_window.h"

namespace orrery::ui {

void MainWindow::setupCompareWiring() {
  connect(compare_, &ComparePage::nodeAsked, this, &MainWindow::showNodeAt);
  connect(compare_, &ComparePage::comparisonChanged, this, &MainWindow::takeComparison);
  connect(comparison_, &CompareController::started, this, [this] {
    latency_->beginPair(comparison_->sides());
    refreshActions();
  });
  connect(comparison_, &CompareController::prefilled, this,
          [this](api::Side side, const api::PrefillEvent& event) {
            latency_->addToPair(side == api::Side::b, event);
          });
  connect(comparison_, &CompareController::tokensArrived, this,
          [this](api::Side side, const TokenBatch& tokens) {
            latency_->addToPair(side == api::Side::b, tokens);
          });
  connect(comparison_, &CompareController::ended, this, [this] {
    refreshActions();
    refreshStatus();
  });
}

/// The node of that path in the graph that is shown, in the outline and in the inspector.
void MainWindow::showNodeAt(const QString& path) {
  const SessionPtr session = session_->session();
  if (!session) return;
  if (graph_->source() != session_) showGraphOf(session_);
  const graph::GraphVersion model = session->model_graph();
  const graph::GraphVersion shown = graph_->fusedShown() ? session->fused_graph() : model;
  const NodeId node = ComparisonIndex::find(*shown, *model, path.toStdString());
  if (!node.valid()) return;
  outline_->select(node);
  chooseNode(node);
}

/// Both graphs in the colours of the two sides, and their columns; without a comparison all as before.
void MainWindow::takeComparison(const Comparison& comparison) {
  if (!session_->session() || (!comparison && !compared_)) return;
  compared_ = comparison;
  if (comparison && graph_->source() != session_) showGraphOf(session_);
  graph_->setComparison(comparison);
  inspector_->setComparison(comparison);
  const HeatMode heat = graph_->modelView()->heatMode();
  if (comparison && heat != HeatMode::ratio) heatBefore_ = heat;
  if (comparison || heat == HeatMode::ratio) showHeat(comparison ? HeatMode::ratio : heatBefore_);
  comparison ? showComparisonInOutline() : outline_->setSides(std::nullopt);
  if (!comparison) takeProfile();
}

void MainWindow::showComparisonInOutline() {
  const SessionPtr session = session_->session();
  if (!session || graph_->source() != session_) return outline_->setSides(std::nullopt);
  const graph::GraphVersion model = session->model_graph();
  const graph::GraphVersion shown = graph_->fusedShown() ? session->fused_graph() : model;
  outline_->setSides(compared_.sides);
  if (model && shown) outline_->setTimings(figuresOf(ComparisonIndex(compared_), *shown, *model));
}

void MainWindow::showHeat(HeatMode mode) {
  graph_->setHeatMode(mode);
  tools_->setHeatMode(mode);
}

}  // namespace orrery::ui
