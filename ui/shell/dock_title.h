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
  /// It and the middle are shown where there is room for all of them.
  void setSubtitle(const QString& text);
  QString subtitle() const { return subtitle_->text(); }
  void setMiddle(QWidget* widget);
  void setCorner(QWidget* widget);
  void setTheme(const Theme& theme) override;
  QSize minimumSizeHint() const override;

 signals:
  void floatAsked();
  void closeAsked();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  int leastWidth() const;
  void showWhatFits();

  Theme theme_;
  Text* subtitle_;
  QWidget* middle_ = nullptr;
  QHBoxLayout* layout_;
};

}  // namespace orrery::ui
