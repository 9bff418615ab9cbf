// What the model says to a prompt as it was opened, and what it says now: side by side.
#pragma once

#include <QLineEdit>

#include "ui/replies/reply_card.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/buttons.h"

namespace orrery::ui {

class RepliesPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  RepliesPage(const Theme& theme, SessionController* session, QWidget* parent = nullptr);

  ReplyCard* card(ReplyPair::Side side) const { return cards_[side == ReplyPair::Side::after]; }
  ReplyPair* pair() const { return pair_; }
  QLineEdit* prompt() const { return prompt_; }
  /// Runs, or stops what runs.
  Button* button() const { return button_; }
  Banner* banner() const { return banner_; }
  void setTheme(const Theme& theme) override;

 signals:
  void wordsChanged(const QString& words);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void ask();
  void compare();
  void refresh();

  Theme theme_;
  SessionController* session_;
  ReplyPair* pair_;
  QLineEdit* prompt_;
  Button* button_;
  Banner* banner_;
  ReplyCard* cards_[2];
  std::weak_ptr<api::Session> asked_;   // whose replies are shown
  std::vector<edit::Edit> askedEdits_;  // that the second one is of
};

}  // namespace orrery::ui
