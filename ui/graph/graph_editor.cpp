#include "ui/graph/graph_editor.h"

#include <QGuiApplication>
#include <QScrollBar>
#include <algorithm>

#include "ui/graph/arrangement_text.h"
#include "ui/graph/edit_desk.h"
#include "ui/graph/file_places.h"
#include "ui/graph/scene_graph.h"

namespace orrery::ui {
namespace {

constexpr int kWireMilliseconds = 300, kScrollMilliseconds = 16;
constexpr double kScrollBorder = 28, kScrollStep = 14;  // pixels

}  // namespace

GraphEditor::GraphEditor(GraphView* view) : QObject(view), d_(std::make_unique<EditDesk>(this, view)) {
  EditDesk& d = *d_;
  d.wireTimer.setSingleShot(true);
  d.wireTimer.setInterval(kWireMilliseconds);
  d.scrollTimer.setInterval(kScrollMilliseconds);
  connect(&d.wireTimer, &QTimer::timeout, this, [this] { d_->showWireCard(); });
  connect(&d.scrollTimer, &QTimer::timeout, this, [this, view] {  // a drag at the border moves the drawing
    const QRectF inside = QRectF(view->viewport()->rect())
                              .adjusted(kScrollBorder, kScrollBorder, -kScrollBorder, -kScrollBorder);
    const QPointF at = d_->pointer;
    const double dx = at.x() < inside.left() ? -kScrollStep : at.x() > inside.right() ? kScrollStep : 0;
    const double dy = at.y() < inside.top() ? -kScrollStep : at.y() > inside.bottom() ? kScrollStep : 0;
    if (!d_->gesture || (dx == 0 && dy == 0)) return;
    view->horizontalScrollBar()->setValue(view->horizontalScrollBar()->value() + qRound(dx));
    view->verticalScrollBar()->setValue(view->verticalScrollBar()->value() + qRound(dy));
    d_->gesture->move(at, QGuiApplication::keyboardModifiers());
  });
  connect(d.palette, &PickPalette::chosen, this,
          [this](const QString& key, bool connected) { d_->pick(key, connected); });
  connect(d.palette, &PickPalette::considered, this, [this](const QString& key) {
    const graph::OpPtr op = d_->spot && d_->model() ? d_->model()->ops().find(key.toStdString()) : nullptr;
    if (!op) return d_->leaveConsidered();
    Drafts tried;
    const int id = tried.add(*d_->model(), d_->draftFor(*op, *d_->spot, true));
    d_->consider(tried.request(*d_->model(), *tried.find(id)));
  });
  connect(d.palette, &PickPalette::left, this, [this] {
    d_->spot.reset();
    d_->valueFor.reset();
    d_->leaveConsidered();
    d_->update();
  });
  connect(d.field, &InlineField::taken, this, [this](const QString& text) {
    if (const auto done = d_->fieldDone) done(text);
  });
  connect(d.refusalCard, &RefusalCard::closeAsked, this, [this] { d_->forgetRefusal(); });
  connect(d.bar->bypass(), &QAbstractButton::clicked, this, &GraphEditor::bypassAsked);
  connect(d.bar->remove(), &QAbstractButton::clicked, this, [this] { remove(true); });
  connect(d.bar->duplicate(), &QAbstractButton::clicked, this, &GraphEditor::duplicate);
  connect(d.bar->frame(), &QAbstractButton::clicked, this, &GraphEditor::frame);
}

GraphEditor::~GraphEditor() = default;

void GraphEditor::setCalls(const EditCalls& calls) {
  d_->calls = calls;
  d_->whyReadOnly.clear();
}

void GraphEditor::setReadOnly(const QString& reason) {
  d_->calls.reset();
  d_->whyReadOnly = reason;
}

bool GraphEditor::editable() const { return d_->calls && d_->model(); }

void GraphEditor::setModel(graph::GraphVersion model) { d_->ownModel = std::move(model); }

void GraphEditor::setDiff(DiffPtr diff) {
  d_->diff = std::move(diff);
  d_->changes = d_->diff ? ui::wireChanges(d_->view->drawing, *d_->diff) : WireChanges();
  d_->tellLegend();
}

const WireChanges* GraphEditor::wireChanges() const { return &d_->changes; }

void GraphEditor::setChangeWords(ChangeWords words) {
  d_->words = std::move(words);
  d_->update();
}

const ChangeWords* GraphEditor::changeWords() const { return &d_->words; }

void GraphEditor::setWiresByType(bool on) {
  d_->byType = on;
  d_->tellLegend();
}

void GraphEditor::setHints(std::vector<std::pair<QString, QString>> hints) {
  std::vector<KeyHints::Hint> shown;
  for (auto& [keys, word] : hints) shown.push_back({std::move(keys), std::move(word)});
  d_->view->hints->setHints(std::move(shown));
  d_->view->placeStrips();
}

bool GraphEditor::wiresByType() const { return d_->byType; }

void GraphEditor::setPending(std::vector<NodeId> nodes) {
  d_->pending = std::move(nodes);
  d_->update();
}

const std::vector<NodeId>& GraphEditor::pending() const { return d_->pending; }

void GraphEditor::setRanges(std::function<QString(ValueId)> rangeOf) { d_->rangeOf = std::move(rangeOf); }

void GraphEditor::refuse(const Error& error) {
  EditDesk& d = *d_;
  for (const Draft& draft : d.drafts.all()) d.drafts.find(draft.id)->asked = false;  // it waits on
  if (!d.askedPuts.empty()) {
    auto arrangement = std::make_shared<Arrangement>(*d.view->arrangement);
    for (const auto& [scope, path] : std::exchange(d.askedPuts, {})) {
      const auto group = arrangement->groups.find(scope);
      if (group == arrangement->groups.end()) continue;
      group->second.boxes.erase(path);
      group->second.byHand.erase(path);
      if (group->second.boxes.empty()) arrangement->groups.erase(group);
    }
    d.view->arrangement = std::move(arrangement);
  }
  d.refuse(refusalOf(tr("Refused: %1").arg(d.askedName), error), {{}, std::nullopt, d.askedAbout});
}

QString GraphEditor::arrangement() const { return textOf(*d_->view->arrangement); }

void GraphEditor::setArrangement(const QString& text) {
  if (text.isEmpty() && d_->view->arrangement->empty()) return;
  d_->view->arrangement = std::make_shared<const Arrangement>(arrangementOf(text));
  if (d_->view->graph) d_->view->relayout(true, !d_->view->everShown);
}

api::Places GraphEditor::filePlaces() const { return filePlacesOf(*d_->view->arrangement); }

void GraphEditor::setFilePlaces(const api::Places& places) {
  if (places.empty()) return;
  d_->view->arrangement = std::make_shared<const Arrangement>(arrangementOf(places));
  if (d_->view->graph) d_->view->relayout(true, !d_->view->everShown);
}

void GraphEditor::showFailure(const QString& title, const Error& error, NodeId node) {
  EditDesk& d = *d_;
  const SceneNode* drawn = d.view->drawing ? d.view->drawing.scene->find(node) : nullptr;
  const auto box = drawn ? boxOfNode(d.view->drawing, drawn->position) : std::nullopt;
  if (box) d.refuse(refusalOf(title, error), {{}, std::nullopt, *box});
}

const std::vector<FrameMark>& GraphEditor::frames() const { return d_->frames; }
const std::vector<NoteMark>& GraphEditor::notes() const { return d_->notes; }
PickPalette* GraphEditor::palette() const { return d_->palette; }
RefusalCard* GraphEditor::refusalCard() const { return d_->refusalCard; }
WireCard* GraphEditor::wireCard() const { return d_->wireCard; }
InlineField* GraphEditor::field() const { return d_->field; }
SelectionBar* GraphEditor::bar() const { return d_->bar; }
const Drafts& GraphEditor::drafts() const { return d_->drafts; }

std::vector<std::pair<Port, QPointF>> GraphEditor::portsAt(NodeId node) const {
  std::vector<std::pair<Port, QPointF>> ports;
  const Drawing& drawing = d_->view->drawing;
  const SceneNode* found = drawing ? drawing.scene->find(node) : nullptr;
  if (!found) return ports;
  for (const Port& port : portsOf(drawing, describeAt(drawing, found->position, -1)))
    ports.emplace_back(port, d_->toView(port.at));
  return ports;
}

QRectF GraphEditor::boxOfDraft(int id) const {
  const Draft* draft = d_->drafts.find(id);
  if (!draft) return {};
  const Rect box = d_->boxOfDraft(*draft);
  return {d_->toView({box.x, box.y}), QSizeF(box.w, box.h) * d_->view->scale};
}

void GraphEditor::forget() {
  EditDesk& d = *d_;
  d.palette->leave();
  d.drafts.clear();
  d.forgetRefusal();
  d.focusPort.reset();
  d.wireFrom.reset();
  d.pending.clear();
  d.cutting = false;
  d.chosenThings.clear();
  d.view->arrangement = std::make_shared<const Arrangement>();
}

void GraphEditor::sceneChanged() {
  EditDesk& d = *d_;
  d.gesture.reset();
  d.hoverPorts.clear();
  d.hoverPort.reset();
  d.wireCard->hide();
  const graph::Graph* model = d.model();
  if (!model) {
    d.drafts.clear();
    d.focusPort.reset();
    d.wireFrom.reset();
  } else {
    d.drafts.settle(*model);
  }
  if (const graph::GraphVersion now = d.modelVersion(); now != d.settled) {  // the next edit
    d.settled = now;
    d.forgetRefusal();
    d.askedPuts.clear();
  }
  d.annotate();
  d.changes = d.diff ? ui::wireChanges(d.view->drawing, *d.diff) : WireChanges();
  selectionChanged();
}

void GraphEditor::selectionChanged() {
  EditDesk& d = *d_;
  d.chosenPorts.clear();
  d.findChosen();
  if (!d.view->drawing) return;
  if (!d.chosenThings.empty()) {
    d.chosenDraft = 0;
    d.chosenPorts = portsOf(d.view->drawing, d.chosenThings.back());
  }
  if (d.focusPort && d.focusPort->draft == 0) {  // it may have moved, or gone
    const auto same = std::find_if(d.chosenPorts.begin(), d.chosenPorts.end(),
                                   [&d](const Port& port) { return port.sameAs(*d.focusPort); });
    d.focusPort = same == d.chosenPorts.end() ? std::nullopt : std::optional(*same);
  }
  d.placeCards();
}

void GraphEditor::cameraMoved() {
  d_->wireCard->hide();
  d_->placeCards();
}

void GraphEditor::setTheme(const Theme& theme) {
  d_->layer = EditLayer(theme);
  d_->refusalCard->setTheme(theme);
  d_->wireCard->setTheme(theme);
  d_->palette->setTheme(theme);
  d_->field->setTheme(theme);
  d_->bar->setTheme(theme);
  d_->placeCards();
}

}  // namespace orrery::ui
