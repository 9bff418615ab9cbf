// What MetadataEditor is made of.
#include <QHeaderView>
#include <QKeyEvent>
#include <QShortcut>
#include <QStyledItemDelegate>

#include "ui/metadata/metadata_editor.h"

namespace orrery::ui {
namespace {

constexpr int kWidth = 860, kHeight = 640, kMargin = 16, kGap = 10, kValueHeight = 120;
constexpr const char* kTypes[] = {"string", "bool",  "u8",    "u16",   "u32",    "u64",
                                  "i8",     "i16",   "i32",   "i64",   "f32",    "f64",
                                  "u8[]",   "u16[]", "u32[]", "u64[]", "i8[]",   "i16[]",
                                  "i32[]",  "i64[]", "f32[]", "f64[]", "bool[]", "string[]"};

/// Changed rows in the colour of edits, rows that cannot be saved in that of errors.
class RowDelegate : public QStyledItemDelegate {
 public:
  RowDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}
  void setTheme(const Theme& theme) { theme_ = theme; }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.column() != MetadataModel::keyColumn) option->font = theme_.monoFont(11);
    const Token token = !index.data(MetadataModel::problemRole).toString().isEmpty() ? Token::error
                        : index.data(MetadataModel::changedRole).toBool()            ? Token::edited
                        : index.column() == MetadataModel::typeColumn                ? Token::text2
                                                                                     : Token::text;
    option->palette.setColor(QPalette::Text, theme_(token));
    option->palette.setColor(QPalette::HighlightedText, theme_(token == Token::text2 ? Token::text : token));
  }

 private:
  Theme theme_;
};

}  // namespace

void MetadataEditor::setupHead(QVBoxLayout* column) {
  column->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
  column->setSpacing(kGap);
  title_ = new Text(theme_, {Token::text, 15, QFont::DemiBold}, "Metadata", this);
  path_ = new Text(theme_, {Token::text3, 11, QFont::Normal, true}, {}, this);
  path_->setElide(Qt::ElideMiddle);
  banner_ = new Banner(theme_, this);
  progress_ = new ProgressStrip(theme_, this);
  progress_->hide();
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  search_ = new SearchField(theme_, "search", "Find a key or a value", "Ctrl+F", this);
  search_->setAccessibleName("Find a key or a value");
  add_ = new Button(theme_, "Add key", Button::Kind::plain, this);
  add_->setIconName("plus");
  remove_ = new Button(theme_, "Remove", Button::Kind::plain, this);
  row->addWidget(search_, 1);
  row->addWidget(add_);
  row->addWidget(remove_);
  for (QWidget* part : std::initializer_list<QWidget*>{title_, path_, banner_, progress_})
    column->addWidget(part);
  column->addLayout(row);
  resize(kWidth, kHeight);
}

void MetadataEditor::setupTable(QVBoxLayout* column) {
  filter_->setSourceModel(model_);
  filter_->setFilterKeyColumn(-1);
  filter_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  filter_->setDynamicSortFilter(false);  // a row stays while it is edited, found or not
  table_ = new QTableView(this);
  table_->setModel(filter_);
  table_->setItemDelegate(new RowDelegate(theme_, table_));
  table_->setAccessibleName("Metadata");
  table_->setShowGrid(false);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setTabKeyNavigation(false);
  table_->setWordWrap(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(static_cast<int>(theme_.scaled(24)));
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setStretchLastSection(true);
  table_->setColumnWidth(MetadataModel::keyColumn, static_cast<int>(theme_.scaled(300)));
  table_->setColumnWidth(MetadataModel::typeColumn, static_cast<int>(theme_.scaled(80)));
  column->addWidget(table_, 1);
}

void MetadataEditor::setupFields(QVBoxLayout* column) {
  key_ = new QLineEdit(this);
  key_->setPlaceholderText("general.description");
  key_->setAccessibleName("Key");
  type_ = new QComboBox(this);
  for (const char* type : kTypes) type_->addItem(type);
  type_->setAccessibleName("Type");
  value_ = new QPlainTextEdit(this);
  value_->setTabChangesFocus(true);
  value_->setFixedHeight(static_cast<int>(theme_.scaled(kValueHeight)));
  value_->setAccessibleName("Value");
  for (QWidget* field : std::initializer_list<QWidget*>{key_, type_, value_})
    field->setProperty("mono", true);
  problem_ = new Text(theme_, {Token::error, 12}, {}, this);
  problem_->setWrap(true);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(key_, 1);
  row->addWidget(type_);
  column->addLayout(row);
  column->addWidget(value_);
  column->addWidget(problem_);
}

void MetadataEditor::setupFoot(QVBoxLayout* column) {
  state_ = new Text(theme_, {Token::text2, 12}, {}, this);
  close_ = new Button(theme_, "Close", Button::Kind::plain, this);
  save_ = new Button(theme_, "Save as...", Button::Kind::primary, this);
  save_->setToolTip("Writes a new file with these keys and the same tensors (Ctrl+S)");
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(state_, 1);
  row->addWidget(close_);
  row->addWidget(save_);
  column->addLayout(row);
}

void MetadataEditor::setupKeys() {
  const auto key = [this](const QKeySequence& keys, auto run) {
    connect(new QShortcut(keys, this), &QShortcut::activated, this, run);
  };
  key(QKeySequence::Find, [this] {
    search_->setFocus();
    search_->selectAll();
  });
  key(QKeySequence::Save, [this] { save_->click(); });
  key(QKeySequence(Qt::Key_Insert), [this] { add_->click(); });
  table_->installEventFilter(this);
}

/// In the table Delete removes the key and Enter goes on to its value.
bool MetadataEditor::eventFilter(QObject* watched, QEvent* event) {
  if (watched != table_ || event->type() != QEvent::KeyPress) return QDialog::eventFilter(watched, event);
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Delete:
      remove_->click();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      value_->setFocus();
      return true;
    default:
      return false;
  }
}

void MetadataEditor::setTheme(const Theme& theme) {
  theme_ = theme;
  static_cast<RowDelegate*>(table_->itemDelegate())->setTheme(theme);
  table_->viewport()->update();
  update();
}

}  // namespace orrery::ui
