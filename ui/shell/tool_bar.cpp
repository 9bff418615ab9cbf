#include "ui/shell/tool_bar.h"

#include <QLayout>
#include <QPainter>
#include <QResizeEvent>
#include <cmath>

#include "ui/session/model_title.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kBarHeight = 42;

const std::pair<HeatMode, const char*> kHeatModes[] = {
    {HeatMode::time, "Heat: time"},   {HeatMode::bytes, "Heat: bytes"},      {HeatMode::share, "Heat: share"},
    {HeatMode::ratio, "Heat: A : B"}, {HeatMode::measure, "Heat: measured"}, {HeatMode::off, "Heat: off"}};

QString withKey(const QString& words, const QString& key) {
  return key.isEmpty() ? words : words + " (" + key + ")";
}

class Line : public QWidget, public Themed {
 public:
  explicit Line(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
    setFixedSize(17, 20);
  }
  void setTheme(const Theme& theme) override {
    theme_ = theme;
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.fillRect(8, 0, 1, height(), Theme::blend(theme_(Token::border), theme_(Token::text3), 0.15));
  }

 private:
  Theme theme_;
};

}  // namespace

struct MainToolBar::Form {
  double model, heat, find;  // the fields' widths
  const char* hint;          // in the find field
  bool graphTools, icons;    // beside each other, not in a menu
};

// From the roomiest to the narrowest.
constexpr MainToolBar::Form MainToolBar::kForms[] = {
    {245, 146, 274, "Find node, op, shape, weight", true, true},
    {256, 112, 180, "Find a node", true, true},
    {256, 112, 126, "Find", true, true},
    {256, 112, 126, "Find", true, false},
    {150, 0, 126, "Find", false, false}};

MainToolBar::MainToolBar(const Theme& theme, const std::vector<QAction*>& actions,
                         const std::vector<QAction*>& graph, QWidget* parent)
    : QToolBar("Tools", parent),
      theme_(theme),
      model_(new DropButton(theme, this)),
      heat_(new DropButton(theme, this)),
      device_(new Segmented(theme, this)),
      phase_(new Segmented(theme, this)),
      cudaMenu_(new QMenu(this)),
      run_(new Button(theme, "Run", Button::Kind::plain, this)),
      find_(new SearchField(theme, "search", "Find node, op, shape, weight", {}, this)),
      more_(new IconButton(theme, "more", "More of the graph", this, 16)),
      stretch_(new QWidget(this)) {
  setObjectName("tools");
  setMovable(false);
  setFloatable(false);
  setContextMenuPolicy(Qt::PreventContextMenu);
  for (QAction* action : actions) addIcon(action);
  addLine();
  model_->setIconName("layers");
  model_->setCaption("No model");
  model_->setToolTip("The model; choose another");
  addWidget(model_);
  setupRun();
  setupGraph(graph);
  setupMore(graph);
  setupFind();
  setTheme(theme);
}

QAction* MainToolBar::addIcon(QAction* action) {
  auto* button = new IconButton(theme_, action->data().toString(), {}, this, 16);
  const auto follow = [button, action] {
    button->setEnabled(action->isEnabled());
    button->setToolTip(withKey(action->text().remove('&').remove("..."),
                               action->shortcut().toString(QKeySequence::NativeText)));
    button->setAccessibleName(button->toolTip());
  };
  follow();
  connect(button, &QAbstractButton::clicked, action, &QAction::trigger);
  connect(action, &QAction::changed, button, follow);
  return addWidget(button);
}

QAction* MainToolBar::addLine() { return addWidget(new Line(theme_, this)); }

