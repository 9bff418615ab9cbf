#include "ui/metadata/metadata_editor.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QPainter>

namespace orrery::ui {
namespace {

constexpr const char* kSaveAction = "Save as...";
constexpr const char* kDiscardAction = "Discard the changes";

QString nameOf(const QString& path) {
  const QString name = QFileInfo(path).fileName();
  return name.isEmpty() ? path : name;
}

}  // namespace

MetadataEditor::MetadataEditor(const Theme& theme, MetadataCalls calls, const QString& model, QWidget* parent)
    : QDialog(parent),
      theme_(theme),
      calls_(std::move(calls)),
      model_(new MetadataModel(calls_.check, this)),
      filter_(new QSortFilterProxyModel(this)),
      worker_(std::make_unique<Worker>()) {
  setWindowTitle("Metadata");
  auto* column = new QVBoxLayout(this);
  setupHead(column);
  setupTable(column);
  setupFields(column);
  setupFoot(column);
  setupKeys();
  connect(search_, &QLineEdit::textChanged, filter_, &QSortFilterProxyModel::setFilterFixedString);
  connect(search_, &SearchField::escaped, search_, &QLineEdit::clear);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &MetadataEditor::showFields);
  connect(model_, &MetadataModel::edited, this, &MetadataEditor::showState);
  connect(key_, &QLineEdit::textEdited, this, [this](const QString& key) {
    if (chosen() >= 0) model_->setKey(chosen(), key);
  });
  connect(type_, &QComboBox::currentTextChanged, this, [this](const QString& type) {
    if (!filling_ && chosen() >= 0) model_->setType(chosen(), type);
  });
  connect(value_, &QPlainTextEdit::textChanged, this, [this] {
    if (!filling_ && chosen() >= 0) model_->setText(chosen(), value_->toPlainText());
  });
  connect(add_, &QAbstractButton::clicked, this, &MetadataEditor::addKey);
  connect(remove_, &QAbstractButton::clicked, this, &MetadataEditor::removeKey);
  connect(save_, &QAbstractButton::clicked, this, [this] { askSave(false); });
  connect(close_, &QAbstractButton::clicked, this, &MetadataEditor::reject);
  connect(progress_, &ProgressStrip::cancelled, this, [this] { saving_.request_stop(); });
  connect(banner_, &Banner::actionChosen, this, [this](const QString& action) {
    if (action == kSaveAction) return askSave(true);
    discard_ = action == kDiscardAction;
    if (discard_) reject();
  });
  read(model);
}

MetadataEditor::~MetadataEditor() {
  saving_.request_stop();
  worker_.reset();
}

void MetadataEditor::read(const QString& model) {
  file_ = model;
  setWindowTitle("Metadata of " + nameOf(model));
  title_->setText(windowTitle());
  path_->setText(model);
  setBusy(true);
  worker_->post([this, list = calls_.list, model = model.toStdString()](std::stop_token) {
    auto keys = list(model);
    QMetaObject::invokeMethod(
        this,
        [this, keys = std::move(keys)]() mutable {
          setBusy(false);
          if (keys.ok())
            model_->setKeys(std::move(keys).value());
          else
            banner_->showError(describeError("Could not read the metadata", keys.error()));
          if (model_->rowCount() > 0) choose(0);
          showFields();
        },
        Qt::QueuedConnection);
  });
}

void MetadataEditor::askSave(bool close) {
  if (busy_) return;
  closing_ = close;
  if (const int row = model_->firstProblem(); row >= 0) {
    search_->clear();
    choose(row);
    return banner_->showWarning("Not saved yet", model_->row(row).problem + ".");
  }
  const QFileInfo from(file_);
  const QString suggested = from.path() + "/" + from.completeBaseName() + ".edited.gguf";
  const QString path = QFileDialog::getSaveFileName(this, "Save as a new file", suggested, "GGUF (*.gguf)",
                                                    nullptr, QFileDialog::DontConfirmOverwrite);
  if (!path.isEmpty()) saveAs(path);
}

