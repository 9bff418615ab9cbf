// What the model could have said in a token's place: the five likeliest with bars, and the token's logprob.
#pragma once

#include <QWidget>

#include "engine/api/types.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

/// A token's bytes as people read them: a space as an open box, a newline as an arrow, broken UTF-8 replaced.
QString pieceText(const std::string& piece);

class TokenPopup : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit TokenPopup(const Theme& theme, QWidget* parent = nullptr);
  void setToken(const api::TokenEvent& token, int index);
  const api::TokenEvent& token() const { return token_; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  api::TokenEvent token_;
  std::vector<api::TokenAlternative> rows_;
  int index_ = 0;
};

}  // namespace orrery::ui
