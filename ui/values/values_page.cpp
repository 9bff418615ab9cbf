#include "ui/values/values_page.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kRow = 24, kCell = 84;
constexpr double kInputs = 300, kList = 420, kTable = 480;  // px of the page, shared in this ratio

/// A part of the page with its margins.
QWidget* partOf(QVBoxLayout* layout) {
  layout->setContentsMargins(8, 6, 4, 6);
  layout->setSpacing(6);
  auto* part = new QWidget;
  part->setLayout(layout);
  return part;
}

QTableView* tableOf(const Theme& theme, QAbstractItemModel* model, const QString& name) {
  auto* table = new QTableView;
  table->setModel(model);
  table->setFrameShape(QFrame::NoFrame);
  table->setShowGrid(false);
  table->setWordWrap(false);
  table->setTabKeyNavigation(false);
  table->setAccessibleName(name);
  table->setFont(theme.monoFont(11));
  table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table->verticalHeader()->setDefaultSectionSize(static_cast<int>(theme.scaled(kRow)));
  table->horizontalHeader()->setHighlightSections(false);
  return table;
}

}  // namespace

ValuesPage::ValuesPage(const Theme& theme, GraphController* graphs, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      graphs_(graphs),
      banner_(new Banner(theme, this)),
      inputs_(new InputRows(theme, graphs, this)),
      run_(new Button(theme, "Run", Button::Kind::primary, this)),
      save_(new Button(theme, "Save as .npy...", Button::Kind::plain, this)),
      keep_(new QCheckBox("Keep every value", this)),
      told_(new Text(theme, {Token::text2, 11, QFont::Normal, true}, {}, this)),
      shown_(new Text(theme, {Token::text, 11.5, QFont::Medium, true}, {}, this)),
      values_(new ValueList(this)),
      list_(tableOf(theme, values_, "Values of the last run")),
      elements_(new ArrayModel(this)),
      slices_(new QHBoxLayout) {
  table_ = tableOf(theme, elements_, "Elements of the chosen value");
  auto* parts = new QSplitter(this);
  parts->setChildrenCollapsible(false);
  parts->addWidget(makeInputs());
  parts->addWidget(makeValues());
  parts->addWidget(makeTable());
  parts->setSizes({static_cast<int>(kInputs), static_cast<int>(kList), static_cast<int>(kTable)});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(banner_);
  layout->addWidget(parts, 1);
  connect(graphs_, &GraphController::changed, this, &ValuesPage::refresh);
  connect(graphs_, &GraphController::ran, this, &ValuesPage::takeRun);
  connect(graphs_, &GraphController::failed, this, &ValuesPage::tellFailure);
  connect(graphs_->session(), &SessionController::opened, this, [this] {
    banner_->dismiss();
    chosen_.reset();
    values_->setResult(graphs_->result());
    refreshShown();
  });
  refresh();
  refreshShown();
}

QWidget* ValuesPage::makeInputs() {
  keep_->setToolTip(
      "Every value between inputs and outputs can be looked at. Fusions that leave values out are not made");
  keep_->setChecked(graphs_->keepsAll());
  connect(run_, &QAbstractButton::clicked, this, &ValuesPage::runOrStop);
  connect(keep_, &QCheckBox::toggled, graphs_, &GraphController::setKeepsAll);
  auto* line = new QHBoxLayout;
  line->setSpacing(10);
  line->addWidget(run_);
  line->addWidget(keep_);
  line->addStretch(1);
  auto* layout = new QVBoxLayout;
  layout->addWidget(inputs_, 1);
  layout->addWidget(told_);
  layout->addLayout(line);
  return partOf(layout);
}

QWidget* ValuesPage::makeValues() {
  list_->setSelectionBehavior(QAbstractItemView::SelectRows);
  list_->setSelectionMode(QAbstractItemView::SingleSelection);
  list_->verticalHeader()->hide();
  list_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  connect(list_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& row) {
            if (!row.isValid()) return;
            chosen_ = values_->valueAt(row.row());
            refreshShown();
          });
  connect(list_, &QAbstractItemView::clicked, this, [this](const QModelIndex& row) {
    const QString path = values_->index(row.row(), ValueList::nameColumn).data().toString();
    emit pathAsked(path.left(path.lastIndexOf(':')));
  });
  auto* layout = new QVBoxLayout;
  layout->addWidget(list_, 1);
  return partOf(layout);
}

QWidget* ValuesPage::makeTable() {
  table_->horizontalHeader()->setDefaultSectionSize(static_cast<int>(theme_.scaled(kCell)));
  connect(save_, &QAbstractButton::clicked, this, &ValuesPage::askSave);
  slices_->setSpacing(4);
  auto* head = new QHBoxLayout;
  head->setSpacing(8);
  head->addWidget(shown_, 1);
  head->addLayout(slices_);
  head->addWidget(save_);
  auto* layout = new QVBoxLayout;
  layout->addLayout(head);
  layout->addWidget(table_, 1);
  return partOf(layout);
}

