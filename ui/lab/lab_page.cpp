#include "ui/lab/lab_page.h"

#include <QPaintEvent>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kList = 230, kProblem = 306;                          // px of the outer columns
constexpr double kNarrowList = 272;                                    // and of both, where they share one
constexpr double kThreeColumns = 1020, kBothPlots = 520, kTall = 440;  // px of the page, of its middle
constexpr int kRoofline = 0, kBars = 1, kRows = 2;  // of what is beside, where there is room for one
constexpr int kSource = 1, kDifference = 2;         // of what is below the plots, beside the rows
const QString kRepeat = QStringLiteral("Repeat");

QString sentence(const std::string& words) {
  const QString text = QString::fromStdString(words);
  return text.left(1).toUpper() + text.mid(1);
}

/// A row's name begins with the kind of its device.
bool isOfDevices(const std::string& row, const std::vector<std::string>& devices) {
  return std::ranges::any_of(devices, [&](const std::string& device) {
    return row.starts_with(device.substr(0, device.find(':')) + ".");
  });
}

bool hasRow(const api::LabKernel& kernel, const std::string& row) {
  return std::ranges::find(kernel.cpu, row) != kernel.cpu.end() ||
         std::ranges::find(kernel.cuda, row) != kernel.cuda.end();
}

}  // namespace