void MainToolBar::setupRun() {
  const auto space = [this] {
    auto* gap = new QWidget(this);
    gap->setFixedWidth(4);
    addWidget(gap);
  };
  device_->addChoice("CPU", Segmented::Mark::circle, Token::cpu);
  device_->addChoice("CUDA 0", Segmented::Mark::square, Token::cuda);
  device_->addChoice("Both");
  device_->setToolTip("Where the model runs; Both: every message runs on two devices at once");
  device_->setAccessibleName("Device");
  connect(device_, &Segmented::chosen, this, [this](int choice) {
    if (choice == bothChoice) return emit bothChosen();
    emit deviceChosen(choice == cpuChoice ? "cpu" : cuda_);
  });
  run_->setFixedWidth(static_cast<int>(theme_.scaled(95)));
  connect(run_, &QAbstractButton::clicked, this, [this] { running_ ? emit stopAsked() : emit runAsked(); });
  space();
  addWidget(device_);
  space();
  addWidget(run_);
  setRunning(false, false);
}

void MainToolBar::setupGraph(const std::vector<QAction*>& actions) {
  for (const auto& [mode, name] : kHeatModes)
    heat_->menu()->addAction(name, this, [this, mode = mode] {
      setHeatMode(mode);
      emit heatChosen(mode);
    });
  heat_->setToolTip("What colours the nodes");
  setHeatMode(HeatMode::time);
  auto* gap = new QWidget(this);
  gap->setFixedWidth(4);
  phase_->addChoice("Decode");
  phase_->addChoice("Prefill");
  phase_->setToolTip("Which steps' times are shown");
  phase_->setAccessibleName("Phase");
  connect(phase_, &Segmented::chosen, this,
          [this](int choice) { emit phaseChosen(choice == 0 ? api::Phase::decode : api::Phase::prefill); });
  graphTools_ = {addLine(), addWidget(heat_), addWidget(gap), addWidget(phase_), addLine()};
  for (QAction* action : actions) icons_.push_back(addIcon(action));
}

void MainToolBar::setupMore(const std::vector<QAction*>& actions) {
  auto* menu = new QMenu(this);
  heat_->menu()->setTitle("Heat");
  graphEntries_ = {menu->addMenu(heat_->menu()), menu->addSeparator()};
  for (const int phase : {0, 1})
    graphEntries_.push_back(menu->addAction(phase_->text(phase), this, [this, phase] {
      phase_->setCurrent(phase);
      emit phaseChosen(phase == 0 ? api::Phase::decode : api::Phase::prefill);
    }));
  graphEntries_.push_back(menu->addSeparator());
  for (QAction* action : actions) menu->addAction(action);
  connect(more_, &QAbstractButton::clicked, this,
          [this, menu] { menu->popup(more_->mapToGlobal(QPoint(0, more_->height() + 2))); });
  moreAction_ = addWidget(more_);
}

void MainToolBar::setupFind() {
  stretch_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  addWidget(stretch_);
  addWidget(find_);
}

int MainToolBar::widthIn(const Form& form) const {
  const auto widthOf = [&](const QWidget* widget) -> double {
    if (widget == model_) return theme_.scaled(form.model);
    if (widget == heat_) return theme_.scaled(form.heat);
    if (widget == find_) return theme_.scaled(form.find);
    return std::max(widget->minimumWidth(), widget->sizeHint().width());
  };
  const QMargins margins = layout()->contentsMargins();
  double width = margins.left() + margins.right();
  for (QAction* action : actions()) {
    const QWidget* widget = widgetForAction(action);
    const auto among = [&](const std::vector<QAction*>& tools) {
      return std::find(tools.begin(), tools.end(), action) != tools.end();
    };
    const bool shown = among(graphTools_)      ? form.graphTools
                       : among(icons_)         ? form.icons
                       : action == moreAction_ ? !form.icons
                                               : true;
    if (shown && widget != stretch_) width += layout()->spacing() + widthOf(widget);
  }
  return static_cast<int>(std::ceil(width));
}

