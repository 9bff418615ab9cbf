// True labels down, predicted across; cells in heat. All of it is shown however many labels there are and
// however long their names: what has no room is in the tool tips.
#pragma once

#include <QWidget>

#include "ui/classify/classify_model.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class ConfusionView : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit ConfusionView(const Theme& theme, QWidget* parent = nullptr);
  void setMatrix(const ConfusionMatrix& matrix);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  /// What stands there, in full.
  QString tipAt(const QPointF& at) const;

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  double namesWidth() const;
  QRectF cellRect(int truth, int predicted) const;
  void paintCell(QPainter& painter, const QRectF& cell, int value, int most) const;

  Theme theme_;
  ConfusionMatrix matrix_;
};

}  // namespace orrery::ui
