// The labels of one text's tokens: coloured spans and, beside them, a table of the same.
#pragma once

#include <QTableWidget>
#include <QWidget>

#include "ui/classify/token_spans.h"

namespace orrery::ui {

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
