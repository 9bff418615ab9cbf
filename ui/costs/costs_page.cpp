#include "ui/costs/costs_page.h"

#include <QDropEvent>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMimeData>
#include <QPainter>
#include <QStringDecoder>
#include <QUrl>
#include <algorithm>

#include "ui/frame/file_taker.h"
#include "ui/session/model_use.h"
#include "ui/session/step_words.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kPageInset = 12, kGap = 8, kTextHeight = 76;
constexpr qsizetype kWordsOfText = 28;
constexpr const char* kTexts = ".txt";
constexpr qint64 kMostText = qint64{1} << 20;  // bytes

/// "its own text, 120 tokens", "Once upon a time, 64 tokens".
QString probeWords(const QString& text, const std::vector<EditCost>& costs) {
  const QString name = text.isEmpty() ? QStringLiteral("a text of the program's own")
                       : text.size() > kWordsOfText
                           ? "\u201c" + text.left(kWordsOfText).simplified() + "\u2026\u201d"
                           : "\u201c" + text.simplified() + "\u201d";
  for (const EditCost& cost : costs)
    if (cost.change) return QString("probe: %1, %2").arg(name, format::counted(cost.change->tokens, "token"));
  return "probe: " + name;
}

float mostOf(const std::vector<EditCost>& costs) {
  float most = 0;
  for (const EditCost& cost : costs)
    if (cost.change)
      for (const float kl : cost.change->kl_by_position) most = std::max(most, kl);
  return most;
}

/// Of a drag of one text file; empty: it is another.
QString textIn(const QMimeData* data) {
  const QList<QUrl> urls = data->urls();
  const QString path = urls.size() == 1 ? urls.front().toLocalFile() : QString();
  return path.endsWith(kTexts) ? path : QString();
}

}  // namespace

