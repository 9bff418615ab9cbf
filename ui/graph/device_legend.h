// Which mark is which device, where several are in use or a node is not where it was asked to be.
#pragma once

#include <QStringList>
#include <QWidget>

#include "ui/theme/theme.h"

namespace orrery::ui {

class DeviceLegend : public QWidget {
  Q_OBJECT

 public:
  explicit DeviceLegend(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
  /// The devices in use, the model's own first. With one and nothing `fellBack` there is nothing to tell:
  /// hidden.
  void setShown(const QStringList& devices, bool fellBack);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  int rows() const;

  Theme theme_;
  QStringList devices_;
  bool fellBack_ = false;
};

}  // namespace orrery::ui
