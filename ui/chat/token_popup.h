// What the model could have said in a token's place: the five likeliest with bars, and the token's logprob.
// Stays while the pointer is on its way from the token to it, and over it; Esc closes it.
#pragma once

#include <QTimer>
#include <QWidget>

#include "engine/api/types.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

/// A token's bytes as people read them: a space as an open box, a newline as an arrow, broken UTF-8 replaced.
QString pieceText(const std::string& piece);

class TokenPopup : public QWidget, public Themed {
  Q_OBJECT
 public:
  /// `text` shows the tokens: moves of the pointer there that lead to the popup do not reach it.
  TokenPopup(const Theme& theme, QWidget* text, QWidget* parent = nullptr);
  void setToken(const api::TokenEvent& token, int index);
  const api::TokenEvent& token() const { return token_; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  bool approached(const QPointF& from, const QPointF& to) const;
  bool filterPointer(QEvent* event);
  bool filterKey(QEvent* event);
  void release();

  Theme theme_;
  QWidget* text_;
  QPointF pointer_;  // in the text
  bool pointerInText_ = false;
  QTimer grace_;  // runs while the pointer may be on its way
  api::TokenEvent token_;
  std::vector<api::TokenAlternative> rows_;
  int index_ = 0;
};

}  // namespace orrery::ui
