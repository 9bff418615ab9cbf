// Which mark is which device, where several are in use or a node is not where it was asked to be.
#pragma once

#include <QStringList>

#include "ui/graph/strip_section.h"

namespace orrery::ui {

class DeviceLegend : public StripSection {
  Q_OBJECT

 public:
  explicit DeviceLegend(const Theme& theme, QWidget* parent);
  /// The devices in use, the model's own first.
  void setShown(const QStringList& devices, bool fellBack);
  /// With one device and nothing that fell back there is not.
  bool tellsAnything() const { return rows() > 0; }
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  int rows() const;

  QStringList devices_;
  bool fellBack_ = false;
};

}  // namespace orrery::ui
