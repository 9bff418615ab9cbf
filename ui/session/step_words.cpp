#include "ui/session/step_words.h"

#include <QStringList>
#include <algorithm>

namespace orrery::ui {
namespace {

/// The field that names what an edit is done to; empty: there is none.
std::string targetField(const edit::Edit& edit) {
  for (const char* field : {"scope", "node", "input", "as", "output"})
    if (const auto found = edit.fields.find(field); found != edit.fields.end() && !found->second.empty())
      return field;
  return {};
}

QString targetOf(const edit::Edit& edit) {
  const auto found = edit.fields.find(targetField(edit));
  return found == edit.fields.end() ? QString() : QString::fromStdString(found->second);
}

QString commonScope(const QStringList& targets) {
  QStringList common = targets.isEmpty() ? QStringList() : targets.front().split('.');
  for (const QString& target : targets) {
    const QStringList parts = target.split('.');
    qsizetype same = 0;
    while (same < std::min(common.size(), parts.size()) && common[same] == parts[same]) ++same;
    common.resize(same);
  }
  return common.join('.');
}

}  // namespace

StepWords stepWords(const std::string& name, const std::vector<edit::Edit>& edits) {
  QStringList targets;
  for (const edit::Edit& edit : edits)
    if (const QString target = targetOf(edit); !target.isEmpty() && !targets.contains(target))
      targets += target;
  StepWords words{QString::fromStdString(name), commonScope(targets)};
  if (words.name.isEmpty() && !edits.empty())
    words.name = QString::fromStdString(edits.front().op) +
                 (edits.size() > 1 ? QString(" and %1 more").arg(edits.size() - 1) : QString());
  if (!words.scope.isEmpty() && words.name.endsWith(' ' + words.scope))
    words.name.chop(words.scope.size() + 1);
  if (!words.name.isEmpty()) words.name[0] = words.name[0].toUpper();
  return words;
}

QString editSentence(const edit::Edit& edit) {
  QStringList parts{stepWords({}, {edit}).both()};
  for (const auto& [field, value] : edit.fields)
    if (field != targetField(edit))
      parts += QString::fromStdString(field) + ' ' + QString::fromStdString(value);
  return parts.join(", ");
}

}  // namespace orrery::ui
