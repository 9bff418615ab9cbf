// Where we are in the graph.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

#include "ui/theme/theme.h"

namespace orrery::ui {

/// "smollm2 > layers.12 > mlp > gate_up_silu": every part but the last goes there.
class Breadcrumb : public QWidget {
  Q_OBJECT

 public:
  explicit Breadcrumb(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
  /// Where there is less than it needs, its words are shortened, the model's name first.
  void setRoom(int width);
  /// scopes[i] is where parts[i] leads; the last part is where we are.
  void setParts(const QStringList& parts, const QStringList& scopes);
  QSize sizeHint() const override;

 signals:
  void scopeClicked(const QString& scope);

 protected:
  void paintEvent(QPaintEvent*) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent*) override;

 private:
  void shorten();
  QFont fontOf(qsizetype part) const;
  std::vector<QRectF> layoutParts() const;
  int partAt(const QPointF& point) const;

  Theme theme_;
  QStringList parts_, scopes_, shown_;
  int room_ = 1 << 20, hovered_ = -1;
};

}  // namespace orrery::ui
