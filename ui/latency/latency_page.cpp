#include "ui/latency/latency_page.h"

#include <QFileDialog>
#include <QGridLayout>
#include <QPaintEvent>
#include <QPainter>
#include <algorithm>

#include "ui/latency/latency_plot.h"
#include "ui/session/model_title.h"
#include "ui/session/model_use.h"
#include "ui/session/saved_file.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kPlotShare = 0.005;   // of one core, for the live plot
constexpr double kSlowestPlot = 1000;  // ms; on a busy machine a repaint takes long by the clock

QString milliseconds(double ms) { return ms > 0 ? format::number(ms) : format::dash(); }

}  // namespace

LatencyPage::LatencyPage(const Theme& theme, const std::vector<SessionController*>& sources, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      source_(sources.front()),
      plot_(new LatencyPlot(theme, this)),
      vitals_(new VitalsStrip(theme, this)),
      legend_(new LatencyLegend(theme, this)),
      corner_(new QWidget(this)),
      figures_(new QWidget(this)),
      empty_(new Text(theme, {Token::text3, 12}, {}, plot_)) {
  setupCorner();
  setupFigures();
  setupLayout();
  for (SessionController* source : sources) setupSource(source);
  connect(legend_, &LatencyLegend::toggled, this, [this](LatencyCurve curve, bool visible) {
    plot_->setCurveVisible(curve, visible);
    refresh();
  });
  showSource();
}

QWidget* LatencyPage::plot() const { return plot_; }

void LatencyPage::setupCorner() {
  auto* layout = new QHBoxLayout(corner_);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  reset_ = new IconButton(theme_, "fit", "Show all and follow the live end", corner_);
  pause_ = new IconButton(theme_, "pause", "Pause the plot; the run goes on", corner_);
  pause_->setCheckable(true);
  auto* save = new IconButton(theme_, "export", "Export as PNG, PDF or CSV", corner_);
  for (IconButton* button : {reset_, pause_, save}) layout->addWidget(button);
  reset_->hide();
  connect(reset_, &QAbstractButton::clicked, plot_, &LatencyPlot::resetView);
  connect(plot_, &LatencyPlot::viewChanged, this, [this](bool following) {
    reset_->setVisible(!following);
    if (following) refresh();
  });
  connect(pause_, &QAbstractButton::toggled, this, [this](bool paused) {
    plot_->setPaused(paused);
    pause_->setIconName(paused ? "play" : "pause");
    refresh();
  });
  connect(save, &QAbstractButton::clicked, this, &LatencyPage::askExport);
}

LatencyPage::FigureTexts LatencyPage::addFigure(const QString& caption, Token token) {
  auto* grid = static_cast<QGridLayout*>(figures_->layout());
  const int row = grid->rowCount();
  FigureTexts texts{new Text(theme_, {Token::text3, 10.5}, caption, figures_),
                    new Text(theme_, {token, 18, QFont::Medium, true}, format::dash(), figures_),
                    new Text(theme_, {Token::text3, 11}, {}, figures_)};
  texts.value->reserve("0.00");
  grid->addWidget(texts.caption, row, 0, 1, 3);
  grid->addWidget(texts.value, row + 1, 0, Qt::AlignLeft | Qt::AlignBottom);
  grid->addWidget(texts.unit, row + 1, 1, Qt::AlignLeft | Qt::AlignBottom);
  grid->setRowMinimumHeight(row + 2, 5);
  return texts;
}

void LatencyPage::setupFigures() {
  auto* grid = new QGridLayout(figures_);
  grid->setContentsMargins(12, 8, 8, 8);
  grid->setHorizontalSpacing(6);
  grid->setVerticalSpacing(0);
  p50_ = addFigure("decode p50", Token::cpu);
  p95_ = addFigure("decode p95", Token::text);
  speed_ = addFigure("speed", Token::text);
  beforeCaption_ = new Text(theme_, {Token::text3, 10.5}, "before the edit", figures_);
  before_ = new Text(theme_, {Token::text2, 11, QFont::Normal, true}, {}, figures_);
  const int row = grid->rowCount();
  grid->addWidget(beforeCaption_, row, 0, 1, 3);
  grid->addWidget(before_, row + 1, 0, 1, 3);
  grid->setRowStretch(row + 2, 1);
  grid->setColumnStretch(2, 1);
}

void LatencyPage::setupLayout() {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 1, 0, 0);
  layout->setSpacing(0);
  auto* column = new QVBoxLayout;
  column->setSpacing(0);
  column->addWidget(plot_, 1);
  column->addWidget(vitals_);
  layout->addLayout(column, 1);
  layout->addWidget(figures_);
  figures_->setFixedWidth(static_cast<int>(theme_.scaled(132)));
  empty_->setWrap(true);
  auto* over = new QVBoxLayout(plot_);
  over->setContentsMargins(56, 40, 16, 24);
  over->addWidget(empty_);
  over->addStretch(1);
}

