#include "ui/shell/drawn_model.h"

#include <QApplication>
#include <QShortcut>

#include "ui/placement/bypass_choices.h"
#include "ui/placement/scope_words.h"
#include "ui/session/diff_controller.h"
#include "ui/session/edit_previews.h"
#include "ui/session/graph_controller.h"
#include "ui/session/second_device.h"
#include "ui/shell/graph_figures.h"
#include "ui/shell/graph_page.h"
#include "ui/shell/outline_panel.h"
#include "ui/shell/tool_bar.h"

namespace orrery::ui {

/// Telling looks through the graph, so it is done once for a choice in a graph.
struct DrawnModel::Chosen {
  graph::GraphVersion model;
  std::vector<GraphView::Selected> things;
  Bypass bypass = Bypass::nothing;
};

DrawnModel::DrawnModel(Workspace& work, GraphPage* graph, OutlinePanel* outline, QObject* parent)
    : QObject(parent),
      work_(work),
      graph_(graph),
      outline_(outline),
      heatBefore_(HeatMode::time),
      chosen_(std::make_unique<Chosen>()) {
  graph_->setSource(work_.drawn());
  graph_->showTab(work_.settings().fusedTab);
  graph_->showSideBySide(work_.settings().sideBySide);
  graph_->setSplit(work_.settings().graphSplit);
  graph_->setHeatMode(static_cast<HeatMode>(work_.settings().heat));
  graph_->setParts(GraphView::Parts(work_.settings().graphParts));
  work_.setFused(graph_->fusedShown());
  graph_->setArrangements(work_.settings().arrangements);
  graph_->setWiresByType(work_.settings().wiresByType);
  graph_->setReducedMotion(work_.settings().reducedMotion);
  connectGraph();
  connectEditing();
  connectOutline();
  connectSessions();
  connect(&work_, &Workspace::drawAsked, this, &DrawnModel::draw);
  connect(&work_, &Workspace::nodeAsked, this, [this](NodeId node, bool fused) {
    graph_->showTab(fused);
    choose(node, fused);
  });
  connect(&work_, &Workspace::nodesLit, graph_, &GraphPage::light);
  connect(&work_, &Workspace::pathAsked, this, &DrawnModel::showPath);
  connect(&work_, &Workspace::targetAsked, this, &DrawnModel::showTarget);
  connect(&work_, &Workspace::compareAsked, this, &DrawnModel::takeComparison);
  connect(&work_, &Workspace::scopesMeasured, this, &DrawnModel::takeMeasures);
  connect(&work_, &Workspace::profileChanged, this, &DrawnModel::showProfile);
  connect(work_.diffs(), &DiffController::changed, this, [this] {
    const DifferencesPtr& found = work_.diffs()->found();
    graph_->holdAgainst(work_.session(), found && !found->original ? found->a : nullptr);
  });
  connect(&work_, &Workspace::settingsAsked, this, [this] {
    work_.settings().heat = static_cast<int>(heat());
    work_.settings().fusedTab = graph_->fusedShown();
    work_.settings().sideBySide = graph_->sideBySide();
    work_.settings().graphSplit = graph_->split();
    work_.settings().arrangements = graph_->arrangements();
    work_.settings().wiresByType = graph_->wiresByType();
    work_.settings().reducedMotion = graph_->reducedMotion();
  });
}

DrawnModel::~DrawnModel() = default;

void DrawnModel::connectGraph() {
  connect(graph_, &GraphPage::nodeChosen, &work_, &Workspace::nodeChosen);
  connect(graph_, &GraphPage::scopeChosen, &work_, &Workspace::scopeChosen);
  connect(graph_, &GraphPage::choiceCleared, &work_, &Workspace::choiceCleared);
  connect(graph_, &GraphPage::bypassAsked, &work_,
          [this](const QString& scopes) { work_.edit("bypass", scopes); });
  connect(graph_, &GraphPage::restoreAsked, &work_, &Workspace::restore);
  connect(graph_, &GraphPage::undoAsked, &work_, &Workspace::undo);
  connect(graph_, &GraphPage::modelAsked, this,
          [this](int model) { draw(model == 0 ? work_.session() : work_.classifier()); });
  connect(graph_, &GraphPage::tabChanged, this, [this](bool fused) {
    work_.setFused(fused);
    if (!graph_->sideBySide()) emit work_.choiceCleared();
    refresh();
  });
  connect(graph_, &GraphPage::columnsChanged, &work_, [this](int columns) {
    QMap<QString, int>& kept = work_.settings().columns;
    kept.remove(work_.drawn()->title());
    if (columns > 0) kept[work_.drawn()->title()] = columns;
    emit work_.changed();
  });
  connect(graph_, &GraphPage::partsChanged, &work_, [this](GraphView::Parts parts) {
    work_.settings().graphParts = parts.toInt();
    emit work_.changed();
  });
  connect(graph_, &GraphPage::matchesChanged, this, [this](int count, int current) {
    tools_->find()->setNote(tools_->find()->text().isEmpty() ? QString()
                            : count == 0                     ? "none"
                                         : QString("%1 of %2").arg(current + 1).arg(count));
  });
}

void DrawnModel::connectOutline() {
  connect(graph_, &GraphPage::placesChanged, outline_, &OutlinePanel::setPlaces);
  connect(outline_, &OutlinePanel::menuAsked, this,
          [this](const QPoint& at) { graph_->showMenuOf(outline_->selection(), at); });
  connect(outline_, &OutlinePanel::nodeChosen, this,
          [this](NodeId node) { choose(node, graph_->fusedShown()); });
  connect(outline_, &OutlinePanel::scopeChosen, this, [this](const QString& scope) {
    graph_->view()->selectScope(scope);
    emit work_.scopeChosen(scope, graph_->fusedShown());
  });
  connect(&work_, &Workspace::nodeChosen, outline_, &OutlinePanel::select);
  connect(&work_, &Workspace::scopeChosen, outline_, &OutlinePanel::selectScope);
  connect(outline_, &OutlinePanel::shown, this, &DrawnModel::catchUpOutline);
  auto* key = new QShortcut(QKeySequence::Delete, outline_);  // the graph has a command of that key
  key->setContext(Qt::WidgetWithChildrenShortcut);
  connect(key, &QShortcut::activated, this, [this] { graph_->view()->editor()->remove(false); });
}

/// What gestures in the drawing ask for.
void DrawnModel::connectEditing() {
  connect(graph_, &GraphPage::editsAsked, &work_, &Workspace::editByHand);
  connect(graph_, &GraphPage::editConsidered, &work_, &Workspace::editConsidered);
  connect(graph_, &GraphPage::editLeft, &work_, &Workspace::editLeft);
  connect(work_.previews(), &EditPreviews::asked, this,
          [this] { graph_->setConsidered(work_.previews()->edits()); });
  connect(work_.previews(), &EditPreviews::forgotten, this, [this] { graph_->setConsidered({}); });
  connect(graph_, &GraphPage::noticed, &work_, &Workspace::noticed);
  connect(graph_, &GraphPage::bypassOfChosenAsked, this, &DrawnModel::bypassSelection);
  connect(graph_, &GraphPage::originalMenuAsked, this, &DrawnModel::showOriginalMenu);
  graph_->setEditMenu([this](QMenu& menu) { fillEditMenu(menu); });
  connect(&work_, &Workspace::opAsked, this, [this](const QString& op) {
    graph_->showTab(false);
    graph_->view()->editor()->insert(op);
  });
}

void DrawnModel::setTools(MainToolBar* tools) {
  tools_ = tools;
  tools_->setHeatMode(static_cast<HeatMode>(work_.settings().heat));
  connect(tools_, &MainToolBar::heatChosen, this, [this](HeatMode mode) {
    work_.settings().heat = static_cast<int>(mode);
    graph_->setHeatMode(mode);
  });
  connect(tools_, &MainToolBar::phaseChosen, this, [this](api::Phase phase) {
    work_.setPhase(phase);
    showPhase();
  });
  SearchField* field = tools_->find();
  connect(field, &QLineEdit::textChanged, this, &DrawnModel::find);
  connect(field, &QLineEdit::returnPressed, this, [this, field] {
    GraphView* view = graph_->view();
    const bool back = QApplication::keyboardModifiers() & Qt::ShiftModifier;
    const int current = back ? view->findPrevious() : view->findNext();
    if (current >= 0) field->setNote(QString("%1 of %2").arg(current + 1).arg(view->matchCount()));
  });
  connect(field, &SearchField::escaped, this, [this, field] {
    field->clear();
    graph_->view()->setFocus();
  });
}

void DrawnModel::connectSessions() {
  for (SessionController* source : {work_.session(), work_.classifier()}) {
    connect(source, &SessionController::graphChanged, this, &DrawnModel::refresh);
    connect(source, &SessionController::loadEnded, this, &DrawnModel::name);
    connect(source, &SessionController::edited, this, &DrawnModel::noteEdit);
    connect(source, &SessionController::stateChanged, this, [this, source](RunState state) {
      if (source != graph_->source()) return;
      if (state == RunState::prefill || state == RunState::classify) graph_->resetScale();
      graph_->setRunning(state != RunState::idle);
    });
  }
  connect(work_.both(), &SecondDevice::changed, this, &DrawnModel::name);
}

void DrawnModel::draw(SessionController* source) {
  if (work_.drawn() != source && source->session()) {
    graph_->setSource(source);
    work_.draw(source);
    if (work_.compared()) showHeat(source == work_.session() ? HeatMode::ratio : heatBefore_);
    if (source != work_.session() && graph_->modelView()->heatMode() == HeatMode::measure)
      showHeat(heatBefore_);
    if (const QString text = tools_->find()->text(); !text.isEmpty()) find(text);
  }
  refresh();
  name();
}

void DrawnModel::name() {
  const SessionController* drawn = work_.drawn();
  const SessionPtr session = drawn->session();
  const bool other = drawn == work_.classifier();
  if (session) {
    tools_->modelButton()->setCaption(drawn->title(), QString::fromStdString(session->info().main_dtype));
    graph_->window()->setWindowTitle(drawn->title() + " - Orrery");
  }
  tools_->setDevice(other ? session->options().device : work_.options().device,
                    !other && work_.both()->wanted());
  const SessionController *chat = work_.session(), *classifier = work_.classifier();
  const bool two = chat->session() && classifier->session();
  graph_->setModels(two ? QStringList{chat->title(), classifier->title()} : QStringList(), other);
  emit work_.changed();
}

void DrawnModel::refresh() {
  graph_->setColumns(work_.settings().columns.value(work_.drawn()->title()));
  refreshOutline();
  if (work_.compared()) showSides();
  emit work_.graphShown();
  showPhase();
  emit work_.changed();
}

/// While it is closed, the outline of the other tab waits until it is seen.
void DrawnModel::refreshOutline() {
  const SessionController& drawn = *work_.drawn();
  const SessionPtr session = drawn.session();
  const bool fused = graph_->fusedShown();
  Outlined outlined{nullptr, session ? session->model_graph() : nullptr, drawn.recipe(), drawn.title()};
  if (session) outlined.graph = fused ? session->fused_graph() : outlined.model;
  if (outlined == outlined_ || (!outline_->isVisible() && outlined.model == outlined_.model)) return;
  outlined_ = outlined;
  std::unordered_set<NodeId> edited;
  if (outlined.model) edited = editedNodes(*outlined.model, outlined.recipe);
  if (fused && outlined.graph) edited = editedFused(*outlined.graph, edited);
  outline_->setGraph(outlined.graph, edited, outlined.title);
}

void DrawnModel::catchUpOutline() {
  refreshOutline();
  showSides();
  showProfile();
  const std::vector<GraphView::Selected> chosen = graph_->view()->selection();
  if (chosen.empty()) return;
  if (const NodeId node = chosen.back().node; node.valid())
    outline_->select(node);
  else
    outline_->selectScope(chosen.back().scope);
}

void DrawnModel::showPhase() {
  const SessionPtr session = work_.drawn()->session();
  const bool encodes = session && session->info().task != api::Task::generate;
  const api::Phase phase = work_.phase();
  tools_->setPhase(phase, !encodes);
  graph_->setPhase(phase);
  emit work_.phaseChanged(phase);
  emit work_.subtitleChanged("outline", encodes                       ? "last step"
                                        : phase == api::Phase::decode ? "decode, p50"
                                                                      : "prefill, last step");
  showProfile();
}

void DrawnModel::showProfile() {
  if (!outline_->isVisible() || !work_.drawn()->session() || work_.compared()) return;
  outline_->setTimings(
      figuresOf(work_.drawn()->profile(work_.phase()), nullptr, nullptr, graph_->fusedShown()));
}

void DrawnModel::choose(NodeId node, bool fused) {
  graph_->select(node);
  emit work_.nodeChosen(node, fused);
}

/// The node or scope of that path in the graph that is shown, in the outline and in the inspector.
void DrawnModel::showPath(const QString& path) {
  const SessionPtr session = work_.session()->session();
  if (!session) return;
  if (work_.drawn() != work_.session()) draw(work_.session());
  const graph::GraphVersion model = session->model_graph();
  const graph::GraphVersion shown = graph_->fusedShown() ? session->fused_graph() : model;
  const NodeId node = ComparisonIndex::find(*shown, *model, path.toStdString());
  if (node.valid()) return choose(node, graph_->fusedShown());
  if (shown->in_scope(path.toStdString()).empty()) return;
  graph_->view()->selectScope(path);
  emit work_.scopeChosen(path, graph_->fusedShown());
}

/// Of what is deleted, the scope around it.
void DrawnModel::showTarget(const QString& scope) {
  const SessionPtr session = work_.drawn()->session();
  if (!session) return;
  const graph::GraphVersion model = session->model_graph();
  graph_->showTab(false);
  if (const NodeId node = model->find_path(scope.toStdString()); node.valid()) return choose(node, false);
  QString shown = scope;
  while (!shown.isEmpty() && nodesIn(*model, shown).empty()) shown = outerScope(shown);
  if (shown.isEmpty()) return;
  graph_->view()->selectScope(shown);
  emit work_.scopeChosen(shown, false);
}

/// Both graphs in the colours of the two sides, and their columns; without a comparison all as before.
void DrawnModel::takeComparison(const Comparison& comparison) {
  if (!work_.session()->session() || (!comparison && !work_.compared())) return;
  work_.setCompared(comparison);
  if (comparison && work_.drawn() != work_.session()) draw(work_.session());
  graph_->setComparison(comparison);
  emit work_.comparisonChanged(comparison);
  const HeatMode heat = graph_->modelView()->heatMode();
  if (comparison && heat != HeatMode::ratio) heatBefore_ = heat;
  if (comparison || heat == HeatMode::ratio) showHeat(comparison ? HeatMode::ratio : heatBefore_);
  showSides();
  showProfile();
}

/// The first values turn the heat to them, and none turn it back; those that follow leave it as the person
/// chose.
void DrawnModel::takeMeasures(const ScopeValues& values) {
  if (!work_.session()->session()) return;
  const bool first = values && !measured_;
  measured_ = static_cast<bool>(values);
  if (first && work_.drawn() != work_.session()) draw(work_.session());
  graph_->setMeasures(values);
  const HeatMode heat = graph_->modelView()->heatMode();
  if (first && heat != HeatMode::measure) {
    if (heat != HeatMode::ratio) heatBefore_ = heat;
    showHeat(HeatMode::measure);
  } else if (!measured_ && heat == HeatMode::measure) {
    showHeat(heatBefore_);
  }
}

void DrawnModel::showSides() {
  if (!outline_->isVisible()) return;
  const SessionPtr session = work_.session()->session();
  if (!work_.compared() || !session || work_.drawn() != work_.session())
    return outline_->setSides(std::nullopt);
  const graph::GraphVersion model = session->model_graph();
  const graph::GraphVersion shown = graph_->fusedShown() ? session->fused_graph() : model;
  outline_->setSides(work_.compared().sides);
  if (model && shown) outline_->setTimings(figuresOf(ComparisonIndex(work_.compared()), *shown, *model));
}

HeatMode DrawnModel::heat() const {
  const HeatMode shown = graph_->modelView()->heatMode();
  return shown == HeatMode::ratio || shown == HeatMode::measure ? heatBefore_ : shown;
}

void DrawnModel::setHeat(HeatMode mode) {
  heatBefore_ = mode;
  const bool chat = mode != HeatMode::off && work_.drawn() == work_.session();
  showHeat(chat && work_.compared() ? HeatMode::ratio : chat && measured_ ? HeatMode::measure : mode);
}

void DrawnModel::showHeat(HeatMode mode) {
  graph_->setHeatMode(mode);
  tools_->setHeatMode(mode);
}

void DrawnModel::noteEdit(const api::EditRecord& record, EditKind kind) {
  const QString name = QString::fromStdString(record.name);
  const QString done = (kind == EditKind::undone   ? "Undone: "
                        : kind == EditKind::jumped ? "Now: "
                                                   : "Done: ") +
                       name;
  const SessionPtr session = work_.drawn()->session();
  const api::Task task = session ? session->info().task : api::Task::generate;
  emit work_.noticed(done + (task == api::Task::tensors    ? "; the next run computes it"
                             : task != api::Task::generate ? "; the next text runs on it"
                             : record.kv_kept              ? "; the next message runs on it"
                                              : "; the context is read again at the next message"));
}

void DrawnModel::find(const QString& text) {
  const int found = graph_->find(text);
  tools_->find()->setNote(text.isEmpty() ? QString() : found == 0 ? "none" : QString("1 of %1").arg(found));
}

Bypass DrawnModel::bypassOfChosen() {
  const SessionPtr session = work_.drawn()->session();
  const graph::GraphVersion model = session ? session->model_graph() : nullptr;
  const std::vector<GraphView::Selected> things = graph_->view()->selection();
  if (chosen_->model != model || chosen_->things != things)
    *chosen_ = {model, things, graph_->bypassOf(things)};
  return chosen_->bypass;
}

/// Or restores it, where it is bypassed.
void DrawnModel::bypassSelection() {
  const std::vector<BypassChoice> choices = graph_->bypasses(graph_->view()->selection());
  if (choices.empty()) return;
  const BypassChoice& choice = choices.front();
  if (!choice.refusal.isEmpty())
    return graph_->banner()->showWarning(choice.name + " cannot be bypassed", choice.refusal);
  choice.restores ? work_.restore(choice.scopes) : work_.edit("bypass", choice.scopes);
}

}  // namespace orrery::ui
