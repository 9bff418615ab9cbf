#include "ui/graph/arrangement_text.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr const char* kNotes = "notes";  // beside the groups, whose paths are scopes
constexpr double kFar = 1e6;             // pixels; a file may say anything

bool isPlace(const QJsonArray& numbers, int count) {
  if (numbers.size() != count) return false;
  for (const QJsonValue& number : numbers)
    if (!number.isDouble() || std::abs(number.toDouble()) > kFar) return false;
  return true;
}

}  // namespace

QString textOf(const Arrangement& arrangement) {
  QJsonObject groups, notes;
  for (const auto& [path, kept] : arrangement.groups) {
    QJsonObject children;
    for (const std::string& child : kept.byHand)
      if (const auto box = kept.boxes.find(child); box != kept.boxes.end())
        children[QString::fromStdString(child)] =
            QJsonArray{box->second.x, box->second.y, box->second.w, box->second.h};
    if (!children.isEmpty()) groups[QString::fromStdString(path)] = children;
  }
  for (const auto& [path, off] : arrangement.notes)
    notes[QString::fromStdString(path)] = QJsonArray{off.x, off.y};
  QJsonObject all;
  if (!groups.isEmpty()) all["groups"] = groups;
  if (!notes.isEmpty()) all[kNotes] = notes;
  return all.isEmpty() ? QString() : QString::fromUtf8(QJsonDocument(all).toJson(QJsonDocument::Compact));
}

Arrangement arrangementOf(const QString& text) {
  Arrangement arrangement;
  const QJsonObject all = QJsonDocument::fromJson(text.toUtf8()).object();
  const QJsonObject groups = all["groups"].toObject(), notes = all[kNotes].toObject();
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    const QJsonObject children = group.value().toObject();
    for (auto child = children.begin(); child != children.end(); ++child)
      if (const QJsonArray box = child.value().toArray(); isPlace(box, 4))
        arrangement.put(group.key().toStdString(), child.key().toStdString(),
                        {box[0].toDouble(), box[1].toDouble(), box[2].toDouble(), box[3].toDouble()});
  }
  for (auto note = notes.begin(); note != notes.end(); ++note)
    if (const QJsonArray off = note.value().toArray(); isPlace(off, 2))
      arrangement.notes[note.key().toStdString()] = {off[0].toDouble(), off[1].toDouble()};
  return arrangement;
}

}  // namespace orrery::ui
