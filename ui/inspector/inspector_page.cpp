#include "ui/inspector/inspector_page.h"

#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>

#include "ui/inspector/inspector_sides.h"
#include "ui/placement/scope_words.h"
#include "ui/session/model_use.h"
#include "ui/theme/format.h"
#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

/// Bytes are those of a step with one token; sizes that grow with the prompt say so in their shape.
const Bindings kOneToken = {{kTokens, 1}, {kSequences, 1}, {kOutputs, 1}};

/// "median of 64 steps"; of a prefill, whose steps differ in length: "the last of 3 steps, 40 tokens".
QString runsText(const api::Profile& profile) {
  const QString steps = format::counted(static_cast<qint64>(profile.step.runs), "step");
  if (profile.phase == api::Phase::decode) return "median of " + steps;
  return "the last of " + steps + ", " + format::counted(profile.tokens, "token");
}

const QString kBypassed = QStringLiteral("Bypassed: nothing depends on it.");

QString pathOf(const NodeFacts& facts) {
  return facts.scope.isEmpty() ? facts.name : facts.scope + "." + facts.name;
}

QString firstLetterUp(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

}  // namespace

InspectorPage::InspectorPage(const Theme& theme, SessionController* session, PlaceMenu* places,
                             PrecisionMenu* precisions, AttributionController* attributions, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      session_(session),
      menu_(places),
      precisionMenu_(precisions),
      scroll_(new QScrollArea(this)),
      corner_(new QWidget(this)),
      attribution_(new AttributionSection(theme, attributions, this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(scroll_);
  setFocusProxy(scroll_);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->viewport()->setAutoFillBackground(false);
  auto* lock = new IconButton(theme, "lock", "Keep this node; do not follow the selection", corner_);
  lock->setCheckable(true);
  connect(lock, &QAbstractButton::toggled, this, &InspectorPage::setLocked);
  auto* row = new QHBoxLayout(corner_);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(lock);
  rebuildSoon_.setSingleShot(true);
  rebuildSoon_.setInterval(0);
  connect(&rebuildSoon_, &QTimer::timeout, this, &InspectorPage::rebuild);
  connectSource();
  rebuild();
}

void InspectorPage::setSource(SessionController* source) {
  if (source == session_) return;
  session_->disconnect(this);
  session_ = source;
  plans_[0] = plans_[1] = nullptr;
  connectSource();
  session_->requestPlan(phase_);
  node_ = {};  // every session numbers its own graph
  scope_.clear();
  rebuild();
}

void InspectorPage::connectSource() {
  connect(session_, &SessionController::profileChanged, this, [this](api::Phase phase) {
    if (phase == phase_) showTime();
  });
  connect(session_, &SessionController::graphChanged, this, [this] {
    plans_[0] = plans_[1] = nullptr;
    session_->requestPlan(phase_);
    if (std::exchange(applying_, false)) {  // what was typed is done
      keepDraft();
      draft_.typed.clear();
    }
    rebuildSoon_.start();
  });
  connect(session_, &SessionController::planReady, this, [this](api::Phase phase, const PlanPtr& plan) {
    plans_[phase == api::Phase::decode] = plan;
    if (phase == phase_) rebuildSoon_.start();
  });
}

void InspectorPage::showNode(NodeId node, bool fused) {
  if (locked_ || (node == node_ && fused == fused_ && scope_.isEmpty())) return;
  node_ = node;
  scope_.clear();
  fused_ = fused;
  rebuild();
}

void InspectorPage::showScope(const QString& scope, bool fused) {
  if (locked_ || (scope == scope_ && fused == fused_)) return;
  node_ = {};
  scope_ = scope;
  fused_ = fused;
  rebuild();
}

void InspectorPage::clear() {
  if (locked_ || (!node_.valid() && scope_.isEmpty())) return;
  node_ = {};
  scope_.clear();
  rebuild();
}

void InspectorPage::setPhase(api::Phase phase) {
  const bool other = std::exchange(phase_, phase) != phase;
  if (!plans_[phase == api::Phase::decode]) session_->requestPlan(phase);
  if (other) rebuild();
}

void InspectorPage::setComparison(const Comparison& comparison) {
  if (!comparison && !comparison_.comparison()) return;
  comparison_ = ComparisonIndex(comparison);
  rebuildSoon_.start();
}

void InspectorPage::rebuild() {
  const int scrolled = scroll_->verticalScrollBar() ? scroll_->verticalScrollBar()->value() : 0;
  content_ =
      new Ground(theme_, Token::panel, scroll_->viewport());  // a parent later would style all of it again
  column_ = new QVBoxLayout(content_);
  column_->setContentsMargins(0, 12, 0, 8);
  column_->setSpacing(8);
  time_ = nullptr;
  keepDraft();
  edit_ = nullptr;
  // Versions are shared: hold them while facts are read from them.
  const SessionPtr session = session_->session();
  const graph::GraphVersion model = session ? session->model_graph() : nullptr;
  const graph::GraphVersion fused = session ? session->fused_graph() : nullptr;
  const graph::GraphVersion shown = fused_ ? fused : model;
  if (shown) places_ = placesShown(*session, *shown, fused_, plans_[phase_ == api::Phase::decode].get());
  std::optional<NodeFacts> facts;
  if (shown && node_.valid()) facts = nodeFacts(*shown, model.get(), node_, kOneToken);
  if (facts && facts->family == graph::OpFamily::source) {
    setStored(*facts, session->info().tensors);
    buildTensor(*facts);
  } else if (facts) {
    buildNode(*facts);
  } else if (shown && !scope_.isEmpty() && !nodesIn(*shown, scope_).empty()) {
    buildScope(scopeFacts(*shown, scope_));
  } else {
    buildEmpty();
  }
  QWidget* focused = attribution_->isAncestorOf(focusWidget()) ? focusWidget() : nullptr;
  const bool offered = !attribution_->isHidden();
  column_->addWidget(attribution_);  // out of what was there, before that goes
  attribution_->setVisible(offered);
  column_->addStretch(1);
  scroll_->setWidget(content_);
  if (focused) focused->setFocus();
  if (considering_ && (!form_ || draft_.target != editTarget_)) {
    considering_ = false;
    emit editLeft();
  }
  scroll_->verticalScrollBar()->setValue(scrolled);
  showTime();
}

void InspectorPage::buildNode(const NodeFacts& facts) {
  addHead(glyphName(facts.family).toString(), facts.family, facts.name, facts.scope);
  std::vector<std::pair<QString, Token>> chips;
  if (!facts.origins.empty())
    chips.emplace_back(QString("%1 ops in 1 kernel").arg(facts.origins.size()), Token::text2);
  const NodePlace place = places_.of(facts.id);
  if (!facts.bypassed) chips.emplace_back(place.device, deviceToken(place.device));
  chips.emplace_back(facts.op, Token::text2);
  if (!facts.dtype.isEmpty()) chips.emplace_back(facts.dtype, Token::text2);
  if (facts.bypassed) chips.emplace_back("bypassed", Token::edited);
  addChips(chips, facts.origins.empty() ? QString() : "fuse");
  addDoc(facts.doc);
  if (facts.bypassed) addDoc(kBypassed);
  if (!runs(session_->session()->info())) {
    addValues(facts);
    return addAttributes(facts);
  }
  const graph::GraphVersion fused = session_->session()->fused_graph();
  const api::PlanStep* step =
      planStep(plans_[phase_ == api::Phase::decode].get(), fused.get(), facts.id, fused_);
  const graph::GraphVersion model = session_->session()->model_graph();
  const QStringList paths = modelPaths(*model, fused_ ? *fused : *model, facts.id);
  if (!facts.bypassed && paths.size() == 1)
    addEdit(model->find_path(paths.front().toStdString()), paths.front());
  addTime();
  addSides();
  if (!facts.bypassed) {
    addPlace(facts);
    addPrecision(facts, step);
    addKernel(step, place);
  }
  addValues(facts);
  addAttributes(facts);
  addOrigins(facts);
  addEditButtons(pathOf(facts), paths, facts.bypassed ? QString() : facts.scope);
}

/// A tensor that nothing computes with.
void InspectorPage::buildTensor(const NodeFacts& facts) {
  addHead(glyphName(facts.family).toString(), facts.family, facts.name, facts.scope);
  addChips({{facts.dtype, Token::text2}}, "weights");
  addDoc(facts.doc);
  addValues(facts);
  addAttributes(facts);
}

void InspectorPage::buildScope(const ScopeFacts& facts) {
  const bool bypassed = facts.bypassed == facts.nodes;
  addHead(
      "layers", std::nullopt, facts.scope,
      format::counted(facts.nodes, "node") +
          (facts.bypassed > 0 && !bypassed ? ", " + format::count(facts.bypassed) + " bypassed" : QString()));
  std::vector<std::pair<QString, Token>> chips;
  if (facts.weightBytes > 0)
    chips.emplace_back(format::bytes(static_cast<double>(facts.weightBytes)) + " of weights", Token::text2);
  if (bypassed) chips.emplace_back("bypassed", Token::edited);
  if (!chips.empty()) addChips(chips, facts.weightBytes > 0 ? "weights" : QString());
  if (bypassed) addDoc(kBypassed);
  if (!runs(session_->session()->info())) return;
  if (!bypassed) addEdit({}, scopeWord({facts.scope}));
  addTime();
  addSides();
  if (!bypassed) {
    addPlaces();
    addPrecisions();
  }
  addEditButtons(facts.scope, {facts.scope});
}

void InspectorPage::buildEmpty() {
  auto* text = new Text(
      theme_, {Token::text3, 12},
      "Choose a node or a group in the graph to see what it is, what it costs and which kernel runs it.",
      content_);
  text->setWrap(true);
  auto* inset = new QVBoxLayout;
  inset->setContentsMargins(14, 0, 14, 0);
  inset->addWidget(text);
  column_->addLayout(inset);
}

void InspectorPage::addHead(const QString& icon, std::optional<graph::OpFamily> family, const QString& name,
                            const QString& path) {
  auto* row = new QHBoxLayout;
  row->setContentsMargins(14, 0, 14, 0);
  row->setSpacing(10);
  row->addWidget(new GlyphBox(theme_, icon, family, content_));
  auto* lines = new QVBoxLayout;
  lines->setSpacing(1);
  auto* title = new Text(theme_, {Token::text, 15, QFont::DemiBold}, name, content_);
  auto* place = new Text(theme_, {Token::text3, 11, QFont::Normal, true}, path, content_);
  title->setElide(Qt::ElideMiddle);
  place->setElide(Qt::ElideMiddle);
  title->setToolTip(name);
  place->setToolTip(path);
  lines->addWidget(title);
  lines->addWidget(place);
  row->addLayout(lines, 1);
  column_->addLayout(row);
}

void InspectorPage::addChips(const std::vector<std::pair<QString, Token>>& chips, const QString& firstIcon) {
  auto* row = new QHBoxLayout;
  row->setContentsMargins(14, 0, 14, 0);
  row->setSpacing(6);
  bool first = true;
  for (const auto& [text, token] : chips) {
    row->addWidget(new Chip(theme_, text, token, first ? firstIcon : QString(), content_));
    first = false;
  }
  row->addStretch(1);
  column_->addLayout(row);
}

void InspectorPage::addDoc(const QString& doc) {
  if (doc.isEmpty()) return;
  auto* text = new Text(theme_, {Token::text2, 12}, firstLetterUp(doc), content_);
  text->setWrap(true);
  auto* inset = new QVBoxLayout;
  inset->setContentsMargins(14, 0, 14, 2);
  inset->addWidget(text);
  column_->addLayout(inset);
}

Section* InspectorPage::addSection(const QString& title) {
  auto* section = new Section(theme_, title, content_);
  column_->addWidget(section);
  return section;
}

void InspectorPage::addTime() {
  time_ = addSection("Time");
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(10);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(2, 1);
  memory_ = addRateRow(theme_, grid, "memory", time_->body());
  compute_ = addRateRow(theme_, grid, "compute", time_->body());
  share_ = addRateRow(theme_, grid, "of the step", time_->body());
  time_->content()->addLayout(grid);
  runs_ = new Text(theme_, {Token::text3, 11}, {}, time_->body());
  runs_->setWrap(true);
  time_->content()->addWidget(runs_);
}

void InspectorPage::addSides() {
  if (!comparison_.comparison()) return;
  const SessionPtr session = session_->session();
  const graph::GraphVersion model = session->model_graph(), shown = fused_ ? session->fused_graph() : model;
  const SideFacts facts = comparison_.of(*shown, *model, chosenNodes(*shown));
  if (facts.aUs <= 0 && facts.bUs <= 0) return;
  fillSides(theme_, comparison_.comparison().sides, facts, addSection("Compared"));
}

std::vector<NodeId> InspectorPage::chosenNodes(const graph::Graph& shown) const {
  return node_.valid() ? std::vector<NodeId>{node_} : nodesOf(shown, scope_);
}

void InspectorPage::showTime() {
  if (!time_) return;
  const SessionPtr session = session_->session();
  const graph::GraphVersion shown = !session ? nullptr
                                    : fused_ ? session->fused_graph()
                                             : session->model_graph();
  if (!shown) return;
  const api::ProfilePtr profile = session_->profile(phase_);
  const TimeFacts time = timeFacts(profile.get(), chosenNodes(*shown), fused_);
  const bool known = time.timing.runs > 0;
  QString figures = known ? format::time(time.timing.us, time.estimated) : format::dash();
  if (known && phase_ == api::Phase::decode) figures += "  p95 " + format::time(time.timing.p95_us);
  time_->setFigures(figures);
  runs_->setText(known ? runsText(*profile) : QString());
  runs_->setVisible(known);
  session->limits();  // measured once they are asked for, and then part of the profile
  const auto show = [](const RateRow& row, const Speed& speed, double scale, const QString& unit) {
    const auto text = [&](double perSecond) { return format::number(perSecond * scale) + ' ' + unit; };
    row.value->setText(speed.perSecond > 0 ? text(speed.perSecond) : format::dash());
    row.meter->setShare(speed.share());
    row.share->setText(speed.share() > 0 ? format::percent(speed.share()) : format::dash());
    row.share->setToolTip(speed.limit > 0
                              ? "of " + text(speed.limit) + ", the most that this machine can do of it"
                              : QString());
  };
  show(memory_, time.bytes, 1e-9, "GB/s");
  show(compute_, time.flops, 1e-9, "GFLOP/s");
  show(share_, {time.share, 1}, 0, {});
  share_.value->setText(time.share > 0 ? QString() : format::dash());
}

void InspectorPage::addKernel(const api::PlanStep* step, const NodePlace& place) {
  Section* section = addSection("Kernel");
  section->setFigures({});
  if (!step) {
    const bool compiled = plans_[phase_ == api::Phase::decode] != nullptr;
    section->content()->addWidget(new Text(theme_, {Token::text3, 11.5},
                                           compiled ? "Nothing runs for this node" : "Compiling",
                                           section->body()));
    return;
  }
  using Verdict = KernelRow::Verdict;
  const auto add = [&](Verdict verdict, const std::string& kernel, const std::string& reason) {
    section->content()->addWidget(new KernelRow(theme_, verdict, QString::fromStdString(kernel),
                                                QString::fromStdString(reason), section->body()));
  };
  const auto head = [&](const QString& words) {
    section->content()->addWidget(
        new Text(theme_, {Token::text2, 11.5, QFont::DemiBold}, words, section->body()));
  };
  if (place.fellBack()) {
    head("Refused on " + place.asked);
    add(Verdict::refused, place.asked.toStdString(), place.reason.toStdString());
    head("On " + place.device);
  }
  for (const api::PlanStep::Refused& refused : step->refused)
    add(Verdict::refused, refused.kernel, refused.reason);
  if (!step->kernel.empty()) add(Verdict::chosen, step->kernel, {});
  for (const std::string& kernel : step->not_asked) add(Verdict::notAsked, kernel, {});
}

void InspectorPage::addValues(const NodeFacts& facts) {
  if (facts.values.empty()) return;
  Section* section = addSection("Values");
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(1, 1);
  int row = 0;
  for (const ValueRow& value : facts.values) {
    const auto mono = [&](const QString& text, Token token, int column,
                          Qt::Alignment alignment = Qt::AlignLeft) {
      auto* cell = new Text(theme_, {token, 11, QFont::Normal, true}, text, section->body());
      cell->setAlignment(alignment | Qt::AlignVCenter);
      cell->setElide(Qt::ElideMiddle);
      cell->setToolTip(text);
      if (column != 1) cell->reserve(text);
      grid->addWidget(cell, row, column);
      return cell;
    };
    mono(value.role, Token::text3, 0);
    mono(value.name, Token::text, 1)->setBrief(value.brief);
    mono(value.shape, Token::text2, 2, Qt::AlignRight);
    mono(value.dtype, Token::text2, 3, Qt::AlignRight);
    mono(value.bytes > 0 ? format::bytes(value.bytes) : QString(), Token::text2, 4, Qt::AlignRight);
    ++row;
  }
  section->content()->addLayout(grid);
}

void InspectorPage::addAttributes(const NodeFacts& facts) {
  if (facts.attributes.empty()) return;
  Section* section = addSection("Attributes");
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(1, 1);
  int row = 0;
  for (const auto& [name, value] : facts.attributes) {
    auto* text = new Text(theme_, {Token::text, 11, QFont::Normal, true}, value, section->body());
    text->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    text->setToolTip(value);
    grid->addWidget(new Text(theme_, {Token::text2, 11.5}, name, section->body()), row, 0);
    grid->addWidget(text, row++, 1);
  }
  section->content()->addLayout(grid);
}

void InspectorPage::addOrigins(const NodeFacts& facts) {
  if (facts.origins.empty()) return;
  Section* section = addSection("Fused from");
  section->setFigures("share, estimated");
  for (const OriginRow& origin : facts.origins) {
    auto* row = new QHBoxLayout;
    auto* link = new LinkButton(theme_, origin.path, section->body());
    const NodeId node = origin.node;
    connect(link, &QAbstractButton::clicked, this, [this, node] { emit nodeAsked(node, false); });
    row->addWidget(link, 1);
    auto* share = new Text(theme_, {Token::text2, 11, QFont::Normal, true}, format::percent(origin.share),
                           section->body());
    share->reserve(share->text());
    row->addWidget(share);
    section->content()->addLayout(row);
  }
}

/// What can be done with the thing itself, then with the next scope around it.
void InspectorPage::addEditButtons(const QString& name, const QStringList& scopes, const QString& around) {
  for (const BypassChoice& choice : bypassChoices(*session_, name, scopes, around, 1)) {
    auto* button = new Button(theme_, choice.words(), Button::Kind::plain, content_);
    button->setIconName("bypass");
    button->setToolTip(choice.tip());
    button->setEnabled(choice.refusal.isEmpty());
    connect(button, &QAbstractButton::clicked, this, [this, choice] {
      choice.restores ? emit restoreAsked(choice.scopes) : emit bypassAsked(choice.scopes);
    });
    addButton(button);
  }
  if (!session_->canUndo()) return;
  auto* undo = new Button(theme_, "Undo edit", Button::Kind::plain, content_);
  undo->setIconName("undo");
  connect(undo, &QAbstractButton::clicked, this, &InspectorPage::undoAsked);
  addButton(undo);
}

void InspectorPage::addButton(Button* button) {
  auto* row = new QHBoxLayout;
  row->setContentsMargins(14, 0, 14, 0);
  row->addWidget(button);
  row->addStretch(1);
  column_->addLayout(row);
}

void InspectorPage::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void InspectorPage::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::panel));
}

}  // namespace orrery::ui
