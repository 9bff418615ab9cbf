#include "ui/inspector/attribution_section.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kSpacing = 8;
constexpr double kTextHeight = 58, kSides = 4;        // px; log2 of Theme::ratio at its ends
constexpr double kFaintest = 0.06, kStrongest = 0.6;  // of the colour on the ground

QString signedNumber(double value, int digits) {
  return (value > 0 ? QStringLiteral("+") : QString()) + format::number(value, digits);
}

/// What can be seen of a piece: a line's end and a blank have signs of their own, a token without bytes its
/// id.
QString shownPiece(const std::string& piece, int32_t id) {
  QString text = QString::fromStdString(piece);
  if (text.isEmpty()) return "#" + QString::number(id);
  text.replace('\n', QChar(0x21B5));
  return text.trimmed().isEmpty() ? QString(text.size(), QChar(0x2423)) : text;
}

}  // namespace

std::vector<TokenSpan> scoredSpans(const std::vector<api::TokenScore>& tokens) {
  double largest = 0;
  for (const api::TokenScore& token : tokens)
    if (std::isfinite(token.score)) largest = std::max(largest, std::abs(token.score));
  std::vector<TokenSpan> spans;
  for (const api::TokenScore& token : tokens) {
    const double share = largest > 0 ? token.score / largest : 0;
    const QString piece = shownPiece(token.piece, token.id);
    TokenSpan span{piece, signedNumber(token.score, 2),
                   QString("%1  (token %2)\nscore %3").arg(piece).arg(token.id).arg(token.score, 0, 'g', 9)};
    if (share != 0 && std::isfinite(share)) {
      span.color = [side = share > 0 ? kSides : -kSides](const Theme& theme) { return theme.ratio(side); };
      span.tint = kFaintest + (kStrongest - kFaintest) * std::abs(share);
    }
    spans.push_back(std::move(span));
  }
  return spans;
}

QString csvOf(const std::vector<api::TokenScore>& tokens) {
  QString csv = "token,id,score\n";
  for (const api::TokenScore& token : tokens) {
    const QString piece = QString::fromStdString(token.piece).replace('"', "\"\"");
    csv += QString("\"%1\",%2,%3\n").arg(piece).arg(token.id).arg(token.score, 0, 'g', 9);
  }
  return csv;
}

AttributionSection::AttributionSection(const Theme& theme, AttributionController* attributions,
                                       QWidget* parent)
    : Section(theme, "Which tokens it follows from", parent),
      attributions_(attributions),
      text_(new QPlainTextEdit(body())),
      target_(new SearchField(theme, {}, {}, {}, body())),
      compute_(new Button(theme, "Compute", Button::Kind::primary, body())),
      copy_(new Button(theme, "Copy CSV", Button::Kind::quiet, body())),
      message_(new Text(theme, {Token::text2, 11.5}, {}, body())),
      figures_(new Text(theme, {Token::text, 11, QFont::Normal, true}, {}, body())),
      outdated_(new Text(theme, {Token::warn, 11.5}, {}, body())),
      legend_(new Text(theme, {Token::text3, 10.5},
                       "Gradient times embedding: how much a token speaks for the target (+) or against it.",
                       body())),
      spans_(new TokenSpans(theme, body())) {
  setOpen(false);
  text_->setFixedHeight(qRound(theme.scaled(kTextHeight)));
  text_->setTabChangesFocus(true);
  text_->setPlaceholderText("A text for the model to read");
  text_->setAccessibleName("Text whose tokens get scores");
  copy_->setToolTip("Copy tokens, ids and scores as CSV");
  for (Text* paragraph : {message_, outdated_, legend_, figures_}) paragraph->setWrap(true);
  spans_->setMargin(0);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(target_, 1);
  row->addWidget(compute_);
  content()->setSpacing(kSpacing);
  content()->addWidget(text_);
  content()->addLayout(row);
  content()->addWidget(message_);
  content()->addWidget(figures_);
  content()->addWidget(outdated_);
  content()->addWidget(spans_);
  content()->addWidget(legend_);
  content()->addWidget(copy_, 0, Qt::AlignLeft);
  connect(compute_, &QAbstractButton::clicked, this, &AttributionSection::ask);
  connect(target_, &QLineEdit::returnPressed, this, [this] {
    if (!attributions_->running()) ask();
  });
  connect(text_, &QPlainTextEdit::textChanged, this, &AttributionSection::refresh);
  connect(target_, &QLineEdit::textChanged, this, &AttributionSection::showOutdated);
  connect(copy_, &QAbstractButton::clicked, this, [this] {
    if (const auto& result = attributions_->result())
      QGuiApplication::clipboard()->setText(csvOf(result->tokens));
  });
  connect(attributions_, &AttributionController::changed, this, [this] {
    if (attributions_->source() != source_) connectSource();
    showResult();
    refresh();
  });
  connect(attributions_, &AttributionController::staged, this, &AttributionSection::refresh);
  connectSource();
  showResult();
  refresh();
}

