// One pass: its switch, what it does and did, and its gain with a button that measures it.
#pragma once

#include <QCheckBox>

#include "ui/passes/pass_words.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

/// Where the columns of rows and of their head stand, from the left; a column without room has no width.
struct PassColumns {
  struct Column {
    double left = 0, width = 0;
  };
  Column name, doc, rewrites, nodes, time, gains[2], button;
  static PassColumns of(double width, const Theme& theme, bool writes);
};

class PassRowView : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit PassRowView(const Theme& theme, QWidget* parent = nullptr);
  /// `done`: of the measurement, where it is this one's.
  void setRow(const PassRow& row, bool writes, double done);
  const PassRow& row() const { return row_; }
  void setChosen(bool chosen);
  bool isChosen() const { return chosen_; }
  QCheckBox* toggle() const { return toggle_; }
  IconButton* measure() const { return measure_; }
  /// As they are written: of a token and of a prompt, or of a text.
  std::vector<GainWords> gains() const;
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 signals:
  void switched(bool on);
  void chosen();
  void walked(int rows);  // to another row, by a key

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void place();

  Theme theme_;
  PassRow row_;
  bool writes_ = true, chosen_ = false;
  double done_ = 0;
  QCheckBox* toggle_;
  IconButton* measure_;
};

/// The names of the columns.
class PassHead : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit PassHead(const Theme& theme, QWidget* parent = nullptr);
  void setWrites(bool writes);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  bool writes_ = true;
};

}  // namespace orrery::ui
