// One finding of a comparison: caption, value, a note, and whether it is as hoped.
#pragma once

#include "ui/widgets/themed.h"

namespace orrery::ui {

class CompareTile : public QWidget, public Themed {
  Q_OBJECT
 public:
  enum class Mark { none, check, warn };
  CompareTile(const Theme& theme, const QString& caption, QWidget* parent = nullptr);
  void setValue(const QString& value, const QString& note, Mark mark);
  void clear();
  QString value() const { return value_; }
  QString note() const { return note_; }
  Mark mark() const { return mark_; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  QString caption_, value_, note_;
  Mark mark_ = Mark::none;
};

}  // namespace orrery::ui
