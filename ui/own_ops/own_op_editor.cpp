#include "ui/own_ops/own_op_editor.h"

#include <QKeyEvent>
#include <QVBoxLayout>
#include <algorithm>

namespace orrery::ui {
namespace {

enum Tab { hostTab, cudaTab, schemaTab };

bool isError(const custom::Diagnostic& one) { return one.severity == custom::Severity::error; }

/// The tab of the file that a compiler complains of.
Tab tabOf(const custom::Diagnostic& one, OwnOpDraft& draft) {
  const custom::SourceFile* cuda = draft.cuda();
  return cuda && cuda->name == one.file ? cudaTab : hostTab;
}

}  // namespace

OwnOpEditor::OwnOpEditor(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      tabs_(new Segmented(theme, this)),
      title_(new Text(theme, {Token::text, 12.5, QFont::DemiBold}, {}, this)),
      views_(new QStackedWidget(this)),
      host_(new CodeView(theme, this)),
      cuda_(new CodeView(theme, this)),
      schema_(new CodeView(theme, this)),
      strip_(new Ground(theme, Token::errorBg, this)),
      problem_(new Text(theme, {Token::text, 12}, {}, strip_)),
      place_(new Text(theme, {Token::text2, 11, QFont::Normal, true}, {}, strip_)) {
  for (const char* word : {"C++", "CUDA", "Schema"}) tabs_->addChoice(word);
  setupLayout();
  strip_->hide();
  connect(tabs_, &Segmented::chosen, this, [this](int tab) {
    emit tabChosen();
    showTab(tab);
  });
  for (CodeView* view : {host_, cuda_}) {
    view->installEventFilter(this);
    connect(view, &QPlainTextEdit::textChanged, this, [this, view] {
      if (!filling_) emit textChanged(view == cuda_, view->toPlainText());
    });
  }
}

void OwnOpEditor::setupLayout() {
  for (CodeView* view : {host_, cuda_, schema_}) views_->addWidget(view);
  host_->setAccessibleName("C++ of the op");
  cuda_->setAccessibleName("CUDA of the op");
  schema_->setAccessibleName("What the op declares");
  auto* strip = new QHBoxLayout(strip_);
  strip->setContentsMargins(10, 4, 10, 4);
  strip->addWidget(problem_, 1);
  strip->addWidget(place_);
  auto* head = new QHBoxLayout;
  head->setSpacing(10);
  head->addWidget(tabs_);
  head->addWidget(title_, 1);
  auto* source = new QVBoxLayout;
  source->setSpacing(0);
  source->addWidget(views_, 1);
  source->addWidget(strip_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  column->addLayout(head);
  column->addLayout(source, 1);
  setFocusProxy(host_);
}

void OwnOpEditor::show(OwnOpDraft& draft) {
  filling_ = true;
  const custom::SourceFile* host = draft.host();
  const custom::SourceFile* cuda = draft.cuda();
  host_->showSource(host ? QString::fromStdString(host->bytes) : QString());
  cuda_->showSource(cuda ? QString::fromStdString(cuda->bytes) : QString());
  host_->setEditable(host && !host->name.ends_with(".so"));
  cuda_->setEditable(cuda != nullptr);
  filling_ = false;
  tabs_->setRefused(hostTab, host ? QString() : QStringLiteral("The op has no file of C++"));
  tabs_->setRefused(cudaTab, cuda ? QString() : QStringLiteral("The op has no file of CUDA"));
  declared_ = draft.schema();
  showTab(host ? hostTab : cudaTab);
}

void OwnOpEditor::showTab(int tab) {
  tabs_->setCurrent(tab);
  if (tab == schemaTab)
    schema_->showSource(declared_.isEmpty() ? QStringLiteral("// ORRERY_OP(...) is missing") : declared_);
  views_->setCurrentIndex(tab);
}

void OwnOpEditor::showProblems(OwnOpDraft* draft) {
  if (draft) declared_ = draft->schema();
  std::map<int, QString> lines[2];
  std::map<int, int> columns[2];
  const custom::Diagnostic* first = nullptr;
  if (draft && draft->report)
    for (const custom::Diagnostic& one : draft->report->diagnostics) {
      if (!isError(one)) continue;
      const auto side = static_cast<size_t>(tabOf(one, *draft));
      if (!first || (static_cast<int>(side) == tabs_->current() && first->file != one.file)) first = &one;
      if (one.line < 1 || lines[side].contains(one.line)) continue;
      lines[side][one.line] = QString::fromStdString(one.text);
      columns[side][one.line] = one.column;
    }
  host_->setProblems(lines[0], columns[0]);
  cuda_->setProblems(lines[1], columns[1]);
  strip_->setVisible(first);
  if (!first) return problem_->setText({});
  problem_->setText(QString::fromStdString(first->text));
  QString place = QString::fromStdString(first->file);
  if (first->line > 0) place += QString(", line %1").arg(first->line);
  if (first->column > 0) place += QString(", column %1").arg(first->column);
  place_->setText(place + "   F8");
}

void OwnOpEditor::goToNextError(OwnOpDraft* draft) {
  if (!draft || !draft->report) return;
  std::vector<const custom::Diagnostic*> errors;
  for (const custom::Diagnostic& one : draft->report->diagnostics)
    if (isError(one) && one.line > 0) errors.push_back(&one);
  if (errors.empty()) return;
  const auto placeOf = [&](const custom::Diagnostic* one) {
    return std::pair<int, int>(tabOf(*one, *draft), one->line);
  };
  std::ranges::stable_sort(errors, {}, placeOf);
  const int tab = tabs_->current();
  const int line = tab == schemaTab ? 0 : (tab == cudaTab ? cuda_ : host_)->currentLine();
  const auto after = std::ranges::find_if(
      errors, [&](const custom::Diagnostic* one) { return placeOf(one) > std::pair(tab, line); });
  const custom::Diagnostic& next = after == errors.end() ? *errors.front() : **after;
  showTab(tabOf(next, *draft));
  CodeView* view = tabOf(next, *draft) == cudaTab ? cuda_ : host_;
  view->goTo(next.line, std::max(1, next.column));
  view->setFocus();
  problem_->setText(QString::fromStdString(next.text));
}

/// The editor's keys go before those of the window.
bool OwnOpEditor::eventFilter(QObject* object, QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress)
    return QWidget::eventFilter(object, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  const bool compiles = (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) &&
                        key->modifiers() == Qt::ControlModifier;
  const bool next = key->key() == Qt::Key_F8 && key->modifiers() == Qt::NoModifier;
  if (!compiles && !next) return QWidget::eventFilter(object, event);
  event->accept();
  if (event->type() == QEvent::ShortcutOverride) return true;
  if (compiles)
    emit compileAsked();
  else
    emit nextErrorAsked();
  return true;
}

}  // namespace orrery::ui
