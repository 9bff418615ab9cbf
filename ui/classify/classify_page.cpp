#include "ui/classify/classify_page.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "ui/session/model_use.h"
#include "ui/session/saved_file.h"
#include "ui/theme/format.h"
#include "ui/widgets/ground_scroll.h"

namespace orrery::ui {
namespace {

constexpr const char* kClassifier = "sentiment";
constexpr int kDetailsWidth = 200;
constexpr double kLeastViews = 110;  // px high

bool isRunKey(const QKeyEvent& event) {
  return (event.key() == Qt::Key_Return || event.key() == Qt::Key_Enter) &&
         event.modifiers().testFlag(Qt::ControlModifier);
}

}  // namespace

ClassifyPage::ClassifyPage(const Theme& theme, SessionController* session, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      session_(session),
      model_(new ClassifyModel(this)),
      ranking_(new RankModel(this)),
      delegate_(new ScoreDelegate(theme, this)),
      banner_(new Banner(theme, this)),
      progress_(new ProgressStrip(theme, this)),
      modelButton_(new DropButton(theme, this)),
      csvButton_(new Button(theme, "Open CSV", Button::Kind::plain, this)),
      run_(new Button(theme, "Classify", Button::Kind::primary, this)),
      field_(new SearchField(theme, {}, "Type a text", {}, this)),
      csv_(new CsvBar(theme, this)),
      documents_(new QPlainTextEdit(this)),
      table_(new QTableView(this)),
      tokens_(new TokenLabelsView(theme, this)),
      details_(new ClassifyDetails(theme, model_, this)),
      corner_(new QWidget(this)) {
  options_.model = kClassifier;
  setupTable();
  setupLayout();
  setupKinds();
  setupCorner();
  setupSession();
  takeModel();
}

void ClassifyPage::setupBar(QHBoxLayout* bar) {
  bar->setSpacing(8);
  modelButton_->setIconName("layers");
  modelButton_->menu()->addAction("Load the classifier", this, &ClassifyPage::prepare);
  modelButton_->menu()->addAction("Open another...", this, &ClassifyPage::askModel);
  modelButton_->menu()->addAction("Show its graph", this, [this] { emit graphAsked(true); });
  csvButton_->setIconName("open");
  csvButton_->setToolTip("A CSV or TSV file with one text per row");
  bar->addWidget(modelButton_);
  bar->addWidget(csvButton_);
  bar->addWidget(field_, 1);
  bar->addWidget(run_);
  connect(csvButton_, &QAbstractButton::clicked, this, &ClassifyPage::askCsv);
  connect(run_, &QAbstractButton::clicked, this, &ClassifyPage::runAsked);
  connect(field_, &QLineEdit::textChanged, this, [this] {
    const qsizetype texts = kind_ == Kind::documents ? 0 : typedTexts().size();
    field_->setNote(texts > 1 ? QString("%1 texts").arg(format::count(texts)) : QString());
  });
  connect(field_, &QLineEdit::returnPressed, this, &ClassifyPage::runAsked);
  connect(field_, &SearchField::escaped, this, &ClassifyPage::stop);
}

void ClassifyPage::setupTable() {
  table_->setItemDelegate(delegate_);
  table_->setFrameShape(QFrame::NoFrame);
  table_->setShowGrid(false);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setMouseTracking(true);
  table_->setTabKeyNavigation(false);
  table_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->setAccessibleName("Classified texts");
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(static_cast<int>(theme_.scaled(26)));
  table_->horizontalHeader()->setHighlightSections(false);
  showModel(model_);
}

void ClassifyPage::showModel(QAbstractItemModel* model) {
  if (table_->model() == model) return;
  table_->setModel(model);
  QHeaderView* header = table_->horizontalHeader();
  header->setSectionResizeMode(ClassifyModel::textColumn, QHeaderView::Stretch);
  header->setSectionResizeMode(ClassifyModel::labelColumn, QHeaderView::Fixed);
  header->setSectionResizeMode(ClassifyModel::scoreColumn, QHeaderView::Fixed);
  header->resizeSection(ClassifyModel::labelColumn, 84);
  header->resizeSection(ClassifyModel::scoreColumn, 104);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            details_->showRow(kind_ == Kind::documents ? -1 : current.row());
            showTokens();
          });
}

