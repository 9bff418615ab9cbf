#include "ui/shell/graph_page.h"

#include <QGridLayout>
#include <QMenu>
#include <QPaintEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <utility>

#include "ui/graph/opened_nodes.h"
#include "ui/placement/menu_edits.h"
#include "ui/placement/scope_words.h"
#include "ui/shell/graph_figures.h"
#include "ui/shell/graph_links.h"

namespace orrery::ui {
namespace {

constexpr double kBarHeight = 32;
constexpr int kLeastBar = 180;       // as of a dock
constexpr double kModelWidth = 150;  // a longer title is elided

/// Qt lays all tabs out for each text that is set, the same one too.
void nameTab(QTabBar* tabs, int tab, const QString& text) {
  if (tabs->tabText(tab) != text) tabs->setTabText(tab, text);
}

}  // namespace

GraphPage::GraphPage(const Theme& theme, PlaceMenu* places, PrecisionMenu* precisions, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      places_(places),
      precisions_(precisions),
      bar_(new QWidget(this)),
      tabs_(new QTabBar(bar_)),
      title_(new GraphTitle(theme, bar_)),
      models_(new Segmented(theme, bar_)),
      columns_(new PageColumns(theme, bar_)),
      wires_(new DropButton(theme, bar_)),
      diff_(new QCheckBox("Diff on the graph", bar_)),
      out_(new IconButton(theme, "minus", "Zoom out", bar_)),
      in_(new IconButton(theme, "plus", "Zoom in", bar_)),
      zoom_(new Text(theme, {Token::text2, 11, QFont::Normal, true}, "100 %", bar_)),
      banner_(new Banner(theme, this)),
      progress_(new ProgressStrip(theme, this)),
      stack_(new QStackedWidget(this)),
      hint_(new DropHint(theme, this)) {
  setupBar();
  setupLayout();
  connect(tabs_, &QTabBar::currentChanged, this, [this] {
    if (!sideBySide()) fusedShown_ = tabs_->currentIndex() == kFused;
    for (const auto& [source, views] : views_) {
      views.model->setVisible(tabs_->currentIndex() != kFused);
      views.fused->setVisible(tabs_->currentIndex() != kModel);
      views.splitter->refresh();  // with this picture, not the next
    }
    restoreSplit();
    refreshTabs();
    emit tabChanged(fusedShown());
  });
}

void GraphPage::setupBar() {
  bar_->setFixedHeight(static_cast<int>(theme_.scaled(kBarHeight)));
  bar_->setMinimumWidth(kLeastBar);  // fitBar() sees to what is in it
  tabs_->addTab("Model graph");
  tabs_->addTab("Fused graph");
  tabs_->setTabToolTip(kModel, "What you edit: one node for each operation of the model");
  tabs_->setTabToolTip(kFused, "What runs: after the passes, with the kernel of each node");
  tabs_->addTab("Side by side");
  tabs_->setTabToolTip(kBoth, "Both, linked: what is chosen in one is lit in the other");
  tabs_->setExpanding(false);
  tabs_->setDocumentMode(true);
  tabs_->setDrawBase(false);
  tabs_->setElideMode(Qt::ElideNone);
  models_->addChoice({});
  models_->addChoice({});
  models_->setAccessibleName("Model that is drawn");
  models_->hide();
  connect(models_, &Segmented::chosen, this, &GraphPage::modelAsked);
  connect(columns_, &PageColumns::asked, this, [this](int columns) {
    setColumns(columns);
    emit columnsChanged(columns);
  });
  connect(title_, &GraphTitle::scopeAsked, this, [this](const QString& scope) {
    if (scope.isEmpty()) return view()->fit();
    view()->selectScope(scope);
    emit scopeChosen(scope, fusedShown());
  });
  columns_->hide();
  for (const bool byType : {false, true})
    wires_->menu()->addAction(byType ? "Coloured by dtype" : "Plain", this,
                              [this, byType] { setWiresByType(byType); });
  wires_->setToolTip("What the colours of the wires tell");
  wires_->setAccessibleName("Wires");
  setWiresByType(false);
  diff_->setToolTip(
      "What edits changed since the model was opened, with what they deleted; after a Diff with a file, how "
      "the "
      "model differs from that file");
  connect(diff_, &QCheckBox::toggled, this, &GraphPage::refreshGraph);
  connect(out_, &QAbstractButton::clicked, this, [this] { view()->zoomOut(); });
  connect(in_, &QAbstractButton::clicked, this, [this] { view()->zoomIn(); });
  zoom_->reserve("100 %");
  zoom_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* layout = new QHBoxLayout(bar_);
  layout->setContentsMargins(2, 0, 12, 0);
  layout->setSpacing(0);
  layout->addWidget(tabs_);
  layout->addSpacing(8);
  layout->addWidget(title_, 1);
  layout->addWidget(models_);
  layout->addSpacing(12);
  layout->addWidget(columns_);
  layout->addSpacing(12);
  layout->addWidget(wires_);
  layout->addSpacing(10);
  layout->addWidget(diff_);
  layout->addSpacing(10);
  layout->addWidget(out_);
  layout->addWidget(in_);
  layout->addSpacing(6);
  layout->addWidget(zoom_);
}

void GraphPage::setupLayout() {
  stack_->addWidget(hint_);
  // What loads and what went wrong lie over the graph, so that nothing moves under the pointer.
  auto* inset = new QVBoxLayout;
  inset->setContentsMargins(12, 8, 12, 8);
  inset->setSpacing(6);
  inset->addWidget(progress_);
  inset->addWidget(banner_);
  progress_->raise();
  banner_->raise();
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(bar_, 0, 0);
  layout->addWidget(stack_, 1, 0);
  layout->addLayout(inset, 1, 0, Qt::AlignTop);
  layout->setRowStretch(1, 1);
}

void GraphPage::setSource(SessionController* source) {
  if (source_) source_->disconnect(this);
  source_ = source;
  const HeatMode heat = model_ ? model_->heatMode() : HeatMode::time;
  if (!views_.contains(source)) {
    views_[source] = addViews();
    if (model_)
      for (GraphView* view : views_[source].both()) view->setParts(model_->parts());
  }
  model_ = views_[source].model;
  fused_ = views_[source].fused;
  lit_.clear();
  for (GraphView* view : views_[source].both()) {
    view->setHeatMode(heat);
    view->setRunning(source->running());
  }
  model_->editor()->setCalls(source->services().edits);
  plans_[0] = plans_[1] = nullptr;
  connectSource();
  restoreSplit();
  refreshGraph();
}

void GraphPage::setColumns(int columns) {
  for (GraphView* view : {model_, fused_}) view->setColumns(columns);
  refreshPage();
}

void GraphPage::arrangePages() { view()->arrangePages(); }

void GraphPage::closeCells() {
  for (GraphView* view : {model_, fused_}) view->closeCells();
}

void GraphPage::setParts(GraphView::Parts parts) {
  for (const auto& [source, views] : views_)
    for (GraphView* each : views.both()) each->setParts(parts);
}

void GraphPage::refreshPage() {
  columns_->setShown(view()->columns(), view()->pageSize());
  title_->setSummary(view()->summary());
  fitBar();
}

void GraphPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitBar();
}

/// In a narrow bar captions go before what can be pressed, then what the menus have too, then the columns.
void GraphPage::fitBar() {
  constexpr double kCaptions = 620, kChoices = 640, kTabs = 460, kBothTab = 260, kColumns = 340, kZoom = 340;
  if (!view()) return;
  const bool brief = width() < theme_.scaled(kTabs);
  nameTab(tabs_, kModel, brief ? "Model" : "Model graph");
  nameTab(tabs_, kFused, brief ? "Fused" : "Fused graph");
  nameTab(tabs_, kBoth, brief ? "Both" : "Side by side");
  tabs_->setTabVisible(kBoth, sideBySide() || width() >= theme_.scaled(kBothTab));
  const bool paged = view()->pageSize().columns > 0;
  const double room = width() - (paged ? columns_->minimumSizeHint().width() : 0) -
                      (models_->isHidden() ? 0 : models_->width());
  columns_->setBrief(width() < theme_.scaled(kCaptions));
  columns_->setVisible(paged && room >= theme_.scaled(kColumns));
  for (QWidget* choice : {static_cast<QWidget*>(wires_), static_cast<QWidget*>(diff_)})
    choice->setVisible(room >= theme_.scaled(kChoices));
  for (QWidget* zoom :
       {static_cast<QWidget*>(out_), static_cast<QWidget*>(in_), static_cast<QWidget*>(zoom_)})
    zoom->setVisible(width() >= theme_.scaled(kZoom));
  bar_->layout()->activate();  // with this picture, not the next
}

void GraphPage::setModels(const QStringList& titles, int drawn) {
  const QFontMetricsF metrics(theme_.textFont(12.5, QFont::Medium));
  for (int i = 0; i < titles.size(); ++i)
    models_->setText(i, metrics.elidedText(titles[i], Qt::ElideMiddle, theme_.scaled(kModelWidth)));
  models_->setToolTip("Whose graph is drawn: " + titles.join(" or "));
  models_->setCurrent(drawn);
  models_->setVisible(titles.size() > 1);
}

void GraphPage::connectSource() {
  connect(source_, &SessionController::graphChanged, this, [this] {
    plans_[0] = plans_[1] = nullptr;
    refreshGraph();
  });
  connect(source_, &SessionController::opened, this, [this] {
    lit_.clear();
    if (!source_->moved()) opened_.erase(source_);
  });
  connect(source_, &SessionController::handRefused, model_->editor(), &GraphEditor::refuse);
  connect(source_, &SessionController::planReady, this, [this](api::Phase phase, const PlanPtr& plan) {
    plans_[phase == api::Phase::decode] = plan;
    refreshPlaces();
    refreshTimings();
  });
  connect(source_, &SessionController::profileChanged, this, [this](api::Phase phase) {
    if (phase == phase_) refreshTimings();
  });
}

void GraphPage::refreshGraph() {
  stale_[0] = stale_[1] = true;
  if (source_ && source_->session()) source_->requestPlan(phase_);
  refreshTabs();
}

void GraphPage::refreshTabs() {
  const SessionPtr session = source_ ? source_->session() : nullptr;
  if (!session) {
    stack_->setCurrentWidget(hint_);
    return;
  }
  stack_->setCurrentWidget(views_[source_].splitter);
  for (const bool fused : shownSides())
    if (std::exchange(stale_[fused], false)) showModel(session, fused);
  relight();
  refreshPlaces();
  refreshTimings();
  view()->tellPlace();
  refreshPage();
  zoom_->setText(QString("%1 %").arg(qRound(view()->zoom() * 100)));
}

void GraphPage::showModel(const SessionPtr& session, bool fused) {
  const graph::GraphVersion model = session->model_graph();
  std::vector<std::unordered_set<NodeId>> edits;
  if (model) edits = nodesByEdit(*model, source_->recipe());
  std::unordered_set<NodeId> edited = unionOf(edits);
  if (fused) {
    OpenedNodes opened = model ? openedNodes(session->fused_graph(), *model, opened_[source_])
                               : OpenedNodes{session->fused_graph(), {}, {}};
    shown_[1] = opened.graph;
    if (shown_[1]) edited = editedFused(*shown_[1], edited);
    for (std::unordered_set<NodeId>& edit : edits)
      if (shown_[1]) edit = editedFused(*shown_[1], edit);
    fused_->setOpenedNodes(std::move(opened.scopes), std::move(opened.shares));
    fused_->setEdits(std::move(edits));
    return fused_->setGraph(shown_[1], std::move(edited), source_->title());
  }
  const QString path = QString::fromStdString(session->info().path);
  const bool another = arranged_[source_] != path;
  if (another) keepArrangement(source_);
  const api::SessionStatePtr state = session->state();
  DiffPtr diff;
  const graph::GraphVersion other = diff_->isChecked() && held_.first == source_ ? held_.second : nullptr;
  const graph::GraphVersion before = other ? other : state ? state->history.opened() : nullptr;
  const Kin kin = other ? Kin::model : Kin::version;
  if (diff_->isChecked() && model && before) diff = diffOf(before, model, kin);
  if (diff && other) edited = differentNodes(*diff);
  shown_[0] = diff ? diff->shown : model;
  model_->editor()->setModel(model);
  model_->editor()->setChangeWords(model && before ? changeWords(*before, *model, edited, kin)
                                                   : ChangeWords());
  model_->setEdits(std::move(edits));
  model_->setGraph(shown_[0], std::move(edited), source_->title());
  model_->editor()->setDiff(diff);
  if (!another) return;
  arranged_[source_] = path;
  model_->editor()->setArrangement(arrangements_.value(path));
}

/// Before another model is drawn in its view.
void GraphPage::keepArrangement(SessionController* source) {
  const QString& path = arranged_[source];
  const auto views = views_.find(source);
  if (path.isEmpty() || views == views_.end()) return;
  const QString arrangement = views->second.model->editor()->arrangement();
  arrangement.isEmpty() ? void(arrangements_.remove(path)) : void(arrangements_[path] = arrangement);
}

QMap<QString, QString> GraphPage::arrangements() {
  for (const auto& [source, path] : arranged_) keepArrangement(source);
  return arrangements_;
}

void GraphPage::setHints(const std::vector<std::pair<QString, QString>>& hints) {
  hints_ = hints;
  for (const auto& [source, views] : views_) views.model->editor()->setHints(hints);
}

void GraphPage::setWiresByType(bool on) {
  byType_ = on;
  wires_->setCaption(on ? "Wires: dtype" : "Wires: plain");
  for (const auto& [source, views] : views_)
    for (GraphView* view : views.both()) view->editor()->setWiresByType(on);
}

void GraphPage::setReducedMotion(bool reduced) {
  reducedMotion_ = reduced;
  for (const auto& [source, views] : views_)
    for (GraphView* view : views.both()) view->setReducedMotion(reduced);
}

void GraphPage::setConsidered(const std::vector<edit::Edit>& edits) {
  const SessionPtr session = source_ ? source_->session() : nullptr;
  const graph::GraphVersion model = session ? session->model_graph() : nullptr;
  if (!model || !model_) return;
  const std::unordered_set<NodeId> nodes = editedNodes(*model, edits);
  model_->editor()->setPending({nodes.begin(), nodes.end()});
}

void GraphPage::setDiffShown(bool shown) { diff_->setChecked(shown); }

void GraphPage::holdAgainst(SessionController* source, const graph::GraphVersion& other) {
  if (held_ == std::pair(source, other)) return;
  held_ = {source, other};
  if (diff_->isChecked()) refreshGraph();
}

void GraphPage::refreshTimings() {
  const SessionPtr session = source_ ? source_->session() : nullptr;
  if (!session) return;
  if (view()->heatMode() == HeatMode::ratio) return refreshComparison();
  if (view()->heatMode() == HeatMode::measure) return refreshMeasures();
  const graph::GraphVersion fusedGraph = session->fused_graph();
  for (const bool fused : shownSides())
    viewOf(fused)->setTimings(figuresOf(source_->profile(phase_), plans_[phase_ == api::Phase::decode].get(),
                                        fusedGraph.get(), fused));
}

void GraphPage::setPhase(api::Phase phase) {
  phase_ = phase;
  if (source_ && source_->session() && !plans_[phase == api::Phase::decode]) source_->requestPlan(phase);
  refreshTimings();
}

void GraphPage::setHeatMode(HeatMode mode) {
  const auto ofTheModel = [](HeatMode each) { return each != HeatMode::ratio && each != HeatMode::measure; };
  const HeatMode before = model_->heatMode();
  model_->setHeatMode(mode);
  fused_->setHeatMode(mode);
  if (mode != before && !(ofTheModel(mode) && ofTheModel(before))) refreshTimings();
}

void GraphPage::setComparison(const Comparison& comparison) {
  comparison_ = ComparisonIndex(comparison);
  resetScale();
  refreshTimings();
}

void GraphPage::refreshComparison() {
  const graph::GraphVersion model = source_->session()->model_graph();
  for (const bool fused : shownSides()) {
    const graph::GraphVersion& shown = shown_[fused];
    if (!model || !shown) continue;
    viewOf(fused)->setSides(comparison_.comparison().sides, divergenceOf(comparison_, *shown, *model));
    viewOf(fused)->setTimings(figuresOf(comparison_, *shown, *model));
  }
}

void GraphPage::setMeasures(const ScopeValues& values) {
  measures_ = values;
  refreshTimings();
}

void GraphPage::refreshMeasures() {
  const graph::GraphVersion model = source_->session()->model_graph();
  for (const bool fused : shownSides())
    if (const graph::GraphVersion& shown = shown_[fused]; model && shown)
      viewOf(fused)->setTimings(figuresOf(measures_, *shown, *model));
}

void GraphPage::setRunning(bool running) {
  model_->setRunning(running);
  fused_->setRunning(running);
}

void GraphPage::select(NodeId node) {
  const SessionPtr session = source_ ? source_->session() : nullptr;
  const graph::GraphVersion runs = fusedShown() && session ? session->fused_graph() : nullptr;
  const graph::Node* opened = runs && shown_[1] && !shown_[1]->find(node) ? runs->find(node) : nullptr;
  opened ? view()->selectScope(QString::fromStdString(opened->path())) : view()->select(node);
}

int GraphPage::find(const QString& text) {
  if (sideBySide()) {
    finding_ = true;
    viewOf(!fusedShown())->find(text);
    finding_ = false;
  }
  return view()->find(text);
}

void GraphPage::resetScale() {
  model_->resetScale();
  fused_->resetScale();
}

void GraphPage::refreshPlaces() {
  const SessionPtr session = source_ ? source_->session() : nullptr;
  if (!session) return;
  const PlanPtr& plan = plans_[phase_ == api::Phase::decode];
  for (const bool fused : shownSides()) {
    if (!shown_[fused]) continue;
    const Places places = fused ? fusedPlaces(*session, *shown_[1], plan.get()) : modelPlaces(*session);
    viewOf(fused)->setPlaces(places);
    if (fused == fusedShown()) emit placesChanged(places);
  }
}

void GraphPage::setTheme(const Theme& theme) {
  theme_ = theme;
  bar_->setFixedHeight(static_cast<int>(theme.scaled(kBarHeight)));
  for (const auto& [source, views] : views_)
    for (GraphView* view : views.both()) view->setTheme(theme);
  update();
}

void GraphPage::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::canvas));
  painter.fillRect(bar_->geometry(), theme_(Token::panel));
  painter.fillRect(0, bar_->height() - 1, width(), 1, theme_(Token::border));
}

}  // namespace orrery::ui
