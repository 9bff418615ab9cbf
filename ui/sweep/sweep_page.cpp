#include "ui/sweep/sweep_page.h"

#include <QHBoxLayout>
#include <QPaintEvent>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/session/saved_file.h"
#include "ui/theme/format.h"
#include "ui/widgets/ask_save.h"

namespace orrery::ui {
namespace {

constexpr double kLeft = 400, kLeastLeft = 330, kMix = 270, kWideMix = 500;  // px of the page
constexpr double kBoth = 980;    // from here on chart and mix have room
constexpr double kRoomy = 1300;  // and the mix its bars beside the curve

QString timeLeft(double seconds) {
  if (seconds < 90) return format::number(seconds, 2) + QStringLiteral(" s left");
  return format::number(seconds / 60, 2) + QStringLiteral(" min left");
}

}  // namespace

QString titleOf(api::SweepKind kind) {
  switch (kind) {
    case api::SweepKind::bypass_layers:
      return QStringLiteral("Bypass layers");
    case api::SweepKind::quantise_tensors:
      return QStringLiteral("Quantise tensors");
    case api::SweepKind::zero_heads:
      return QStringLiteral("Zero heads");
    case api::SweepKind::precision:
      return QStringLiteral("Round linears");
    case api::SweepKind::place_layers:
      return QStringLiteral("Place layers");
  }
  return {};
}

SweepPage::SweepPage(const Theme& theme, SessionController* session, SweepController* sweeps, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      session_(session),
      sweeps_(sweeps),
      banner_(new Banner(theme, this)),
      kindButton_(new DropButton(theme, this)),
      toButton_(new DropButton(theme, this)),
      field_(new SearchField(theme, {}, "Probe text; none: a paragraph of the program's own", {}, this)),
      start_(new Button(theme, "Start", Button::Kind::primary, this)),
      resume_(new Button(theme, "Resume", Button::Kind::plain, this)),
      bar_(new Meter(theme, Token::accent, this)),
      amount_(new Text(theme, {Token::text, 11, QFont::Medium, true}, {}, this)),
      rate_(new Text(theme, {Token::text2, 11, QFont::Normal, true}, {}, this)),
      left_(new Text(theme, {Token::text, 11, QFont::Medium, true}, {}, this)),
      rows_(new SweepModel(sweeps, this)),
      table_(new SweepTable(theme, rows_, this)),
      plot_(new SweepPlot(theme, this)),
      mix_(new MixPanel(theme, sweeps, this)),
      cheapest_(new CheapestRow(theme, sweeps, this)),
      series_(new Text(theme, {Token::text3, 10.5}, {}, this)),
      side_(new Segmented(theme, this)),
      column_(new QWidget(this)),
      corner_(new QWidget(this)) {
  chosenTo_ = {{api::SweepKind::quantise_tensors, "q4_0"}, {api::SweepKind::precision, "int8"}};
  setupControls();
  setupLayout();
  setupCorner();
  chooseKind(api::SweepKind::bypass_layers);
  takeSweep();
}

void SweepPage::setupControls() {
  for (const api::SweepKind kind : api::kSweepKinds)
    kindButton_->menu()->addAction(titleOf(kind), this, [this, kind] { chooseKind(kind); });
  kindButton_->setToolTip("What is tried at each place");
  toButton_->setToolTip("What it is turned to");
  left_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  connect(start_, &QAbstractButton::clicked, this, &SweepPage::startOrStop);
  connect(resume_, &QAbstractButton::clicked, sweeps_, &SweepController::resume);
  connect(field_, &QLineEdit::returnPressed, this, [this] {
    if (!sweeps_->running()) startOrStop();
  });
  connect(sweeps_, &SweepController::changed, this, &SweepPage::takeSweep);
  connect(sweeps_, &SweepController::advanced, this, &SweepPage::advance);
  connect(sweeps_, &SweepController::failed, banner_, &Banner::showError);
  connect(session_, &SessionController::loadEnded, this, &SweepPage::refreshControls);
  connect(session_, &SessionController::graphChanged, this, [this] {
    refreshControls();
    mix_->refresh();
    cheapest_->refresh();
  });
  connect(table_, &SweepTable::rowChosen, this, [this](int row) {
    plot_->choose(static_cast<int>(rows_->placeAt(row)));
    emit pathAsked(rows_->scopeAt(row));
  });
  connect(plot_, &SweepPlot::placeChosen, this, &SweepPage::choosePlace);
  connect(table_, &SweepTable::rowEntered, this, &SweepPage::makeRow);
  connect(cheapest_, &CheapestRow::editsAsked, this, &SweepPage::editsAsked);
  connect(mix_, &MixPanel::mixAsked, this, &SweepPage::editsAsked);
  connect(mix_, &MixPanel::recipeAsked, this, &SweepPage::recipeAsked);
}

void SweepPage::setupLayout() {
  auto* what = new QHBoxLayout;
  what->setSpacing(8);
  what->addWidget(kindButton_, 1);
  what->addWidget(toButton_);
  auto* probe = new QHBoxLayout;
  probe->setSpacing(8);
  probe->addWidget(field_, 1);
  probe->addWidget(start_);
  probe->addWidget(resume_);
  auto* figures = new QHBoxLayout;
  figures->setSpacing(10);
  figures->addWidget(amount_);
  figures->addWidget(rate_, 1);
  figures->addWidget(left_);
  auto* left = new QVBoxLayout;
  left->setContentsMargins(12, 8, 0, 6);
  left->setSpacing(6);
  left->addWidget(banner_);
  left->addLayout(what);
  left->addLayout(probe);
  left->addWidget(bar_);
  left->addLayout(figures);
  left->addWidget(table_, 1);
  left->addWidget(cheapest_);
  column_->setLayout(left);
  side_->addChoice("Chart");
  side_->addChoice("Mix");
  side_->setAccessibleName("What is shown beside the table");
  connect(side_, &Segmented::chosen, this, &SweepPage::shareWidth);
  auto* sides = new QHBoxLayout;
  sides->setSpacing(8);
  sides->addWidget(plot_, 1);
  sides->addWidget(mix_);
  auto* right = new QVBoxLayout;
  right->setContentsMargins(0, 8, 8, 0);
  right->setSpacing(4);
  auto* above = new QHBoxLayout;
  above->setContentsMargins(8, 0, 0, 0);
  above->addWidget(series_, 1);
  above->addWidget(side_, 0, Qt::AlignRight);
  right->addLayout(above);
  right->addLayout(sides, 1);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 1, 0, 0);
  layout->setSpacing(8);
  layout->addWidget(column_);
  layout->addLayout(right, 1);
  setFocusProxy(field_);
}

void SweepPage::shareWidth() {
  const bool both = width() >= theme_.scaled(kBoth), mix = side_->current() == 1;
  side_->setVisible(!both);
  plot_->setVisible(both || !mix);
  series_->setVisible(both || !mix);
  mix_->setVisible(both || mix);
  const double left = std::clamp(width() * 0.45, theme_.scaled(kLeastLeft), theme_.scaled(kLeft));
  column_->setFixedWidth(static_cast<int>(left));
  const double wide = width() >= theme_.scaled(kRoomy) ? kWideMix : kMix;
  mix_->setMinimumWidth(both ? static_cast<int>(theme_.scaled(wide)) : 0);
  mix_->setMaximumWidth(both ? static_cast<int>(theme_.scaled(wide)) : QWIDGETSIZE_MAX);
  table_->setColumnHidden(SweepModel::perplexityColumn, left < theme_.scaled(kLeft));
}

void SweepPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  shareWidth();
}

