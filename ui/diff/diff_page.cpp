#include "ui/diff/diff_page.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QPaintEvent>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/session/saved_file.h"
#include "ui/theme/format.h"
#include "ui/widgets/ask_save.h"

namespace orrery::ui {

DiffPage::DiffPage(const Theme& theme, SessionController* session, DiffController* diffs, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      session_(session),
      diffs_(diffs),
      banner_(new Banner(theme, this)),
      other_(new DropButton(theme, this)),
      times_(new QCheckBox("Times", this)),
      start_(new Button(theme, "Compare", Button::Kind::primary, this)),
      kinds_(new Segmented(theme, this)),
      field_(new SearchField(theme, "search", "Node, or what differs", {}, this)),
      bar_(new Meter(theme, Token::accent, this)),
      summary_(new Text(theme, {Token::text2, 11}, {}, this)),
      rows_(new DiffModel(this)),
      shown_(new DiffFilter(rows_, this)),
      table_(new DiffTable(theme, shown_, this)),
      corner_(new QWidget(this)) {
  setupControls();
  setupLayout();
  setupCorner();
  takeFound();
}

void DiffPage::setupControls() {
  other_->menu()->addAction("The model as it was opened", this, [this] {
    path_.clear();
    refreshControls();
  });
  other_->menu()->addAction("Another file...", this, &DiffPage::askFile);
  other_->setToolTip("A: what the model that is open, B, is compared with");
  times_->setToolTip("Run both in turns: what each node takes");
  for (const char* kind : {"All", "Added", "Removed", "Changed"}) kinds_->addChoice(kind);
  kinds_->setAccessibleName("Which differences are shown");
  connect(kinds_, &Segmented::chosen, this, [this](int choice) {
    shown_->setKind(choice == 0 ? std::nullopt : std::optional(static_cast<DiffModel::Kind>(choice - 1)));
  });
  connect(field_, &QLineEdit::textChanged, shown_, &DiffFilter::setText);
  connect(start_, &QAbstractButton::clicked, this, &DiffPage::startOrStop);
  connect(diffs_, &DiffController::changed, this, &DiffPage::takeFound);
  connect(diffs_, &DiffController::failed, banner_, &Banner::showError);
  connect(diffs_, &DiffController::stageChanged, this, [this](const QString& words, double share) {
    summary_->setText(words);
    bar_->setShare(share);
  });
  connect(session_, &SessionController::loadEnded, this, &DiffPage::refreshControls);
  connect(session_, &SessionController::graphChanged, this, &DiffPage::refreshControls);
  connect(table_, &DiffTable::pathChosen, this, &DiffPage::pathAsked);
}

void DiffPage::setupLayout() {
  auto* what = new QHBoxLayout;
  what->setSpacing(8);
  what->addWidget(other_);
  what->addWidget(times_);
  what->addWidget(start_);
  what->addWidget(kinds_);
  what->addWidget(field_, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 8, 8, 6);
  layout->setSpacing(6);
  layout->addWidget(banner_);
  layout->addLayout(what);
  layout->addWidget(bar_);
  layout->addWidget(summary_);
  layout->addWidget(table_, 1);
  setFocusProxy(field_);
}

void DiffPage::setupCorner() {
  auto* layout = new QHBoxLayout(corner_);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* save = new IconButton(theme_, "export", "Save the differences as CSV", corner_);
  layout->addWidget(save);
  connect(save, &QAbstractButton::clicked, this, &DiffPage::askSave);
}

void DiffPage::compareWith(const QString& path) {
  path_ = path;
  refreshControls();
  if (!diffs_->running()) startOrStop();
}

void DiffPage::startOrStop() {
  if (diffs_->running()) return diffs_->stop();
  banner_->dismiss();
  diffs_->start(path_, times_->isChecked());
}

void DiffPage::refreshControls() {
  const bool running = diffs_->running();
  const QString refusal = diffs_->refusal();
  other_->setCaption(path_.isEmpty() ? QStringLiteral("As opened") : QFileInfo(path_).fileName());
  start_->setCaption(running ? "Stop" : "Compare");
  start_->setEnabled(running || refusal.isEmpty());
  start_->setToolTip(refusal);
  bar_->setVisible(running);
  if (!running) summary_->setText(summaryWords());
}

/// What was found, or nothing any more.
void DiffPage::takeFound() {
  if (taken_ != diffs_->found()) {
    taken_ = diffs_->found();
    rows_->show(taken_);
    table_->setTimed(taken_ && taken_->times);
    emit valuesChanged(rows_->values());
    if (taken_ && !taken_->unmeasured.isEmpty())
      banner_->showWarning("Some of it could not be measured", taken_->unmeasured);
  }
  refreshControls();
}

QString DiffPage::summaryWords() const {
  if (!taken_)
    return diffs_->refusal().isEmpty() ? QStringLiteral("Nothing is compared yet") : diffs_->refusal();
  using Kind = DiffModel::Kind;
  QStringList words{QString("%1: %2 added, %3 removed, %4 changed")
                        .arg(taken_->other, format::count(static_cast<qint64>(rows_->count(Kind::added))),
                             format::count(static_cast<qint64>(rows_->count(Kind::removed))),
                             format::count(static_cast<qint64>(rows_->count(Kind::changed))))};
  if (taken_->weights) {
    double a = 0, b = 0;
    for (const api::WeightDistance& weight : taken_->weights->weights) {
      a += static_cast<double>(weight.a.bytes);
      b += static_cast<double>(weight.b.bytes);
    }
    words += QString("shared weights %1 → %2").arg(format::bytes(a), format::bytes(b));
  }
  if (taken_->times)
    words += QString("a step %1 → %2")
                 .arg(format::time(taken_->times->step_a_us), format::time(taken_->times->step_b_us));
  return words.join(" · ");
}

void DiffPage::showChoice(const QString& path) {
  if (const int row = rows_->rowAt(path); row >= 0) table_->chooseDifference(row);
}

void DiffPage::askFile() {
  const QString path =
      QFileDialog::getOpenFileName(this, "Another model", {}, "Models (*.gguf *.safetensors)");
  if (path.isEmpty()) return;
  path_ = path;
  refreshControls();
}

Result<void> DiffPage::save(const QString& path) const { return saveFile(path, rows_->csv()); }

void DiffPage::askSave() {
  if (!taken_) return banner_->showNotice("There is nothing to save yet: compare first");
  ui::askSave(this, "Save the differences", "diff.csv", "Table (*.csv)");
}

void DiffPage::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void DiffPage::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::panel));
  painter.fillRect(0, 0, width(), 1, theme_(Token::border));
}

}  // namespace orrery::ui