LabPage::LabPage(const Theme& theme, LabController* labs, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      labs_(labs),
      list_(new KernelList(theme, labs, this)),
      banner_(new Banner(theme, this)),
      title_(new Text(theme, {Token::text, 12, QFont::DemiBold}, {}, this)),
      note_(new Text(theme, {Token::text3, 10.5, QFont::Normal, true}, {}, this)),
      what_(new Segmented(theme, this)),
      side_(new Segmented(theme, this)),
      roofline_(new RooflinePlot(theme, this)),
      bars_(new LabBars(theme, this)),
      rows_(new LabModel(this)),
      table_(new LabTable(theme, rows_, this)),
      detail_(new Text(theme, {Token::text2, 11}, {}, this)),
      below_(new Segmented(theme, this)),
      source_(new SourcePanel(theme, this)),
      limits_(new LimitsPanel(theme, this)),
      problem_(new ProblemPanel(theme, this)),
      run_(new Button(theme, "Run", Button::Kind::primary, this)),
      runRow_(new Button(theme, "Only the row", Button::Kind::plain, this)),
      bar_(new Meter(theme, Token::accent, this)),
      stage_(new Text(theme, {Token::text2, 11}, {}, this)),
      historyTitle_(new Text(theme, {Token::text2, 10.5}, {}, this)),
      history_(new LabHistory(theme, this)),
      left_(new QWidget(this)),
      middle_(new QWidget(this)),
      plots_(new QWidget(this)),
      corner_(new QWidget(this)),
      right_(new GroundScroll(theme, Token::panel, this)) {
  setupControls();
  setupLayout();
  setupCorner();
  problem_->show(nullptr);
  refresh();
}

void LabPage::setupControls() {
  for (const char* word : {"Share", "GFLOP/s", "GB/s"}) what_->addChoice(word);
  what_->setAccessibleName("What the bars show");
  for (const char* word : {"Roofline", "Bars", "Rows"}) side_->addChoice(word);
  side_->setAccessibleName("What is shown of the rows");
  for (const char* word : {"Rows", "Source", "Difference"}) below_->addChoice(word);
  below_->setAccessibleName("What is shown below the plots");
  below_->setTip(kSource, "The file of the chosen row");
  below_->setTip(kDifference, "What is new in it beside the row before (D)");
  stage_->setElide(Qt::ElideMiddle);
  detail_->setWrap(true);
  note_->setElide(Qt::ElideRight);
  connect(what_, &Segmented::chosen, this,
          [this](int choice) { bars_->setWhat(static_cast<LabBars::What>(choice)); });
  connect(side_, &Segmented::chosen, this, &LabPage::shareRoom);
  connect(below_, &Segmented::chosen, this, [this] {
    showSource(chosenRow());
    shareRoom();
  });
  connect(run_, &QAbstractButton::clicked, this, &LabPage::startOrStop);
  connect(runRow_, &QAbstractButton::clicked, this, &LabPage::runChosen);
  connect(problem_, &ProblemPanel::runAsked, this, [this] {
    if (!labs_->running()) startOrStop();
  });
  connect(problem_, &ProblemPanel::changed, this, [this] {
    labs_->setAsk(problem_->ask());
    refreshControls();
  });
  connect(list_, &KernelList::kernelChosen, this, [this](const QString& kernel, const QString& row) {
    picked_ = !row.isEmpty();
    if (picked_) {
      chosenName_ = row.toStdString();
      chosenDevice_.clear();
    }
    chooseKernel(kernel);
  });
  connect(table_, &RowTable::rowChosen, this,
          [this](int row) { pick(rows_->rows()[static_cast<size_t>(row)].number); });
  connect(roofline_, &RooflinePlot::numberChosen, this, &LabPage::pick);
  connect(bars_, &LabBars::numberChosen, this, &LabPage::pick);
  connect(banner_, &Banner::actionChosen, this, [this](const QString& action) {
    if (action == kRepeat && !labs_->running()) startOrStop();
  });
  connect(labs_, &LabController::listed, this, &LabPage::fill);
  connect(labs_, &LabController::advanced, this, &LabPage::refresh);
  connect(labs_, &LabController::changed, this, &LabPage::takeEnd);
  connect(labs_, &LabController::failed, banner_, &Banner::showError);
  connect(labs_, &LabController::refused, this,
          [this](const Error& error) { problem_->setProblem(sentence(error.what)); });
}

void LabPage::fill() {
  list_->fill();
  const bool gone = !labs_->kernel(list_->chosen());  // an op of one's own may be
  if (gone && !labs_->kernels().empty())
    chooseKernel(QString::fromStdString(labs_->kernels().front().name));
  else if (const api::LabKernel* kernel = labs_->kernel(list_->chosen()); kernel && kernel->own)
    problem_->show(kernel);  // another op of that name may be there now
  if (const QString words = std::exchange(asked_, {}); !words.isEmpty()) runWords(words);
}

void LabPage::runWords(const QString& words) {
  if (labs_->kernels().empty()) {
    asked_ = words;
    return labs_->look();
  }
  chooseKernel(words.section(' ', 0, 0));
  if (const QString problem = words.section(' ', 1); !problem.isEmpty()) problem_->setWords(problem);
  if (!labs_->running()) startOrStop();
}

void LabPage::chooseKernel(const QString& kernel) {
  const std::string name = kernel.toStdString();
  list_->choose(name);
  const api::LabKernel* chosen = labs_->kernel(name);
  if (!chosen || !hasRow(*chosen, chosenName_)) {
    chosenName_.clear();
    picked_ = false;
  }
  if (problem_->ask().kernel != name) problem_->show(chosen);
  refresh();
}

void LabPage::setDevices(const std::vector<api::DeviceEntry>& devices, const std::string& used) {
  problem_->setDevices(devices, used);
}

QString LabPage::refusal() const {
  if (const QString refusal = labs_->refusal(); !refusal.isEmpty()) return refusal;
  const LabAsk& ask = labs_->ask();
  if (ask.kernel.empty()) return QStringLiteral("Choose a kernel");
  if (ask.devices.empty()) return QStringLiteral("Choose a device to run it on");
  if (!ask.rows.empty() && !isOfDevices(ask.rows.front(), ask.devices))
    return QString("Choose a device that runs %1").arg(QString::fromStdString(ask.rows.front()));
  return {};
}

void LabPage::startOrStop() {
  if (labs_->running()) return labs_->stop();
  banner_->dismiss();
  problem_->setProblem({});
  labs_->ask().rows.empty() ? labs_->run() : labs_->run(labs_->ask().rows);
}

bool LabPage::canRunChosen() const {
  return !labs_->running() && refusal().isEmpty() && isOfDevices(chosenName_, labs_->ask().devices);
}

void LabPage::runChosen() {
  if (!canRunChosen()) return;
  banner_->dismiss();
  problem_->setProblem({});
  labs_->run({chosenName_});
}

/// A run has begun, or come to its end.
void LabPage::takeEnd() {
  const bool ended = wasRunning_ && !labs_->running();
  wasRunning_ = labs_->running();
  if (wasRunning_ && labs_->runningKernel() != list_->chosen())
    chooseKernel(QString::fromStdString(labs_->runningKernel()));
  refresh();
  if (ended) tellRun();
}

/// What speaks against the times, and rows that are wrong, which speak against the program.
void LabPage::tellRun() {
  for (const LabRow& row : labRows(*labs_, labs_->runningKernel())) {
    if (row.mark != LabMark::wrong) continue;
    UiError wrong;
    wrong.title = QString::fromStdString(row.name) + " is wrong";
    wrong.what = QString("Off by %1, where %2 is allowed")
                     .arg(format::distance(row.version->max_error), format::distance(row.version->tolerance));
    wrong.where = QString::fromStdString(row.version->where);
    wrong.advice = QStringLiteral("It was not timed; please report it");
    return banner_->showError(wrong);
  }
  QStringList words;
  bool disturbed = false;
  for (const api::LabRun& run : labs_->runs(labs_->runningKernel())) {
    if (run.busy().empty()) continue;
    const QString busy = QString::fromStdString(run.busy());  // begins as the title does
    words += sentence((run.disturbed() ? busy.section(": ", 1) : busy).toStdString());
    disturbed = disturbed || run.disturbed();
  }
  if (!words.isEmpty())
    banner_->showWarning(disturbed ? "The machine was busy" : "The times are not steady", words.join(". "),
                         {kRepeat});
}

void LabPage::refresh() {
  const std::vector<LabRow> rows = labRows(*labs_, list_->chosen());
  rows_->show(rows);
  const std::vector<api::LabRun>& runs = labs_->runs(list_->chosen());
  roofline_->show(runs, rows, otherProblems(labs_->history(), runs));
  bars_->show(rows);
  list_->refresh();
  const LabRow* row = picked_ ? chosenRow() : nullptr;
  if (!row) {  // the fastest that was timed
    for (const LabRow& one : rows_->rows())
      if (one.timed() && (!row || one.version->us < row->version->us)) row = &one;
  }
  chooseNumber(row ? row->number : 0);
}

const LabRow* LabPage::chosenRow() const {
  for (const LabRow& row : rows_->rows())
    if (row.name == chosenName_ && (chosenDevice_.empty() || row.device == chosenDevice_)) return &row;
  return nullptr;
}

const api::LabRun* LabPage::runOf(const LabRow& row) const {
  for (const api::LabRun& run : labs_->runs(list_->chosen()))
    if (run.device == row.device) return &run;
  return nullptr;
}

void LabPage::pick(int number) {
  picked_ = true;
  chooseNumber(number);
}

void LabPage::chooseNumber(int number) {
  const auto row = std::ranges::find(rows_->rows(), number, &LabRow::number);
  const bool known = row != rows_->rows().end();
  if (!known && !picked_) chosenName_.clear();
  if (known) {
    chosenName_ = row->name;
    chosenDevice_ = row->device;
  }
  table_->choose(known ? number - 1 : -1);
  roofline_->choose(number);
  bars_->choose(number);
  const api::LabRun* run = known ? runOf(*row) : nullptr;
  history_->show(labs_->history(), run, chosenName_);
  detail_->setText(known ? labDetail(*row) : QString());
  showSource(known ? &*row : nullptr);
  limits_->show(known ? &*row : nullptr, run, known ? rowBefore(&*row, true) : nullptr);
  historyTitle_->setText(run ? QString("History of %1, µs").arg(QString::fromStdString(row->name))
                             : QStringLiteral("History"));
  refreshControls();
}

QString LabPage::fileOf(const LabRow* row) const {
  const api::LabKernel* kernel = labs_->kernel(list_->chosen());
  if (!row || !kernel) return {};
  const auto file = kernel->sources.find(row->name);
  return file == kernel->sources.end() ? QString() : QString::fromStdString(file->second);
}

const LabRow* LabPage::rowBefore(const LabRow* row, bool timed) const {
  const LabRow* before = nullptr;
  for (const LabRow& one : rows_->rows())
    if (row && one.device == row->device && one.number < row->number && (one.timed() || !timed))
      before = &one;
  return before;
}

/// The file of a row, and of the one before it.
void LabPage::showSource(const LabRow* row) {
  source_->show(fileOf(row), fileOf(rowBefore(row, false)));
  source_->showDifference(below_->current() == kDifference);
  below_->setRefused(kDifference, source_->refusal());
}

/// The steps of a ladder one after another: Up and Down; D: what one is, what is new in it.
void LabPage::keyPressEvent(QKeyEvent* event) {
  const LabRow* row = chosenRow();
  const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
  if (source_->isVisible() && row && step != 0) {
    const int next = row->number + step;
    if (next >= 1 && next <= static_cast<int>(rows_->rows().size())) pick(next);
    return;
  }
  if (source_->isVisible() && event->key() == Qt::Key_D && source_->refusal().isEmpty()) {
    below_->setCurrent(below_->current() == kDifference ? kSource : kDifference);
    showSource(row);
    return;
  }
  QWidget::keyPressEvent(event);
}

void LabPage::refreshControls() {
  const bool running = labs_->running();
  const QString refusal = this->refusal();
  run_->setCaption(running ? "Stop" : "Run");
  run_->setEnabled(running || refusal.isEmpty());
  run_->setToolTip(running             ? "After the current call; what was timed stays (Esc)"
                   : refusal.isEmpty() ? "Hold every row against its reference, then time it (F5)"
                                       : refusal);
  runRow_->setEnabled(canRunChosen());
  runRow_->setToolTip(chosenName_.empty() ? QStringLiteral("Choose a row")
                                          : QString::fromStdString(chosenName_) + " alone (Shift+F5)");
  bar_->setShare(running ? labs_->share() : 0);
  bar_->setVisible(running);
  const std::vector<api::LabRun>& runs = labs_->runs(list_->chosen());
  if (running)
    stage_->setText(labs_->stage());
  else if (runs.empty())
    stage_->setText(refusal);
  else
    stage_->setText(labs_->stored(list_->chosen()) ? QStringLiteral("From an earlier session: run it again")
                                                   : QString());
  stage_->setVisible(!stage_->text().isEmpty());
  title_->setText(runs.empty() ? kernel() : kernel() + "  " + QString::fromStdString(runs.front().problem));
  QStringList machines;
  for (const api::LabRun& run : runs) machines += QString::fromStdString(run.machine);
  const bool other = !runs.empty() && !running && runs.front().problem != labs_->ask().shape;
  note_->setText(other ? QStringLiteral("not the problem in the field") : machines.join("; "));
  note_->setToken(other ? Token::warn : Token::text3);
  note_->setToolTip(machines.join("; "));
  emit choiceChanged();
}

void LabPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  labs_->look();
  labs_->setShown(true);
  emit choiceChanged();
}

