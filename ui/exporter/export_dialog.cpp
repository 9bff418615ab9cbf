#include "ui/exporter/export_dialog.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QPaintEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kDialogWidth = 860, kDialogHeight = 560, kDialogMargin = 16, kDialogGap = 10;
enum ExportColumn { whatColumn, whereColumn, whyColumn };
constexpr const char* kCannot = "cannot be written";
constexpr const char* kLeftOut = "left out";

/// What cannot be written in the colour of errors, what is left out in that of warnings.
class ExportDelegate : public QStyledItemDelegate {
 public:
  ExportDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}
  void setTheme(const Theme& theme) { theme_ = theme; }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const QString what = index.siblingAtColumn(whatColumn).data().toString();
    if (index.column() == whereColumn) option->font = theme_.monoFont(11);
    const Token token = index.column() != whatColumn ? Token::text
                        : what == kCannot            ? Token::error
                        : what == kLeftOut           ? Token::warn
                                                     : Token::text2;
    option->palette.setColor(QPalette::Text, theme_(token));
    option->palette.setColor(QPalette::HighlightedText, theme_(Token::selectionText));
  }

 private:
  Theme theme_;
};

}  // namespace

ExportDialog::ExportDialog(const Theme& theme, ExportCalls calls, SessionPtr session, const QString& title,
                           QWidget* parent)
    : QDialog(parent),
      theme_(theme),
      calls_(std::move(calls)),
      session_(std::move(session)),
      rows_(new QStandardItemModel(this)),
      worker_(std::make_unique<Worker>()) {
  setWindowTitle("Export " + title);
  setup(title);
  connect(export_, &QAbstractButton::clicked, this, &ExportDialog::askPath);
  connect(close_, &QAbstractButton::clicked, this, &ExportDialog::reject);
  connect(keepTypes_, &QCheckBox::toggled, this, &ExportDialog::plan);
  connect(progress_, &ProgressStrip::cancelled, this, [this] { stop_.request_stop(); });
  plan();
}

ExportDialog::~ExportDialog() {
  stop_.request_stop();
  worker_.reset();
}

void ExportDialog::setup(const QString& title) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(kDialogMargin, kDialogMargin, kDialogMargin, kDialogMargin);
  column->setSpacing(kDialogGap);
  path_ = new Text(theme_, {Token::text3, 11, QFont::Normal, true},
                   QString::fromStdString(session_->info().path), this);
  path_->setElide(Qt::ElideMiddle);
  banner_ = new Banner(theme_, this);
  progress_ = new ProgressStrip(theme_, this);
  progress_->hide();
  setupTable();
  keepTypes_ = new QCheckBox("Keep the types of the file", this);
  keepTypes_->setToolTip(
      "What is folded into a quantised tensor (an adapter, a vector, a factor) is rounded to the tensor's "
      "own "
      "type; else the tensor becomes f32 and the file computes what is shown");
  summary_ = new Text(theme_, {Token::text2, 12}, {}, this);
  close_ = new Button(theme_, "Close", Button::Kind::plain, this);
  export_ = new Button(theme_, "Export...", Button::Kind::primary, this);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(8);
  foot->addWidget(summary_, 1);
  foot->addWidget(close_);
  foot->addWidget(export_);
  auto* heading = new Text(theme_, {Token::text, 15, QFont::DemiBold}, "Export " + title, this);
  for (QWidget* part : std::initializer_list<QWidget*>{heading, path_, banner_, progress_})
    column->addWidget(part);
  column->addWidget(table_, 1);
  column->addWidget(keepTypes_);
  column->addLayout(foot);
  resize(kDialogWidth, kDialogHeight);
}

void ExportDialog::setupTable() {
  rows_->setHorizontalHeaderLabels({"", "where", "what"});
  table_ = new QTableView(this);
  table_->setModel(rows_);
  table_->setItemDelegate(new ExportDelegate(theme_, table_));
  table_->setAccessibleName("What will be written");
  table_->setShowGrid(false);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(static_cast<int>(theme_.scaled(24)));
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  table_->horizontalHeader()->setStretchLastSection(true);
  table_->setColumnWidth(whatColumn, static_cast<int>(theme_.scaled(130)));
  table_->setColumnWidth(whereColumn, static_cast<int>(theme_.scaled(280)));
}

void ExportDialog::plan() {
  const quint64 number = ++lastPlan_;
  ++planning_;
  showState();
  worker_->post([this, number, plan = calls_.plan, session = session_, how = options()](std::stop_token) {
    auto report = plan(*session, how);
    QMetaObject::invokeMethod(
        this, [this, number, report = std::move(report)]() mutable { takePlan(number, std::move(report)); },
        Qt::QueuedConnection);
  });
}