void SweepPage::setupCorner() {
  auto* layout = new QHBoxLayout(corner_);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* save = new IconButton(theme_, "export", "Save the rows as CSV or JSON", corner_);
  layout->addWidget(save);
  connect(save, &QAbstractButton::clicked, this, &SweepPage::askSave);
}

void SweepPage::chooseKind(api::SweepKind kind) {
  kind_ = kind;
  kindButton_->setCaption(titleOf(kind));
  refreshTypes();
  refreshControls();
}

QString SweepPage::to() const {
  const auto found = chosenTo_.find(kind_);
  return found == chosenTo_.end() ? QString() : found->second;
}

void SweepPage::chooseTo(const QString& to) {
  chosenTo_[kind_] = to;
  refreshTypes();
}

void SweepPage::setDevices(const Devices& devices) {
  devices_.clear();
  for (const api::DeviceEntry& device : devices)
    if (device.refusal.empty()) devices_ += QString::fromStdString(device.device);
  for (const QString& device : devices_)
    if (device != "cpu" && chosenTo_[api::SweepKind::place_layers].isEmpty())
      chosenTo_[api::SweepKind::place_layers] = device;
  refreshTypes();
  refreshControls();
}

void SweepPage::refreshTypes() {
  QStringList choices;
  for (const std::string& choice : api::choices_of(kind_))
    if (choice != "file") choices += QString::fromStdString(choice);
  if (kind_ == api::SweepKind::place_layers) choices = devices_;
  toButton_->menu()->clear();
  for (const QString& choice : choices)
    toButton_->menu()->addAction(choice, this, [this, choice] { chooseTo(choice); });
  toButton_->setCaption(to());
  toButton_->setVisible(!choices.isEmpty());
}

