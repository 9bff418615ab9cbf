// The workspaces at the right of the menu bar: one of them is taken, and its key stands beside it.
#pragma once

#include "ui/widgets/segmented.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class WorkspaceControl : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit WorkspaceControl(const Theme& theme, QWidget* parent = nullptr);
  Segmented* choice() const { return choice_; }
  /// By the list of workspaces; as they are written for people, empty: none.
  void setKeys(const QStringList& keys);
  void setCurrent(int workspace);
  void setTheme(const Theme& theme) override;

 private:
  void showKey();

  Theme theme_;
  Text* key_;
  Segmented* choice_;
  QStringList keys_;
};

}  // namespace orrery::ui
