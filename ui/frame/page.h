// A page as it describes itself to the window: its folder has a function that tells this, the window's list
// of pages (shell/pages.cpp) has one line for it, and docks, menus, keys and the remembered layout are made
// from that list.
#pragma once

#include <QSize>
#include <QString>
#include <functional>

#include "ui/frame/command.h"

namespace orrery::ui {

class SessionController;
class Workspace;

/// What would be lost with the window: "the conversation", and how it can be kept. Empty: nothing.
struct Unsaved {
  QString what, advice;
};

/// A page that was made.
struct PageParts {
  QWidget* body = nullptr;
  QWidget* corner = nullptr;  // buttons for its dock's title
  QWidget* middle = nullptr;  // in the title
  /// Whose graph is drawn while the page is in front; null: it is beside the pages that people turn to.
  SessionController* source = nullptr;
  CommandList commands = {};
  std::function<Unsaved()> unsaved = {};
};

struct Page {
  QString id;     // of its dock: it is in remembered layouts, so it stays as it is
  QString title;  // with its mnemonic: "C&lassify"
  Qt::DockWidgetArea area = Qt::BottomDockWidgetArea;
  QSize share;  // of a window of the usual size; 0: what is left
  PageParts (*make)(Workspace& work, QWidget* parent) = nullptr;
};

}  // namespace orrery::ui