void AttributionSection::connectSource() {
  if (source_) source_->disconnect(this);
  source_ = attributions_->source();
  connect(source_, &SessionController::readingStarted, this, &AttributionSection::takeText);
  connect(source_, &SessionController::opened, this, &AttributionSection::refresh);
  takeText();
}

/// What was typed by hand stays.
void AttributionSection::takeText() {
  if (source_->lastRead().isEmpty() || text_->toPlainText() != taken_) return;
  taken_ = source_->lastRead();
  text_->setPlainText(taken_);
}

void AttributionSection::ask() {
  if (attributions_->running()) return attributions_->stop();
  attributions_->start({text_->toPlainText().toStdString(), target_->text().toStdString()});
}

void AttributionSection::refresh() {
  setVisible(attributions_->offered());
  const QString refusal = attributions_->refusal();
  const bool running = attributions_->running();
  const SessionPtr session = source_->session();
  const bool labels = session && session->info().task == api::Task::classify;
  target_->setPlaceholderText(labels ? "The likeliest label" : "The likeliest token");
  target_->setToolTip(labels ? "A label by its name or number" : "A token as a text, or by its id");
  target_->setAccessibleName("Target");
  compute_->setCaption(running ? "Stop" : "Compute");
  compute_->setEnabled(running || (refusal.isEmpty() && !text_->toPlainText().isEmpty()));
  const auto& failure = attributions_->failure();
  message_->setToken(failure && !running ? Token::error : Token::text2);
  message_->setText(!refusal.isEmpty() ? refusal
                    : running          ? attributions_->stage()
                    : failure          ? failure->body()
                                       : QString());
  message_->setVisible(!message_->text().isEmpty());
  setFigures(running ? "computing" : QString());
  showOutdated();
}

void AttributionSection::showResult() {
  const auto& result = attributions_->result();
  for (QWidget* part : {static_cast<QWidget*>(figures_), static_cast<QWidget*>(spans_),
                        static_cast<QWidget*>(legend_), static_cast<QWidget*>(copy_)})
    part->setVisible(result.has_value());
  spans_->setTokens(result ? scoredSpans(result->tokens) : std::vector<TokenSpan>());
  if (!result) return;
  figures_->setText(QString("%1   logit %2   %3   %4")
                        .arg(shownPiece(result->target_name, result->target).trimmed(),
                             format::number(result->logit), format::percent(result->probability),
                             format::time(result->ms * 1000)));
  figures_->setToolTip(QString("target %1, logit %2, probability %3")
                           .arg(result->target)
                           .arg(result->logit, 0, 'g', 9)
                           .arg(result->probability, 0, 'g', 9));
}

void AttributionSection::showOutdated() {
  QString words;
  if (attributions_->result()) {
    const api::AttributionRequest& request = attributions_->request();
    if (attributions_->edited())
      words = "The graph has changed since: compute again.";
    else if (request.text != text_->toPlainText().toStdString())
      words = "Of another text than the one above.";
    else if (request.target != target_->text().toStdString())
      words = "Of another target than the one above.";
  }
  outdated_->setText(words);
  outdated_->setVisible(!words.isEmpty());
}

}  // namespace orrery::ui
