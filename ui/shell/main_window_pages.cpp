// The page in front: where typing goes, and whose graph is drawn, which is that of the model that the page
// runs.
#include <QApplication>

#include "ui/session/model_use.h"
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
    if (!dock(page)->visibleRegion().isEmpty()) return turnTo(page);
}

void MainWindow::showPage(const QString& page) {
  if (page == "graph") return graph_->view()->setFocus();
  DockFrame* shown = dock(page);
  if (!shown) return;
  shown->show();
  shown->raise();
  shown->widget()->setFocus();
  turnTo(page);
}

/// A model that was opened is for the page that can use it. At the start the page that was in front stays.
void MainWindow::showPageOf(const api::ModelInfo& info) {
  const bool start = !std::exchange(started_, true);
  if (runs(info) && info.task == api::Task::classify) {
    classify_->openModel(session_->session()->options(), session_->title());
    return showPage(kClassify);
  }
  if (start) {
    if (front_ == kClassify && classifier_->session()) showGraphOf(classifier_);
    return dock(front_)->widget()->setFocus();
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
