// A text as its tokens, each on a ground of its own colour, with a value below it.
#pragma once

#include <QWidget>
#include <functional>

#include "ui/widgets/themed.h"

namespace orrery::ui {

struct TokenSpan {
  static constexpr double kTint = 0.24;

  QString text, below, toolTip;
  /// None: the token is nothing, and stands on no colour.
  std::function<QColor(const Theme&)> color = {};
  double tint = kTint;  // how much of the colour its ground has, 0 to 1
};

class TokenSpans : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit TokenSpans(const Theme& theme, QWidget* parent = nullptr);

  void setTokens(std::vector<TokenSpan> tokens);
  const std::vector<TokenSpan>& tokens() const { return tokens_; }
  /// Where a token is drawn.
  QRectF rectOf(int token) const;
  QColor colorOf(int token) const;
  /// Marks a token; -1: none.
  void setCurrent(int token);
  /// Around all tokens, px.
  void setMargin(double margin);
  void setTheme(const Theme& theme) override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {320, heightForWidth(320)}; }

 signals:
  void tokenClicked(int token);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  std::vector<QRectF> layOut(double width, double* height) const;
  int tokenAt(const QPointF& position) const;

  Theme theme_;
  std::vector<TokenSpan> tokens_;
  double margin_;
  int current_ = -1;
};

}  // namespace orrery::ui
