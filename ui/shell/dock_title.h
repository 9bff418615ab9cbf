// A dock's own title bar: name, a second word, whatever the page puts there, float and close.
#pragma once

#include <QWidget>

#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

class QHBoxLayout;

namespace orrery::ui {

class DockTitle : public QWidget, public Themed {
  Q_OBJECT
 public:
  DockTitle(const Theme& theme, const QString& title, QWidget* parent = nullptr);
  void setSubtitle(const QString& text) { subtitle_->setText(text); }
  QString subtitle() const { return subtitle_->text(); }
  void setMiddle(QWidget* widget);
  void setCorner(QWidget* widget);
  void setTheme(const Theme& theme) override;

 signals:
  void floatAsked();
  void closeAsked();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  Text* subtitle_;
  QHBoxLayout* layout_;
};

}  // namespace orrery::ui
