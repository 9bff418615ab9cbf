#include "ui/compare/compare_card.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QScrollBar>
#include <QVBoxLayout>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kLine = 3;  // in the side's colour, at the card's top

}  // namespace

CompareCard::CompareCard(const Theme& theme, api::Side side, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      letter_(new Text(theme, {Token::text, 12.5, QFont::DemiBold}, side == api::Side::a ? "A" : "B", this)),
      choice_(new DropButton(theme, this)),
      words_(new Text(theme, {Token::text3, 11}, {}, this)),
      state_(new Text(theme, {Token::text3, 11}, {}, this)),
      figures_(new Text(theme, {Token::text2, 11, QFont::Normal, true}, {}, this)),
      text_(new QPlainTextEdit(this)) {
  choice_->setToolTip("What this side runs on");
  choice_->setWidths(96, 170);
  text_->setReadOnly(true);
  text_->setFrameShape(QFrame::NoFrame);
  text_->setAccessibleName(side == api::Side::a ? "Reply of A" : "Reply of B");
  state_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* head = new QHBoxLayout;
  head->setSpacing(7);
  head->addSpacing(14);  // the mark is painted there
  head->addWidget(letter_);
  head->addWidget(choice_);
  head->addStretch(1);
  head->addWidget(state_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(10, 8, 10, 6);
  layout->setSpacing(3);
  layout->addLayout(head);
  layout->addWidget(words_);
  layout->addWidget(text_, 1);
  layout->addWidget(figures_);
  setMinimumWidth(160);
  setTheme(theme);
}

void CompareCard::setSetting(const SideLook& look) {
  look_ = look;
  choice_->setCaption(look.name);
  update();
}

void CompareCard::setWords(const QString& words) {
  ranWords_ = words;
  words_->setText(words);
}

void CompareCard::setStale(const QString& ran) {
  stale_ = !ran.isEmpty();
  words_->setToken(stale_ ? Token::warn : Token::text3);
  words_->setText(stale_ ? "From the run on " + ran : ranWords_);
}

void CompareCard::begin() {
  setWords({});
  setStale({});
  text_->clear();
  tokens_ = 0;
  decodeMs_ = firstMs_ = 0;
  figures_->setText({});
  state_->setToken(Token::text3);
  state_->setText("waiting");
}

void CompareCard::add(const api::PrefillEvent& event) {
  state_->setText(QString("reading %1 / %2").arg(event.done).arg(event.tokens));
}

void CompareCard::add(const TokenBatch& tokens) {
  QString text;
  for (const api::TokenEvent& token : tokens) {
    text += QString::fromStdString(token.text);
    if (tokens_++ == 0)
      firstMs_ = token.step_ms;
    else
      decodeMs_ += token.step_ms;
  }
  QTextCursor end(text_->document());
  end.movePosition(QTextCursor::End);
  end.insertText(text);
  text_->verticalScrollBar()->setValue(text_->verticalScrollBar()->maximum());
  state_->setToken(Token::accent);
  state_->setText("writing");
  showFigures();
}

void CompareCard::showFigures() {
  QStringList words;
  if (decodeMs_ > 0) words += format::rate(static_cast<double>(tokens_ - 1) / decodeMs_ * 1e3, "tok/s");
  if (firstMs_ > 0) words += "first " + format::time(firstMs_ * 1e3);
  figures_->setText(words.join("  "));
}

void CompareCard::finish(const api::ChatResult& result, double totalMs) {
  state_->setToken(Token::ok);
  state_->setText(result.tokens.empty() ? "done" : QString("%1 tok").arg(result.tokens.size()));
  if (result.tokens.empty()) figures_->setText(format::time(totalMs * 1e3));
}

void CompareCard::stop() {
  state_->setToken(Token::text3);
  state_->setText("stopped");
}

void CompareCard::setTheme(const Theme& theme) {
  theme_ = theme;
  text_->setFont(theme.textFont(12.5));
  QPalette palette = text_->palette();
  palette.setColor(QPalette::Base, theme(Token::raised));
  palette.setColor(QPalette::Text, theme(Token::text));
  text_->setPalette(palette);
  text_->setStyleSheet(QString("QPlainTextEdit { background: %1; color: %2; border: none; padding: 0; }")
                           .arg(theme(Token::raised).name(), theme(Token::text).name()));
  update();
}

void CompareCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paintBox(painter, rect(), theme_.scaled(5), theme_(Token::raised), theme_(Token::border));
  painter.fillRect(QRectF(1, 0, width() - 2, kLine), theme_(look_.token));
  paintMark(painter, look_, QPointF(14.5, letter_->geometry().center().y() + 0.5), 7, theme_);
}

}  // namespace orrery::ui
