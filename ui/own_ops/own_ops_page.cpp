#include "ui/own_ops/own_ops_page.h"

#include <QDir>
#include <QFileDialog>
#include <QPainter>
#include <algorithm>

#include "ui/session/saved_file.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kTypingMilliseconds = 600;
constexpr double kThreeColumns = 800;  // px of the page

/// Why a button cannot be pressed, in its tool tip; empty: it can.
void allow(Button* button, const QString& refusal, const QString& tip) {
  button->setEnabled(refusal.isEmpty());
  button->setToolTip(refusal.isEmpty() ? tip : refusal);
}

}  // namespace

OwnOpsPage::OwnOpsPage(const Theme& theme, OwnOpController* ops, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      ops_(ops),
      new_(new DropButton(theme, this)),
      open_(new Button(theme, "Open", Button::Kind::plain, this)),
      save_(new Button(theme, "Save", Button::Kind::plain, this)),
      list_(new OwnOpList(theme, this)),
      banner_(new Banner(theme, this)),
      editor_(new OwnOpEditor(theme, this)),
      state_(new Text(theme, {Token::text2, 12}, {}, this)),
      compile_(new Button(theme, "Compile", Button::Kind::plain, this)),
      verify_(new Button(theme, "Verify", Button::Kind::plain, this)),
      add_(new Button(theme, "Add to palette", Button::Kind::primary, this)),
      remove_(new Button(theme, "Remove", Button::Kind::danger, this)),
      results_(new OwnOpResults(theme, this)) {
  banner_->hide();
  new_->setCaption("New");
  new_->setIconName("plus");
  for (const QString& example : ownOpExamples())
    new_->menu()->addAction("From " + example, this, [this, example] { begin(example); });
  typing_.setSingleShot(true);
  typing_.setInterval(kTypingMilliseconds);
  setupLayout();
  setupActions();
  results_->show(nullptr);
  fillList();
  refresh();
}

void OwnOpsPage::setupLayout() {
  auto* left = new QVBoxLayout;
  left->setSpacing(8);
  auto* files = new QHBoxLayout;
  files->setSpacing(6);
  files->addWidget(new_);
  files->addWidget(open_);
  files->addWidget(save_);
  files->addStretch(1);
  left->addLayout(files);
  left->addWidget(list_, 1);
  auto* removal = new QHBoxLayout;
  removal->addWidget(remove_);
  removal->addStretch(1);
  left->addLayout(removal);

  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  buttons->addWidget(state_, 1);
  for (Button* button : {compile_, verify_, add_}) buttons->addWidget(button);
  middle_ = new QVBoxLayout;
  middle_->setSpacing(6);
  middle_->addWidget(banner_);
  middle_->addWidget(editor_, 3);
  middle_->addLayout(buttons);

  columns_ = new QHBoxLayout(this);
  columns_->setContentsMargins(10, 9, 8, 6);
  columns_->setSpacing(17);
  columns_->addLayout(left, 3);
  columns_->addLayout(middle_, 9);
  columns_->addWidget(results_, 4);
  setFocusProxy(editor_);
}

/// What a trial found stands beside the text, or in a narrow page below it.
void OwnOpsPage::shareRoom() {
  const bool beside = width() >= theme_.scaled(kThreeColumns), was = columns_->indexOf(results_) >= 0;
  if (beside == was) return;
  if (beside) {
    middle_->removeWidget(results_);
    columns_->addWidget(results_, 4);
  } else {
    columns_->removeWidget(results_);
    middle_->addWidget(results_, 2);
  }
}

void OwnOpsPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  shareRoom();
}