CostsPage::CostsPage(const Theme& theme, EditCosts* costs, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      costs_(costs),
      words_(new Text(theme, {Token::text3, 11}, {}, this)),
      change_(new Button(theme, "Change", Button::Kind::quiet, this)),
      own_(new Button(theme, "Program's own", Button::Kind::quiet, this)),
      file_(new Button(theme, "From a file...", Button::Kind::quiet, this)),
      text_(new QPlainTextEdit(this)),
      scroll_(new QScrollArea(this)),
      row_(new Ground(theme, Token::panel)),
      hint_(new Text(
          theme, {Token::text3, 12},
          "Every edit gets a card here: what it does to speed, memory and answers, against the model "
          "as it was opened.",
          this)) {
  setAcceptDrops(true);
  setProperty(kTakesFiles, kTexts);
  text_->setAcceptDrops(false);  // the page takes them
  change_->setToolTip("Measure over another text");
  own_->setToolTip("Measure over the text that comes with the program");
  text_->setPlaceholderText("A text that both read, as what the model is meant for");
  text_->setFixedHeight(qRound(theme.scaled(kTextHeight)));
  text_->setAccessibleName("Probe text");
  text_->hide();
  own_->hide();
  file_->setToolTip("Measure over the text of a file");
  file_->hide();
  hint_->setWrap(true);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(kPageInset, 0, kPageInset, 0);
  head->addWidget(words_, 1);
  head->addWidget(file_);
  head->addWidget(own_);
  head->addWidget(change_);
  auto* cards = new QHBoxLayout(row_);
  cards->setContentsMargins(kPageInset, 0, kPageInset, 0);
  cards->setSpacing(kGap);
  cards->addStretch(1);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setWidgetResizable(true);
  scroll_->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
  scroll_->setWidget(row_);
  auto* typed = new QHBoxLayout;
  typed->setContentsMargins(kPageInset, 0, kPageInset, 0);
  typed->addWidget(text_);
  auto* hint = new QHBoxLayout;
  hint->setContentsMargins(kPageInset, 8, kPageInset, 0);
  hint->addWidget(hint_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 6, 0, 6);
  layout->setSpacing(4);
  layout->addLayout(head);
  layout->addLayout(typed);
  layout->addLayout(hint);
  layout->addWidget(scroll_, 1);
  connect(change_, &QAbstractButton::clicked, this, &CostsPage::changeText);
  connect(own_, &QAbstractButton::clicked, this, [this] {
    text_->clear();
    changeText();
  });
  connect(file_, &QAbstractButton::clicked, this, &CostsPage::askFile);
  connect(costs_, &EditCosts::changed, this, &CostsPage::refresh);
  refresh();
}

void CostsPage::setSource(SessionController* source) {
  source_ = source;
  costs_->setSource(source);
}

/// Opens the field, or takes what was written there.
void CostsPage::changeText() {
  const bool opens = !text_->isVisible();
  text_->setVisible(opens);
  own_->setVisible(opens);
  file_->setVisible(opens);
  change_->setCaption(opens ? "Measure" : "Change");
  if (opens) {
    text_->setPlainText(costs_->text());
    return text_->setFocus();
  }
  measureOver(text_->toPlainText());
}

void CostsPage::measureOver(const QString& text) {
  costs_->setText(text);
  words_->setText(probeWords(costs_->text(), costs_->costs()));
}

void CostsPage::askFile() {
  const QString path = QFileDialog::getOpenFileName(this, "Measure over the text of a file", {},
                                                    "Texts (*.txt *.md);;All files (*)");
  if (!path.isEmpty()) takeFile(path);
}

void CostsPage::dragEnterEvent(QDragEnterEvent* event) {
  if (!textIn(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void CostsPage::dropEvent(QDropEvent* event) {
  takeFile(textIn(event->mimeData()));
  event->acceptProposedAction();
}

void CostsPage::takeFile(const QString& path) {
  const auto refuse = [&](const char* what, const char* advice) {
    emit failed(describeError("Could not read " + QFileInfo(path).fileName(),
                              {ErrorCode::io, what, path.toStdString(), advice}));
  };
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly))
    return refuse(file.errorString().toUtf8().constData(), "choose another file");
  const QByteArray bytes = file.read(kMostText + 1);  // what is no file of a size has no end either
  if (bytes.size() > kMostText) return refuse("It is longer than 1 MB", "a page or two tell as much");
  QStringDecoder decoder(QStringDecoder::Utf8);
  const QString text = QString(decoder(bytes)).trimmed();
  if (decoder.hasError() || text.contains(QChar(0)))
    return refuse("It is no text in UTF-8", "choose a text file");
  if (text.isEmpty()) return refuse("It is empty", "choose another file");
  text_->setPlainText(text);
  text_->isVisible() ? changeText() : measureOver(text);
}

/// While it is hidden nothing is made; there may be many edits.
void CostsPage::refresh() {
  if (!isVisible()) return;
  const std::vector<EditCost>& costs = costs_->costs();
  const SessionPtr session = source_ ? source_->session() : nullptr;
  const bool writes = session && writesText(session->info());
  auto* layout = static_cast<QHBoxLayout*>(row_->layout());
  while (cards_.size() > costs.size()) {
    cards_.back()->hide();
    cards_.back()->deleteLater();
    layout->removeWidget(cards_.back());
    cards_.pop_back();
  }
  while (cards_.size() < costs.size()) {
    auto* card = new CostCard(theme_, row_);
    connect(card, &QAbstractButton::clicked, this, [this, card] {
      if (const QString scope = stepWords({}, card->cost().edits).scope; !scope.isEmpty())
        emit targetAsked(scope);
    });
    layout->insertWidget(static_cast<int>(cards_.size()), card, 0, Qt::AlignTop);
    cards_.push_back(card);
  }
  const float most = mostOf(costs);
  for (size_t i = 0; i < costs.size(); ++i)
    cards_[i]->setCost(costs[i], static_cast<int>(costs[i].total ? i : i + 1), writes, most);
  hint_->setVisible(costs.empty());
  scroll_->setVisible(!costs.empty());
  words_->setText(probeWords(costs_->text(), costs));
  emit wordsChanged(costs.empty() ? QString() : "each alone and all together, against the original");
}

void CostsPage::showEvent(QShowEvent*) {
  costs_->setActive(true);
  refresh();
}

void CostsPage::hideEvent(QHideEvent*) { costs_->setActive(false); }

void CostsPage::setTheme(const Theme& theme) {
  theme_ = theme;
  text_->setFixedHeight(qRound(theme.scaled(kTextHeight)));
  update();
}

void CostsPage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::panel));
}

}  // namespace orrery::ui
