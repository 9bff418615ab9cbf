// The exact text that the model is given for a conversation: what the chat template made of it, its special
// tokens marked, and how many tokens it is.
#pragma once

#include <QDialog>
#include <QLabel>
#include <QPlainTextEdit>

#include "engine/api/session.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

class PromptDialog : public QDialog {
  Q_OBJECT
 public:
  /// Renders the messages as the next reply would read them.
  PromptDialog(const Theme& theme, const api::Session& session, const std::vector<api::Message>& messages,
               QWidget* parent = nullptr);

  QString text() const { return text_->toPlainText(); }
  QString summary() const { return summary_->text(); }

 private:
  void showTokens(const api::Session& session, const std::vector<int32_t>& ids);

  Theme theme_;
  QLabel* summary_;
  QPlainTextEdit* text_;
};

}  // namespace orrery::ui
