#include "ui/graph/annotations.h"

#include <algorithm>
#include <map>

namespace orrery::ui {
namespace {

constexpr double kPadding = 10;  // from a frame's border to its nodes
constexpr double kNoteGap = 24, kNoteApart = 8;

const std::string* textOf(const graph::Node& node, const char* attribute) {
  const auto found = node.attributes.find(attribute);
  const auto* text = found == node.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text && !text->empty() ? text : nullptr;
}

Rect united(const Rect& a, const Rect& b) {
  const double x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.right(), b.right()) - x, std::max(a.bottom(), b.bottom()) - y};
}

/// Of all frames around a thing, the outermost; its own box where there is none.
Rect outermostFrame(const Drawing& drawing, int group, const Rect& own) {
  for (const int index : drawing.scene->chain(group)) {
    if (index == 0) continue;
    if (const auto box = boxOfGroup(drawing, index)) return united(*box, own);
  }
  return own;
}

}  // namespace

std::vector<FrameMark> framesOf(const Drawing& drawing) {
  std::vector<FrameMark> frames;
  if (!drawing) return frames;
  std::map<std::string, size_t> known;
  for (const SceneNode& node : drawing.scene->nodes) {
    const std::string* title = textOf(drawing.scene->graph->node(node.id), "frame");
    const auto box = title ? boxOfNode(drawing, node.position) : std::nullopt;
    if (!box) continue;
    const auto [place, fresh] = known.try_emplace(*title, frames.size());
    if (fresh) frames.push_back({QString::fromStdString(*title), *box, {}});
    FrameMark& frame = frames[place->second];
    frame.box = united(frame.box, *box);
    frame.nodes.push_back(node.id);
  }
  for (FrameMark& frame : frames) {
    frame.box = frame.box.grown(kPadding);
    frame.box.y -= kHeaderHeight - 4;
    frame.box.h += kHeaderHeight - 4;
  }
  return frames;
}

std::vector<NoteMark> notesOf(const Drawing& drawing, const Arrangement& arrangement,
                              const std::function<double(const QString&)>& heightOf) {
  std::vector<NoteMark> notes;
  if (!drawing) return notes;
  for (const SceneNode& node : drawing.scene->nodes) {
    const std::string* words = textOf(drawing.scene->graph->node(node.id), "note");
    const auto box = words ? boxOfNode(drawing, node.position) : std::nullopt;
    if (!box) continue;
    NoteMark note{node.id, QString::fromStdString(*words), {}, *box};
    note.box = {0, box->y, kNoteWidth, heightOf(note.text)};
    const auto put = arrangement.notes.find(node.path);
    if (put != arrangement.notes.end()) {
      note.box.x = box->x + put->second.x;
      note.box.y = box->y + put->second.y;
    } else {
      note.box.x = outermostFrame(drawing, node.group, *box).x - kNoteGap - kNoteWidth;
      for (const NoteMark& other : notes)  // in the order of the nodes, so mostly from above
        if (other.box.intersects(note.box)) note.box.y = other.box.bottom() + kNoteApart;
    }
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace orrery::ui
