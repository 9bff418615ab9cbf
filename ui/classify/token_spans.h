// A text as its tokens, each on the colour of its label, with label and score below it.
#pragma once

#include <QWidget>

#include "engine/api/types.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

/// The text that a token stands for; bytes that are no whole character are replaced.
QString pieceText(const api::TokenLabel& token);
/// Of the label that the token got; 0 without probabilities.
double scoreOf(const api::TokenLabel& token);
/// "PER" of "B-PER" and "I-PER"; empty for "O", which says that a token is nothing.
QString entityOf(const std::string& label);

class TokenSpans : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit TokenSpans(const Theme& theme, QWidget* parent = nullptr);

  /// `labels`: all that the model knows, which settle the colours.
  void setTokens(std::vector<api::TokenLabel> tokens, const std::vector<std::string>& labels);
  const std::vector<api::TokenLabel>& tokens() const { return tokens_; }
  /// Where a token is drawn.
  QRectF rectOf(int token) const;
  QColor colorOf(int token) const;
  /// Marks a token; -1: none.
  void setCurrent(int token);
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
  QString below(const api::TokenLabel& token) const;
  QString toolTipOf(const api::TokenLabel& token) const;

  Theme theme_;
  std::vector<api::TokenLabel> tokens_;
  std::vector<std::string> labels_;
  QStringList entities_;  // in the order of the labels
  int current_ = -1;
};

}  // namespace orrery::ui
