// What the lines and frames of the drawing mean.
#pragma once

#include "ui/graph/strip_section.h"

namespace orrery::ui {

class MarkLegend : public StripSection {
  Q_OBJECT

 public:
  explicit MarkLegend(const Theme& theme, QWidget* parent);
  /// A page is drawn: its stream and its cells are explained, too.
  void setPaged(bool paged);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  enum class Sign : uint8_t {
    stream,
    ring,
    wire,
    residual,
    selected,
    hovered,
    edited,
    bypassed,
    free,
    folded
  };
  void paintSign(QPainter& painter, Sign sign, const QRectF& area) const;

  bool paged_ = false;
};

}  // namespace orrery::ui