void OwnOpsPage::setupActions() {
  connect(editor_, &OwnOpEditor::textChanged, this, &OwnOpsPage::takeText);
  connect(editor_, &OwnOpEditor::tabChosen, this, [this] { editor_->showProblems(chosen()); });
  connect(editor_, &OwnOpEditor::compileAsked, this, &OwnOpsPage::compile);
  connect(editor_, &OwnOpEditor::nextErrorAsked, this, &OwnOpsPage::goToNextError);
  connect(&typing_, &QTimer::timeout, this, &OwnOpsPage::compile);
  connect(compile_, &QAbstractButton::clicked, this, &OwnOpsPage::compile);
  connect(verify_, &QAbstractButton::clicked, this, [this] {
    if (ops_->running())
      ops_->stop();
    else
      verify();
  });
  connect(add_, &QAbstractButton::clicked, this, &OwnOpsPage::add);
  connect(save_, &QAbstractButton::clicked, this, &OwnOpsPage::askSave);
  connect(open_, &QAbstractButton::clicked, this, [this] {
    openFiles(
        QFileDialog::getOpenFileNames(this, "Open an op's files", {}, "Sources (*.cpp *.cc *.cxx *.c *.cu)"));
  });
  connect(remove_, &QAbstractButton::clicked, this, [this] { ops_->remove(list_->currentName()); });
  connect(list_, &OwnOpList::draftChosen, this, &OwnOpsPage::choose);
  connect(list_, &OwnOpList::addedChosen, this, &OwnOpsPage::openAdded);
  connect(ops_, &OwnOpController::listed, this, [this] {
    fillList();
    refresh();
  });
  connect(ops_, &OwnOpController::changed, this, &OwnOpsPage::refresh);
  connect(ops_, &OwnOpController::reported, this, &OwnOpsPage::takeReport);
  connect(ops_, &OwnOpController::opened, this, &OwnOpsPage::takeOpened);
  connect(ops_, &OwnOpController::removed, this, [this](const QString& name) {
    for (OwnOpDraft& draft : drafts_)
      if (draft.report && draft.report->name == name.toStdString() && draft.reached == OwnOpStep::add)
        draft.reached = OwnOpStep::verify;
    banner_->showNotice(name + " was removed; its text stays here");
    fillList();
    refresh();
  });
  connect(ops_, &OwnOpController::failed, banner_, &Banner::showError);
}

OwnOpDraft* OwnOpsPage::chosen() { return chosen_ < 0 ? nullptr : &drafts_[static_cast<size_t>(chosen_)]; }

const api::OwnOpEntry* OwnOpsPage::entry(const QString& name) const {
  const auto& all = ops_->entries();
  const auto found = std::ranges::find(all, name.toStdString(), &api::OwnOpEntry::name);
  return found == all.end() ? nullptr : &*found;
}

void OwnOpsPage::begin(const QString& example) {
  const auto taken = [&](const QString& name) {
    return entry(name) || std::ranges::find(drafts_, name, &OwnOpDraft::name) != drafts_.end();
  };
  QString name = "my_" + example;
  for (int i = 2; taken(name); ++i) name = QString("my_%1_%2").arg(example).arg(i);
  drafts_.push_back(draftOf(example, name));
  choose(static_cast<int>(drafts_.size()) - 1);
  compile();
}

void OwnOpsPage::openAdded(const QString& name) {
  const api::OwnOpEntry* added = entry(name);
  if (!added) return;
  QStringList paths;
  for (const std::string& file : added->files)
    paths += QDir(QString::fromStdString(added->folder)).filePath(QString::fromStdString(file));
  openFiles(paths);
}

void OwnOpsPage::takeOpened(const SourceFiles& files, const QString& folder) {
  OwnOpDraft draft;
  draft.name = baseName(files);
  draft.files = draft.saved = files;
  draft.folder = folder;
  // What is written of the same name stays, as it may be newer than the file.
  drafts_.push_back(std::move(draft));
  choose(static_cast<int>(drafts_.size()) - 1);
  compile();
}

void OwnOpsPage::choose(int draft) {
  chosen_ = draft;
  editor_->show(*chosen());
  fillList();
  editor_->showProblems(chosen());
  results_->show(chosen());
  refresh();
}

void OwnOpsPage::takeText(bool cuda, const QString& words) {
  OwnOpDraft* draft = chosen();
  custom::SourceFile* file = !draft ? nullptr : cuda ? draft->cuda() : draft->host();
  std::string text = words.toStdString();
  if (!file || file->bytes == text) return;
  file->bytes = std::move(text);
  typing_.start();
  fillList();
  refresh();
}

void OwnOpsPage::start(OwnOpStep step) {
  typing_.stop();
  if (const OwnOpDraft* draft = chosen()) ops_->begin(step, draft->files);
}

void OwnOpsPage::compile() { start(OwnOpStep::compile); }

void OwnOpsPage::verify() {
  if (chosen() && chosen()->compiled()) start(OwnOpStep::verify);
}

void OwnOpsPage::add() {
  if (chosen() && chosen()->verified()) start(OwnOpStep::add);
}

