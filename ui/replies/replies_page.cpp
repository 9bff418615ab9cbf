#include "ui/replies/replies_page.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/session/model_use.h"
#include "ui/theme/format.h"

namespace orrery::ui {

using Side = ReplyPair::Side;

RepliesPage::RepliesPage(const Theme& theme, SessionController* session, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      session_(session),
      pair_(new ReplyPair(this)),
      prompt_(new QLineEdit(this)),
      button_(new Button(theme, "Run", Button::Kind::plain, this)),
      banner_(new Banner(theme, this)),
      cards_{new ReplyCard(theme, Side::before, this), new ReplyCard(theme, Side::after, this)} {
  prompt_->setPlaceholderText("A prompt for both");
  prompt_->setText("Why is the sky dark at night?");
  prompt_->setAccessibleName("Prompt");
  button_->setToolTip("Run the prompt on the model as it was opened, then as it is now");
  auto* head = new QHBoxLayout;
  head->setSpacing(8);
  head->addWidget(prompt_, 1);
  head->addWidget(button_);
  auto* cards = new QHBoxLayout;
  cards->setSpacing(8);
  for (ReplyCard* card : cards_) cards->addWidget(card, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 8, 12, 8);
  layout->setSpacing(8);
  layout->addLayout(head);
  layout->addWidget(banner_);
  layout->addLayout(cards, 1);
  setFocusProxy(prompt_);
  connect(prompt_, &QLineEdit::returnPressed, this, &RepliesPage::ask);
  connect(prompt_, &QLineEdit::textChanged, this, &RepliesPage::refresh);
  connect(button_, &QAbstractButton::clicked, this, [this] { pair_->running() ? pair_->stop() : ask(); });
  connect(pair_, &ReplyPair::tokensArrived, this, [this](Side side, const TokenBatch& tokens) {
    card(side)->add(tokens);
    compare();
  });
  connect(pair_, &ReplyPair::finished, this,
          [this](Side side, const api::ChatResult& result) { card(side)->finish(result); });
  connect(pair_, &ReplyPair::failed, banner_, &Banner::showError);
  connect(pair_, &ReplyPair::ended, this, [this] {
    compare();
    for (ReplyCard* card : cards_) card->showDifference();
    refresh();
  });
  connect(session_, &SessionController::graphChanged, this, &RepliesPage::refresh);
  connect(session_, &SessionController::opened, pair_, &ReplyPair::forget);
  refresh();
}

void RepliesPage::ask() {
  const SessionPtr session = session_->session();
  if (pair_->running() || !button_->isEnabled() || !session) return;
  banner_->dismiss();
  for (ReplyCard* card : cards_) card->begin();
  asked_ = session;
  askedEdits_ = session_->recipe();
  pair_->run(session, prompt_->text());
  refresh();
}

/// From the first token on that is another one.
void RepliesPage::compare() {
  ReplyCard &before = *card(Side::before), &after = *card(Side::after);
  if (after.tokens().empty()) return;
  const std::optional<size_t> token = firstDifference(before.tokens(), after.tokens());
  for (ReplyCard* card : cards_) card->setDifference(token);
  if (token) return after.showNote(QString("differs from token %1").arg(*token + 1), Token::edited);
  const bool same = before.tokens().size() == after.tokens().size();
  if (!pair_->running()) after.showNote(same ? "the same" : "the same, as far as both go", Token::text3);
}

void RepliesPage::refresh() {
  const SessionPtr session = session_->session();
  const bool can = session && writesText(session->info());
  const bool running = pair_->running();
  button_->setCaption(running ? "Stop" : "Run");
  button_->setIconName(running ? "stop" : "play", running ? Token::error : Token::accent);
  button_->setEnabled(running || (can && !prompt_->text().trimmed().isEmpty()));
  card(Side::before)->setWords("original");
  const bool shown = session && asked_.lock() == session;
  const std::vector<edit::Edit>& edits = shown ? askedEdits_ : session_->recipe();
  const bool stale = shown && edits != session_->recipe();
  card(Side::after)
      ->setWords(
          format::counted(static_cast<qint64>(edits.size()), "edit") + (stale ? ", changed since" : ""),
          stale ? Token::warn : Token::edited);
  emit wordsChanged(!session || can ? "greedy, seed 7" : "this model writes no text");
}

void RepliesPage::hideEvent(QHideEvent*) {
  if (!pair_->running()) pair_->forget();
}

void RepliesPage::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void RepliesPage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::panel));
}

}  // namespace orrery::ui
