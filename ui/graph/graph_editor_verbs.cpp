// What the editor is asked for by keys, menus and buttons: on what is chosen.
#include <QClipboard>
#include <QGuiApplication>
#include <algorithm>

#include "ui/graph/edit_desk.h"
#include "ui/graph/node_clip.h"
#include "ui/graph/qt_values.h"
#include "ui/placement/scope_words.h"

namespace orrery::ui {
namespace {

constexpr double kBelow = 44;  // from a node's foot to the top of one that reads it

}  // namespace

void GraphEditor::openPalette() {
  EditDesk& d = *d_;
  if (!d.mayEdit()) return;
  const QRect area = d.view->q->viewport()->rect();
  const QPoint here = d.view->q->viewport()->mapFromGlobal(QCursor::pos());
  openPaletteAt(area.contains(here) ? here : area.center(), true);
}

/// Between the ends of a wire that is there; after what is chosen; else free. By keys it stands where nothing
/// is drawn yet, below what it reads.
void GraphEditor::openPaletteAt(const QPoint& position, bool byKeys) {
  EditDesk& d = *d_;
  if (!d.mayEdit() || !d.view->drawing) return;
  const Point point = d.toScene(position);
  const Hit hit = d.hitAt(position);
  std::optional<InsertSpot> place = hit.kind == Hit::Kind::wire ? d.spotOnWire(hit, point) : std::nullopt;
  if (!place) {
    place.emplace();
    place->at = point;
    place->scope = d.scopeAt(point, {});
    const auto giver = std::find_if(d.chosenPorts.begin(), d.chosenPorts.end(),
                                    [](const Port& port) { return port.kind == Port::Kind::output; });
    const graph::Graph& graph = *d.model();
    if (giver != d.chosenPorts.end() && graph.find_value(giver->value)) {
      place->giver = *giver;
      place->readers = graph.users(giver->value);
      place->rewires = place->readers.size() != 1;
      place->scope = d.scopeAt(point, graph.node(graph.value(giver->value).producer).scope);
      if (byKeys) place->at = {giver->at.x, giver->at.y + kBelow};
    }
    if (byKeys) place->at = d.freeBelow(place->at);
  }
  d.openPalette(std::move(*place), position);
}

void GraphEditor::insert(const QString& op) {
  EditDesk& d = *d_;
  if (!d.mayEdit() || !d.view->drawing) return;
  insertAt(op, QRectF(d.view->q->viewport()->rect()).center());
}

void GraphEditor::insertAt(const QString& name, QPointF position) {
  EditDesk& d = *d_;
  const graph::OpPtr op = d.model()->ops().find(name.toStdString());
  if (!op || !d.view->drawing) return;
  const Point point = d.toScene(position);
  const Hit hit = d.hitAt(position);
  std::optional<InsertSpot> place = hit.kind == Hit::Kind::wire ? d.spotOnWire(hit, point) : std::nullopt;
  if (place) {
    const auto type = d.typeOf(*place->giver);
    const OpFit fit = place->readers.size() == 1 ? d.fitter().between(*op, *type, place->readers.front())
                                                 : d.fitter().reading(*op, *type);
    if (!fit.fits)
      return d.refuse({tr("%1 does not fit on this wire").arg(name), text(fit.refusal), {}, {}, {}},
                      {{}, std::nullopt, {point.x, point.y, 1, 1}});
  } else {
    place.emplace();
    place->at = point;
    place->scope = d.scopeAt(point, {});
  }
  d.putDown(d.draftFor(*op, *place, true), point);
}

void GraphEditor::remove(bool reconnect) {
  EditDesk& d = *d_;
  if (!d.mayEdit()) return;
  if (d.chosenDraft != 0) {
    d.drafts.remove(std::exchange(d.chosenDraft, 0));
    return d.update();
  }
  if (d.focusPort) return cutPort();
  const std::vector<std::string> paths = d.chosenPaths();
  if (paths.empty()) return void(emit noticed(tr("Choose a node or a group first")));
  edit::Edit edit = verbEdit("delete", "scope", together(paths));
  edit.fields["reconnect"] = reconnect ? "true" : "false";
  const auto bounds = d.boundsOf(d.chosenThings);
  d.ask({{std::move(edit)}, tr("delete %1").arg(d.chosenName())}, bounds.value_or(Rect{}));
}

/// The wire of the port that the keyboard is on.
void GraphEditor::cutPort() {
  EditDesk& d = *d_;
  const Port port = *d.focusPort;
  if (port.kind != Port::Kind::input || port.uses.empty() || !port.value.valid()) return;
  const QString place = placeName(*d.model(), port.uses.front());
  if (!port.optional)
    return d.refuse({tr("%1 cannot be cut").arg(place),
                     tr("The op needs this input: it has nothing to compute with else."),
                     tr("Connect it to another value instead."),
                     {},
                     {}},
                    {{}, port, port.thing.box});
  EditRequest request;
  for (const graph::Use& use : port.uses) request.edits.push_back(disconnectEdit(*d.model(), use));
  request.name = tr("disconnect %1").arg(place);
  d.ask(std::move(request), port.thing.box);
}

bool GraphEditor::canPaste() const {
  return NodeClip::from(QGuiApplication::clipboard()->mimeData()).has_value();
}

void GraphEditor::copy() {
  EditDesk& d = *d_;
  const std::vector<std::string> paths = d.chosenPaths();
  if (!d.model() || paths.empty()) return;
  const NodeClip clip = NodeClip::of(*d.model(), paths);
  if (clip.empty()) return;
  QGuiApplication::clipboard()->setMimeData(clip.mime().release());
  emit noticed(clip.size() == 1 ? tr("Copied %1").arg(text(paths.front()))
                                : tr("Copied %1 nodes").arg(clip.size()));
}

void GraphEditor::cut() {
  if (!d_->mayEdit()) return;
  copy();
  remove(true);
}

void GraphEditor::paste(bool withInputs) {
  EditDesk& d = *d_;
  if (!d.mayEdit() || !d.view->drawing) return;
  const std::optional<NodeClip> clip = NodeClip::from(QGuiApplication::clipboard()->mimeData());
  if (!clip) return void(emit noticed(tr("There are no copied nodes to paste")));
  const QRectF area(d.view->q->viewport()->rect());
  const Point middle = d.toScene(area.contains(d.pointer) ? d.pointer : area.center());
  const std::string scope = d.scopeAt(middle, {});
  if (withInputs) {
    EditRequest request = clip->withInputs(*d.model(), scope);
    if (!request.empty()) return d.ask(std::move(request), {middle.x, middle.y, 1, 1});
    emit noticed(tr("What the copied nodes read is not here: connect them"));
  }
  Point place = middle;
  for (Draft& draft : clip->drafts(*d.model(), scope)) {
    d.putDown(std::move(draft), place);
    place.y += 50;
  }
}

void GraphEditor::duplicate() {
  EditDesk& d = *d_;
  if (!d.mayEdit()) return;
  const std::vector<std::string> paths = d.chosenPaths();
  if (paths.empty()) return void(emit noticed(tr("Choose a node or a group first")));
  d.ask(duplicateRequest(paths), d.boundsOf(d.chosenThings).value_or(Rect{}));
}

void GraphEditor::frame() {
  EditDesk& d = *d_;
  if (!d.mayEdit()) return;
  const std::vector<std::string> paths = d.chosenPaths();
  const auto bounds = d.boundsOf(d.chosenThings);
  if (paths.empty() || !bounds)
    return void(emit noticed(tr("Choose the nodes that the frame is to hold first")));
  const QString nodes = together(paths);
  const Rect head{bounds->x - 10, bounds->y - 28, bounds->w + 20, kHeaderHeight};
  d.edit(head, {}, InlineField::Kind::title, [this, nodes, box = *bounds](const QString& title) {
    if (title.isEmpty()) return;
    edit::Edit edit = verbEdit("frame", "nodes", nodes);
    edit.fields["title"] = title.toStdString();
    d_->ask({{std::move(edit)}, tr("frame %1").arg(title)}, box);
  });
}

/// Empty: the frame goes, its nodes stay.
void GraphEditor::renameFrame(const FrameMark& mark) {
  QStringList paths;
  for (const NodeId id : mark.nodes)
    if (const graph::Node* node = d_->model()->find(id)) paths += text(node->path());
  d_->edit(mark.header(), mark.title, InlineField::Kind::title, [this, paths, mark](const QString& title) {
    if (title == mark.title) return;
    edit::Edit edit = verbEdit("frame", "nodes", scopeWord(paths));
    edit.fields["title"] = title.toStdString();
    d_->ask(
        {{std::move(edit)},
         title.isEmpty() ? tr("take frame %1 away").arg(mark.title) : tr("rename frame %1").arg(mark.title)},
        mark.box);
  });
}

void GraphEditor::note() {
  EditDesk& d = *d_;
  if (!d.mayEdit()) return;
  const NodeId id = d.view->selected.node;
  const graph::Node* node = id.valid() ? d.model()->find(id) : nullptr;
  const SceneNode* drawn = node ? d.view->drawing.scene->find(id) : nullptr;
  const auto box = drawn ? boxOfNode(d.view->drawing, drawn->position) : std::nullopt;
  if (!box) return void(emit noticed(tr("Choose the node that the note is about first")));
  const auto known =
      std::find_if(d.notes.begin(), d.notes.end(), [id](const NoteMark& mark) { return mark.node == id; });
  const Rect place =
      known != d.notes.end() ? known->box : Rect{box->x - kNoteWidth - 24, box->y, kNoteWidth, 60};
  const QString before = known != d.notes.end() ? known->text : QString(), path = text(node->path());
  d.edit(place, before, InlineField::Kind::note, [this, before, path, own = *box](const QString& words) {
    if (words == before) return;
    edit::Edit edit = verbEdit("note", "node", path);
    edit.fields["text"] = words.toStdString();
    d_->ask({{std::move(edit)},
             words.isEmpty() ? tr("remove the note at %1").arg(path) : tr("note at %1").arg(path)},
            own);
  });
}

void GraphEditor::rename() {
  EditDesk& d = *d_;
  if (!d.mayEdit()) return;
  const NodeId id = d.view->selected.node;
  const graph::Node* node = id.valid() ? d.model()->find(id) : nullptr;
  const SceneNode* drawn = node ? d.view->drawing.scene->find(id) : nullptr;
  const auto box = drawn ? boxOfNode(d.view->drawing, drawn->position) : std::nullopt;
  if (!box) return void(emit noticed(tr("Choose the node to rename first")));
  const QString path = text(node->path()), name = text(node->name);
  d.edit(*box, name, InlineField::Kind::name, [this, path, name, own = *box](const QString& to) {
    if (to.isEmpty() || to == name) return;
    edit::Edit edit = verbEdit("rename", "node", path);
    edit.fields["to"] = to.toStdString();
    d_->ask({{std::move(edit)}, tr("rename %1 to %2").arg(name, to)}, own);
  });
}

void GraphEditor::output() {
  EditDesk& d = *d_;
  if (!d.mayEdit()) return;
  const graph::Graph& graph = *d.model();
  EditRequest request;
  for (const GraphView::Selected& one : d.view->q->selection()) {
    const graph::Node* node = one.node.valid() ? graph.find(one.node) : nullptr;
    if (!node) continue;
    for (const ValueId value : node->outputs) {
      const auto& outputs = graph.outputs();
      const bool is = std::find(outputs.begin(), outputs.end(), value) != outputs.end();
      edit::Edit edit = verbEdit("output", "value", text(graph.value_path(value)));
      if (is) edit.fields["remove"] = "true";
      request.name = (is ? tr("no output of %1") : tr("output %1")).arg(text(graph.value_path(value)));
      request.edits.push_back(std::move(edit));
    }
  }
  if (request.empty()) return void(emit noticed(tr("Choose the node whose value is to be an output first")));
  d.ask(std::move(request), d.boundsOf(d.chosenThings).value_or(Rect{}));
}

/// All that stands beside what is chosen, in its group.
void GraphEditor::chooseAll() {
  EditDesk& d = *d_;
  if (!d.view->drawing) return;
  const std::vector<Hit>& things = d.chosenThings;
  const int group = things.empty() ? 0 : things.back().holder;
  const LaidOut frame = laidOut(d.view->drawing, group);
  if (!frame) return;
  std::vector<GraphView::Selected> chosen;
  for (size_t item = 0; item < frame.layout->items.size(); ++item)
    chosen.push_back(d.view->thingAt(
        describePlaced(*d.view->drawing.scene, group, *frame.layout, static_cast<int>(item), frame.origin)));
  d.view->setSelections(std::move(chosen));
  d.view->notifySelection();
}

void GraphEditor::arrange() {
  EditDesk& d = *d_;
  if (!d.view->drawing) return;
  d.view->arrangement = std::make_shared<const Arrangement>();
  d.view->anchorAt(d.view->marks.group, d.view->marks.node);
  d.view->fadeFromNow();
  d.view->relayout(false);
  emit arrangementChanged();
}

}  // namespace orrery::ui
