// The graph's place while no model is there.
#pragma once

#include <QWidget>

#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class DropHint : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit DropHint(const Theme& theme, QWidget* parent = nullptr);
  void setTheme(const Theme& theme) override;

 signals:
  void openAsked();
  void libraryAsked();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QRectF card() const;
  Theme theme_;
};

}  // namespace orrery::ui
