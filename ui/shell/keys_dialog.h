// F1: every key, taken from the window's actions, so that the list is always true.
#pragma once

#include <QDialog>

#include "ui/theme/theme.h"

namespace orrery::ui {

struct KeyEntry {
  QString action, keys;
};

class KeysDialog : public QDialog {
  Q_OBJECT
 public:
  KeysDialog(const Theme& theme, const std::vector<KeyEntry>& entries, QWidget* parent = nullptr);
};

}  // namespace orrery::ui
