#include "ui/compare/compare_page.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QPaintEvent>
#include <QPainter>
#include <QVBoxLayout>

#include "engine/api/recipes.h"
#include "ui/session/model_title.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int64_t kReplyTokens = 96;  // of either side
constexpr double kLittle = 2e-3;      // KL in nats that rounded arithmetic may bring
constexpr double kNearlyAll = 0.98;

size_t indexOf(api::Side side) { return side == api::Side::b ? 1 : 0; }

}  // namespace

ComparePage::ComparePage(const Theme& theme, SessionController* session, CompareController* controller,
                         QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      session_(session),
      controller_(controller),
      banner_(new Banner(theme, this)),
      field_(new SearchField(theme, {}, "A text for both sides", {}, this)),
      patch_(new QCheckBox("Patch", this)),
      everyNode_(new QCheckBox("Every node", this)),
      run_(new Button(theme, "Run both", Button::Kind::primary, this)),
      stage_(new Text(theme, {Token::text3, 11}, {}, this)),
      cards_{new CompareCard(theme, api::Side::a, this), new CompareCard(theme, api::Side::b, this)},
      tiles_{new CompareTile(theme, "Text", this), new CompareTile(theme, "KL", this),
             new CompareTile(theme, "Top-1", this), new CompareTile(theme, "Differs", this)},
      nodes_(new CompareNodesModel(this)),
      table_(new CompareTable(theme, nodes_, this)),
      devicesListed_(!session->services().listDevices) {
  setupLayout();
  setupController();
  refreshSettings();
  takeModel();
}

void ComparePage::setupLayout() {
  auto* bar = new QHBoxLayout;
  bar->setSpacing(8);
  bar->addWidget(field_, 1);
  bar->addWidget(patch_);
  bar->addWidget(everyNode_);
  bar->addWidget(run_);
  patch_->setToolTip("Values of A are put into B as well, node after node: which part makes the difference");
  everyNode_->setToolTip("Into each node for itself, not along the residual stream: it takes longer");
  everyNode_->hide();
  connect(patch_, &QCheckBox::toggled, everyNode_, &QWidget::setVisible);
  auto* left = new QVBoxLayout;
  left->setSpacing(6);
  left->addWidget(banner_);
  left->addLayout(bar);
  auto* cards = new QHBoxLayout;
  cards->setSpacing(8);
  for (CompareCard* card : cards_) cards->addWidget(card, 1);
  left->addLayout(cards, 1);
  auto* tiles = new QHBoxLayout;
  tiles->setSpacing(8);
  for (CompareTile* tile : tiles_) tiles->addWidget(tile, 1);
  left->addLayout(tiles);
  left->addWidget(stage_);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(12, 8, 0, 6);
  layout->setSpacing(10);
  layout->addLayout(left, 1);
  layout->addWidget(table_);
  setFocusProxy(field_);
  connect(run_, &QAbstractButton::clicked, this,
          [this] { controller_->running() || waiting_ ? stop() : compare(); });
  connect(field_, &QLineEdit::returnPressed, this, &ComparePage::compare);
  connect(field_, &SearchField::escaped, this, &ComparePage::stop);
  connect(table_, &CompareTable::nodeAsked, this, &ComparePage::nodeAsked);
}

void ComparePage::setupController() {
  connect(session_, &SessionController::opened, this, &ComparePage::takeModel);
  connect(session_, &SessionController::graphChanged, this, &ComparePage::refreshSettings);
  connect(controller_, &CompareController::started, this, &ComparePage::begin);
  connect(controller_, &CompareController::stageChanged, stage_, &Text::setText);
  connect(controller_, &CompareController::sideOpened, this,
          [this](api::Side side, const QString& words) { card(side)->setWords(words); });
  connect(controller_, &CompareController::prefilled, this,
          [this](api::Side side, const api::PrefillEvent& event) { card(side)->add(event); });
  connect(controller_, &CompareController::tokensArrived, this,
          [this](api::Side side, const TokenBatch& tokens) { card(side)->add(tokens); });
  connect(controller_, &CompareController::finished, this, &ComparePage::finish);
  connect(controller_, &CompareController::failed, this,
          [this](const UiError& error) { banner_->showError(error); });
  connect(controller_, &CompareController::ended, this, [this] {
    run_->setCaption("Run both");
    if (result_) return;
    stage_->setText("Stopped");
    for (CompareCard* card : cards_) card->stop();
  });
}

void ComparePage::begin() {
  forgetResult();
  ranSides_ = controller_->sides();
  for (CompareCard* card : cards_) card->begin();
  run_->setCaption("Stop both");
  banner_->dismiss();
  refreshStale();
}

void ComparePage::beginLive(const std::array<std::string, 2>& devices) {
  if (controller_->running()) return;  // the page is that run's
  forgetResult();
  for (const size_t side : {0, 1}) {
    ranKeys_[side] = QString::fromStdString(devices[side]);
    for (size_t i = 0; i < settings_.size(); ++i)
      if (settings_[i].key == ranKeys_[side]) chosen_[side] = static_cast<int>(i);
    cards_[side]->begin();
  }
  ranSides_ = chosenLooks();
  banner_->dismiss();
  stage_->setText("The chat's message, on both devices");
  refreshChoices();
}

void ComparePage::setLive(const Comparison& comparison) {
  if (controller_->running()) return;
  result_ = comparison.result;
  nodes_->setResult(result_);
  if (!result_->a.tokens.empty() && !result_->b.tokens.empty()) showTiles(*result_);
  refreshStale();
}

void ComparePage::forgetResult() {
  result_ = nullptr;
  nodes_->setResult(nullptr);
  for (CompareTile* tile : tiles_) tile->clear();
  showParts();
}

/// In the table and on the graph.
void ComparePage::showParts() {
  const bool patched = result_ && result_->patched_kl;
  table_->setPatched(patched);
  if (!patched && !partsShown_) return;
  partsShown_ = patched;
  emit partsChanged(patched ? partsOf(*result_) : ScopeValues());
}

void ComparePage::takeModel() {
  const SessionPtr session = session_->session();
  refreshSettings();
  run_->setEnabled(session != nullptr);
  if (session_->moved()) return;  // the same model: what was compared still holds
  controller_->release();
  forgetResult();
  ranKeys_[0].clear();
  ranKeys_[1].clear();
  refreshStale();
  for (CompareCard* card : cards_) card->begin();
  for (CompareCard* card : cards_) card->stop();
  stage_->setText(session ? "Greedy, one prompt: both sides write, then every node's values are compared"
                          : "Open a model to compare");
}

void ComparePage::setDevices(const Devices& devices) {
  devices_ = devices;
  devicesListed_ = true;
  refreshSettings();
  if (std::exchange(waiting_, false)) compare();
}

/// The settings that there are now; sides keep theirs, and one that nobody chose takes the most telling.
void ComparePage::refreshSettings() {
  const QString before[2] = {settingTitle(api::Side::a), settingTitle(api::Side::b)};
  const SessionPtr session = session_->session();
  const auto& write = session_->services().recipes.write;
  const std::string edits =
      session && write && !session->recipe().empty() ? write(api::recipe_of(*session)) : std::string();
  const std::vector<std::string> types =
      session && write ? std::vector<std::string>{"q8_0", "q5_0", "q4_0"} : std::vector<std::string>();
  settings_ = compareSettings({devices_, edits, types, files_, [this] { return recipePath_.toStdString(); },
                               [this](const std::string& type) { return typeFile(type); }});
  for (const api::Side side : {api::Side::a, api::Side::b}) {
    int& chosen = chosen_[indexOf(side)];
    chosen = side == api::Side::a ? 0 : tellingSetting(settings_);
    for (size_t i = 0; i < settings_.size(); ++i)
      if (personal_[indexOf(side)] && settings_[i].title == before[indexOf(side)])
        chosen = static_cast<int>(i);
    QMenu* menu = card(side)->choice()->menu();
    menu->clear();
    for (size_t i = 0; i < settings_.size(); ++i)
      menu->addAction(settings_[i].title, this, [this, side, i] { choose(side, static_cast<int>(i)); });
    menu->addSeparator();
    menu->addAction("Another file of the model...", this, [this, side] { askFile(side); });
  }
  refreshChoices();
}

void ComparePage::choose(api::Side side, int setting) {
  if (setting < 0 || setting >= static_cast<int>(settings_.size())) return;
  chosen_[indexOf(side)] = setting;
  personal_[indexOf(side)] = true;
  refreshChoices();
}

void ComparePage::refreshChoices() {
  const SideLooks looks = chosenLooks();
  for (const size_t side : {0, 1}) cards_[side]->setSetting(looks[side]);
  refreshStale();
}

/// A result, and a run under way, is of the settings that it began with.
void ComparePage::refreshStale() {
  const bool was = stale_;
  stale_ = false;
  for (const size_t side : {0, 1}) {
    const QString now = settings_[static_cast<size_t>(chosen_[side])].key;
    const bool other = !ranKeys_[side].isEmpty() && ranKeys_[side] != now;
    cards_[side]->setStale(other ? ranSides_[side].name : QString());
    stale_ = stale_ || other;
  }
  if (stale_ && result_) stage_->setText("These findings belong to other settings: run again");
  if (!stale_ && was && result_) showTotals();
  emit comparisonChanged(stale_ ? Comparison{} : Comparison{result_, ranSides_});
}

QString ComparePage::settingTitle(api::Side side) const {
  const auto index = static_cast<size_t>(chosen_[indexOf(side)]);
  return index < settings_.size() ? settings_[index].title : QString();
}

SideLooks ComparePage::chosenLooks() const {
  const CompareSetting &a = settings_[static_cast<size_t>(chosen_[0])],
                       &b = settings_[static_cast<size_t>(chosen_[1])];
  return sideLooks({a.title, b.title}, {a.device, b.device});
}

/// The session's edits in a file of their own, kept while a side may need it; a new path for new edits.
QString ComparePage::recipeFile() {
  const SessionPtr session = session_->session();
  if (!session || session->recipe().empty()) return {};
  auto file = std::make_unique<QTemporaryFile>();
  const QByteArray text =
      QByteArray::fromStdString(session_->services().recipes.write(api::recipe_of(*session)));
  if (!file->open() || file->write(text) != text.size() || !file->flush()) return {};
  recipe_ = std::move(file);
  return recipe_->fileName();
}

/// All of the model stored as the type.
std::string ComparePage::typeFile(const std::string& type) {
  std::unique_ptr<QTemporaryFile>& file = typeFiles_[type];
  if (file) return file->fileName().toStdString();
  file = std::make_unique<QTemporaryFile>();
  const edit::Recipe recipe{{{"quantise", {{"scope", "*"}, {"type", type}}}}, type, {}, {}};
  const QByteArray text = QByteArray::fromStdString(session_->services().recipes.write(recipe));
  if (file->open() && file->write(text) == text.size() && file->flush())
    return file->fileName().toStdString();
  file.reset();
  return {};
}

void ComparePage::addFile(const QString& path) {
  if (!files_.contains(path)) files_ += path;
  refreshSettings();
}

void ComparePage::askFile(api::Side side) {
  const QString path =
      QFileDialog::getOpenFileName(this, "Another file of the model", {}, "Models (*.gguf *.safetensors)");
  if (path.isEmpty()) return;
  addFile(path);
  for (size_t i = 0; i < settings_.size(); ++i)
    if (settings_[i].key.endsWith(path)) choose(side, static_cast<int>(i));
}

api::OpenOptions ComparePage::optionsOf(api::Side side) const {
  const api::OpenOptions& loaded = session_->session()->options();
  api::OpenOptions options;
  options.model = loaded.model;
  options.adapter = loaded.adapter;
  options.context = loaded.context;
  options.kv_type = loaded.kv_type;
  options.batch_tokens = loaded.batch_tokens;
  options.threads = loaded.threads;
  settings_[static_cast<size_t>(chosen_[indexOf(side)])].change(options);
  return options;
}

void ComparePage::compare() {
  const SessionPtr session = session_->session();
  const QString text = field_->text().trimmed();
  if (!session || controller_->running() || text.isEmpty()) return;
  if (!devicesListed_) {  // what B is depends on them
    waiting_ = true;
    run_->setCaption("Stop both");
    return stage_->setText("Looking for devices");
  }
  recipePath_ = recipeFile();
  for (const size_t side : {0, 1}) ranKeys_[side] = settings_[static_cast<size_t>(chosen_[side])].key;
  CompareController::Setup setup{chosenLooks(), optionsOf(api::Side::a), optionsOf(api::Side::b), {}};
  if (session->info().task == api::Task::generate)
    setup.request.messages = {{"user", text.toStdString()}};
  else
    setup.request.raw = text.toStdString();
  setup.request.max_tokens = kReplyTokens;
  setup.request.patch = patch_->isChecked();
  setup.request.patch_places.nodes = everyNode_->isChecked() ? "*" : "";
  controller_->run(setup);
}

void ComparePage::stop() {
  controller_->stop();
  if (!std::exchange(waiting_, false)) return;
  run_->setCaption("Run both");
  stage_->setText("Stopped");
}

void ComparePage::finish(const ComparePtr& result) {
  result_ = result;
  cards_[0]->finish(result->a, result->total_a_ms);
  cards_[1]->finish(result->b, result->total_b_ms);
  nodes_->setResult(result);
  showTiles(*result);
  showTotals();
  refreshStale();
  showParts();
}

void ComparePage::showTotals() {
  stage_->setText(QString("A %1, B %2: %3")
                      .arg(format::time(result_->total_a_ms * 1e3), format::time(result_->total_b_ms * 1e3),
                           ratioText(result_->total_a_ms, result_->total_b_ms)));
  stage_->setToolTip(QString("Times of nodes are medians of decode steps; values are those of one step of %1 "
                             "tokens, not fused")
                         .arg(result_->probed_tokens));
}

void ComparePage::showTiles(const api::CompareResult& result) {
  using Mark = CompareTile::Mark;
  const auto part = result.first_different_token;
  if (!result.a.tokens.empty() || !result.b.tokens.empty())
    tiles_[0]->setValue(part < 0 ? "identical" : QString("parts at %1").arg(part + 1),
                        QString("of %1 tokens").arg(std::max(result.a.tokens.size(), result.b.tokens.size())),
                        part < 0 ? Mark::check : Mark::warn);
  if (result.kl) {
    const QString positions = QString("mean over %1 positions").arg(result.positions);
    tiles_[1]->setValue(*result.kl == 0 ? QString("0") : QString::number(*result.kl, 'e', 1), positions,
                        *result.kl <= kLittle ? Mark::check : Mark::warn);
    tiles_[2]->setValue(format::percent(*result.top1_agreement), positions,
                        *result.top1_agreement >= kNearlyAll ? Mark::check : Mark::warn);
  }
  if (result.probed_tokens == 0) return;  // the values were not compared
  const QString first = QString::fromStdString(result.first_divergent);
  tiles_[3]->setValue(first.isEmpty() ? "none" : first.section('.', -1), first,
                      first.isEmpty() ? Mark::check : Mark::warn);
}

void ComparePage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  table_->fit(width());
}

void ComparePage::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void ComparePage::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::panel));
  painter.fillRect(0, 0, width(), 1, theme_(Token::border));
  painter.fillRect(table_->x() - 5, 10, 1, height() - 20, theme_(Token::border));
}

}  // namespace orrery::ui
