#include "ui/compare/compare_card.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QScrollBar>
#include <QVBoxLayout>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kLine = 3;        // in the side's colour, at the card's top
constexpr double kLeastText = 22;  // a line: what was found stays in sight
constexpr int kInset = 6, kMark = 7;

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
  choice_->setWidths(96, 240);
  words_->setWrap(true);
  figures_->setWrap(true);
  text_->setReadOnly(true);
  text_->setFrameShape(QFrame::NoFrame);
  text_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);  // it takes what is left
  text_->setAccessibleName(side == api::Side::a ? "Reply of A" : "Reply of B");
  state_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* head = new QHBoxLayout;
  head->setSpacing(6);
  head->addSpacing(kMark + 4);  // the mark is painted there
  head->addWidget(letter_);
  head->addWidget(choice_, 1, Qt::AlignLeft);
  auto* facts = new QHBoxLayout;
  facts->setSpacing(7);
  facts->addWidget(words_, 1);
  facts->addWidget(state_, 0, Qt::AlignTop);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(kInset, 8, kInset, 6);
  layout->setSpacing(3);
  layout->addLayout(head);
  layout->addLayout(facts);
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
  showState("waiting", Token::text3);
}

void CompareCard::add(const api::PrefillEvent& event) {
  showState(QString("reading %1 / %2").arg(event.done).arg(event.tokens), Token::text3);
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
  showState("writing", Token::accent);
  showFigures();
}

/// Never cut: the words beside it take further lines.
void CompareCard::showState(const QString& words, Token token) {
  state_->setToken(token);
  state_->reserve(words);
  state_->setText(words);
}

void CompareCard::showFigures() {
  QStringList words;
  if (decodeMs_ > 0) words += format::rate(static_cast<double>(tokens_ - 1) / decodeMs_ * 1e3, "tok/s");
  if (firstMs_ > 0) words += "first " + format::time(firstMs_ * 1e3);
  figures_->setText(words.join("  "));
}

void CompareCard::finish(const api::ChatResult& result, double totalMs) {
  showState(result.tokens.empty() ? "done" : QString("%1 tok").arg(result.tokens.size()), Token::ok);
  if (result.tokens.empty()) figures_->setText(format::time(totalMs * 1e3));
}

void CompareCard::stop() { showState("stopped", Token::text3); }

void CompareCard::setTheme(const Theme& theme) {
  theme_ = theme;
  text_->setFont(theme.textFont(12.5));
  text_->setMinimumHeight(static_cast<int>(theme.scaled(kLeastText)));
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
  paintMark(painter, look_, QPointF(kInset + kMark / 2.0 + 1, letter_->geometry().center().y() + 0.5), kMark,
            theme_);
}

}  // namespace orrery::ui