void LatencyPage::setupSource(SessionController* source) {
  series_[source];
  const auto refreshIfShown = [this, source] {
    if (source == source_) refresh();
  };
  connect(source, &SessionController::opened, this, [this, source] {
    series_[source].clear();
    if (source == source_) showSource();
  });
  connect(source, &SessionController::stateChanged, this, [this, source](RunState state) {
    if (state == RunState::prefill || state == RunState::classify) {
      series_[source].beginReply();
      if (source == source_) showSource();
    }
    if (source == source_) refresh();
  });
  connect(source, &SessionController::prefilled, this,
          [this, source, refreshIfShown](const api::PrefillEvent& event) {
            series_[source].addPrefill(event);
            refreshIfShown();
          });
  connect(source, &SessionController::tokensArrived, this, [this, source](const TokenBatch& tokens) {
    for (const api::TokenEvent& token : tokens) series_[source].addToken(token);
    if (source == source_) refreshLive();
  });
  connect(source, &SessionController::classified, this, [this, source](const ClassifyBatch& batch) {
    for (const IndexedClassification& text : batch) series_[source].addText(text.result.ms);
    if (source == source_) refreshLive();
  });
  connect(source, &SessionController::reranked, this,
          [this, source, refreshIfShown](const std::vector<api::Relevance>& relevance) {
            for (const api::Relevance& document : relevance) series_[source].addText(document.ms);
            refreshIfShown();
          });
  connect(source, &SessionController::edited, this,
          [this, source, refreshIfShown](const api::EditRecord& record, EditKind kind) {
            const QString name = QString::fromStdString(record.name);
            series_[source].addEdit(kind == EditKind::undone ? "undo " + name : name,
                                    source == source_ && !paired_ ? p50Shown_ : 0);
            refreshIfShown();
          });
  connect(source, &SessionController::profileChanged, this, [this, source] {
    if (source == source_) showFigures();
  });
}

/// The model has every core: the plot follows as often as a small share of one allows.
void LatencyPage::refreshLive() {
  const double wait = std::min(plot_->replotTime(true) / kPlotShare, kSlowestPlot);
  if (static_cast<double>(sinceRefresh_.elapsed()) >= wait) refresh();
}

void LatencyPage::setSource(SessionController* source) {
  if (source == source_) return;
  source_ = source;
  showSource();
}

bool LatencyPage::texts() const {
  const SessionPtr session = source_->session();
  return session && session->info().task != api::Task::generate;
}

/// The plot is the one session's own, not a pair's.
void LatencyPage::showSource() {
  paired_ = false;
  const SessionPtr session = source_->session();
  const std::string device = session ? session->options().device : "cpu";
  const Token token = device == "cpu" ? Token::cpu : Token::cuda;
  plot_->setCurveToken(token);
  plot_->setTexts(texts());
  legend_->setDevice(deviceTitle(device), token, texts());
  p50_.caption->setText(texts() ? "text p50" : "decode p50");
  p95_.caption->setText(texts() ? "text p95" : "decode p95");
  speed_.caption->setText("speed");
  p50_.value->setToken(token);
  p95_.value->setToken(Token::text);
  const bool arrays = source_->session() && source_->session()->info().task == api::Task::tensors;
  empty_->setText(arrays    ? "A graph of one's own reads no text: its times are on its nodes"
                  : texts() ? "Classify a text: every text's time is drawn here"
                            : "Send a message: every token's time is drawn here");
  refresh();
  showFigures();
}