void SweepPage::startOrStop() {
  if (sweeps_->running()) return sweeps_->stop();
  banner_->dismiss();
  sweeps_->start({kind_, to().toStdString(), field_->text().trimmed().toStdString()});
}

void SweepPage::refreshControls() {
  const bool running = sweeps_->running();
  QString refusal = sweeps_->refusal();
  if (refusal.isEmpty() && kind_ == api::SweepKind::place_layers && to().isEmpty())
    refusal = "There is no other device to place layers on";
  start_->setCaption(running ? "Stop" : "Start");
  start_->setEnabled(running || refusal.isEmpty());
  start_->setToolTip(refusal);
  resume_->setEnabled(sweeps_->canResume());
  refreshProgress();
}

void SweepPage::refreshProgress() {
  const api::Sweep& sweep = sweeps_->sweep();
  const size_t rows = sweep.rows.size();
  bar_->setShare(sweep.places > 0 ? static_cast<double>(rows) / static_cast<double>(sweep.places) : 0);
  if (sweep.places == 0) {
    amount_->setText(sweeps_->refusal().isEmpty() ? QStringLiteral("Nothing is measured yet")
                                                  : sweeps_->refusal());
    rate_->setText({});
    left_->setText({});
    return;
  }
  const double each = sweeps_->secondsEach();
  amount_->setText(QString("%1 of %2").arg(rows).arg(sweep.places));
  rate_->setText(each > 0 ? format::time(each * 1e6) + QStringLiteral(" each") : QString());
  left_->setText(sweep.complete()                 ? QStringLiteral("done")
                 : sweeps_->running() && each > 0 ? timeLeft(each * static_cast<double>(sweep.places - rows))
                 : sweeps_->running()             ? QStringLiteral("reading the text")
                                                  : QStringLiteral("stopped"));
}

/// Another sweep, or none.
void SweepPage::takeSweep() {
  rows_->reset();
  plot_->choose(-1);
  advance();
}

void SweepPage::advance() {
  rows_->refresh();
  plot_->show(*sweeps_, rows_->values());
  const api::Sweep* other = sweeps_->other();
  series_->setText(sweeps_->sweep().places == 0 ? QString()
                   : other
                       ? QString("%1; hollow: %2").arg(distanceTitle(sweeps_->sweep()), distanceTitle(*other))
                       : distanceTitle(sweeps_->sweep()));
  mix_->refresh();
  cheapest_->refresh();
  refreshControls();
  emit valuesChanged(rows_->values());
}

void SweepPage::choosePlace(int place) {
  const int row = rows_->rowOf(static_cast<size_t>(place));
  plot_->choose(place);
  table_->choose(row);
  emit pathAsked(rows_->scopeAt(row));
}

/// Enter on a row makes its edit.
void SweepPage::makeRow(int row) {
  const api::Sweep& sweep = sweeps_->sweep();
  const size_t place = rows_->placeAt(row);
  if (place >= sweep.rows.size()) return banner_->showNotice(rows_->scopeAt(row) + " is not measured yet");
  if (!sweep.rows[place].refusal.empty())
    return banner_->showNotice(QString::fromStdString(sweep.rows[place].refusal));
  if (sweeps_->edited()) return banner_->showNotice("The model was edited since: undo that, or sweep again");
  const QString name = wordsOf(sweep.request, rows_->scopeAt(row));
  emit editsAsked({sweep.rows[place].edit}, name.left(1).toLower() + name.mid(1));
}

void SweepPage::showChoice(const QString& path) {
  const int row = rows_->rowAt(path.toStdString());
  if (row < 0) return;
  table_->choose(row);
  plot_->choose(static_cast<int>(rows_->placeAt(row)));
}

Result<void> SweepPage::save(const QString& path) const {
  const bool csv = path.endsWith(".csv", Qt::CaseInsensitive);
  const QByteArray text =
      QByteArray::fromStdString(csv ? api::sweep_csv(sweeps_->sweep()) : api::write_sweep(sweeps_->sweep()));
  return saveFile(path, text);
}

void SweepPage::askSave() {
  if (sweeps_->sweep().rows.empty())
    return banner_->showNotice("There is nothing to save yet: start a sweep");
  const QString name = QString::fromUtf8(api::name_of(sweeps_->sweep().request.what).data()) + ".csv";
  ui::askSave(this, "Save the sweep", name, "Table (*.csv);;To be resumed (*.json)");
}

void SweepPage::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void SweepPage::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::panel));
  painter.fillRect(0, 0, width(), 1, theme_(Token::border));
  painter.fillRect(column_->geometry().right() + 4, 10, 1, height() - 20, theme_(Token::border));
}

}  // namespace orrery::ui
