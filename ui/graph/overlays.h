// What floats over the graph: where we are, what the colours mean, where the view is.
#pragma once

#include <QPixmap>
#include <QStringList>
#include <QWidget>
#include <functional>

#include "ui/graph/heat_model.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

/// The card under what floats, with a soft edge instead of a shadow that would cost a blur.
void paintCard(QPainter& painter, const Theme& theme, const QRectF& rect);

/// "smollm2 > layers.12 > mlp > gate_up_silu": every part but the last goes there.
class Breadcrumb : public QWidget {
  Q_OBJECT

 public:
  explicit Breadcrumb(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
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
  QFont fontOf(qsizetype part) const;
  std::vector<QRectF> layoutParts() const;
  int partAt(const QPointF& point) const;

  Theme theme_;
  QStringList parts_, scopes_;
  int hovered_ = -1;
};

/// The heat scale with its switch between logarithmic and linear.
class Legend : public QWidget {
  Q_OBJECT

 public:
  explicit Legend(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
  void setScale(const QString& title, const std::vector<QString>& ticks, bool logarithmic);
  /// The map of two sides, which is always logarithmic: the side that is faster at either end.
  void setRatio(const SideLooks& ends, const std::vector<QString>& ticks);
  QSize sizeHint() const override;

 signals:
  void logarithmicChanged(bool logarithmic);

 protected:
  void paintEvent(QPaintEvent*) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QRectF switchRect() const;
  void paintSwitch(QPainter& painter) const;
  void paintEnds(QPainter& painter) const;
  void paintScale(QPainter& painter) const;

  Theme theme_;
  QString title_;
  std::vector<QString> ticks_;
  SideLooks ends_;
  bool logarithmic_ = true, ratio_ = false;
};

/// The whole drawing, with the view's frame; press or drag goes there.
class Minimap : public QWidget {
  Q_OBJECT

 public:
  using Paint = std::function<void(QPainter&, double scale)>;  // draws in scene coordinates
  explicit Minimap(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
  void setPainter(Paint paint) { paint_ = std::move(paint); }
  void setBounds(const QRectF& bounds);
  void setView(const QRectF& visible);
  void refresh();  // the drawing changed
  QSize sizeHint() const override;

 signals:
  void goTo(const QPointF& scenePoint);

 protected:
  void paintEvent(QPaintEvent*) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  QTransform toWidget() const;

  Theme theme_;
  Paint paint_;
  QRectF bounds_, view_;
  QPixmap picture_;
};

}  // namespace orrery::ui
