// The window's commands as actions: menus, tool bar, palette and keys are made from them. A person may give a
// command other keys; those are remembered by the command's id.
#pragma once

#include <QKeySequence>
#include <QMap>
#include <QObject>
#include <unordered_map>

#include "ui/frame/command.h"

class QMenu;
class QMenuBar;

namespace orrery::ui {

/// "&File" without its mnemonic.
QString menuTitle(Menu menu);

class Commands : public QObject {
  Q_OBJECT
 public:
  /// `window`: where the keys work.
  explicit Commands(QWidget* window);

  void add(const CommandList& commands);
  const CommandList& list() const { return list_; }
  /// Null: there is no command of that id.
  QAction* action(const QString& id) const;
  /// As the palette and the list of keys call it.
  QString title(const Command& command) const;
  /// "View, Theme"
  static QString place(const Command& command);
  /// Asks every command whether it is enabled and checked, and what it is called now.
  void refresh();
  /// `submenus`: what is no command, by the menu and the group that it stands at the end of.
  struct Submenu {
    Menu menu;
    int group;
    QMenu* entries;
  };
  void fill(QMenuBar* bar, const std::vector<Submenu>& submenus) const;
  std::vector<QAction*> tools(Tools tools) const;

  /// The command of the window that has these keys already; null: none.
  const Command* owner(const QKeySequence& keys, const QString& butId) const;
  /// The keys must be nobody else's. Empty: the command has none from now on.
  void setKeys(const QString& id, const QKeySequence& keys);
  /// By id, as text ("Ctrl+K"); of those that the person changed. What is not known or not free is left out.
  void restoreKeys(const QMap<QString, QString>& keys);
  const QMap<QString, QString>& changedKeys() const { return changed_; }

 signals:
  void keysChanged();

 private:
  const Command* find(const QString& id) const;
  void applyKeys(const Command& command);

  QWidget* window_;
  CommandList list_;
  std::unordered_map<QString, QAction*> actions_;
  QMap<QString, QString> changed_;
};

}  // namespace orrery::ui
