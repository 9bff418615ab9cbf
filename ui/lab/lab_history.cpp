#include "ui/lab/lab_history.h"

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr size_t kMost = 24;                        // runs, the newest
constexpr double kPoint = 8, kRing = 16;            // px
constexpr double kHeadroom = 1.2, kPerName = 46.0;  // px that the name of a version takes

struct KeptTime {
  const api::KeptLabRun* kept;
  const api::LabVersion* version;
};

std::vector<KeptTime> timesOf(const std::vector<api::KeptLabRun>& history, const api::LabRun& run,
                              const std::string& row) {
  std::vector<KeptTime> times;
  for (const api::KeptLabRun& kept : history) {
    const api::LabRun& other = kept.run;
    if (other.kernel != run.kernel || other.problem != run.problem || other.device != run.device ||
        other.machine != run.machine || other.threads != run.threads)
      continue;
    const auto version = std::ranges::find(other.versions, row, &api::LabVersion::name);
    if (version != other.versions.end() && version->us > 0) times.push_back({&kept, &*version});
  }
  if (times.size() > kMost) times.erase(times.begin(), times.end() - static_cast<ptrdiff_t>(kMost));
  return times;
}

}  // namespace

LabHistory::LabHistory(const Theme& theme, QWidget* parent) : Plot(parent), theme_(theme) {
  axisRect()->setMinimumMargins(QMargins(0, 8, 8, 0));
  xAxis->grid()->setVisible(false);
  xAxis->setSubTicks(false);
  yAxis->setSubTicks(false);
  yAxis->setBasePen(Qt::NoPen);
  yAxis->grid()->setZeroLinePen(Qt::NoPen);
  yAxis->ticker()->setTickCount(3);
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setTickPen(Qt::NoPen);
    axis->setTickLength(0, 0);
  }
  points_ = addGraph();
  rings_ = addGraph();
  rings_->setLineStyle(QCPGraph::lsNone);
  spread_ = new QCPErrorBars(xAxis, yAxis);
  spread_->setDataPlottable(points_);
  spread_->setSelectable(QCP::stNone);
  for (QCPGraph* graph : {points_, rings_}) graph->setSelectable(QCP::stNone);
  empty_ = new QCPItemText(this);
  empty_->setSelectable(false);
  empty_->position->setType(QCPItemPosition::ptAxisRectRatio);
  empty_->position->setCoords(0.5, 0.5);
  setMinimumHeight(90);
  setAccessibleName("Times of the row, run after run");
  styleAll();
  show({}, nullptr, {});
}

void LabHistory::styleAll() {
  setBackground(QBrush(theme_(Token::panel)));
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setTickLabelFont(theme_.monoFont(10));
    axis->setTickLabelColor(theme_(Token::text3));
  }
  xAxis->setBasePen(empty_->visible() ? QPen(Qt::NoPen) : QPen(theme_(Token::borderStrong), 1));
  yAxis->grid()->setPen(QPen(theme_(Token::border), 1));
  const QColor line = theme_(Token::text2);
  points_->setPen(QPen(line, 1.6));
  points_->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme_(Token::panel), 1),
                                           QBrush(line), theme_.scaled(kPoint)));
  rings_->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle,
                                          QPen(theme_(Token::warn), 1.6, Qt::DashLine), Qt::NoBrush,
                                          theme_.scaled(kRing)));
  spread_->setPen(QPen(theme_(Token::text3), 1));
  empty_->setFont(theme_.textFont(10.5));
  empty_->setColor(theme_(Token::text3));
}

void LabHistory::show(const std::vector<api::KeptLabRun>& history, const api::LabRun* run,
                      const std::string& row) {
  const std::vector<KeptTime> times = run ? timesOf(history, *run, row) : std::vector<KeptTime>();
  QVector<double> x, y, below, above, ringX, ringY;
  const QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
  tips_.clear();
  slower_.clear();
  double most = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    const auto& [kept, version] = times[i];
    x += static_cast<double>(i);
    y += version->us;
    below += version->us - version->p10;
    above += version->p90 - version->us;
    most = std::max(most, version->p90);
    if (i > 0 && version->p10 > times[i - 1].version->p90) {
      slower_.push_back(static_cast<int>(i));
      ringX += x.last();
      ringY += y.last();
    }
    const QString program = QString::fromStdString(kept->program);
    const size_t step =
        1 + times.size() * static_cast<size_t>(kPerName) / static_cast<size_t>(std::max(width(), 100));
    if ((times.size() - 1 - i) % step == 0) names->addTick(x.last(), program);
    tips_ += QString("%1 (%2 to %3)\n%4, version %5%6")
                 .arg(format::time(version->us), format::time(version->p10), format::time(version->p90),
                      QString::fromStdString(kept->when), program,
                      kept->run.busy().empty() ? QString() : "\n" + QString::fromStdString(kept->run.busy()));
  }
  xAxis->setTicker(names);
  points_->setData(x, y, true);
  spread_->setData(below, above);
  rings_->setData(ringX, ringY, true);
  xAxis->setRange(-0.5, std::max(static_cast<double>(times.size()), 2.0) - 0.5);
  yAxis->setRange(0, most > 0 ? most * kHeadroom : 1);
  yAxis->setTickLabels(!times.empty());
  empty_->setText(run ? QStringLiteral("This row is in no run that is kept")
                      : QStringLiteral("No run is kept"));
  empty_->setVisible(times.empty());
  yAxis->grid()->setVisible(!times.empty());
  styleAll();
  redraw();
}

bool LabHistory::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return Plot::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const int place = qRound(xAxis->pixelToCoord(help->pos().x()));
  place >= 0 && place < tips_.size() ? QToolTip::showText(help->globalPos(), tips_[place], this)
                                     : QToolTip::hideText();
  return true;
}

void LabHistory::setTheme(const Theme& theme) {
  theme_ = theme;
  styleAll();
  redraw();
}

}  // namespace orrery::ui
