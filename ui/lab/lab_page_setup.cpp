// How the parts of the page stand, and what it saves.
#include <QBuffer>
#include <QFileInfo>
#include <QPainter>

#include "ui/lab/lab_page.h"
#include "ui/session/saved_file.h"
#include "ui/widgets/ask_save.h"

namespace orrery::ui {
namespace {

constexpr int kPictureWidth = 1400, kPictureHeight = 480, kPictureHead = 36, kPictureScale = 2;
constexpr double kHistoryHeight = 190;

}  // namespace

void LabPage::setupLayout() {
  leftColumn_ = new QVBoxLayout(left_);
  leftColumn_->setContentsMargins(0, 0, 0, 0);
  leftColumn_->setSpacing(8);
  leftColumn_->addWidget(list_, 1);
  setupMiddle();
  QVBoxLayout* problem = right_->column();
  problem->setContentsMargins(0, 0, 4, 4);
  problem->setSpacing(8);
  problem->addWidget(problem_);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  buttons->addWidget(run_);
  buttons->addWidget(runRow_);
  buttons->addStretch(1);
  problem->addLayout(buttons);
  problem->addWidget(bar_);
  problem->addWidget(stage_);
  problem->addSpacing(4);
  problem->addWidget(historyTitle_);
  history_->setFixedHeight(qRound(theme_.scaled(kHistoryHeight)));
  problem->addWidget(history_);
  problem->addSpacing(4);
  problem->addWidget(limits_);
  problem->addStretch(1);
  columns_ = new QHBoxLayout(this);
  columns_->setContentsMargins(10, 9, 8, 6);
  columns_->setSpacing(17);
  columns_->addWidget(left_);
  columns_->addWidget(middle_, 1);
  columns_->addWidget(right_);
  setFocusProxy(problem_);
}

void LabPage::setupMiddle() {
  auto* plots = new QHBoxLayout(plots_);
  plots->setContentsMargins(0, 0, 0, 0);
  plots->setSpacing(8);
  plots->addWidget(roofline_, 1);
  plots->addWidget(bars_, 1);
  auto* head = new QHBoxLayout;
  head->setSpacing(10);
  head->addWidget(title_);
  head->addWidget(note_, 1);
  head->addWidget(what_);
  head->addWidget(side_);
  auto* column = new QVBoxLayout(middle_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  column->addWidget(banner_);
  column->addLayout(head);
  column->addWidget(plots_, 5);
  auto* choice = new QHBoxLayout;
  choice->addWidget(below_);
  choice->addStretch(1);
  column->addLayout(choice);
  column->addWidget(table_, 6);
  column->addWidget(detail_);
  column->addWidget(source_, 6);
}

void LabPage::setupCorner() {
  auto* layout = new QHBoxLayout(corner_);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* save = new IconButton(theme_, "export", "Save the rows as CSV or JSON, the plots as PNG", corner_);
  layout->addWidget(save);
  connect(save, &QAbstractButton::clicked, this, &LabPage::askSave);
}

/// The plots side by side below what they are of, in the light theme.
QByteArray LabPage::picture() const {
  const Theme light(Theme::Mode::light, theme_.bodySize());
  const std::vector<LabRow>& rows = rows_->rows();
  const int half = kPictureWidth / 2, below = kPictureHeight - kPictureHead;
  RooflinePlot plot(light);
  plot.resize(half, below);
  plot.show(labs_->runs(list_->chosen()), rows, roofline_->others());
  plot.choose(roofline_->chosen());
  LabBars bars(light);
  bars.resize(half, below);
  bars.setWhat(static_cast<LabBars::What>(what_->current()));
  bars.show(rows);
  bars.choose(bars_->chosen());
  QImage image(QSize(kPictureWidth, kPictureHeight) * kPictureScale, QImage::Format_RGB32);
  image.setDevicePixelRatio(kPictureScale);
  image.fill(light(Token::panel));
  QPainter painter(&image);
  painter.setFont(light.textFont(13, QFont::DemiBold));
  painter.setPen(light(Token::text));
  painter.drawText(QRect(12, 0, kPictureWidth - 24, kPictureHead), Qt::AlignLeft | Qt::AlignVCenter,
                   title_->text() + "   " + note_->toolTip());
  QPixmap drawn = plot.toPixmap(half, below, kPictureScale);
  drawn.setDevicePixelRatio(kPictureScale);
  painter.drawPixmap(0, kPictureHead, drawn);
  bars.render(&painter, QPoint(half, kPictureHead));
  painter.end();
  QByteArray bytes;
  QBuffer buffer(&bytes);
  image.save(&buffer, "PNG");
  return bytes;
}

Result<void> LabPage::save(const QString& path) const {
  const std::vector<api::LabRun>& runs = labs_->runs(list_->chosen());
  const QString suffix = QFileInfo(path).suffix().toLower();
  if (suffix == "png") return saveFile(path, picture());
  if (suffix == "csv") return saveFile(path, QByteArray::fromStdString(api::lab_csv(runs)));
  QStringList texts;
  for (const api::LabRun& run : runs) texts += QString::fromStdString(api::write_lab_run(run));
  return saveFile(path, ("[" + texts.join(",\n ") + "]\n").toUtf8());
}

void LabPage::askSave() {
  if (labs_->runs(list_->chosen()).empty())
    return banner_->showNotice("There is nothing to save yet: run the kernel");
  ui::askSave(this, "Save the rows", kernel() + ".csv", "Table (*.csv);;Run (*.json);;Picture (*.png)");
}

}  // namespace orrery::ui
