#include "ui/lab/problem_panel.h"

#include <QHBoxLayout>
#include <QListView>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace orrery::ui {
namespace {

constexpr int kMostThreads = 1024;

}  // namespace

ProblemPanel::ProblemPanel(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      hint_(new Text(theme, {Token::text3, 10.5, QFont::Normal, true}, {}, this)),
      shape_(new QLineEdit(this)),
      problem_(new Text(theme, {Token::error, 11}, {}, this)),
      knownTitle_(nullptr),
      known_(new QComboBox(this)),
      blocks_(new QComboBox(this)),
      deviceRow_(new QWidget(this)),
      threads_(new QSpinBox(this)) {
  hint_->setWrap(true);
  problem_->setWrap(true);
  problem_->hide();
  shape_->setFont(theme.monoFont(11.5));
  shape_->setAccessibleName("Problem, in the kernel's words");
  known_->setAccessibleName("Problems of models in use");
  blocks_->setAccessibleName("Sizes of a block: the row that has them");
  for (QComboBox* box : {known_, blocks_}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(8);
    if (auto* list = qobject_cast<QListView*>(box->view()))
      list->setUniformItemSizes(true);  // the panel moves between columns, and each move measures the list
  }
  known_->setPlaceholderText("choose one");
  threads_->setRange(0, kMostThreads);
  threads_->setSpecialValueText("all cores");
  threads_->setAccessibleName("Threads of the CPU");
  threads_->setToolTip("With one, times are the processor's own, which hold on a busy machine too");
  setupLayout();
  connect(shape_, &QLineEdit::textEdited, this, [this](const QString& words) {
    typed_[kernel_] = words;
    known_->setCurrentIndex(known_->findText(words));
    setProblem({});
    emit changed();
  });
  connect(shape_, &QLineEdit::returnPressed, this, &ProblemPanel::runAsked);
  connect(known_, &QComboBox::textActivated, this, &ProblemPanel::setWords);
  connect(blocks_, &QComboBox::activated, this, &ProblemPanel::changed);
  connect(threads_, &QSpinBox::valueChanged, this, &ProblemPanel::changed);
  setFocusProxy(shape_);
  api::DeviceEntry cpu;  // until the machine's are listed
  cpu.device = "cpu";
  setDevices({cpu}, "cpu");
}

void ProblemPanel::setupLayout() {
  auto* devices = new QHBoxLayout(deviceRow_);
  devices->setContentsMargins(0, 0, 0, 0);
  devices->setSpacing(12);
  devices->addStretch(1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  const auto add = [&](const char* label, QWidget* field) {
    auto* text = new Text(theme_, {Token::text2, 10.5}, label, this);
    layout->addWidget(text);
    layout->addWidget(field);
    return text;
  };
  add("Problem", shape_);
  layout->addWidget(problem_);
  layout->addWidget(hint_);
  layout->addSpacing(4);
  knownTitle_ = add("Of models in use", known_);
  layout->addSpacing(4);
  add("Blocks", blocks_);
  layout->addSpacing(4);
  auto* below = new QHBoxLayout;
  below->setSpacing(12);
  auto* left = new QVBoxLayout;
  left->setSpacing(4);
  left->addWidget(new Text(theme_, {Token::text2, 10.5}, "Devices", this));
  left->addWidget(deviceRow_);
  auto* right = new QVBoxLayout;
  right->setSpacing(4);
  right->addWidget(new Text(theme_, {Token::text2, 10.5}, "Threads", this));
  right->addWidget(threads_);
  below->addLayout(left, 1);
  below->addLayout(right);
  layout->addLayout(below);
}

void ProblemPanel::show(const api::LabKernel* kernel) {
  const QSignalBlocker quiet(known_);
  kernel_ = kernel ? kernel->name : std::string();
  known_->clear();
  setProblem({});
  setEnabled(kernel != nullptr);
  if (!kernel) return;
  for (const std::string& problem : kernel->problems) known_->addItem(QString::fromStdString(problem));
  const auto typed = typed_.find(kernel_);
  const QString first = kernel->problems.empty() ? QString() : known_->itemText(0);
  shape_->setText(typed == typed_.end() ? first : typed->second);
  shape_->setCursorPosition(0);
  known_->setCurrentIndex(known_->findText(shape_->text()));
  hint_->setText(QString::fromStdString(kernel->shape));
  knownTitle_->setText(kernel->own ? QStringLiteral("To begin with") : QStringLiteral("Of models in use"));
  fillBlocks(*kernel);
  cuda_ = !kernel->cuda.empty();
  enableDevices();
  emit changed();
}

/// Blocks are compiled into rows: each size is that of a row.
void ProblemPanel::fillBlocks(const api::LabKernel& kernel) {
  const QString before = blocks_->currentData().toString();
  const QSignalBlocker quiet(blocks_);
  blocks_->clear();
  blocks_->addItem("All rows");
  for (const std::vector<std::string>* rows : {&kernel.cpu, &kernel.cuda})
    for (const std::string& row : *rows)
      if (const auto tile = kernel.tiles.find(row); tile != kernel.tiles.end())
        blocks_->addItem(QString::fromStdString(tile->second + ", " + row), QString::fromStdString(row));
  blocks_->setCurrentIndex(std::max(0, blocks_->findData(before)));
  const bool any = blocks_->count() > 1;
  blocks_->setEnabled(any);
  blocks_->setToolTip(any ? "Blocks are compiled into rows: the row with these alone is run"
                          : "No row of this kernel tells its blocks: each chooses them itself");
}

void ProblemPanel::setWords(const QString& words) {
  shape_->setText(words);
  shape_->setCursorPosition(0);
  typed_[kernel_] = words;
  known_->setCurrentIndex(known_->findText(words));
  setProblem({});
  emit changed();
}

void ProblemPanel::setDevices(const std::vector<api::DeviceEntry>& devices, const std::string& used) {
  std::vector<std::string> chosen = ask().devices;
  const bool first = devices_.size() <= 1;  // only now are they known
  if (first && std::ranges::find(devices, used, &api::DeviceEntry::device) != devices.end()) chosen = {used};
  for (QCheckBox* box : devices_) box->deleteLater();
  devices_.clear();
  refusals_.clear();
  for (const api::DeviceEntry& device : devices) {
    const QString name = QString::fromStdString(device.device);
    auto* box = new QCheckBox(name, deviceRow_);
    box->setAccessibleName("Run on " + name);
    const bool is_chosen = std::ranges::find(chosen, device.device) != chosen.end();
    box->setChecked(is_chosen || (chosen.empty() && device.device == "cpu"));
    refusals_[name] = QString::fromStdString(device.refusal);
    connect(box, &QCheckBox::toggled, this, &ProblemPanel::changed);
    auto* row = static_cast<QHBoxLayout*>(deviceRow_->layout());
    row->insertWidget(row->count() - 1, box);
    devices_.push_back(box);
  }
  enableDevices();
  emit changed();
}

void ProblemPanel::enableDevices() {
  for (QCheckBox* box : devices_) {
    QString refusal = refusals_[box->text()];
    if (refusal.isEmpty() && box->text() != "cpu" && !cuda_)
      refusal = "The kernel has no rows of a card here";
    box->setEnabled(refusal.isEmpty());
    box->setToolTip(refusal);
  }
}

void ProblemPanel::setProblem(const QString& words) {
  problem_->setText(words);
  problem_->setVisible(!words.isEmpty());
}

LabAsk ProblemPanel::ask() const {
  LabAsk ask{kernel_, shape_->text().trimmed().toStdString(), {}, threads_->value(), {}};
  if (blocks_->currentIndex() > 0) ask.rows = {blocks_->currentData().toString().toStdString()};
  for (const QCheckBox* box : devices_)
    if (box->isChecked() && box->isEnabledTo(this)) ask.devices.push_back(box->text().toStdString());
  return ask;
}

void ProblemPanel::setTheme(const Theme& theme) {
  theme_ = theme;
  shape_->setFont(theme.monoFont(11.5));
}

}  // namespace orrery::ui