void ClassifyPage::setupLayout() {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 8, 0, 0);
  layout->setSpacing(6);
  auto* top = new QVBoxLayout;
  top->setContentsMargins(12, 0, 12, 0);
  top->setSpacing(6);
  top->addWidget(banner_);
  top->addWidget(progress_);
  auto* bar = new QHBoxLayout;
  setupBar(bar);
  top->addLayout(bar);
  top->addWidget(csv_);
  layout->addLayout(top);
  auto* body = new QHBoxLayout;
  body->setSpacing(0);
  auto* right = new Ground(theme_, Token::panel, this, Ground::leftLine);
  right_ = right;
  right->setFixedWidth(kDetailsWidth);
  auto* inset = new QVBoxLayout(right);
  inset->setContentsMargins(1, 0, 0, 0);
  // A low dock scrolls the details; they do not push it open.
  auto* scroll = new GroundScroll(theme_, Token::panel, right);
  scroll->column()->addWidget(details_);
  inset->addWidget(scroll);
  body->addWidget(documents_, 1);
  body->addWidget(table_, 1);
  body->addWidget(tokens_, 3);
  body->addWidget(right);
  layout->addLayout(body, 1);
  // They take what the bars leave; how much they would like does not make the page scroll.
  for (QWidget* view : {static_cast<QWidget*>(documents_), static_cast<QWidget*>(table_),
                        static_cast<QWidget*>(tokens_), static_cast<QWidget*>(right)}) {
    view->setSizePolicy(view->sizePolicy().horizontalPolicy(), QSizePolicy::Ignored);
    view->setMinimumHeight(static_cast<int>(theme_.scaled(kLeastViews)));
  }
  setFocusProxy(field_);
  connect(csv_, &CsvBar::changed, this, [this] { model_->setTexts(csv_->texts(), csv_->truths()); });
  connect(csv_, &CsvBar::closed, this, [this] { model_->setTexts({}, {}); });
}

void ClassifyPage::setupCorner() {
  auto* layout = new QHBoxLayout(corner_);
  layout->setContentsMargins(0, 0, 8, 0);
  layout->setSpacing(2);
  graph_ = new IconButton(theme_, "graph", {}, corner_);
  graph_->setCheckable(true);
  setGraphShown(false);
  auto* save = new IconButton(theme_, "export", "Export the table as CSV", corner_);
  layout->addWidget(graph_);
  layout->addWidget(save);
  connect(graph_, &QAbstractButton::clicked, this, [this](bool shown) {
    prepare();
    emit graphAsked(shown);
  });
  connect(save, &QAbstractButton::clicked, this, &ClassifyPage::askExport);
}

void ClassifyPage::setupSession() {
  connect(session_, &SessionController::loadStarted, progress_,
          [this](const QString& name) { progress_->begin("Loading " + name); });
  connect(session_, &SessionController::loadProgress, progress_, &ProgressStrip::setProgress);
  connect(session_, &SessionController::loadEnded, progress_, &QWidget::hide);
  connect(progress_, &ProgressStrip::cancelled, session_, &SessionController::cancelLoad);
  connect(session_, &SessionController::loadFailed, this, [this](UiError error) {
    waiting_ = false;
    error.actions = {"Try again"};
    failure_ = error;
    banner_->showError(error);
  });
  connect(banner_, &Banner::actionChosen, this, [this](const QString& action) {
    banner_->dismiss();
    if (const api::Offer* offer = offerOf(failure_, action)) return session_->accept(*offer);
    prepare();
  });
  connect(session_, &SessionController::opened, this, &ClassifyPage::takeModel);
  connect(session_, &SessionController::classified, model_, &ClassifyModel::setResults);
  connect(session_, &SessionController::stateChanged, this, &ClassifyPage::updateButton);
  connect(session_, &SessionController::classifyFailed, this, [this](const UiError& error) {
    failure_ = error;
    banner_->showError(error);
  });
  connect(session_, &SessionController::classifyFinished, this, [this](double milliseconds, bool stopped) {
    details_->showSummary(milliseconds, stopped);
    if (kind_ == Kind::documents) return;
    if (!table_->currentIndex().isValid() && model_->rowCount() > 0) table_->selectRow(0);
  });
}

void ClassifyPage::prepare() {
  if (session_->session() || session_->loading()) return;
  session_->open(options_);
}

void ClassifyPage::setGraphShown(bool shown) {
  graph_->setChecked(shown);
  graph_->setToolTip(shown ? "Show the chat model's graph again" : "Show the classifier's graph");
  graph_->setAccessibleName(graph_->toolTip());
}

void ClassifyPage::openModel(const api::OpenOptions& options, const QString& name) {
  const auto same = [&](const api::OpenOptions& other) {
    return other.model == options.model && other.adapter == options.adapter && other.device == options.device;
  };
  if (const SessionPtr session = session_->session(); session && same(session->options())) return;
  if (session_->loading() && same(options_)) return;
  options_ = options;
  session_->open(options_, name);
}

