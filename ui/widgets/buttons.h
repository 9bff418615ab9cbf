// Buttons that paint themselves: words, icons, and a button that opens a menu.
#pragma once

#include <QAbstractButton>
#include <QMenu>

#include "ui/widgets/themed.h"

namespace orrery::ui {

/// A word on a raised ground, 28 high, with an icon and a key's name where given. Space and Enter press it.
class Button : public QAbstractButton, public Themed {
  Q_OBJECT
 public:
  enum class Kind { plain, primary, danger, quiet };
  Button(const Theme& theme, const QString& text, Kind kind = Kind::plain, QWidget* parent = nullptr);
  void setIconName(const QString& icon, Token color = Token::text2);
  void setKeyHint(const QString& key);
  void setCaption(const QString& text);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  Theme theme_;
  Kind kind_;
  QString icon_, key_;
  Token iconColor_ = Token::text2;
};

/// An icon of 14 or 16 px in a hit area of 24 px or more. Always has a tool tip.
class IconButton : public QAbstractButton, public Themed {
  Q_OBJECT
 public:
  IconButton(const Theme& theme, const QString& icon, const QString& toolTip, QWidget* parent = nullptr,
             double iconPx = 14);
  void setIconName(const QString& icon);
  QString iconName() const { return icon_; }
  void setToken(Token token);
  void setGround(bool raised);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  Theme theme_;
  QString icon_;
  double iconPx_;
  Token token_ = Token::text2;
  bool raised_ = false;
};

/// Shows a choice; pressing opens the menu of choices below.
class DropButton : public QAbstractButton, public Themed {
  Q_OBJECT
 public:
  DropButton(const Theme& theme, QWidget* parent = nullptr);
  void setCaption(const QString& text, const QString& monoSuffix = {});
  void setIconName(const QString& icon);
  void setWidths(int minimum, int maximum);
  QMenu* menu() const { return menu_; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  Theme theme_;
  QString suffix_, icon_;
  QMenu* menu_;
  int minimum_ = 0, maximum_ = 280;
};

}  // namespace orrery::ui
