// What can be done with what is chosen in the graphs: the context menu, and what its entries act on.
#include <QMenu>

#include "ui/graph/opened_nodes.h"
#include "ui/placement/menu_edits.h"
#include "ui/placement/scope_words.h"
#include "ui/shell/graph_figures.h"
#include "ui/shell/graph_page.h"

namespace orrery::ui {

void GraphPage::showMenuOf(const std::vector<GraphView::Selected>& chosen, const QPoint& position) {
  if (!source_ || !source_->session()) return;
  QMenu menu;
  connect(&menu, &QMenu::hovered, this, [this](QAction* entry) {
    const std::vector<edit::Edit> edits = carriedBy(entry);
    edits.empty() ? emit editLeft() : emit editConsidered(edits);
  });
  connect(&menu, &QMenu::aboutToHide, this, &GraphPage::editLeft);
  addPlaces(menu, chosen);
  addBypasses(menu, chosen);
  if (fillEdits_ && !fusedShown()) fillEdits_(menu);
  const QString undone = source_->undoName();
  menu.addAction(undone.isEmpty() ? QString("Undo edit") : "Undo " + undone, this, &GraphPage::undoAsked)
      ->setEnabled(source_->canUndo());
  menu.addSeparator();
  if (const QString scope = chosen.empty() ? QString() : chosen.back().scope; !scope.isEmpty())
    menu.addAction("Open all its layers as a page", this, [this, scope] { view()->openPage(scope); })
        ->setVisible(view()->canBePage(scope));
  addOpening(menu, chosen);
  if (const QString scope = chosen.empty() ? QString() : chosen.back().scope;
      !scope.isEmpty() && !(fusedShown() && opened_[source_].contains(scope.toStdString())))
    menu.addAction(view()->isExpanded(scope) ? "Fold " + scope : "Open " + scope, this,
                   [this, scope] { view()->toggleScope(scope); });
  menu.addAction("Open all", view(), &GraphView::expandAll);
  menu.addAction("Fold all", view(), &GraphView::collapseAll);
  menu.addAction("Fit", view(), &GraphView::fit);
  menu.exec(position);
}

/// Of a fused node: into what it computes, and back.
void GraphPage::addOpening(QMenu& menu, const std::vector<GraphView::Selected>& chosen) {
  const graph::GraphVersion model = source_->session()->model_graph();
  if (!fusedShown() || chosen.empty() || !model || !shown_[1]) return;
  const QString& scope = chosen.back().scope;
  if (opened_[source_].contains(scope.toStdString()))
    menu.addAction("Fold into one node", this, [this, scope] { setOpened(scope, false); });
  const graph::Node* node = shown_[1]->find(chosen.back().node);
  if (node && canOpen(*model, *node))
    menu.addAction(QString("Open into the %1 nodes that it computes").arg(node->origins.size()), this,
                   [this, path = QString::fromStdString(node->path())] { setOpened(path, true); });
}

/// What was opened is chosen then, and what was folded.
void GraphPage::setOpened(const QString& path, bool open) {
  const SessionPtr session = source_ ? source_->session() : nullptr;
  const graph::GraphVersion runs = session ? session->fused_graph() : nullptr;
  if (!runs) return;
  std::set<std::string>& opened = opened_[source_];
  open ? void(opened.insert(path.toStdString())) : void(opened.erase(path.toStdString()));
  showModel(session, true);
  if (open)
    fused_->selectScope(path);
  else
    fused_->select(runs->find_path(path.toStdString()));
  refreshPlaces();
  refreshTimings();
}

/// A node of the fused graph stands for those that it was fused from, and so does the frame that it was
/// opened into.
QStringList GraphPage::modelScopes(const std::vector<GraphView::Selected>& chosen) const {
  const SessionPtr session = source_ ? source_->session() : nullptr;
  const graph::GraphVersion model = session ? session->model_graph() : nullptr;
  const graph::GraphVersion& shown = shown_[fusedShown()];
  QStringList scopes;
  for (const GraphView::Selected& one : chosen) {
    const bool frame =
        fusedShown() && opened_.contains(source_) && opened_.at(source_).contains(one.scope.toStdString());
    if (const graph::GraphVersion runs = frame && model ? session->fused_graph() : nullptr)
      scopes += modelPaths(*model, *runs, runs->find_path(one.scope.toStdString()));
    else if (!one.scope.isEmpty())
      scopes += one.scope;
    if (one.node.valid() && model && shown) scopes += modelPaths(*model, *shown, one.node);
  }
  return scopes;
}

/// One choice for all that is chosen.
void GraphPage::addPlaces(QMenu& menu, const std::vector<GraphView::Selected>& chosen) {
  const QStringList scopes = modelScopes(chosen);
  if (scopes.isEmpty()) return;
  places_->fill(menu.addMenu(chosen.size() > 1 ? QString("Run %1 on").arg(chosen.size()) : "Run on"),
                *source_->session(), scopeWord(scopes));
  precisions_->fill(
      menu.addMenu(chosen.size() > 1 ? QString("Compute %1 in").arg(chosen.size()) : "Compute in"),
      *source_->session(), scopeWord(scopes));
}

void GraphPage::addBypasses(QMenu& menu, const std::vector<GraphView::Selected>& chosen) {
  menu.setToolTipsVisible(true);
  for (const BypassChoice& choice : bypasses(chosen)) {
    QAction* action = menu.addAction(choice.words(), this, [this, choice] {
      choice.restores ? emit restoreAsked(choice.scopes) : emit bypassAsked(choice.scopes);
    });
    if (!choice.restores) carry(action, {editOf("bypass", choice.scopes)});
    action->setEnabled(choice.refusal.isEmpty());
    action->setToolTip(choice.tip());
  }
}

QString GraphPage::chosenScopes() const {
  const QStringList scopes = modelScopes(view()->selection());
  return scopes.isEmpty() ? QString() : scopeWord(scopes);
}

Bypass GraphPage::bypassOf(const std::vector<GraphView::Selected>& chosen) const {
  const QStringList scopes = modelScopes(chosen);
  return scopes.isEmpty() ? Bypass::nothing : ui::bypassOf(*source_, scopes);
}

std::vector<BypassChoice> GraphPage::bypasses(const std::vector<GraphView::Selected>& chosen) const {
  const QStringList scopes = modelScopes(chosen);
  if (scopes.isEmpty()) return {};
  if (chosen.size() > 1) return bypassChoices(*source_, QString::number(chosen.size()), scopes);
  const graph::Node* node = shown_[fusedShown()]->find(chosen.back().node);
  if (!node) return bypassChoices(*source_, scopes.front(), scopes, outerScope(scopes.front()));
  return bypassChoices(*source_, QString::fromStdString(node->path()), scopes,
                       QString::fromStdString(node->scope));
}

}  // namespace orrery::ui
