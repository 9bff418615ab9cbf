// The last line of the window: what it does, with which model and edits, on what; memory, speed, context,
// profiler.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/session/session_controller.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

struct StatusFacts {
  QString state = "Ready";
  bool live = false;
  QString model, edits, precision, machine;  // empty: left out
  bool edited = false;
  QString memory, speed, context, profiler;
  QString memoryTip;  // what the memory counts
  bool operator==(const StatusFacts& other) const = default;
};

class StatusStrip : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit StatusStrip(const Theme& theme, QWidget* parent = nullptr);
  void setFacts(const StatusFacts& facts);
  const StatusFacts& facts() const { return facts_; }
  void setTheme(const Theme& theme) override;
  /// Where the precision is written; empty: there is no room, or no model.
  QRectF precisionPlace() const { return precision_; }

 signals:
  /// The precision was clicked; `at` is of the screen.
  void precisionAsked(const QPoint& at);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  StatusFacts facts_;
  QRectF memory_, precision_;  // as painted; empty: there was no room
};

}  // namespace orrery::ui
