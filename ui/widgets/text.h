// One line or one paragraph of text in a colour and a size of the theme; and chips.
#pragma once

#include <QWidget>

#include "ui/widgets/themed.h"

namespace orrery::ui {

struct TextStyle {
  Token token = Token::text;
  double px = 12;
  QFont::Weight weight = QFont::Normal;
  bool mono = false;
  QFont font(const Theme& theme) const {
    return mono ? theme.monoFont(px, weight) : theme.textFont(px, weight);
  }
};

/// One line, elided where it does not fit; with wrap() on, a paragraph.
class Text : public QWidget, public Themed {
  Q_OBJECT
 public:
  Text(const Theme& theme, const TextStyle& style, const QString& text = {}, QWidget* parent = nullptr);

  void setText(const QString& text);
  QString text() const { return text_; }
  void setToken(Token token);
  void setAlignment(Qt::Alignment alignment);
  void setElide(Qt::TextElideMode mode);
  /// Shown where the whole text does not fit; empty: none.
  void setBrief(const QString& brief);
  void setWrap(bool wrap);
  /// Keeps the width of this text even when a shorter one is shown, so that numbers do not push their
  /// neighbours.
  void reserve(const QString& widest);
  void setTheme(const Theme& theme) override;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return wrap_; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  TextStyle style_;
  QString text_, widest_, brief_;
  Qt::Alignment alignment_ = Qt::AlignLeft | Qt::AlignVCenter;
  Qt::TextElideMode elide_ = Qt::ElideRight;
  bool wrap_ = false;
  mutable QSize least_;  // what minimumSizeHint() found, for which each layout asks several times
};

/// A small rounded word: device, dtype, "4 in 1".
class Chip : public QWidget, public Themed {
  Q_OBJECT
 public:
  Chip(const Theme& theme, const QString& text, Token color = Token::text2, const QString& icon = {},
       QWidget* parent = nullptr);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  QString text_, icon_;
  Token color_;
};

}  // namespace orrery::ui