void ValuesPage::setTheme(const Theme& theme) {
  theme_ = theme;
  inputs_->setTheme(theme);
}

void ValuesPage::runOrStop() { graphs_->running() ? graphs_->stop() : graphs_->run(); }

void ValuesPage::refresh() {
  inputs_->refresh();
  const QString refusal = graphs_->refusal();
  run_->setCaption(graphs_->running() ? "Stop" : "Run");
  run_->setEnabled(graphs_->running() || refusal.isEmpty());
  run_->setToolTip(refusal.isEmpty() ? "Run the graph on these values (F5)" : refusal);
  keep_->setEnabled(graphs_->own());
  const GraphResultPtr& result = graphs_->result();
  told_->setText(graphs_->running() ? QStringLiteral("running")
                 : !result          ? QString()
                 : graphs_->stale()
                     ? QStringLiteral("of the graph before; run it again")
                     : format::counted(static_cast<qint64>(result->plan->steps.size()), "step") + ", " +
                           format::time(result->us));
}

void ValuesPage::takeRun() {
  banner_->dismiss();
  const GraphResultPtr& result = graphs_->result();
  const std::optional<ValueId> before = chosen_;
  values_->setResult(result);
  chosen_ = before && values_->rowOf(*before) >= 0 ? before
            : result->order.empty()                ? std::nullopt
                                                   : std::optional(result->order.front());
  if (chosen_) showValue(*chosen_);
  refreshShown();
}

void ValuesPage::tellFailure(const Error& error) {
  banner_->showError(describeError("The graph did not run", error));
}

void ValuesPage::showValue(ValueId value) {
  const int row = values_->rowOf(value);
  if (row < 0) return;
  chosen_ = value;
  list_->selectRow(row);
  refreshShown();
}

void ValuesPage::showNode(NodeId node) {
  const GraphResultPtr& result = graphs_->result();
  const graph::Node* found = result ? result->graph->find(node) : nullptr;
  if (found && !found->outputs.empty()) showValue(found->outputs.front());
}

void ValuesPage::refreshShown() {
  const ShownArray* value = chosen_ ? graphs_->valueOf(*chosen_) : nullptr;
  elements_->setArray(value ? value->array : api::Array());
  for (QSpinBox* place : std::exchange(places_, {})) {
    place->hide();
    place->deleteLater();
  }
  save_->setEnabled(value != nullptr);
  if (!value) return shown_->setText("No value is chosen");
  const api::Statistics& of = value->statistics;
  shown_->setText(QString("%1  %2  mean %3, %4 NaN, %5 infinite")
                      .arg(value->path, QString::fromStdString(to_string(value->array.type())),
                           format::number(of.mean), format::count(of.nan), format::count(of.infinite)));
  for (size_t dim = 0; dim < value->array.shape.size(); ++dim) {
    if (elements_->last(dim) == 0) continue;
    auto* place = new QSpinBox(this);
    place->setRange(0, static_cast<int>(std::min<int64_t>(elements_->last(dim), INT_MAX)));
    place->setValue(static_cast<int>(elements_->place(dim)));
    const bool slice = dim + 2 < value->array.shape.size();
    place->setToolTip(slice ? QString("Slice of dim %1").arg(dim)
                            : QString("Where the shown part of dim %1 begins").arg(dim));
    place->setAccessibleName(place->toolTip());
    connect(place, &QSpinBox::valueChanged, elements_, [this, dim](int at) { elements_->setPlace(dim, at); });
    slices_->addWidget(place);
    places_.push_back(place);
  }
}

Result<void> ValuesPage::save(const QString& path) const {
  const ShownArray* value = chosen_ ? graphs_->valueOf(*chosen_) : nullptr;
  if (!value) return Error{ErrorCode::not_found, "No value is chosen", "", "choose one in the list"};
  return api::write_array(path.toStdString(), value->array);
}

void ValuesPage::askSave() {
  const ShownArray* value = chosen_ ? graphs_->valueOf(*chosen_) : nullptr;
  if (!value) return;
  QString name = value->path;
  const QString path = QFileDialog::getSaveFileName(this, "Save the value as an array",
                                                    name.replace(':', '.') + ".npy", "Arrays (*.npy)");
  if (path.isEmpty()) return;
  const Result<void> done = save(path);
  done.ok() ? emit saved(path) : emit failed(describeError("Could not save the value", done.error()));
}

}  // namespace orrery::ui
