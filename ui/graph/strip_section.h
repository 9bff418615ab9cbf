// A part of the strip under the graph: its title, a note beside it, what it explains below.
#pragma once

#include <QWidget>

#include "ui/theme/theme.h"

namespace orrery::ui {

inline constexpr double kStripHeight = 96;  // at body 13

class StripSection : public QWidget {
  Q_OBJECT

 public:
  StripSection(const Theme& theme, QWidget* parent);
  virtual void setTheme(const Theme& theme);

 protected:
  static constexpr double kInset = 14;
  double px(double length) const { return theme_.scaled(length); }
  /// The title in the first line, the note as far as there is room up to `right`.
  void paintTitle(QPainter& painter, const QString& title, const QString& note, double right) const;
  /// A line of hints; `baseline` at body 13.
  void paintNote(QPainter& painter, const QString& note, double baseline) const;

  Theme theme_;
};

}  // namespace orrery::ui
