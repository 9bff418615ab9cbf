// The labels of one text's tokens: coloured spans and, beside them, a table of the same.
#pragma once

#include <QTableWidget>
#include <QWidget>

#include "engine/api/types.h"
#include "ui/widgets/token_spans.h"

namespace orrery::ui {

/// The text that a token stands for; bytes that are no whole character are replaced.
QString pieceText(const api::TokenLabel& token);
/// Of the label that the token got; 0 without probabilities.
double scoreOf(const api::TokenLabel& token);
/// "PER" of "B-PER" and "I-PER"; empty for "O", which says that a token is nothing.
QString entityOf(const std::string& label);
/// Each on the colour of its label, with label and score below it. `labels`: all that the model knows, which
/// settle the colours.
std::vector<TokenSpan> labelledSpans(const std::vector<api::TokenLabel>& tokens,
                                     const std::vector<std::string>& labels);

class TokenLabelsView : public QWidget {
  Q_OBJECT
 public:
  explicit TokenLabelsView(const Theme& theme, QWidget* parent = nullptr);
  void setTokens(const std::vector<api::TokenLabel>& tokens, const std::vector<std::string>& labels);
  TokenSpans* spans() const { return spans_; }
  QTableWidget* table() const { return table_; }

 private:
  TokenSpans* spans_;
  QTableWidget* table_;  // token, label, score
};

}  // namespace orrery::ui