void LabPage::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  if (!labs_) return;
  labs_->setShown(false);
  emit choiceChanged();
}

void LabPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  shareRoom();
}

/// Three columns, or two with the problem under the kernels; in the middle all of a run, or one thing of it.
void LabPage::shareRoom() {
  const bool beside = width() >= theme_.scaled(kThreeColumns);
  if (beside != beside_) {
    beside_ = beside;
    columns_->removeWidget(right_);
    leftColumn_->removeWidget(right_);
    beside ? columns_->addWidget(right_) : leftColumn_->addWidget(right_, 1);
  }
  const double side = theme_.scaled(beside ? kList : kNarrowList);
  left_->setFixedWidth(qRound(side));
  right_->setFixedWidth(qRound(beside ? theme_.scaled(kProblem) : side));
  const double middle = width() - side - (beside ? theme_.scaled(kProblem) : 0) - 40;
  const bool both = middle >= theme_.scaled(kBothPlots), tall = height() >= theme_.scaled(kTall);
  const int choice = side_->current();
  side_->setVisible(!both || !tall);
  const bool plots = tall || choice != kRows;
  roofline_->setVisible(plots && (both || choice != kBars));
  bars_->setVisible(plots && (both || choice == kBars));
  plots_->setVisible(plots && (both || !tall || choice != kRows));
  what_->setVisible(plots_->isVisibleTo(this) && bars_->isVisibleTo(plots_));
  const bool below = tall || choice == kRows, source = below && below_->current() != 0;
  below_->setVisible(below);
  table_->setVisible(below && !source);
  detail_->setVisible(below && !source);
  source_->setVisible(source);
}

void LabPage::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void LabPage::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::panel));
  painter.fillRect(0, 0, width(), 1, theme_(Token::border));
  for (const int x : {middle_->geometry().left() - 8, beside_ ? right_->geometry().left() - 8 : -1})
    if (x > 0) painter.fillRect(x, 10, 1, height() - 20, theme_(Token::border));
}

}  // namespace orrery::ui