void MetadataEditor::saveAs(const QString& path) {
  if (busy_) return;
  if (QFileInfo::exists(path) || QFileInfo(path).isSymLink())
    return finishSave(path, Error{ErrorCode::invalid_argument, "There is already a file of this name",
                                  path.toStdString(), "choose a new name; files are not replaced here"});
  banner_->dismiss();
  progress_->begin("Saving " + nameOf(path));
  progress_->show();
  setBusy(true);
  saving_ = worker_->post([this, path, save = calls_.save, model = file_.toStdString(),
                           edits = model_->edits()](std::stop_token stop) {
    const ProgressCallback progress = [this](std::string_view, uint64_t done, uint64_t total) {
      QMetaObject::invokeMethod(
          this,
          [this, done, total] {
            progress_->setProgress({"Copying the tensors", done, total, 0});
          },
          Qt::QueuedConnection);
    };
    Result<void> result = save(model, edits, path.toStdString(), progress, stop);
    QMetaObject::invokeMethod(
        this, [this, path, result = std::move(result)] { finishSave(path, result); }, Qt::QueuedConnection);
  });
}

void MetadataEditor::finishSave(const QString& path, const Result<void>& result) {
  progress_->hide();
  setBusy(false);
  if (!result.ok()) {
    closing_ = false;
    if (result.error().code == ErrorCode::cancelled) return banner_->showNotice("Nothing was saved");
    return banner_->showError(describeError("Could not save " + nameOf(path), result.error()));
  }
  model_->setKeys({});
  banner_->showNotice("Saved " + nameOf(path) + "; its tensors are the same, byte for byte");
  emit saved(path);
  if (closing_) return QDialog::reject();
  read(path);
}

bool MetadataEditor::mayClose() {
  if (busy_ && progress_->isVisible() && !saving_.stop_requested()) {
    banner_->showWarning("The new file is being written", "Wait for it, or cancel it above.");
    return false;
  }
  if (!changed() || discard_) return true;
  const int count = model_->changeCount();
  banner_->showWarning(
      QString("%1 not saved").arg(count == 1 ? "A change is" : QString("%1 changes are").arg(count)),
      "Save them as a new file, or close without them.", {kSaveAction, kDiscardAction});
  return false;
}

void MetadataEditor::reject() {
  if (mayClose()) QDialog::reject();
}

void MetadataEditor::addKey() {
  search_->clear();
  choose(model_->add());
  key_->setFocus();
}

void MetadataEditor::removeKey() {
  const int row = chosen();
  if (row < 0) return;
  const int shown = table_->currentIndex().row();
  model_->remove(row);
  if (const int left = filter_->rowCount(); left > 0)
    table_->setCurrentIndex(filter_->index(std::min(shown, left - 1), 0));
  showFields();
}

void MetadataEditor::choose(int row) {
  table_->setCurrentIndex(filter_->mapFromSource(model_->index(row, MetadataModel::keyColumn)));
  table_->scrollTo(table_->currentIndex());
}

int MetadataEditor::chosen() const {
  const QModelIndex current = table_->currentIndex();
  return current.isValid() ? filter_->mapToSource(current).row() : -1;
}

void MetadataEditor::showFields() {
  filling_ = true;
  const int row = chosen();
  const bool any = row >= 0;
  const MetadataModel::Row none, &shown = any ? model_->row(row) : none;
  key_->setText(shown.key);
  type_->setCurrentText(any ? shown.type : "string");
  value_->setPlainText(any && !shown.editable() ? QString::fromStdString(shown.source.value) : shown.text);
  key_->setEnabled(any && !busy_);
  type_->setEnabled(any && shown.added() && !busy_);
  value_->setEnabled(any && !busy_);
  value_->setReadOnly(any && !shown.editable());
  value_->setToolTip(any && !shown.editable() ? "Too long to be edited here" : QString());
  filling_ = false;
  showState();
}

void MetadataEditor::showState() {
  const int row = chosen(), count = model_->changeCount();
  problem_->setText(row >= 0 ? model_->row(row).problem : QString());
  problem_->setVisible(!problem_->text().isEmpty());
  remove_->setEnabled(row >= 0 && !busy_);
  add_->setEnabled(!busy_);
  save_->setEnabled(count > 0 && !busy_);
  state_->setText(count == 0   ? QString("%1 keys").arg(model_->rowCount())
                  : count == 1 ? QString("1 change, not saved")
                               : QString("%1 changes, not saved").arg(count));
}

void MetadataEditor::setBusy(bool busy) {
  busy_ = busy;
  table_->setEnabled(!busy);
  showFields();
}

void MetadataEditor::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::window));
}

}  // namespace orrery::ui
