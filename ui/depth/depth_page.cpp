#include "ui/depth/depth_page.h"

#include <QBuffer>
#include <QHBoxLayout>
#include <QHelpEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>

#include "ui/depth/depth_words.h"
#include "ui/session/saved_file.h"
#include "ui/theme/format.h"
#include "ui/widgets/ask_save.h"

namespace orrery::ui {
namespace {

constexpr double kLeft = 400, kLeastLeft = 330;  // px of the page
constexpr double kBesideEachOther = 520;         // px of the plots
constexpr double kAboveEachOther = 400;
constexpr int kPictureWidth = 1400, kPictureHeight = 480, kPictureHead = 36, kPictureScale = 2;

QString titleOf(DepthBeside beside) {
  switch (beside) {
    case DepthBeside::opened:
      return QStringLiteral("Beside the model as it was opened");
    case DepthBeside::fastmax:
      return QStringLiteral("Beside it with Fastmax");
    case DepthBeside::nothing:
      break;
  }
  return QStringLiteral("The model alone");
}

QString timeLeft(double seconds) {
  if (seconds < 90) return format::number(seconds, 2) + QStringLiteral(" s left");
  if (seconds < 5400) return format::number(seconds / 60, 2) + QStringLiteral(" min left");
  return format::number(seconds / 3600, 2) + QStringLiteral(" h left");
}

}  // namespace

DepthPage::DepthPage(const Theme& theme, SessionController* session, DepthController* depths, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      session_(session),
      depths_(depths),
      banner_(new Banner(theme, this)),
      besideButton_(new DropButton(theme, this)),
      field_(new SearchField(theme, {}, QString("Depths in tokens: ") + kFirstDepths, {}, this)),
      start_(new Button(theme, "Start", Button::Kind::primary, this)),
      bar_(new Meter(theme, Token::accent, this)),
      amount_(new Text(theme, {Token::text, 11, QFont::Medium, true}, {}, this)),
      stage_(new Text(theme, {Token::text2, 11}, {}, this)),
      left_(new Text(theme, {Token::text, 11, QFont::Medium, true}, {}, this)),
      note_(new Text(theme, {Token::text2, 11}, {}, this)),
      rows_(new DepthModel(depths, this)),
      table_(new DepthTable(theme, rows_, this)),
      legend_(new DepthLegend(theme, this)),
      time_(new DepthPlot(theme, DepthPlot::What::time, this)),
      memory_(new DepthPlot(theme, DepthPlot::What::memory, this)),
      side_(new Segmented(theme, this)),
      column_(new QWidget(this)),
      corner_(new QWidget(this)),
      typed_(depthsOf(kFirstDepths)) {
  setupControls();
  setupLayout();
  setDepths({});
  takeModel();
  takeRun();
}

void DepthPage::setupControls() {
  for (const DepthBeside beside : {DepthBeside::nothing, DepthBeside::opened, DepthBeside::fastmax})
    besideButton_->menu()->addAction(titleOf(beside), this, [this, beside] { chooseBeside(beside); });
  besideButton_->menu()->setToolTipsVisible(true);
  besideButton_->setToolTip("What stands beside the model as it is; nothing of it is adopted");
  field_->setAccessibleName("Depths, in tokens");
  left_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  note_->setWrap(true);
  side_->addChoice("Time");
  side_->addChoice("Memory");
  side_->setAccessibleName("Which plot is shown");
  auto* corner = new QHBoxLayout(corner_);
  corner->setContentsMargins(0, 0, 0, 0);
  auto* save = new IconButton(theme_, "export", "Save the points as CSV, or the plots as PNG", corner_);
  corner->addWidget(save);
  connect(save, &QAbstractButton::clicked, this, &DepthPage::askSave);
  connect(start_, &QAbstractButton::clicked, this, &DepthPage::startOrStop);
  connect(field_, &QLineEdit::textChanged, this, &DepthPage::ask);
  connect(field_, &QLineEdit::returnPressed, this, [this] {
    if (!depths_->running() && start_->isEnabled()) startOrStop();
  });
  connect(field_, &SearchField::escaped, depths_, &DepthController::stop);
  connect(depths_, &DepthController::changed, this, &DepthPage::takeRun);
  connect(depths_, &DepthController::advanced, this, &DepthPage::advance);
  connect(depths_, &DepthController::demandChanged, this, &DepthPage::refreshNote);
  connect(depths_, &DepthController::failed, banner_, &Banner::showError);
  connect(session_, &SessionController::loadEnded, this, &DepthPage::takeModel);
  connect(session_, &SessionController::graphChanged, this, &DepthPage::takeModel);
  connect(table_, &DepthTable::rowChosen, this, &DepthPage::chooseDepth);
  connect(side_, &Segmented::chosen, this, &DepthPage::shareRoom);
  for (DepthPlot* plot : {time_, memory_}) {
    connect(plot, &DepthPlot::depthChosen, this, &DepthPage::chooseDepth);
    plot->installEventFilter(this);
  }
}

void DepthPage::setupLayout() {
  auto* depths = new QHBoxLayout;
  depths->setSpacing(8);
  depths->addWidget(field_, 1);
  depths->addWidget(start_);
  auto* figures = new QHBoxLayout;
  figures->setSpacing(10);
  figures->addWidget(amount_);
  figures->addWidget(stage_, 1);
  figures->addWidget(left_);
  auto* left = new QVBoxLayout(column_);
  left->setContentsMargins(12, 8, 0, 8);
  left->setSpacing(6);
  left->addWidget(banner_);
  left->addWidget(besideButton_);
  left->addLayout(depths);
  left->addWidget(bar_);
  left->addLayout(figures);
  left->addWidget(table_, 1);
  left->addStretch();
  left->addWidget(note_);
  head_ = new QBoxLayout(QBoxLayout::LeftToRight);
  head_->setContentsMargins(8, 0, 0, 0);
  head_->setSpacing(4);
  head_->addWidget(legend_, 1);
  head_->addWidget(side_, 0, Qt::AlignRight);
  plots_ = new QBoxLayout(QBoxLayout::LeftToRight);
  plots_->setSpacing(8);
  plots_->addWidget(time_, 1);
  plots_->addWidget(memory_, 1);
  auto* right = new QVBoxLayout;
  right->setContentsMargins(0, 8, 8, 4);
  right->setSpacing(4);
  right->addLayout(head_);
  right->addLayout(plots_, 1);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 1, 0, 0);
  layout->setSpacing(8);
  layout->addWidget(column_);
  layout->addLayout(right, 1);
  setFocusProxy(field_);
}

/// The plots beside each other, else above each other, else one of them.
void DepthPage::shareRoom() {
  const double left = std::clamp(width() * 0.45, theme_.scaled(kLeastLeft), theme_.scaled(kLeft));
  column_->setFixedWidth(qRound(left));
  const bool wide = width() - left >= theme_.scaled(kBesideEachOther),
             high = height() >= theme_.scaled(kAboveEachOther), both = wide || high;
  plots_->setDirection(wide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  side_->setVisible(!both);
  const double words = legend_->sizeHint().width() + side_->sizeHint().width() + theme_.scaled(32);
  head_->setDirection(!both && width() - left < words ? QBoxLayout::BottomToTop : QBoxLayout::LeftToRight);
  time_->setVisible(both || side_->current() == 0);
  memory_->setVisible(both || side_->current() == 1);
}

void DepthPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  shareRoom();
}

void DepthPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  ask();
}

