#include "ui/shell/commands.h"

#include <QAction>
#include <QMenu>
#include <QMenuBar>
#include <algorithm>

namespace orrery::ui {
namespace {

constexpr const char* kMenus[] = {"&File", "&Edit", "&View", "&Graph", "&Model", "&Run", "&Help"};

QString plain(QString text) { return text.remove('&').remove("..."); }

}  // namespace

QString menuTitle(Menu menu) { return plain(kMenus[static_cast<size_t>(menu)]); }

Commands::Commands(QWidget* window) : QObject(window), window_(window) {}

void Commands::add(const CommandList& commands) {
  for (const Command& command : commands) {
    QAction* action = command.action ? command.action : new QAction(command.text, this);
    action->setObjectName(command.id);
    action->setData(command.icon);
    if (!command.action) {
      action->setCheckable(static_cast<bool>(command.checked));
      connect(action, &QAction::triggered, this, [this, run = command.run] {
        run();
        refresh();  // Qt turned a switch by itself
      });
    }
    if (command.scope) action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    (command.scope ? command.scope : window_)->addAction(action);  // its keys work whatever menu is shown
    list_.push_back(command);
    actions_[command.id] = action;
    applyKeys(command);
  }
}

QAction* Commands::action(const QString& id) const {
  const auto found = actions_.find(id);
  return found == actions_.end() ? nullptr : found->second;
}

const Command* Commands::find(const QString& id) const {
  const auto found =
      std::find_if(list_.begin(), list_.end(), [&](const Command& one) { return one.id == id; });
  return found == list_.end() ? nullptr : &*found;
}

QString Commands::title(const Command& command) const {
  return command.title.isEmpty() ? plain(action(command.id)->text()) : command.title;
}

QString Commands::place(const Command& command) {
  return menuTitle(command.menu) + (command.submenu.isEmpty() ? "" : ", " + plain(command.submenu));
}

void Commands::refresh() {
  for (const Command& command : list_) {
    QAction* action = this->action(command.id);
    if (command.enabled) action->setEnabled(command.enabled());
    if (command.checked) action->setChecked(command.checked());
    if (command.words) action->setText(command.words());
  }
}

void Commands::fill(QMenuBar* bar, const std::vector<Submenu>& submenus) const {
  for (size_t i = 0; i < std::size(kMenus); ++i) {
    const auto which = static_cast<Menu>(i);
    std::vector<const Command*> commands;
    for (const Command& command : list_)
      if (command.menu == which) commands.push_back(&command);
    std::stable_sort(commands.begin(), commands.end(), [](auto* a, auto* b) { return a->group < b->group; });
    QMenu* menu = bar->addMenu(kMenus[i]);
    QMap<QString, QMenu*> inside;
    for (size_t at = 0; at < commands.size(); ++at) {
      const Command& command = *commands[at];
      if (at > 0 && commands[at - 1]->group != command.group) menu->addSeparator();
      QMenu* into = menu;
      if (!command.submenu.isEmpty()) {
        QMenu*& submenu = inside[command.submenu];
        if (!submenu) submenu = menu->addMenu(command.submenu);
        into = submenu;
      }
      into->addAction(action(command.id));
      const bool last = at + 1 == commands.size() || commands[at + 1]->group != command.group;
      for (const Submenu& each : submenus)
        if (last && each.menu == which && each.group == command.group) menu->addMenu(each.entries);
    }
  }
}

std::vector<QAction*> Commands::tools(Tools tools) const {
  std::vector<QAction*> actions;
  for (const Command& command : list_)
    if (command.tools == tools) actions.push_back(action(command.id));
  return actions;
}

void Commands::applyKeys(const Command& command) {
  QList<QKeySequence> keys;
  const auto own = changed_.find(command.id);
  for (const QString& key : own == changed_.end() ? command.keys : QStringList(*own))
    if (!key.isEmpty()) keys += QKeySequence(key);
  action(command.id)->setShortcuts(keys);
}

const Command* Commands::owner(const QKeySequence& keys, const QString& butId) const {
  if (keys.isEmpty()) return nullptr;
  for (const Command& command : list_)
    if (command.id != butId && action(command.id)->shortcuts().contains(keys)) return &command;
  return nullptr;
}

void Commands::setKeys(const QString& id, const QKeySequence& keys) {
  const Command* command = find(id);
  if (!command || owner(keys, id)) return;
  changed_[id] = keys.toString(QKeySequence::PortableText);
  applyKeys(*command);
  emit keysChanged();
}

void Commands::restoreKeys(const QMap<QString, QString>& keys) {
  // All at once, as one may have the keys that another one gave up.
  QMap<QString, QString> left;
  for (auto own = keys.begin(); own != keys.end(); ++own)
    if (find(own.key())) left[own.key()] = own.value();
  changed_ = left;
  for (const Command& command : list_) applyKeys(command);
  for (auto own = left.begin(); own != left.end(); ++own) {
    if (!owner(QKeySequence(*own), own.key())) continue;
    changed_.remove(own.key());  // another one has them since
    applyKeys(*find(own.key()));
  }
  emit keysChanged();
}

}  // namespace orrery::ui
