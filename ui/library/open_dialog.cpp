#include "ui/library/open_dialog.h"

#include <QFileInfo>
#include <QGridLayout>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/library/fit_look.h"
#include "ui/session/model_title.h"
#include "ui/widgets/banner.h"

namespace orrery::ui {
namespace {

constexpr int kWidth = 600, kMargin = 16, kGap = 12;
constexpr int64_t kLeastOffered = 256;  // tokens
constexpr const char* kKvTypes[] = {"f16", "bf16", "f32", "q8_0"};
constexpr const char* kParts[] = {"weights", "KV cache", "scratch"};

QString titleOf(const api::OpenOptions& options) {
  const QString model = QString::fromStdString(options.model), name = QFileInfo(model).fileName();
  return name.isEmpty() ? model : name;
}

/// A square in the colour of a part of the bar.
class Swatch : public QWidget, public Themed {
 public:
  Swatch(const Theme& theme, MemoryPart part, QWidget* parent) : QWidget(parent), theme_(theme), part_(part) {
    setFixedSize(10, 10);
  }
  void setTheme(const Theme& theme) override {
    theme_ = theme;
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    paintBox(painter, rect(), 2, colorOf(part_, theme_), QColor());
  }

 private:
  Theme theme_;
  MemoryPart part_;
};

}  // namespace

OpenDialog::OpenDialog(const Theme& theme, MemoryEstimates* estimates, const api::OpenOptions& options,
                       const QString& reason, QWidget* parent)
    : QDialog(parent), theme_(theme), estimates_(estimates), options_(options) {
  setAttribute(Qt::WA_DeleteOnClose);
  setWindowTitle("Load with options");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
  column->setSpacing(kGap);
  setupHead(reason, column);
  setupChoices(column);
  setupLegend(column);
  column->addStretch(1);
  setupFoot(column);
  resize(kWidth, sizeHint().height());
  connect(estimates_, &MemoryEstimates::measured, this, [this](const QString& model, const QString& adapter) {
    if (isMine(model, adapter)) takeDemand();
  });
  connect(estimates_, &MemoryEstimates::devicesChanged, this, &OpenDialog::takeDemand);
  connect(estimates_, &MemoryEstimates::failed, this,
          [this](const QString& model, const QString& adapter, const QString& why) {
            if (!isMine(model, adapter)) return;
            verdict_->setToken(Token::error);
            verdict_->setText(why);
          });
  estimates_->measure(options_);
  takeDemand();
}

bool OpenDialog::isMine(const QString& model, const QString& adapter) const {
  return model.toStdString() == options_.model && adapter.toStdString() == options_.adapter;
}

void OpenDialog::setupHead(const QString& reason, QVBoxLayout* column) {
  detail_ = new Text(theme_, {Token::text2, 11, QFont::Normal, true}, {}, this);
  column->addWidget(new Text(theme_, {Token::text, 15, QFont::DemiBold}, "Load " + titleOf(options_), this));
  column->addWidget(detail_);
  if (reason.isEmpty()) return;
  auto* why = new Banner(theme_, this);
  why->showWarning("It does not fit as it was asked for", reason);
  column->addWidget(why);
}

void OpenDialog::setupChoices(QVBoxLayout* column) {
  devices_ = new QVBoxLayout;
  devices_->setSpacing(6);
  column->addLayout(devices_);
  contextBox_ = new QWidget(this);
  auto* grid = new QGridLayout(contextBox_);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(kGap);
  grid->setVerticalSpacing(8);
  context_ = new ContextField(contextBox_);
  kvType_ = new Segmented(theme_, contextBox_);
  kvType_->setAccessibleName("KV cache");
  for (int i = 0; i < static_cast<int>(std::size(kKvTypes)); ++i) {
    kvType_->addChoice(kKvTypes[i]);
    if (options_.kv_type == kKvTypes[i]) kvType_->setCurrent(i);
  }
  grid->addWidget(new Text(theme_, {Token::text, 12}, "Context, tokens", contextBox_), 0, 0);
  grid->addWidget(context_, 0, 1);
  grid->addWidget(new Text(theme_, {Token::text, 12}, "KV cache", contextBox_), 1, 0);
  grid->addWidget(kvType_, 1, 1, Qt::AlignLeft);
  grid->setColumnStretch(1, 1);
  column->addWidget(contextBox_);
  connect(context_, &ContextField::changed, this, [this](int tokens) {
    options_.context = tokens;
    refresh();
  });
  connect(kvType_, &Segmented::chosen, this, [this](int choice) {
    options_.kv_type = kKvTypes[choice];
    refresh();
  });
}

void OpenDialog::setupLegend(QVBoxLayout* column) {
  auto* row = new QHBoxLayout;
  row->setSpacing(6);
  for (int i = 0; i < 3; ++i) {
    legend_[i] = new Text(theme_, {Token::text2, 11}, kParts[i], this);
    legend_[i]->reserve(QString("%1 000 MB").arg(kParts[i]));
    row->addWidget(new Swatch(theme_, static_cast<MemoryPart>(i), this));
    row->addWidget(legend_[i]);
    row->addSpacing(8);
  }
  row->addStretch(1);
  row->addWidget(new Text(theme_, {Token::text3, 11}, "estimated", this));
  column->addLayout(row);
}

void OpenDialog::setupFoot(QVBoxLayout* column) {
  verdict_ = new Text(theme_, {Token::text2, 12}, "Reading the headers", this);
  verdict_->setWrap(true);
  column->addWidget(verdict_);
  fewer_ = new Button(theme_, {}, Button::Kind::plain, this);
  fewer_->hide();
  auto* cancel = new Button(theme_, "Cancel", Button::Kind::plain, this);
  load_ = new Button(theme_, "Load", Button::Kind::primary, this);
  load_->setEnabled(false);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(fewer_);
  row->addStretch(1);
  row->addWidget(cancel);
  row->addWidget(load_);
  column->addLayout(row);
  connect(fewer_, &QAbstractButton::clicked, this,
          [this] { context_->setValue(static_cast<int>(offered_)); });
  connect(cancel, &QAbstractButton::clicked, this, &QDialog::reject);
  connect(load_, &QAbstractButton::clicked, this, &OpenDialog::load);
}

/// The rows, once the model was measured and the devices are known.
void OpenDialog::takeDemand() {
  const DemandPtr demand = estimates_->demand(options_.model, options_.adapter);
  if (!demand) return;
  const int64_t own = demand->model_context;
  detail_->setText(
      own > 0
          ? QString("%1, made for %2 tokens").arg(QString::fromStdString(demand->name), format::count(own))
          : QString::fromStdString(demand->name));
  contextBox_->setVisible(demand->page_bytes_as(options_.kv_type) > 0);
  qDeleteAll(rows_);
  rows_.clear();
  for (const api::DeviceMemory& memory :
       estimates_->fits(options_.model, options_.adapter, options_.context, options_.kv_type)) {
    auto* row = new DeviceFitRow(theme_, memory, this);
    rows_.push_back(row);
    devices_->addWidget(row);
    connect(row, &QAbstractButton::clicked, this, [this, device = memory.device] { choose(device); });
  }
  context_->setMaximum(static_cast<int>(api::context_of(*demand, std::max<int64_t>(own, 1))));
  context_->setValue(static_cast<int>(api::context_of(*demand, options_.context)));
  choose(options_.device);
  adjustSize();
  resize(kWidth, height());
}

void OpenDialog::choose(const std::string& device) {
  options_.device = device;
  for (DeviceFitRow* row : rows_) row->setChecked(row->memory().device == device);
  refresh();
}

void OpenDialog::refresh() {
  const Fits fits = estimates_->fits(options_.model, options_.adapter, options_.context, options_.kv_type);
  for (size_t i = 0; i < rows_.size() && i < fits.size(); ++i) {
    rows_[i]->setMemory(fits[i]);
    if (fits[i].device == options_.device) showVerdict(fits[i]);
  }
}

void OpenDialog::showVerdict(const api::DeviceMemory& memory) {
  const uint64_t parts[] = {memory.weights, memory.kv_cache, memory.scratch};
  for (int i = 0; i < 3; ++i) legend_[i]->setText(QString("%1 %2").arg(kParts[i], bytes(parts[i])));
  const QString device = deviceTitle(memory.device);
  const bool usable = memory.refusal.empty(), large = usable && memory.fit == api::Fit::too_large;
  const bool cpu = memory.device == "cpu";
  QString words;
  if (!usable) {
    words = QString("%1 cannot take it: %2").arg(device, QString::fromStdString(memory.refusal));
  } else if (large) {
    words = QString("%1 more than is free on %2.").arg(bytes(memory.sum() - memory.free), device);
    if (memory.largest_context >= kLeastOffered)
      words += QString(" At most %1 tokens fit.").arg(format::count(memory.largest_context));
    if (cpu) words += " It may run slowly, or be ended by the system.";
  } else if (memory.fit == api::Fit::tight) {
    words = QString("Fits on %1, with %2 left.").arg(device, bytes(memory.free - memory.sum()));
  } else {
    words = QString("Fits on %1.").arg(device);
  }
  verdict_->setToken(!usable || large                ? Token::error
                     : memory.fit == api::Fit::tight ? Token::warn
                                                     : Token::ok);
  verdict_->setText(words);
  offered_ = memory.largest_context / 32 * 32;
  fewer_->setCaption(QString("Use %1 tokens").arg(format::count(offered_)));
  fewer_->setVisible(large && offered_ >= kLeastOffered && offered_ < options_.context);
  options_.check_memory = !(large && cpu);
  load_->setCaption(large && cpu ? "Load anyway" : "Load");
  load_->setEnabled(usable && (!large || cpu));
}

void OpenDialog::load() {
  emit loadAsked(options_);
  accept();
}

void OpenDialog::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void OpenDialog::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::panel));
}

}  // namespace orrery::ui