void DepthPage::setDepths(const QString& words) {
  field_->setText(words.isEmpty() ? QString(kFirstDepths) : words);
}

void DepthPage::chooseBeside(DepthBeside beside) {
  beside_ = beside;
  personal_ = true;
  refreshBeside();
  ask();
}

/// Another model, or another state of it.
void DepthPage::takeModel() {
  if (!personal_ || !depths_->refusal(beside_).isEmpty()) {
    personal_ = false;
    beside_ = depths_->telling();
  }
  refreshBeside();
  ask();
}

void DepthPage::refreshBeside() {
  besideButton_->setCaption(titleOf(beside_));
  const QList<QAction*> actions = besideButton_->menu()->actions();
  for (int i = 0; i < actions.size(); ++i) {
    const QString refusal = depths_->refusal(static_cast<DepthBeside>(i));
    actions[i]->setEnabled(refusal.isEmpty());
    actions[i]->setToolTip(refusal);
  }
}

/// What it would need is asked for while somebody looks.
void DepthPage::ask() {
  typed_ = depthsOf(field_->text());
  if (isVisible() && typed_.ok() && depths_->refusal().isEmpty()) depths_->choose(*typed_, beside_);
  refreshControls();
}

void DepthPage::startOrStop() {
  if (depths_->running()) return depths_->stop();
  if (!typed_.ok()) return;
  banner_->dismiss();
  depths_->choose(*typed_, beside_);
  depths_->start();
}

