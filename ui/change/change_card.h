// The lines of what will change: label, old value, arrow, new value, difference.
#pragma once

#include "ui/change/change_rows.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class ChangeCard : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit ChangeCard(const Theme& theme, QWidget* parent = nullptr);
  void setRows(std::vector<ChangeRow> rows);
  const std::vector<ChangeRow>& rows() const { return rows_; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  std::vector<ChangeRow> rows_;
};

}  // namespace orrery::ui
