// The editor's desk: from gestures to edits, to drafts and to refusals.
#include <QFileDialog>
#include <QJsonDocument>
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/graph/shown_weights.h"
#include "ui/graph/edit_desk.h"
#include "ui/graph/node_box.h"
#include "ui/graph/qt_values.h"
#include "ui/graph/scene_graph.h"
#include "ui/graph/wires.h"
#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kSourceWidth = 184;  // of a box with few words

Rect boxOfSource(const InsertSpot& place) {
  return {place.at.x - kSourceWidth / 2, place.at.y, kSourceWidth, kNodeHeight};
}

QStringList dimsOf(const Shape& shape, const Bindings& bindings) {
  QStringList dims;
  for (const Dim& dim : shape) {
    const std::optional<int64_t> size = dim.evaluate(bindings);
    dims << (size ? QString::number(*size) : text(dim.to_string()));
  }
  return dims;
}

/// The first sentence, without its full stop.
QString brief(const std::string& doc) {
  const QString words = text(doc);
  const qsizetype stop = words.indexOf(QStringLiteral(". "));
  QString first = stop < 0 ? words : words.left(stop);
  if (first.endsWith('.')) first.chop(1);
  return first;
}

}  // namespace

bool EditDesk::mayEdit() {
  if (q->editable()) return true;
  if (!whyReadOnly.isEmpty()) emit q->noticed(whyReadOnly);
  return false;
}

const OpFitter& EditDesk::fitter() const {
  if (!opFitter || &opFitter->graph() != model()) opFitter = std::make_unique<OpFitter>(modelVersion());
  return *opFitter;
}

std::string EditDesk::valueOf(const Port& giver) const {
  if (const Draft* draft = drafts.find(giver.draft)) return draft->output(at(giver.place));
  const graph::Graph* graph = model();
  return graph && graph->find_value(giver.value) ? graph->value_path(giver.value) : std::string();
}

std::optional<graph::ValueType> EditDesk::typeOf(const Port& giver) const {
  if (const Draft* draft = drafts.find(giver.draft)) {
    const auto types = drafts.types(*model(), *draft);
    return types.ok() && at(giver.place) < types->size() ? std::optional((*types)[at(giver.place)])
                                                         : std::nullopt;
  }
  const graph::Value* value = model()->find_value(giver.value);
  return value ? std::optional(value->type) : std::nullopt;
}

std::optional<graph::ValueType> EditDesk::takenBy(const Port& reader) const {
  const graph::Value* value = reader.value.valid() ? model()->find_value(reader.value) : nullptr;
  return value ? std::optional(value->type) : std::nullopt;
}

Result<void> EditDesk::canConnect(const Port& giver, const Port& reader) const {
  const graph::Graph& graph = *model();
  if (const Draft* draft = drafts.find(reader.draft))
    return drafts.canConnect(graph, *draft, at(reader.place), valueOf(giver));
  if (const Draft* draft = drafts.find(giver.draft)) {
    for (const graph::Use& use : reader.uses) ORRERY_TRY(drafts.canRead(graph, use, *draft, at(giver.place)));
    return {};
  }
  if (giver.value == reader.value)
    return Error{ErrorCode::invalid_argument, "It reads this already", reader.name, ""};
  if (!graph.find_value(giver.value))
    return Error{ErrorCode::not_found, "What it would read is deleted", giver.name,
                 "undo, or take another value"};
  for (const graph::Use& use : reader.uses) {
    if (!graph.find(use.node))
      return Error{ErrorCode::not_found, "It is deleted", reader.name, "restore it first"};
    if (calls->canConnect) ORRERY_TRY(calls->canConnect(graph, use.node, use.input, giver.value));
  }
  return {};
}