void DepthPage::refreshControls() {
  const bool running = depths_->running();
  const QString refusal = !depths_->refusal().isEmpty() ? depths_->refusal()
                          : !typed_.ok()                ? QString::fromStdString(typed_.error().to_string())
                                                        : QString();
  start_->setCaption(running ? "Stop" : "Start");
  start_->setEnabled(running || refusal.isEmpty());
  start_->setToolTip(running ? QStringLiteral("What was measured stays (Esc in the field)") : refusal);
  bar_->setShare(running ? depths_->share() : depths_->complete() ? 1 : depths_->share());
  size_t measured = 0, all = 0;
  for (const DepthCurve& curve : depths_->curves()) {
    measured += curve.points.size();
    all += depths_->depths().size();
  }
  amount_->setVisible(all > 0);
  amount_->setText(all > 0 ? QString("%1 of %2").arg(measured).arg(all) : QString());
  const std::optional<api::DepthProgress>& progress = depths_->progress();
  QString stage;
  if (progress)
    stage = QString("%1, to %2 tokens")
                .arg(depths_->curves()[progress->side].name, format::count(progress->depth));
  else if (running)
    stage = QStringLiteral("making ready");
  else if (all == 0)
    stage = refusal.isEmpty() ? QStringLiteral("Nothing is measured yet") : refusal;
  else if (depths_->edited())
    stage = QStringLiteral("before the last edit");
  stage_->setText(stage);
  const double seconds = running ? depths_->secondsLeft() : 0;
  left_->setText(seconds > 0           ? timeLeft(seconds)
                 : running || all == 0 ? QString()
                 : depths_->complete() ? QStringLiteral("done")
                                       : QStringLiteral("stopped"));
  refreshNote();
}

/// What the deepest context needs, before it is there, and what is to be known of it.
void DepthPage::refreshNote() {
  QStringList lines;
  bool warn = false;
  if (!typed_.ok()) {
    lines += QString::fromStdString(typed_.error().to_string());
    warn = true;
  } else if (!depths_->demandRefusal().isEmpty()) {
    lines += depths_->demandRefusal();
    warn = true;
  } else if (const auto& demand = depths_->demand()) {
    const QStringList names = depths_->names();
    QStringList parts;
    double needed = 0;
    for (size_t i = 0; i < demand->context_bytes.size() && static_cast<qsizetype>(i) < names.size(); ++i) {
      const auto bytes = static_cast<double>(demand->context_bytes[i]);
      needed += bytes;
      parts += names[static_cast<qsizetype>(i)] + " " + format::bytes(bytes);
    }
    warn = needed > static_cast<double>(demand->free_bytes);
    lines += QString("Context of %1 tokens: %2; %3 are free%4")
                 .arg(format::count(typed_->back()), parts.join(", "),
                      format::bytes(static_cast<double>(demand->free_bytes)),
                      warn ? QStringLiteral(": leave out the last depth") : QString());
    if (typed_->back() > demand->made_for)
      lines +=
          QString("The model was made for %1: beyond, its text means little, time and memory are the same")
              .arg(format::counted(demand->made_for, "token"));
  }
  note_->setText(lines.join(".\n"));
  note_->setToken(warn ? Token::warn : Token::text2);
  const bool measured = typed_.ok() && *typed_ == depths_->depths();
  note_->setVisible(!lines.isEmpty() && (warn || !measured));
}

