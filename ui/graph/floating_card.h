// A card that floats over the graph, with a cross in its corner while the pointer is on it.
#pragma once

#include <QAbstractButton>
#include <QWidget>

#include "ui/theme/theme.h"

namespace orrery::ui {

/// The card under what floats, with a soft edge instead of a shadow that would cost a blur.
void paintCard(QPainter& painter, const Theme& theme, const QRectF& rect);

class FloatingCard : public QWidget {
  Q_OBJECT

 public:
  /// closeTip: what the cross does, and the key that takes it back.
  FloatingCard(const Theme& theme, const QString& closeTip, QWidget* parent);
  virtual void setTheme(const Theme& theme);

 signals:
  void closeAsked();

 protected:
  /// What the cross takes of a head's right end.
  double closeRoom() const { return theme_.scaled(16); }
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

  Theme theme_;

 private:
  QAbstractButton* close_;
};

}  // namespace orrery::ui