EditRequest EditDesk::connecting(const Port& giver, const Port& reader,
                                 const std::optional<Port>& moved) const {
  EditRequest request;
  const graph::Graph& graph = *model();
  const std::string value = valueOf(giver);
  for (const graph::Use& use : reader.uses) request.edits.push_back(connectEdit(graph, use, value));
  if (moved && moved->optional && !moved->sameAs(reader))
    for (const graph::Use& use : moved->uses) request.edits.push_back(disconnectEdit(graph, use));
  if (!reader.uses.empty())
    request.name = GraphEditor::tr("connect %1").arg(placeName(graph, reader.uses.front()));
  return request;
}

void EditDesk::connect(const Port& giver, const Port& reader, const std::optional<Port>& moved) {
  if (Draft* draft = drafts.find(reader.draft)) {
    draft->inputs[at(reader.place)] = valueOf(giver);
    return tryDraft(draft->id);
  }
  if (Draft* draft = drafts.find(giver.draft)) {
    for (const graph::Use& use : reader.uses) {
      const std::string input = inputPath(model()->node(use.node), use.input);
      std::erase_if(draft->readers, [&input](const Draft::Reader& one) { return one.input == input; });
      draft->readers.push_back({input, giver.place});
    }
    return tryDraft(draft->id);
  }
  ask(connecting(giver, reader, moved), reader.thing.box);
}

void EditDesk::ask(EditRequest request, const Rect& about) {
  if (request.empty()) return;
  forgetRefusal();
  leaveConsidered();
  askedAbout = about;
  askedName = request.name;
  emit q->editsAsked(request.edits, request.name);
}

void EditDesk::consider(const EditRequest& request) {
  if (request.empty()) return leaveConsidered();
  considered = true;
  emit q->editConsidered(request.edits);
}

void EditDesk::leaveConsidered() {
  if (std::exchange(considered, false)) emit q->editLeft();
}

Refusal EditDesk::refusalOfWire(const Port& giver, const Port& reader, const Error& error) const {
  const graph::Graph& graph = *model();
  const Draft* draft = drafts.find(reader.draft);
  const QString place = draft ? text(draft->name + "." + reader.name)
                        : reader.uses.empty() || !graph.find(reader.uses.front().node)
                            ? text(reader.name)
                            : placeName(graph, reader.uses.front());
  Refusal refusal = refusalOf(GraphEditor::tr("%1 does not take this").arg(place), error);
  const auto gives = typeOf(giver), takes = takenBy(reader);
  if (!gives || !takes || *gives == *takes) return refusal;
  const graph::Node* producer =
      graph.find_value(giver.value) ? graph.find(graph.value(giver.value).producer) : nullptr;
  const QString from = text(producer ? producer->name : giver.name);
  refusal.gives = {GraphEditor::tr("%1 gives").arg(from), dimsOf(gives->shape, view->bindings),
                   text(std::string(name_of(gives->dtype)))};
  refusal.takes = {GraphEditor::tr("%1 takes").arg(place), dimsOf(takes->shape, view->bindings),
                   text(std::string(name_of(takes->dtype)))};
  return refusal;
}

void EditDesk::refuse(Refusal refusal, RefusedTry what) {
  leaveConsidered();
  tried = std::move(what);
  refusalCard->setRefusal(refusal);
  placeCards();
  update();
}

void EditDesk::forgetRefusal() {
  if (!tried) return;
  tried.reset();
  refusalCard->hide();
  update();
}

/// Of the group that the scope is, and in its coordinates.
void EditDesk::put(const std::string& scope, const std::string& path, Rect scene) {
  const int group = view->drawing.scene->group(scope);
  const LaidOut frame = laidOut(view->drawing, group);
  if (!frame) return;
  auto arrangement = std::make_shared<Arrangement>(*view->arrangement);
  arrangement->put(scope, path, scene.moved(-frame.origin.x - frame.layout->spine, -frame.origin.y));
  view->arrangement = std::move(arrangement);
}

