// The page in front: where typing goes, and whose graph is drawn, which is that of the model that the page
// runs.
#include <QApplication>
#include <QScrollArea>

#include "ui/session/model_use.h"
#include "ui/shell/focus_order.h"
#include "ui/shell/main_window.h"

namespace orrery::ui {
namespace {

constexpr const char *kChat = "chat", *kClassify = "classify", *kCompare = "compare";
constexpr const char* kPages[] = {kChat, kClassify, kCompare};

}  // namespace

void MainWindow::setupPages() {
  connect(this, &QMainWindow::tabifiedDockWidgetActivated, this,
          [this](const QDockWidget* shown) { turnTo(shown->objectName()); });
  // Docks beside each other are no tabs: there the page that has the focus is the one in front.
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    for (const char* page : kPages)
      if (now && dock(page)->isAncestorOf(now)) turnTo(page);
  });
  connect(session_, &SessionController::chatStarted, this, [this] { showGraphOf(session_); });
  connect(comparison_, &CompareController::started, this, [this] { showGraphOf(session_); });
  connect(classifier_, &SessionController::stateChanged, this, [this](RunState state) {
    if (state == RunState::classify) showGraphOf(classifier_);
  });
  connect(classifier_, &SessionController::opened, this, [this] {
    classifier_->setProfiling(do_.profiler->isChecked());
    front_ == kClassify ? showGraphOf(classifier_) : nameDrawn();
  });
  connect(classifier_, &SessionController::loadEnded, this, &MainWindow::nameDrawn);
  connect(classify_, &ClassifyPage::graphAsked, this,
          [this](bool shown) { showGraphOf(shown ? classifier_ : session_); });
  connect(classify_, &ClassifyPage::openAsked, this,
          [this](const api::OpenOptions& options) { openClassifier(options, {}); });
  connect(graph_, &GraphPage::modelAsked, this,
          [this](int model) { showGraphOf(model == 0 ? session_ : classifier_); });
}

void MainWindow::turnTo(const QString& page) {
  if (page == front_ || std::find(std::begin(kPages), std::end(kPages), page) == std::end(kPages)) return;
  front_ = page;
  if (page == kClassify) classify_->prepare();  // the first look at it loads the classifier
  if (page != kClassify)
    showGraphOf(session_);
  else if (!classifier_->loading())
    showGraphOf(classifier_);
}

/// After a start: the layout that was remembered says which page is in front.
void MainWindow::findFront() {
  for (const char* page : kPages)
    if (dock(page)->isVisible() && keeper_->inFront(dock(page))) return turnTo(page);
}

void MainWindow::showPage(const QString& page) {
  if (page == "graph") return graph_->view()->setFocus();
  DockFrame* shown = dock(page);
  if (!shown) return;
  layout_->settle();
  shown->show();
  shown->raise();
  shown->page()->setFocus();
  turnTo(page);
}

