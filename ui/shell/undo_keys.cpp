#include "ui/shell/undo_keys.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPlainTextEdit>

namespace orrery::ui {
namespace {

struct Undoable {
  bool undo = true, redo = true;  // what is no text field decides for itself
};

Undoable undoableIn(const QObject& field) {
  if (const auto* text = qobject_cast<const QPlainTextEdit*>(&field))
    return {text->document()->isUndoAvailable(), text->document()->isRedoAvailable()};
  const auto* line = qobject_cast<const QLineEdit*>(&field);
  if (!line) line = field.findChild<const QLineEdit*>();  // of a spin box
  return line ? Undoable{line->isUndoAvailable(), line->isRedoAvailable()} : Undoable{};
}

}  // namespace

UndoKeys::UndoKeys(QObject* parent) : QObject(parent) {
  QCoreApplication::instance()->installEventFilter(this);
}

bool UndoKeys::eventFilter(QObject* object, QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride || object != QApplication::focusWidget()) return false;
  auto* key = static_cast<QKeyEvent*>(event);
  const bool undo = key->matches(QKeySequence::Undo), redo = key->matches(QKeySequence::Redo);
  if (!undo && !redo) return false;
  const Undoable field = undoableIn(*object);
  if (undo ? field.undo : field.redo) return false;
  event->ignore();
  return true;
}

}  // namespace orrery::ui