void LatencyPage::beginPair(const SideLooks& sides) {
  paired_ = true;
  sides_ = sides;
  for (LatencySeries& series : pair_) {
    series.clear();
    series.beginReply();
  }
  plot_->setPair(sides);
  legend_->setPair();
  refresh();
}

void LatencyPage::addToPair(bool b, const api::PrefillEvent& event) { pair_[b].addPrefill(event); }

void LatencyPage::addToPair(bool b, const TokenBatch& tokens) {
  for (const api::TokenEvent& token : tokens) pair_[b].addToken(token);
  if (paired_) refresh();
}

void LatencyPage::refresh() {
  if (paired_) {
    empty_->hide();
    plot_->showPair(pair_[0], pair_[1]);
    sinceRefresh_.start();
    return showFigures();
  }
  const RunState state = source_->state();
  empty_->setVisible(series().blocks().empty() && series().samples().empty());
  plot_->show(series(),
              state == RunState::decode || state == RunState::classify || state == RunState::stopping);
  sinceRefresh_.start();
}

void LatencyPage::showFigures() {
  if (paired_) return showPairFigures();
  const ProfilePtr profile =
      source_->session() ? source_->profile(phaseShown(source_->session()->info(), api::Phase::decode))
                         : nullptr;
  const api::Timing latency = profile ? profile->latency : api::Timing();
  const double p50 = latency.p50_us * 1e-3, p95 = latency.p95_us * 1e-3,
               speed = profile ? profile->per_second() : 0;
  p50_.value->setText(milliseconds(p50));
  p95_.value->setText(milliseconds(p95));
  p50_.unit->setText(p50 > 0 ? "ms" : "");
  p95_.unit->setText(p95 > 0 ? "ms" : "");
  speed_.value->setText(speed > 0 ? format::number(speed) : format::dash());
  speed_.unit->setText(speed <= 0 ? "" : texts() ? "texts/s" : "tok/s");
  p50Shown_ = p50;
  const double before = series().marks().empty() ? 0 : series().marks().back().p50Before;
  beforeCaption_->setVisible(before > 0);
  before_->setVisible(before > 0);
  before_->setText("p50 " + milliseconds(before) + " ms");
}

void LatencyPage::showPairFigures() {
  const double p50[] = {pair_[0].p50(), pair_[1].p50()};
  const FigureTexts* texts[] = {&p50_, &p95_};
  for (const size_t side : {0, 1}) {
    texts[side]->caption->setText(sides_[side].name + " p50");
    texts[side]->value->setToken(sides_[side].token);
    texts[side]->value->setText(milliseconds(p50[side]));
    texts[side]->unit->setText(p50[side] > 0 ? "ms" : "");
  }
  const bool both = p50[0] > 0 && p50[1] > 0;
  speed_.caption->setText("A : B");
  speed_.value->setText(both ? format::number(p50[0] / p50[1]) + QStringLiteral("×") : format::dash());
  speed_.unit->setText({});
  beforeCaption_->hide();
  before_->hide();
}

bool LatencyPage::exportTo(const QString& path, QString* reason) {
  if (!path.endsWith(".csv", Qt::CaseInsensitive)) return plot_->exportTo(path, series(), reason);
  const Result<void> saved = saveFile(path, series().csv().toUtf8());
  if (!saved.ok()) *reason = QString::fromStdString(saved.error().what);
  return saved.ok();
}

void LatencyPage::askExport() {
  QString path = QFileDialog::getSaveFileName(this, "Export the latency", "latency.png",
                                              "Picture (*.png);;Document (*.pdf);;Numbers (*.csv)");
  if (path.isEmpty()) return;
  QString reason;
  if (exportTo(path, &reason)) {
    emit exported(path);
  } else {
    emit exportFailed(path, reason);
  }
}

void LatencyPage::setTheme(const Theme& theme) {
  theme_ = theme;
  figures_->setFixedWidth(static_cast<int>(theme.scaled(132)));
  refresh();
  update();
}

void LatencyPage::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::panel));
  painter.fillRect(0, 0, width(), 1, theme_(Token::border));
  painter.fillRect(figures_->x(), 10, 1, height() - 20, theme_(Token::border));
}

}  // namespace orrery::ui
