// A bar for each row that can run: its share of the limit, what it computes or what it moves a second.
#pragma once

#include <QWidget>

#include "ui/lab/lab_rows.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class LabBars : public QWidget, public Themed {
  Q_OBJECT
 public:
  enum class What { share, flops, bytes };
  explicit LabBars(const Theme& theme, QWidget* parent = nullptr);

  void show(std::vector<LabRow> rows);
  void setWhat(What what);
  /// By its number; 0: none.
  void choose(int number);
  int chosen() const { return chosen_; }
  /// How many bars there are: rows that are refused have none, rivals have lines.
  int bars() const { return static_cast<int>(rows_.size()); }
  int rivals() const { return static_cast<int>(rivals_.size()); }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void numberChosen(int number);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  double valueOf(const LabRow& row) const;
  double top() const;  // of the scale
  QRectF ground() const;
  QRectF column(size_t bar) const;
  int barAt(const QPointF& position) const;
  void paintScale(QPainter& painter) const;
  void paintBar(QPainter& painter, size_t bar) const;
  void paintFoot(QPainter& painter, size_t bar) const;
  /// Across the bars of its device.
  void paintRival(QPainter& painter, const LabRow& rival) const;
  /// How many times as fast as the bar before it, on the same device; empty: it is the first.
  QString gainOf(size_t bar) const;

  Theme theme_;
  std::vector<LabRow> rows_, rivals_;
  What what_ = What::share;
  int chosen_ = 0;
};

}  // namespace orrery::ui
