// The shapes of a page's layers: how many are alike, which are not, in what they differ. A click lights the
// layers of a shape.
#pragma once

#include <QPixmap>
#include <vector>

#include "ui/graph/strip_section.h"

namespace orrery::ui {

class ShapeList : public StripSection {
  Q_OBJECT

 public:
  /// What of a layer a picture of 24 by 32 shows: its rows.
  struct Bar {
    double width = 1;  // of the layer's
    QColor color;
  };
  struct Entry {
    QString name, detail;  // "28 alike", "Q4_1"
    std::vector<Bar> bars;
    int shape = -1;
    bool usual = false, edited = false, folded = false;
    friend bool operator==(const Entry& a, const Entry& b) {
      return a.name == b.name && a.detail == b.detail && a.shape == b.shape && a.usual == b.usual &&
             a.edited == b.edited && a.folded == b.folded;
    }
  };
  explicit ShapeList(const Theme& theme, QWidget* parent);
  void setEntries(std::vector<Entry> entries);
  void setLit(int shape);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void chosen(int shape);

 protected:
  void paintEvent(QPaintEvent*) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent*) override;
  bool event(QEvent* event) override;

 private:
  int shown() const;  // how many have room
  QRectF place(int entry) const;
  int entryAt(const QPointF& point) const;
  void choose(int entry);
  void showRest();
  void paintEntry(QPainter& painter, int index) const;
  void paintPicture(QPainter& painter, const Entry& entry, const QRectF& picture) const;

  std::vector<Entry> entries_;
  int lit_ = -1, hovered_ = -1, current_ = 0;
};

}  // namespace orrery::ui
