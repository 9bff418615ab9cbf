// What the wires' colours and strokes tell: what they carry, and what edits made of them.
#pragma once

#include "ui/graph/floating_card.h"

namespace orrery::ui {

class WireLegend : public FloatingCard {
  Q_OBJECT
 public:
  WireLegend(const Theme& theme, QWidget* parent);
  void setShown(bool kinds, bool changes);
  bool tellsAnything() const { return kinds_ || changes_; }
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  double paintHead(QPainter& painter, double y, const QString& title, const QString& word) const;

  bool kinds_ = false, changes_ = false;
};

/// Keys of the drawing with what they do, at its upper right corner.
class KeyHints : public QWidget {
  Q_OBJECT
 public:
  KeyHints(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
  struct Hint {
    QString keys, word;
  };
  void setHints(std::vector<Hint> hints);
  bool empty() const { return hints_.empty(); }
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  Theme theme_;
  std::vector<Hint> hints_;
};

}  // namespace orrery::ui