void OwnOpsPage::takeReport(OwnOpStep step, const SourceFiles& files, const api::OwnOpReport& report) {
  const auto same = [&](const OwnOpDraft& draft) { return isSame(draft.files, files); };
  auto found = std::ranges::find_if(drafts_, same);
  if (found == drafts_.end()) found = std::ranges::find(drafts_, baseName(files), &OwnOpDraft::name);
  if (found == drafts_.end()) return;
  // Compiling anew what was verified takes nothing from it.
  if (step == OwnOpStep::compile && found->verified() && report.passed) return;
  found->report = report;
  found->reached = step;
  found->reportedFor = files;
  if (step == OwnOpStep::add && report.passed) {
    found->saved = files;
    if (const api::OwnOpEntry* added = entry(QString::fromStdString(report.name)))
      found->folder = QString::fromStdString(added->folder);
    banner_->showNotice(QString::fromStdString(report.name) + " is in the palette of ops");
  }
  fillList();
  editor_->showProblems(chosen());
  results_->show(chosen());
}

void OwnOpsPage::goToNextError() { editor_->goToNextError(chosen()); }

void OwnOpsPage::fillList() {
  list_->fill(drafts_, chosen_, ops_->entries());
  emit draftsChanged();
}

void OwnOpsPage::refresh() {
  if (!ops_) return;
  OwnOpDraft* draft = chosen();
  const bool running = ops_->running();
  const QString none = ops_->refusal().isEmpty() ? draft ? QString() : QStringLiteral("Choose an op, or New")
                                                 : ops_->refusal();
  const QString first = !none.isEmpty() ? none : QString();
  allow(compile_, first, "Ctrl+Enter");
  const bool compiled = draft && draft->compiled(), failed = draft && draft->failedTrial();
  const QString uncompiled = QStringLiteral("It must compile first");
  verify_->setCaption(running ? "Stop" : "Verify");
  allow(verify_,
        running            ? QString()
        : !first.isEmpty() ? first
        : compiled         ? QString()
                           : uncompiled,
        running  ? "Stop what runs"
        : failed ? "Its trial failed: fix what is listed on the right, or try the same text once more"
                 : "Runs it for the first time, in a process of its own");
  allow(add_,
        !first.isEmpty() ? first
        : running        ? QStringLiteral("Wait for what runs")
        : failed    ? QStringLiteral("Its trial failed: fix what is listed on the right, then verify again")
        : !compiled ? uncompiled
        : !draft->verified() ? QStringLiteral("Verify this text first")
        : draft->added()     ? QStringLiteral("It is in the palette")
                             : QString(),
        "Puts it into the registry, for this and every later start");
  allow(save_, first, "Save the files in a folder");
  const bool there = entry(list_->currentName());
  allow(remove_, there ? QString() : QStringLiteral("Choose an op that was added"),
        "Takes it out of the registry");
  editor_->title()->setText(draft ? draft->name + (draft->unsaved() ? ", not saved" : "") : QString());
  const auto errors = draft && draft->current()
                          ? std::ranges::count(draft->report->diagnostics, custom::Severity::error,
                                               &custom::Diagnostic::severity)
                          : 0;
  state_->setText(running                  ? ops_->stage()
                  : !draft                 ? none
                  : !draft->current()      ? QString()
                  : errors > 0             ? format::counted(errors, "error")
                  : failed                 ? QStringLiteral("Its trial failed: fix it, then verify again")
                  : !draft->report->passed ? QStringLiteral("It did not pass")
                  : draft->added()         ? QStringLiteral("In the palette")
                  : draft->verified()      ? QStringLiteral("Verified")
                                           : QStringLiteral("It compiles"));
}

QStringList OwnOpsPage::unsaved() const {
  QStringList names;
  for (const OwnOpDraft& draft : drafts_)
    if (draft.unsaved()) names += draft.name;
  return names;
}

bool OwnOpsPage::save(const QString& folder) {
  OwnOpDraft* draft = chosen();
  if (!draft) return false;
  for (const custom::SourceFile& file : draft->files)
    if (const auto done = saveFile(QDir(folder).filePath(QString::fromStdString(file.name)),
                                   QByteArray::fromStdString(file.bytes));
        !done.ok()) {
      banner_->showError(describeError("Could not save " + draft->name, done.error()));
      return false;
    }
  draft->saved = draft->files;
  draft->folder = folder;
  fillList();
  refresh();
  emit saved(folder);
  return true;
}

void OwnOpsPage::askSave() {
  const QString folder =
      QFileDialog::getExistingDirectory(this, "Save the op's files in", chosen() ? chosen()->folder : "");
  if (!folder.isEmpty()) save(folder);
}

void OwnOpsPage::paintEvent(QPaintEvent*) { QPainter(this).fillRect(rect(), theme_(Token::panel)); }

void OwnOpsPage::setTheme(const Theme& theme) {
  theme_ = theme;
  fillList();
  update();
}

}  // namespace orrery::ui
