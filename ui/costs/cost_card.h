// What one edit costs, or all of them: lines with deltas, and the KL of each token of the text as a curve.
#pragma once

#include <QAbstractButton>

#include "ui/costs/cost_lines.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class CostCard : public QAbstractButton, public Themed {
  Q_OBJECT
 public:
  explicit CostCard(const Theme& theme, QWidget* parent = nullptr);
  /// `number`: from 1. `most`: the KL at the top of the curve, the same for all cards.
  void setCost(const EditCost& cost, int number, bool writes, float most);
  const EditCost& cost() const { return cost_; }
  const std::vector<CostLine>& lines() const { return lines_; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }

 private:
  void paintHead(QPainter& painter, const QRectF& where) const;
  void paintLine(QPainter& painter, const QRectF& where, const CostLine& line) const;
  void paintCurve(QPainter& painter, const QRectF& where) const;
  void paintRefusal(QPainter& painter, const QRectF& where) const;

  Theme theme_;
  EditCost cost_;
  std::vector<CostLine> lines_;
  int number_ = 0;
  float most_ = 0;
};

}  // namespace orrery::ui