Draft EditDesk::draftFor(const graph::OpSchema& op, const InsertSpot& place, bool connected) const {
  const auto type = place.giver ? typeOf(*place.giver) : std::nullopt;
  const bool between = type && place.readers.size() == 1;
  const OpFit fit = !type     ? fitter().alone(op)
                    : between ? fitter().between(op, *type, place.readers.front())
                              : fitter().reading(op, *type);
  Draft draft;
  draft.op = model()->ops().find(op.name);
  draft.scope = place.scope;
  draft.name = op.name;
  draft.attributes = fit.attributes;
  draft.inputs.resize(op.inputs.size());
  for (size_t i = 0; i < op.inputs.size(); ++i)
    if (const auto given = fit.given.find(op.inputs[i].name); given != fit.given.end())
      draft.inputs[i] = given->second;
  if (!connected || op.inputs.empty()) return draft;
  if (place.giver) draft.inputs[at(fit.input)] = valueOf(*place.giver);
  if (place.rewires && fit.input == 0) {
    draft.after = valueOf(*place.giver);
  } else {
    for (const graph::Use& use : place.readers)
      draft.readers.push_back({inputPath(model()->node(use.node), use.input), 0});
  }
  return draft;
}

Picks EditDesk::picksFor(const InsertSpot& place) const {
  struct Ranked {
    int rank;
    Pick pick;
  };
  std::vector<Ranked> ranked;
  const auto type = place.giver ? typeOf(*place.giver) : std::nullopt;
  constexpr int kLastRank = 1;
  const bool sources = graph::takes_arrays(*model());
  for (const graph::OpPtr& op : model()->ops().all()) {
    if (!isOffered(*op) && !(sources && isOfferedSource(*op))) continue;
    Pick pick{text(op->name), text(op->name), brief(op->doc), {}, op->family};
    const bool source = op->family == graph::OpFamily::source;  // reads nothing: the first, or the last one
    int rank = source ? (type ? kLastRank : -1) : static_cast<int>(op->family) * 1000;
    if (type && !source) {
      const OpFit fit = place.readers.size() == 1 ? fitter().between(*op, *type, place.readers.front())
                                                  : fitter().reading(*op, *type);
      if (!fit.fits) pick.refusal = text(fit.refusal);
      rank = -std::min(fit.uses, 400) - (fit.complete ? 1000 : 0);
    }
    ranked.push_back({rank, std::move(pick)});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  Picks picks;
  for (Ranked& one : ranked) picks.push_back(std::move(one.pick));
  return picks;
}

void EditDesk::openPalette(InsertSpot place, QPointF where) {
  if (!mayEdit() || !model()) return;
  forgetRefusal();
  valueFor.reset();
  const auto type = place.giver ? typeOf(*place.giver) : std::nullopt;
  const QString takes =
      type ? text(shapeText(type->shape, view->bindings)) + ' ' + text(std::string(name_of(type->dtype)))
           : QString();
  Picks picks = picksFor(place);
  spot = std::move(place);
  palette->open(std::move(picks), GraphEditor::tr("Search"), takes, where.toPoint());
  update();
}

/// The weights, constants and inputs that a place takes: they have no port to draw from where they are pills.
void EditDesk::openValues(const Port& reader, QPointF where) {
  const Draft* draft = drafts.find(reader.draft);
  if (!draft || !mayEdit()) return;
  Picks fits;
  for (const NodeId id : model()->order()) {
    const graph::Node& node = model()->node(id);
    if (!node.is_source() || node.outputs.empty()) continue;
    const graph::Value& value = model()->value(node.outputs.front());
    const std::string path = model()->value_path(value.id);
    if (!drafts.canConnect(*model(), *draft, at(reader.place), path).ok()) continue;
    fits.push_back(
        {text(path),
         text(node.path()),
         text(shapeText(value.type.shape, view->bindings) + " " + std::string(name_of(value.type.dtype))),
         {},
         node.op->family});
  }
  spot.reset();
  valueFor = reader;
  palette->open(std::move(fits), GraphEditor::tr("Value for %1").arg(text(reader.name)), {}, where.toPoint());
}

void EditDesk::pick(const QString& key, bool connected) {
  leaveConsidered();
  if (valueFor) {
    if (Draft* draft = drafts.find(valueFor->draft)) {
      draft->inputs[at(valueFor->place)] = key.toStdString();
      tryDraft(draft->id);
    }
    valueFor.reset();
    return;
  }
  if (!spot || !model()) return;
  const InsertSpot place = *std::exchange(spot, std::nullopt);
  const graph::OpPtr op = model()->ops().find(key.toStdString());
  if (op && isOfferedSource(*op)) return putSource(op->name, place);
  if (op) putDown(draftFor(*op, place, connected), place.at);
}

/// What it is comes from a field where it will stand; a weight's file from a dialog.
void EditDesk::putSource(const std::string& op, const InsertSpot& place) {
  if (op == "weight") {
    const QString file = QFileDialog::getOpenFileName(view->q, GraphEditor::tr("A weight from a file"), {},
                                                      GraphEditor::tr("Arrays (*.npy);;All files (*)"));
    if (!file.isEmpty()) askSource(weightRequest(*model(), place.scope, file), place);
    return;
  }
  const Rect box = boxOfSource(place);
  edit(box, {}, InlineField::Kind::attribute, [this, op, place](const QString& words) {
    if (words.trimmed().isEmpty() || !model()) return;
    auto made = sourceRequest(*model(), op, place.scope, words);
    if (made.ok()) return askSource(*std::move(made), place);
    const Error& error = made.error();
    field->refuse(text(error.what) + (error.advice.empty() ? QString() : ": " + text(error.advice)));
  });
  const QString hint = sourceHint(op);
  field->setPlaceholderText(hint);
  field->setAccessibleName(GraphEditor::tr("%1, for example %2").arg(text(op), hint));
}

void EditDesk::askSource(SourceRequest made, const InsertSpot& place) {
  const Rect box = boxOfSource(place);
  put(place.scope, made.path, box);
  askedPuts = {{place.scope, made.path}};
  ask(std::move(made.request), box);
}

void EditDesk::putDown(Draft draft, Point middleOfTop) {
  const LaidOut frame = laidOut(view->drawing, view->drawing.scene->group(draft.scope));
  const double width = layer.draftWidth(draft);
  draft.box = Rect{middleOfTop.x - width / 2, middleOfTop.y, width, kNodeHeight}.moved(-frame.origin.x,
                                                                                       -frame.origin.y);
  const int id = drafts.add(*model(), std::move(draft));
  chosenDraft = id;
  view->setSelection({}, {});
  tryDraft(id);
  update();
}

namespace {

/// As the attribute's type writes it; nothing where the text is none.
std::optional<graph::Attribute> attributeIn(const graph::AttributeSpec& spec, const QString& words) {
  bool good = true;
  switch (spec.type) {
    case graph::AttributeType::flag:
      if (words == "true" || words == "false") return words == "true";
      return std::nullopt;
    case graph::AttributeType::integer: {
      const qlonglong number = words.toLongLong(&good);
      return good ? std::optional<graph::Attribute>(static_cast<int64_t>(number)) : std::nullopt;
    }
    case graph::AttributeType::real: {
      const double number = words.toDouble(&good);
      return good && std::isfinite(number) ? std::optional<graph::Attribute>(number) : std::nullopt;
    }
    case graph::AttributeType::list: {
      std::vector<int64_t> numbers;
      for (const QString& part : QString(words).remove('[').remove(']').split(',', Qt::SkipEmptyParts)) {
        numbers.push_back(part.trimmed().toLongLong(&good));
        if (!good) return std::nullopt;
      }
      return numbers;
    }
    case graph::AttributeType::numbers: {
      std::vector<double> numbers;
      for (const QString& part : QString(words).remove('[').remove(']').split(',', Qt::SkipEmptyParts)) {
        numbers.push_back(part.trimmed().toDouble(&good));
        if (!good) return std::nullopt;
      }
      return numbers;
    }
    case graph::AttributeType::text:
    case graph::AttributeType::any:
      break;
  }
  return words.isEmpty() ? std::nullopt : std::optional<graph::Attribute>(words.toStdString());
}

}  // namespace

/// Asks for its edits where nothing is missing; for an attribute that nothing tells, with a field on it.
void EditDesk::tryDraft(int id) {
  Draft* draft = drafts.find(id);
  if (!draft) return;
  update();
  for (const graph::AttributeSpec& spec : draft->op->attributes) {
    if (spec.fallback || draft->attributes.contains(spec.name)) continue;
    const QString hint = text(spec.name) + ": " + text(spec.doc);
    edit(boxOfDraft(*draft), {}, InlineField::Kind::attribute, [this, id, spec](const QString& words) {
      Draft* waiting = drafts.find(id);
      if (!waiting) return;
      if (auto attribute = attributeIn(spec, words)) {
        waiting->attributes[spec.name] = std::move(*attribute);
        return tryDraft(id);
      }
      field->refuse(
          GraphEditor::tr("%1 is %2").arg(text(spec.name), text(std::string(graph::name_of(spec.type)))));
    });
    field->setPlaceholderText(hint);
    field->setAccessibleName(hint);
    return;
  }
  const EditRequest request = drafts.request(*model(), *draft);
  if (request.empty()) return;
  draft->asked = true;
  put(draft->scope, draft->path(), boxOfDraft(*draft));
  askedPuts = {{draft->scope, draft->path()}};
  ask(request, boxOfDraft(*draft));
}

std::optional<InsertSpot> EditDesk::spotOnWire(const Hit& hit, Point where) const {
  const PlacedWire* wire = wireOf(view->drawing, hit);
  const LaidOut holder = laidOut(view->drawing, hit.holder);
  if (!wire || !holder || wire->edge < 0) return std::nullopt;
  const SceneGraph& scene = *view->drawing.scene;
  const std::vector<ValueId> values = valuesOf(scene, hit.holder, *holder.layout, *wire);
  const graph::Graph& graph = *model();
  if (values.empty() || !graph.find_value(values.front())) return std::nullopt;
  InsertSpot place;
  place.at = where;
  place.scope = scene.groups[at(hit.holder)].path;
  Port giver;
  giver.kind = Port::Kind::output;
  giver.side = Port::Side::foot;
  giver.value = values.front();
  giver.name = graph.value(giver.value).name;
  giver.at = {wire->points.front().x + holder.origin.x, wire->points.front().y + holder.origin.y};
  place.giver = giver;
  for (const graph::Use& use : usesOf(scene, hit.holder, *holder.layout, *wire)) {
    const graph::Node* reader = graph.find(use.node);
    if (reader && reader->inputs[at(use.input)] == giver.value) place.readers.push_back(use);
  }
  const auto& outputs = graph.outputs();
  const bool isOutput = std::find(outputs.begin(), outputs.end(), giver.value) != outputs.end();
  place.rewires =
      !isOutput && place.readers.size() > 1 && graph.users(giver.value).size() == place.readers.size();
  return place;
}

void EditDesk::edit(const Rect& box, const QString& words, InlineField::Kind kind,
                    std::function<void(const QString&)> done) {
  const QPointF corner = toView({box.x, box.y});
  const double scale = std::max(view->scale, 0.8);
  const int height = kind == InlineField::Kind::note ? 76 : 28;
  const QRect place(corner.toPoint(), QSize(std::max(168, qRound(box.w * scale)), height));
  fieldDone = std::move(done);
  const QString hint = kind == InlineField::Kind::note    ? GraphEditor::tr("Note; Ctrl+Enter keeps it")
                       : kind == InlineField::Kind::title ? GraphEditor::tr("Title of the frame")
                                                          : GraphEditor::tr("New name");
  field->open(kind, words, hint, place);
}

}  // namespace orrery::ui
