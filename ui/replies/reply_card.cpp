#include "ui/replies/reply_card.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kTopLine = 2.5, kCardRadius = 6;
constexpr int kCardInset = 10;

QString textOf(const api::TokenEvent& token) { return QString::fromStdString(token.text); }

}  // namespace

std::optional<size_t> firstDifference(const std::vector<api::TokenEvent>& a,
                                      const std::vector<api::TokenEvent>& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i].id != b[i].id) return i;
  return std::nullopt;
}

ReplyCard::ReplyCard(const Theme& theme, ReplyPair::Side side, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      side_(side),
      title_(new Text(theme, {Token::text, 12, QFont::DemiBold},
                      side == ReplyPair::Side::before ? "Before" : "After", this)),
      words_(new Text(theme, {Token::text3, 11}, {}, this)),
      rate_(new Text(theme, {Token::text2, 11, QFont::Normal, true}, {}, this)),
      figures_(new Text(theme, {Token::text3, 10.5, QFont::Normal, true}, {}, this)),
      note_(new Text(theme, {Token::edited, 10.5}, {}, this)),
      text_(new QTextEdit(this)) {
  text_->setReadOnly(true);
  text_->setFrameShape(QFrame::NoFrame);
  text_->setAccessibleName(side == ReplyPair::Side::before ? "Reply before" : "Reply after");
  text_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);
  title_->reserve(title_->text());
  rate_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  note_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* head = new QHBoxLayout;
  head->setSpacing(8);
  head->addWidget(title_);
  head->addWidget(words_, 1);
  head->addWidget(rate_);
  auto* foot = new QHBoxLayout;
  foot->addWidget(figures_, 1);
  foot->addWidget(note_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(kCardInset, 8, kCardInset, 6);
  layout->setSpacing(4);
  layout->addLayout(head);
  layout->addWidget(text_, 1);
  layout->addLayout(foot);
  setMinimumWidth(160);
  setTheme(theme);
}

void ReplyCard::setWords(const QString& words, Token token) {
  words_->setToken(token);
  words_->setText(words);
}

void ReplyCard::begin() {
  tokens_.clear();
  ends_.clear();
  difference_.reset();
  text_->clear();
  text_->setExtraSelections({});
  rate_->setText({});
  figures_->setText("waiting");
  note_->setText({});
}

void ReplyCard::add(const TokenBatch& tokens) {
  QTextCursor end(text_->document());
  end.movePosition(QTextCursor::End);
  for (const api::TokenEvent& token : tokens) {
    end.insertText(textOf(token));
    tokens_.push_back(token);
    ends_.push_back(end.position());
  }
  text_->verticalScrollBar()->setValue(text_->verticalScrollBar()->maximum());
  figures_->setText(format::counted(static_cast<qint64>(tokens_.size()), "token"));
  mark();
}

void ReplyCard::finish(const api::ChatResult& result) {
  if (result.decode_tokens_per_second > 0) {
    rate_->setText(format::rate(result.decode_tokens_per_second, "tok/s"));
    rate_->reserve(rate_->text());
  }
  QString figures = format::counted(static_cast<qint64>(tokens_.size()), "token") + "  first token " +
                    format::time(result.time_to_first_token_ms * 1e3);
  if (result.stop_reason == "cancelled") figures += "  stopped";
  figures_->setText(figures);
}

void ReplyCard::setDifference(std::optional<size_t> token) {
  if (std::exchange(difference_, token) != token) mark();
}

void ReplyCard::showNote(const QString& note, Token token) {
  note_->setToken(token);
  note_->reserve(note);
  note_->setText(note);
}

/// A token that ends within a character is told with the rest of it.
void ReplyCard::mark() {
  QList<QTextEdit::ExtraSelection> marks;
  if (difference_ && *difference_ < ends_.size()) {
    const int begin = *difference_ == 0 ? 0 : ends_[*difference_ - 1];
    const auto end = std::find_if(ends_.begin() + static_cast<std::ptrdiff_t>(*difference_), ends_.end(),
                                  [begin](int at) { return at > begin; });
    if (end != ends_.end()) {
      QTextEdit::ExtraSelection mark;
      mark.cursor = QTextCursor(text_->document());
      mark.cursor.setPosition(begin);
      mark.cursor.setPosition(*end, QTextCursor::KeepAnchor);
      mark.format.setBackground(theme_(Token::editedBg));
      mark.format.setForeground(theme_(Token::text));
      mark.format.setUnderlineStyle(QTextCharFormat::SingleUnderline);
      mark.format.setUnderlineColor(theme_(Token::edited));
      marks += mark;
    }
  }
  text_->setExtraSelections(marks);
}

void ReplyCard::showDifference() {
  const QList<QTextEdit::ExtraSelection> marks = text_->extraSelections();
  QTextCursor cursor(text_->document());
  if (!marks.isEmpty()) cursor.setPosition(marks.front().cursor.position());
  text_->setTextCursor(cursor);
  text_->ensureCursorVisible();
}

QString ReplyCard::marked() const {
  const QList<QTextEdit::ExtraSelection> marks = text_->extraSelections();
  return marks.isEmpty() ? QString() : marks.front().cursor.selectedText();
}

void ReplyCard::setTheme(const Theme& theme) {
  theme_ = theme;
  text_->setFont(theme.textFont(12.5));
  text_->setStyleSheet(QString("QTextEdit { background: %1; color: %2; border: none; padding: 0; }")
                           .arg(theme(Token::raised).name(), theme(Token::text).name()));
  mark();
  update();
}

void ReplyCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paintBox(painter, rect(), theme_.scaled(kCardRadius), theme_(Token::raised), theme_(Token::border));
  const Token line = side_ == ReplyPair::Side::before ? Token::borderStrong : Token::edited;
  painter.fillRect(QRectF(2, 0, width() - 4, theme_.scaled(kTopLine)), theme_(line));
}

}  // namespace orrery::ui