void ExportDialog::takePlan(quint64 number, Result<api::ExportReport> report) {
  --planning_;
  if (number != lastPlan_) return showState();
  report_.reset();
  if (report.ok())
    report_ = std::move(report).value();
  else
    banner_->showError(describeError("This cannot be exported", report.error()));
  showRows();
  showState();
}

void ExportDialog::showRows() {
  rows_->removeRows(0, rows_->rowCount());
  if (!report_) return;
  const auto add = [this](const QString& what, const std::string& where, const std::string& why) {
    QList<QStandardItem*> row;
    for (const QString& text : {what, QString::fromStdString(where), QString::fromStdString(why)}) {
      row.append(new QStandardItem(text));
      row.back()->setToolTip(text);
    }
    rows_->appendRow(row);
  };
  for (const api::ExportProblem& problem : report_->problems) add(kCannot, problem.where, problem.what);
  for (const std::string& dropped : report_->dropped) add(kLeftOut, "", dropped);
  for (const api::ExportTensor& tensor : report_->tensors)
    if (tensor.how != "as it is") add("tensor", tensor.name, tensor.how);
}

void ExportDialog::showState() {
  const bool possible = report_ && report_->problems.empty();
  export_->setEnabled(possible && planning_ == 0 && !writing_);
  keepTypes_->setEnabled(!writing_);
  if (planning_ > 0) return summary_->setText("Looking at the edits");
  if (!report_) return summary_->setText({});
  const QString kind = QString::fromStdString(report_->format + " of " + report_->architecture);
  if (!possible)
    return summary_->setText(QString("A %1 cannot say %2: undo the edits, or save them as a recipe")
                                 .arg(kind, report_->problems.size() == 1 ? "this" : "these"));
  const auto count = static_cast<qint64>(report_->tensors.size());
  const auto same = std::ranges::count(report_->tensors, "as it is", &api::ExportTensor::how);
  summary_->setText(QString("%1, %2, %3; %4 as they are, byte for byte")
                        .arg(kind, format::bytes(static_cast<double>(report_->bytes)),
                             format::counted(count, "tensor"),
                             same == count ? QString("all") : format::count(same)));
}

bool ExportDialog::isFolder() const { return session_->info().format != "GGUF"; }

QString ExportDialog::suggested() const {
  const QFileInfo model(QString::fromStdString(session_->info().path));
  return isFolder() ? model.absoluteFilePath() + "-edited"
                    : model.path() + "/" + model.completeBaseName() + ".edited.gguf";
}

void ExportDialog::askPath() {
  const QString path =
      isFolder() ? QFileDialog::getSaveFileName(this, "Export as a new folder", suggested())
                 : QFileDialog::getSaveFileName(this, "Export as a file", suggested(), "GGUF (*.gguf)");
  if (!path.isEmpty()) writeTo(path);
}

void ExportDialog::writeTo(const QString& path) {
  if (writing_) return;
  banner_->dismiss();
  writing_ = true;
  progress_->begin("Exporting " + QFileInfo(path).fileName());
  progress_->show();
  showState();
  stop_ = worker_->post([this, path, write = calls_.write, session = session_,
                         how = options()](std::stop_token stop) {
    const ProgressCallback progress = [this](std::string_view stage, uint64_t done, uint64_t total) {
      QMetaObject::invokeMethod(
          this,
          [this, told = LoadProgress{QString::fromUtf8(stage.data(), static_cast<qsizetype>(stage.size())),
                                     done, total, 0}] { progress_->setProgress(told); },
          Qt::QueuedConnection);
    };
    auto result = write(*session, path.toStdString(), how, progress, stop);
    QMetaObject::invokeMethod(
        this, [this, path, result = std::move(result)] { finishWrite(path, result); }, Qt::QueuedConnection);
  });
}

void ExportDialog::finishWrite(const QString& path, const Result<api::ExportReport>& result) {
  progress_->hide();
  writing_ = false;
  showState();
  banner_->dismiss();  // that it is being written
  if (!result.ok()) {
    if (result.error().code == ErrorCode::cancelled) return banner_->showNotice("Nothing was written");
    return banner_->showError(
        describeError("Could not export " + QFileInfo(path).fileName(), result.error()));
  }
  const QString words =
      QString("Exported %1, %2").arg(path, format::bytes(static_cast<double>(result->bytes)));
  banner_->showNotice(words);
  emit exported(path, words);
}

bool ExportDialog::mayClose() {
  if (!writing_ || stop_.stop_requested()) return true;
  banner_->showWarning("The new file is being written", "Wait for it, or cancel it above.");
  return false;
}

void ExportDialog::reject() {
  if (mayClose()) QDialog::reject();
}

void ExportDialog::setTheme(const Theme& theme) {
  theme_ = theme;
  static_cast<ExportDelegate*>(table_->itemDelegate())->setTheme(theme);
  table_->viewport()->update();
  update();
}

void ExportDialog::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::window));
}

}  // namespace orrery::ui
