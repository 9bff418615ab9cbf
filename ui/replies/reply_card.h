// One of the two replies: its text, with the token from which the other one is another, and its figures.
#pragma once

#include <QTextEdit>
#include <optional>

#include "ui/session/reply_pair.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class ReplyCard : public QWidget, public Themed {
  Q_OBJECT
 public:
  ReplyCard(const Theme& theme, ReplyPair::Side side, QWidget* parent = nullptr);

  /// "original", "4 edits".
  void setWords(const QString& words, Token token = Token::text3);
  void begin();
  void add(const TokenBatch& tokens);
  void finish(const api::ChatResult& result);
  /// The token that the other reply has not; none: they are the same so far.
  void setDifference(std::optional<size_t> token);
  /// Scrolls to where they begin to differ.
  void showDifference();
  void showNote(const QString& note, Token token);
  const std::vector<api::TokenEvent>& tokens() const { return tokens_; }
  QString text() const { return text_->toPlainText(); }
  /// What is underlined.
  QString marked() const;
  QString figures() const { return figures_->text(); }
  QString note() const { return note_->text(); }
  QString words() const { return words_->text(); }
  void setTheme(const Theme& theme) override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void mark();

  Theme theme_;
  ReplyPair::Side side_;
  Text *title_, *words_, *rate_, *figures_, *note_;
  QTextEdit* text_;
  std::vector<api::TokenEvent> tokens_;
  std::vector<int> ends_;  // of the tokens in the text
  std::optional<size_t> difference_;
};

/// From which token on two replies are not the same; none: one is the beginning of the other.
std::optional<size_t> firstDifference(const std::vector<api::TokenEvent>& a,
                                      const std::vector<api::TokenEvent>& b);

}  // namespace orrery::ui
