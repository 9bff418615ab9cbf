// What the wires' colours and strokes tell: what they carry, and what edits made of them.
#pragma once

#include "ui/graph/strip_section.h"

namespace orrery::ui {

class WireLegend : public StripSection {
  Q_OBJECT
 public:
  WireLegend(const Theme& theme, QWidget* parent);
  void setShown(bool kinds, bool changes);
  bool tellsAnything() const { return kinds_ || changes_; }
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  void paintKinds(QPainter& painter) const;
  void paintChanges(QPainter& painter) const;

  bool kinds_ = false, changes_ = false;
};

}  // namespace orrery::ui
