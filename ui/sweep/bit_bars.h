// A bar for each kind of matrix: how many of the layers' tensors take how many bits, few to many.
#pragma once

#include <QWidget>

#include "ui/sweep/bit_counts.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class BitBars : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit BitBars(const Theme& theme, QWidget* parent = nullptr);

  void show(BitCounts counts);
  const BitCounts& counts() const { return counts_; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  double headHeight() const;  // of the levels, above the bars
  QColor colorOf(size_t level) const;
  void paintLevels(QPainter& painter) const;
  void paintRow(QPainter& painter, const BitCounts::Row& row, double top) const;

  Theme theme_;
  BitCounts counts_;
};

}  // namespace orrery::ui
