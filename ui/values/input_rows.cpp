#include "ui/values/input_rows.h"

#include <QDropEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QMimeData>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/frame/file_taker.h"

namespace orrery::ui {
namespace {

/// Of a drag with one array; empty: it has none.
QString arrayIn(const QMimeData* mime) {
  const QList<QUrl> urls = mime->urls();
  const QString path = urls.size() == 1 ? urls.front().toLocalFile() : QString();
  return path.endsWith(".npy") ? path : QString();
}

}  // namespace

InputRow::InputRow(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      title_(new Text(theme, {Token::text, 12, QFont::Medium, true}, {}, this)),
      told_(new Text(theme, {Token::text3, 11}, {}, this)),
      field_(new QLineEdit(this)) {
  setAcceptDrops(true);
  setProperty(kTakesFiles, ".npy");
  field_->setAcceptDrops(false);  // the row takes them
  field_->setPlaceholderText("1, 2; 3, 4   zeros   random 7   a .npy file");
  field_->setToolTip(
      "Numbers, rows after semicolons; zeros, ones, fill 0.5, range or random 7, with the sizes in brackets "
      "where the type leaves them open: zeros [4, 64]; or a .npy file");
  field_->setFont(theme.monoFont(11.5));
  told_->setWrap(true);
  auto* file = new IconButton(theme, "open", "From a .npy file", this);
  auto* line = new QHBoxLayout;
  line->setSpacing(4);
  line->addWidget(field_, 1);
  line->addWidget(file);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 4);
  layout->setSpacing(2);
  layout->addWidget(title_);
  layout->addLayout(line);
  layout->addWidget(told_);
  connect(field_, &QLineEdit::textEdited, this, [this](const QString& words) { emit given(name_, words); });
  connect(field_, &QLineEdit::returnPressed, this, &InputRow::runAsked);
  connect(file, &QAbstractButton::clicked, this, &InputRow::browse);
}

void InputRow::show(const GivenInput& given) {
  name_ = QString::fromStdString(given.input.name);
  const QString type = QString::fromStdString(to_string(given.input.type));
  title_->setText(name_ + "  " + type);
  field_->setAccessibleName(name_ + ", " + type);
  if (field_->text() != given.words) field_->setText(given.words);
  const bool empty = given.words.trimmed().isEmpty();
  told_->setToken(given.why.isEmpty() ? Token::text3 : Token::error);
  told_->setText(!given.why.isEmpty()  ? given.why
                 : !given.is.isEmpty() ? given.is
                 : empty               ? QStringLiteral("Nothing is given")
                                       : QStringLiteral("reading"));
}

void InputRow::browse() {
  const QString path =
      QFileDialog::getOpenFileName(this, "An array for " + name_, {}, "Arrays (*.npy);;All files (*)");
  if (!path.isEmpty()) emit given(name_, path);
}

void InputRow::dragEnterEvent(QDragEnterEvent* event) {
  if (!arrayIn(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void InputRow::dropEvent(QDropEvent* event) {
  emit given(name_, arrayIn(event->mimeData()));
  event->acceptProposedAction();
}

InputRows::InputRows(const Theme& theme, GraphController* graphs, QWidget* parent)
    : QScrollArea(parent),
      theme_(theme),
      graphs_(graphs),
      ground_(new QWidget),
      none_(new Text(theme, {Token::text3, 12}, {}, ground_)) {
  none_->setWrap(true);
  auto* layout = new QVBoxLayout(ground_);
  layout->setContentsMargins(0, 0, 6, 0);
  layout->setSpacing(4);
  layout->addWidget(none_);
  layout->addStretch(1);
  setFrameShape(NoFrame);
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setWidget(ground_);
  viewport()->setAutoFillBackground(false);
  ground_->setAutoFillBackground(false);
}

InputRow* InputRows::row(const QString& input) const {
  for (InputRow* row : rows_)
    if (row->name() == input) return row;
  return nullptr;
}

void InputRows::refresh() {
  const std::vector<GivenInput>& inputs = graphs_->inputs();
  auto* layout = static_cast<QVBoxLayout*>(ground_->layout());
  while (rows_.size() > inputs.size()) {
    rows_.back()->deleteLater();
    rows_.back()->hide();
    rows_.pop_back();
  }
  while (rows_.size() < inputs.size()) {
    auto* row = new InputRow(theme_, ground_);
    connect(row, &InputRow::given, graphs_, &GraphController::give);
    connect(row, &InputRow::runAsked, graphs_, &GraphController::run);
    layout->insertWidget(layout->count() - 1, row);
    rows_.push_back(row);
  }
  for (size_t i = 0; i < inputs.size(); ++i) rows_[i]->show(inputs[i]);
  none_->setVisible(inputs.empty());
  none_->setText(graphs_->own() ? QStringLiteral("The graph has no inputs yet: Tab in the graph, then input")
                                : graphs_->refusal());
}

}  // namespace orrery::ui
