#include "ui/shell/workspace_control.h"

#include <QHBoxLayout>

#include "ui/shell/workspaces.h"

namespace orrery::ui {
namespace {

constexpr double kControlHeight = 24;

}  // namespace

WorkspaceControl::WorkspaceControl(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      key_(new Text(theme, {Token::text3, 10.5, QFont::Normal, true}, {}, this)),
      choice_(new Segmented(theme, this)) {
  for (const WorkspacePlan& plan : allWorkspaces()) choice_->addChoice(QString(plan.title).remove('&'));
  choice_->setFocusPolicy(Qt::NoFocus);  // what is typed goes on; its keys work everywhere
  choice_->setAccessibleName("Workspace");
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 8, 0);
  layout->setSpacing(8);
  layout->addWidget(key_);
  layout->addWidget(choice_);
  setTheme(theme);
}

void WorkspaceControl::setKeys(const QStringList& keys) {
  keys_ = keys;
  for (int i = 0; i < keys.size(); ++i) {
    const QString words = choice_->text(i) + ": " + allWorkspaces()[static_cast<size_t>(i)].use;
    choice_->setTip(i, keys[i].isEmpty() ? words : words + " (" + keys[i] + ")");
  }
  showKey();
}

void WorkspaceControl::setCurrent(int workspace) {
  choice_->setCurrent(workspace);
  showKey();
}

void WorkspaceControl::showKey() { key_->setText(keys_.value(choice_->current()).replace('+', ' ')); }

void WorkspaceControl::setTheme(const Theme& theme) {
  theme_ = theme;
  choice_->setFixedHeight(static_cast<int>(theme.scaled(kControlHeight)));
}

}  // namespace orrery::ui
