// A folding part of a panel: chevron, title, figures at the right, content below.
#pragma once

#include <QVBoxLayout>
#include <QWidget>

#include "ui/widgets/text.h"

namespace orrery::ui {

class SectionHeader;

class Section : public QWidget {
  Q_OBJECT
 public:
  Section(const Theme& theme, const QString& title, QWidget* parent = nullptr);
  /// Mono text at the right of the title.
  void setFigures(const QString& text);
  QVBoxLayout* content() const { return content_; }
  QWidget* body() const { return body_; }
  void setOpen(bool open);
  bool isOpen() const { return open_; }

 signals:
  void toggled(bool open);  // by the person

 private:
  SectionHeader* header_;
  QWidget* body_;
  QVBoxLayout* content_;
  bool open_ = true;
};

class SectionHeader : public QWidget, public Themed {
  Q_OBJECT
 public:
  SectionHeader(const Theme& theme, const QString& title, QWidget* parent = nullptr);
  void setFigures(const QString& text);
  void setOpen(bool open);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 signals:
  void toggled();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  Theme theme_;
  QString title_, figures_;
  bool open_ = true;
};

}  // namespace orrery::ui