bool MainWindow::focusNextPrevChild(bool next) {
  std::vector<QWidget*> order;
  for (const FocusPart& part : partsAsRead(*this, tools_, *keeper_)) {
    const std::vector<QWidget*> controls = controlsAsRead(part);
    order.insert(order.end(), controls.begin(), controls.end());
  }
  if (order.empty()) return false;
  const auto current = std::find(order.begin(), order.end(), focusWidget());
  // What had the focus is gone, such as a question that was answered.
  if (focusWidget() && !focusWidget()->isVisible() && dock(front_)->page()->isVisible()) {
    dock(front_)->page()->setFocus();
    return true;
  }
  const size_t count = order.size();
  const size_t at =
      current == order.end() ? (next ? count - 1 : 0) : static_cast<size_t>(current - order.begin());
  focusOn(order[(at + (next ? 1 : count - 1)) % count], next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
  return true;
}

void MainWindow::focusOn(QWidget* control, Qt::FocusReason reason) {
  control->activateWindow();  // which a floating dock is
  control->setFocus(reason);
  for (QWidget* around = control->parentWidget(); around; around = around->parentWidget())
    if (auto* scroll = qobject_cast<QScrollArea*>(around)) scroll->ensureWidgetVisible(control);
}

/// The next part from the one that has the focus, where it was last; at first in the page's own field or its
/// first control.
void MainWindow::focusPart(int step) {
  std::vector<FocusPart> parts = partsAsRead(*this, tools_, *keeper_);
  parts.erase(parts.begin());  // the tool bar is no panel
  for (DockFrame* dock : keeper_->docks())
    if (dock->isFloating() && dock->isVisible()) parts.push_back({dock, nullptr});
  const auto holds = [](const FocusPart& part, QWidget* widget) {
    return widget && (part.body->isAncestorOf(widget) || (part.tabs && part.tabs->isAncestorOf(widget)) ||
                      part.tabs == widget);
  };
  const auto current = std::find_if(parts.begin(), parts.end(), [&](const FocusPart& part) {
    return holds(part, QApplication::focusWidget());
  });
  const auto count = static_cast<ptrdiff_t>(parts.size());
  const ptrdiff_t at = current == parts.end() ? (step > 0 ? -1 : 0) : current - parts.begin();
  const FocusPart& part = parts[static_cast<size_t>((at + step + count) % count)];
  const auto* frame = qobject_cast<DockFrame*>(part.body);
  QWidget* page = frame ? frame->page() : graph_->view();
  const std::vector<QWidget*> controls = controlsAsRead(part);
  const auto reached = [&](QWidget* widget) {
    return widget && std::find(controls.begin(), controls.end(), widget) != controls.end();
  };
  QWidget* own = page;
  while (own->focusProxy()) own = own->focusProxy();
  if (QWidget* last = part.body->focusWidget(); reached(last)) return focusOn(last, Qt::ShortcutFocusReason);
  if (reached(own)) return focusOn(own, Qt::ShortcutFocusReason);
  if (!controls.empty()) focusOn(controls.front(), Qt::ShortcutFocusReason);
}

/// A model that was opened is for the page that can use it. At the start the page that was in front stays.
void MainWindow::showPageOf(const api::ModelInfo& info) {
  const bool start = !std::exchange(started_, true);
  if (runs(info) && info.task == api::Task::classify) {
    openClassifier(session_->session()->options(), session_->title());
    return showPage(kClassify);
  }
  if (start) {
    if (front_ == kClassify && classifier_->session()) showGraphOf(classifier_);
    return dock(front_)->page()->setFocus();
  }
  if (writesText(info) && !session_->moved()) showPage(front_ == kClassify ? kChat : front_);
}

/// Without a model of its own it leaves what is drawn.
void MainWindow::showGraphOf(SessionController* source) {
  if (graph_->source() != source && source->session()) {
    graph_->setSource(source);
    inspector_->setSource(source);
    latency_->setSource(source);
    if (compared_) showHeat(source == session_ ? HeatMode::ratio : heatBefore_);
    if (const QString text = tools_->find()->text(); !text.isEmpty()) find(text);
  }
  takeGraph();
  nameDrawn();
}

/// Title, tool bar and the page itself say whose graph it is.
void MainWindow::nameDrawn() {
  const SessionController* drawn = graph_->source();
  const SessionPtr session = drawn->session();
  const bool other = drawn == classifier_;
  if (session) {
    tools_->modelButton()->setCaption(drawn->title(), QString::fromStdString(session->info().main_dtype));
    setWindowTitle(drawn->title() + " - Orrery");
  }
  tools_->setDevice(other ? session->options().device : options_.open.device, !other && both_->wanted());
  const bool two = session_->session() && classifier_->session();
  graph_->setModels(two ? QStringList{session_->title(), classifier_->title()} : QStringList(), other);
  classify_->setGraphShown(other);
  refreshStatus();
}

}  // namespace orrery::ui