void ClassifyPage::takeModel() {
  const SessionPtr session = session_->session();
  modelButton_->setCaption(session ? session_->title() : kClassifier,
                           !session ? "not loaded" : QString::fromStdString(session->info().main_dtype));
  if (!session) return;
  QStringList labels;
  for (const std::string& label : session->info().labels) labels += QString::fromStdString(label);
  model_->setLabels(labels);
  setKind(session->info().classifies_tokens    ? Kind::tokens
          : session->info().labels.size() == 1 ? Kind::documents
                                               : Kind::texts);
  if (!runs(session->info()))
    banner_->showWarning(session_->title() + " can be looked at, not run",
                         QString::fromStdString(session->info().cannot_run) + ".");
  else if (session->info().task == api::Task::tensors)
    banner_->showWarning(session_->title() + " is a graph of one's own",
                         "It reads no text: the page Values gives its inputs numbers and runs it.");
  else if (session->info().task != api::Task::classify)
    banner_->showWarning(session_->title() + " does not classify",
                         "Open a model with a classification head.");
  if (waiting_) begin();
}

void ClassifyPage::runAsked() {
  if (session_->running()) return session_->stop();
  if (kind_ == Kind::documents)
    return rankDocuments(field_->text().trimmed(), documents_->toPlainText().split('\n', Qt::SkipEmptyParts));
  if (csv_->active()) {
    csv_->setRun(true);
    return classifyTexts(csv_->texts(), csv_->truths());
  }
  classifyTexts(typedTexts());
}

/// Of the field: lines that were pasted are texts of their own.
QStringList ClassifyPage::typedTexts() const {
  QStringList texts;
  for (const QString& line : field_->text().split(QRegularExpression("[\\r\\n\\x{2028}\\x{2029}]")))
    if (const QString text = line.trimmed(); !text.isEmpty()) texts += text;
  return texts;
}

void ClassifyPage::classifyTexts(const QStringList& texts, const QStringList& truths) {
  if (texts.isEmpty() || session_->running()) return;
  banner_->dismiss();
  model_->setTexts(texts, truths);
  details_->showSummary(-1, false);
  waiting_ = true;
  session_->session() ? begin() : prepare();
}

void ClassifyPage::begin() {
  waiting_ = false;
  std::vector<std::string> texts;
  for (const ClassifyModel::Row& row : model_->rows()) texts.push_back(row.text.toStdString());
  session_->classify(texts);
}

void ClassifyPage::openCsv(const QString& path) {
  Result<CsvTexts> table = readCsvTexts(path);
  const QString name = QFileInfo(path).fileName();
  if (!table.ok()) return banner_->showError(describeError("Could not open " + name, table.error()));
  banner_->dismiss();
  csv_->show(name, std::move(table).value());
  run_->setFocus();
  prepare();
}

void ClassifyPage::askCsv() {
  const QString path =
      QFileDialog::getOpenFileName(this, "Open a table of texts", {}, "Tables (*.csv *.tsv);;All files (*)");
  if (!path.isEmpty()) openCsv(path);
}

bool ClassifyPage::exportCsv(const QString& path, QString* reason) const {
  const QString text = kind_ == Kind::documents ? ranking_->csv() : model_->csv();
  const Result<void> saved = saveFile(path, text.toUtf8());
  if (!saved.ok()) *reason = QString::fromStdString(saved.error().what);
  return saved.ok();
}

void ClassifyPage::askExport() {
  const QString path =
      QFileDialog::getSaveFileName(this, "Export the table", "classified.csv", "Tables (*.csv)");
  if (path.isEmpty()) return;
  QString reason;
  if (exportCsv(path, &reason)) return banner_->showNotice("Saved " + QFileInfo(path).fileName());
  banner_->showError(
      describeError("Could not save " + QFileInfo(path).fileName(),
                    {ErrorCode::io, reason.toStdString(), path.toStdString(), "choose another folder"}));
}

void ClassifyPage::updateButton() {
  const bool running = session_->running();
  run_->setCaption(running ? "Stop" : kind_ == Kind::documents ? "Rank" : "Classify");
  csvButton_->setEnabled(!running);
}

void ClassifyPage::setTheme(const Theme& theme) {
  theme_ = theme;
  delegate_->setTheme(theme);
  table_->verticalHeader()->setDefaultSectionSize(static_cast<int>(theme.scaled(26)));
  update();
}

bool ClassifyPage::event(QEvent* event) {
  // In this page the key that writes a reply again elsewhere runs the texts.
  if (event->type() == QEvent::ShortcutOverride && isRunKey(*static_cast<QKeyEvent*>(event)))
    return event->accept(), true;
  return QWidget::event(event);
}

void ClassifyPage::keyPressEvent(QKeyEvent* event) {
  if (!isRunKey(*event)) return QWidget::keyPressEvent(event);
  if (!field_->hasFocus()) runAsked();  // the field has asked by itself
}

void ClassifyPage::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::panel));
  painter.fillRect(0, 0, width(), 1, theme_(Token::border));
}

}  // namespace orrery::ui