std::vector<SideLook> DepthPage::looks() const {
  const std::vector<DepthCurve>& curves = depths_->curves();
  if (curves.empty()) return {};
  const SessionPtr session = session_->session();
  const bool device = session && session->options().device != "cpu";
  if (curves.size() == 1) return {SideLook{curves[0].name, device, device ? Token::cuda : Token::cpu}};
  const SideLooks both = sideLooks({curves[0].name, curves[1].name}, {device, device});
  return {both.begin(), both.end()};
}

/// Another run, or none; or it began or ended.
void DepthPage::takeRun() {
  rows_->reset();
  table_->setBeside(depths_->curves().size() > 1);
  table_->setVisible(!depths_->depths().empty());
  chooseDepth(-1);
  const QString words = depths_->running() ? QStringLiteral("The first point comes when it is read")
                                           : QStringLiteral("Start: points are drawn as they are measured");
  time_->setEmptyWords(words);
  memory_->setEmptyWords(words);
  advance();
}

void DepthPage::advance() {
  rows_->refresh();
  const std::vector<SideLook> sides = looks();
  legend_->show(sides);
  shareRoom();
  time_->show(depths_->depths(), depths_->curves(), sides);
  memory_->show(depths_->depths(), depths_->curves(), sides);
  refreshControls();
}

void DepthPage::chooseDepth(int depth) {
  table_->choose(depth);
  time_->choose(depth);
  memory_->choose(depth);
}

/// The tool tip of a plot is that of the nearest depth.
bool DepthPage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::ToolTip || (watched != time_ && watched != memory_))
    return QWidget::eventFilter(watched, event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int depth = (watched == time_ ? time_ : memory_)->depthAt(help->pos());
  if (depth < 0) return false;
  QToolTip::showText(help->globalPos(), rows_->tip(depth), this);
  return true;
}

/// Both plots side by side below what they are of, in the light theme.
QByteArray DepthPage::picture() const {
  const Theme light(Theme::Mode::light, theme_.bodySize());
  const int half = kPictureWidth / 2, below = kPictureHeight - kPictureHead;
  QImage image(QSize(kPictureWidth, kPictureHeight) * kPictureScale, QImage::Format_RGB32);
  image.setDevicePixelRatio(kPictureScale);
  image.fill(light(Token::panel));
  QPainter painter(&image);
  painter.setFont(light.textFont(13, QFont::DemiBold));
  painter.setPen(light(Token::text));
  painter.drawText(QRect(12, 0, half - 24, kPictureHead), Qt::AlignLeft | Qt::AlignVCenter,
                   session_->title() + ": time and memory over the length of the text");
  int x = 0;
  for (const DepthPlot::What what : {DepthPlot::What::time, DepthPlot::What::memory}) {
    DepthPlot plot(light, what);
    plot.resize(half, below);
    plot.show(depths_->depths(), depths_->curves(), looks());
    QPixmap drawn = plot.toPixmap(half, below, kPictureScale);
    drawn.setDevicePixelRatio(kPictureScale);
    painter.drawPixmap(x, kPictureHead, drawn);
    x += half;
  }
  DepthLegend legend(light);
  legend.show(looks());
  legend.resize(legend.sizeHint().width(), kPictureHead);
  legend.render(&painter, QPoint(half + 12, 0));
  painter.end();
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "png");
  return bytes;
}

Result<void> DepthPage::save(const QString& path) const {
  const bool picture = path.endsWith(".png", Qt::CaseInsensitive);
  return saveFile(path, picture ? this->picture() : depthsCsv(depths_->curves()));
}

void DepthPage::askSave() {
  if (depths_->curves().empty() || depths_->curves().front().points.empty())
    return banner_->showNotice("There is nothing to save yet: start a measurement");
  ui::askSave(this, "Save the points", "depths.csv", "Table (*.csv);;Picture (*.png)");
}

void DepthPage::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void DepthPage::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::panel));
  painter.fillRect(0, 0, width(), 1, theme_(Token::border));
  painter.fillRect(column_->geometry().right() + 4, 10, 1, height() - 20, theme_(Token::border));
}

}  // namespace orrery::ui
