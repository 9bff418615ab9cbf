// The two graphs of a model beside each other: their views, which of them is worked in, and what is lit in
// the other.
#include <utility>

#include "ui/shell/graph_links.h"
#include "ui/shell/graph_page.h"

namespace orrery::ui {

GraphPage::Views GraphPage::addViews() {
  Views views;
  views.splitter = new QSplitter(this);
  views.splitter->setChildrenCollapsible(false);
  views.model = addView(false);
  views.fused = addView(true);
  views.splitter->addWidget(views.model);
  views.splitter->addWidget(views.fused);
  views.model->setVisible(tabs_->currentIndex() != kFused);
  views.fused->setVisible(tabs_->currentIndex() != kModel);
  connect(views.splitter, &QSplitter::splitterMoved, this,
          [this, splitter = views.splitter] { split_ = splitter->saveState(); });
  stack_->addWidget(views.splitter);
  return views;
}

GraphView* GraphPage::addView(bool fused) {
  auto* view = new GraphView(theme_, this);
  view->installEventFilter(this);
  view->setReducedMotion(reducedMotion_);
  view->setAccessibleName(fused ? "Fused graph" : "Model graph");
  // What a fused node was opened into is of the model graph.
  connect(view, &GraphView::nodeSelected, this, [this, fused](NodeId node) {
    if (finding_) return;
    workIn(fused);
    const SessionPtr session = source_ ? source_->session() : nullptr;
    const graph::GraphVersion runs = fused && session ? session->fused_graph() : nullptr;
    emit nodeChosen(node, runs && runs->find(node));
  });
  connect(view, &GraphView::scopeSelected, this, [this, fused](const QString& scope) {
    if (finding_) return;
    workIn(fused);
    emit scopeChosen(scope, fused);
  });
  connect(view, &GraphView::selectionCleared, this, &GraphPage::choiceCleared);
  connect(view, &GraphView::nodeActivated, this, [this, fused] {
    if (sideBySide()) viewOf(!fused)->revealLit();
  });
  connect(view, &GraphView::openingAsked, this, &GraphPage::setOpened);
  connect(view, &GraphView::matchesChanged, this, &GraphPage::matchesChanged);
  connect(view, &GraphView::contextMenuAsked, this,
          [this, view](const QPoint& at) { showMenuOf(view->selection(), at); });
  setupEditing(view, fused);
  connect(view, &GraphView::partsChanged, this, [this](GraphView::Parts shown) {
    setParts(shown);
    emit partsChanged(shown);
  });
  connect(view, &GraphView::placeChanged, this,
          [this, view](const QStringList& parts, const QStringList& scopes) {
            if (view != this->view()) return;
            title_->setPlace(parts, scopes);
            relight();
          });
  connect(view, &GraphView::layoutFinished, this, [this, view] {
    if (view == this->view()) refreshPage();
  });
  connect(view, &GraphView::zoomChanged, this, [this, view](double scale) {
    if (view == this->view()) zoom_->setText(QString("%1 %").arg(qRound(scale * 100)));
  });
  return view;
}

void GraphPage::setupEditing(GraphView* view, bool fused) {
  GraphEditor* editor = view->editor();
  editor->setWiresByType(byType_);
  if (!fused) editor->setHints(hints_);
  if (fused) editor->setReadOnly("The fused graph is what runs: edits are made in the model graph");
  connect(editor, &GraphEditor::editsAsked, this, &GraphPage::editsAsked);
  connect(editor, &GraphEditor::editConsidered, this, &GraphPage::editConsidered);
  connect(editor, &GraphEditor::editLeft, this, &GraphPage::editLeft);
  connect(editor, &GraphEditor::bypassAsked, this, &GraphPage::bypassOfChosenAsked);
  connect(editor, &GraphEditor::originalMenuAsked, this, &GraphPage::originalMenuAsked);
  connect(editor, &GraphEditor::noticed, this, &GraphPage::noticed);
}

/// Halves, until the person moved the splitter.
void GraphPage::restoreSplit() {
  const auto views = views_.find(source_);
  if (!sideBySide() || views == views_.end()) return;
  QSplitter* splitter = views->second.splitter;
  if (split_.isEmpty() || !splitter->restoreState(split_)) splitter->setSizes({1000, 1000});
}

void GraphPage::setSplit(const QByteArray& split) {
  split_ = split;
  restoreSplit();
}

std::vector<bool> GraphPage::shownSides() const {
  return sideBySide() ? std::vector<bool>{false, true} : std::vector<bool>{fusedShown()};
}

/// Outline, inspector and commands are of the graph that is worked in.
void GraphPage::workIn(bool fused) {
  if (!sideBySide() || fused == fusedShown_) return;
  fusedShown_ = fused;
  refreshTabs();
  emit tabChanged(fused);
}

bool GraphPage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::FocusIn && (watched == model_ || watched == fused_)) workIn(watched == fused_);
  return QWidget::eventFilter(watched, event);
}

void GraphPage::light(std::vector<NodeId> fused) {
  lit_ = std::move(fused);
  relight();
}

/// Several of the model graph belong to one of the fused graph, and both ways all of them are lit.
void GraphPage::relight() {
  const SessionPtr session = source_ ? source_->session() : nullptr;
  const graph::GraphVersion model = session ? session->model_graph() : nullptr;
  const graph::GraphVersion runs = session ? session->fused_graph() : nullptr;
  if (!model || !runs || !shown_[1]) return;
  if (GraphView* other = viewOf(!fusedShown()); sideBySide() && !other->selection().empty())
    other->clearSelection();
  std::vector<NodeId> ofModel, ofFused = lit_;
  if (!lit_.empty()) {
    ofModel = originsOf(*model, *runs, lit_);
  } else if (sideBySide() && fusedShown_) {
    ofModel = originsOf(*model, *shown_[1], chosenNodes(*shown_[1], fused_->selection()));
  } else if (sideBySide()) {
    ofFused = fusedOf(*shown_[1], chosenNodes(*model, model_->selection()));
  }
  model_->light(std::move(ofModel));
  fused_->light(std::move(ofFused));
}

void GraphPage::showTab(bool fused) {
  sideBySide() ? workIn(fused) : tabs_->setCurrentIndex(fused ? kFused : kModel);
}

void GraphPage::showSideBySide(bool both) {
  tabs_->setCurrentIndex(both ? kBoth : fusedShown_ ? kFused : kModel);
}

}  // namespace orrery::ui
