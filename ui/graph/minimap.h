// The whole drawing in the strip, with the view's frame; press or drag goes there.
#pragma once

#include <QPixmap>
#include <functional>

#include "ui/graph/strip_section.h"

class QAbstractButton;

namespace orrery::ui {

class Minimap : public StripSection {
  Q_OBJECT

 public:
  using Paint = std::function<void(QPainter&, double scale)>;  // draws in scene coordinates
  explicit Minimap(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme) override;
  void setPainter(Paint paint) { paint_ = std::move(paint); }
  /// "Page" and "6 columns".
  void setWords(const QString& title, const QString& detail);
  void setBounds(const QRectF& bounds);
  void setView(const QRectF& visible);
  /// What the lens shows; null: it is closed.
  void setLens(const QRectF& area);
  void refresh();  // the drawing changed
  QSize sizeHint() const override;

 signals:
  void goTo(const QPointF& scenePoint);
  void closeAsked();

 protected:
  void paintEvent(QPaintEvent*) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent*) override;

 private:
  QRectF map() const;
  QTransform toWidget() const;
  void paintFrames(QPainter& painter) const;

  Paint paint_;
  QString title_, detail_;
  QRectF bounds_, view_, lens_;
  mutable QPixmap picture_;  // of the drawing at this size
  QAbstractButton* close_;
};

}  // namespace orrery::ui