/// The roomiest form that fits; what is left over is for the model's name.
void MainToolBar::fitInto(int width) {
  const Form* form = std::begin(kForms);
  while (form + 1 != std::end(kForms) && width < widthIn(*form)) ++form;
  const auto pixels = [&](double width) { return static_cast<int>(theme_.scaled(width)); };
  model_->setWidths(pixels(form->model), pixels(form->model) + std::max(0, width - widthIn(*form)));
  heat_->setWidths(pixels(form->heat), pixels(form->heat));
  find_->setFixedWidth(pixels(form->find));
  find_->setPlaceholderText(form->hint);
  for (QAction* tool : graphTools_) tool->setVisible(form->graphTools);
  for (QAction* entry : graphEntries_) entry->setVisible(!form->graphTools);
  for (QAction* icon : icons_) icon->setVisible(form->icons);
  moreAction_->setVisible(!form->icons);
}

QSize MainToolBar::minimumSizeHint() const { return {widthIn(*std::rbegin(kForms)), height()}; }

void MainToolBar::resizeEvent(QResizeEvent* event) {
  QToolBar::resizeEvent(event);
  fitInto(event->size().width());
}

void MainToolBar::setRunning(bool running, bool possible) {
  running_ = running;
  run_->setEnabled(running || possible);
  run_->setCaption(running ? "Stop" : "Run");
  run_->setIconName(running ? "stop" : "play", running ? Token::error : Token::accent);
  showRunKey();
}

void MainToolBar::showRunKey() {
  const QString key = (running_ ? stopKey_ : runKey_).toString(QKeySequence::NativeText);
  run_->setKeyHint(key);
  run_->setToolTip(withKey(
      running_ ? "Stop" : "Run what is in front: send the text, ask for the last reply again, run a kernel",
      key));
}

void MainToolBar::setKeys(const QKeySequence& run, const QKeySequence& stop, const QKeySequence& find) {
  runKey_ = run;
  stopKey_ = stop;
  find_->setKey(find.toString(QKeySequence::NativeText).replace('+', ' '));
  showRunKey();
}

void MainToolBar::setDevices(const Devices& devices, const QString& refusal) {
  cudaMenu_->clear();
  std::string first;
  for (const api::DeviceEntry& entry : devices) {
    if (entry.device == "cpu" || !entry.refusal.empty()) continue;
    if (first.empty()) first = entry.device;
    cudaMenu_->addAction(QString("%1   %2, %3")
                             .arg(deviceTitle(entry.device), QString::fromStdString(entry.name),
                                  format::bytes(static_cast<double>(entry.memory_bytes))),
                         this, [this, device = entry.device] { emit deviceChosen(device); });
  }
  for (const int choice : {cudaChoice, bothChoice})
    device_->setRefused(choice, first.empty() ? refusal : QString());
  device_->setMenu(cudaChoice, cudaMenu_->actions().size() > 1 ? cudaMenu_ : nullptr);
  if (home_ == "cpu" && !both_ && !first.empty()) cuda_ = first;
  showDevice();
}

void MainToolBar::setDevice(const std::string& device, bool both) {
  home_ = device;
  both_ = both;
  if (device != "cpu") cuda_ = device;
  showDevice();
}

void MainToolBar::showDevice() {
  device_->setText(cudaChoice, deviceTitle(cuda_));
  device_->setCurrent(both_ ? bothChoice : home_ == "cpu" ? cpuChoice : cudaChoice);
}

void MainToolBar::setPhase(api::Phase phase, bool writes) {
  phase_->setRefused(0, writes ? QString() : "This model reads whole texts: it has no tokens to decode");
  phase_->setText(1, writes ? "Prefill" : "Encode");
  phase_->setCurrent(phase == api::Phase::decode ? 0 : 1);
}

void MainToolBar::setHeatMode(HeatMode mode) {
  for (const auto& [known, name] : kHeatModes)
    if (known == mode) heat_->setCaption(name);
}

void MainToolBar::setTheme(const Theme& theme) {
  theme_ = theme;
  setFixedHeight(static_cast<int>(theme.scaled(kBarHeight)));
}

void MainToolBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::window));
}

}  // namespace orrery::ui
