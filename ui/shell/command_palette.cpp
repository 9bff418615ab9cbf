#include "ui/shell/command_palette.h"

#include <QAction>
#include <QApplication>
#include <QBitArray>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/shell/commands.h"
#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kWidth = 520, kRow = 42, kRadius = 8, kMargin = 6;
constexpr int kRows = 9;         // that are seen at once, where the window is high enough
constexpr double kFromTop = 84;  // below the tool bar
constexpr double kIcon = 16;

/// 0: it begins with the words, 1: a word of it does, 2: it holds them; -1: it does not.
int rankOf(const QString& text, const QString& word) {
  const int at = static_cast<int>(text.indexOf(word, 0, Qt::CaseInsensitive));
  if (at <= 0) return at;
  return text.contains(" " + word, Qt::CaseInsensitive) ? 1 : 2;
}

class PaletteDelegate : public QStyledItemDelegate {
 public:
  PaletteDelegate(const Theme& theme, const PaletteModel* model, QObject* parent)
      : QStyledItemDelegate(parent), theme_(theme), model_(model) {}
  void setTheme(const Theme& theme) { theme_ = theme; }

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {100, static_cast<int>(theme_.scaled(kRow))};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const bool selected = option.state & QStyle::State_Selected,
               enabled = index.data(PaletteModel::enabledRole).toBool();
    const QRectF box = QRectF(option.rect).adjusted(kMargin, 0, -kMargin, 0);
    painter->save();
    if (selected) paintBox(*painter, box, 5, theme_(Token::selectionBg), QColor());
    const Token ink = !enabled ? Token::disabled : selected ? Token::selectionText : Token::text;
    const double size = theme_.scaled(kIcon);
    const QString icon = index.data(PaletteModel::checkedRole).toBool()
                             ? QString("check")
                             : index.data(PaletteModel::iconRole).toString();
    if (!icon.isEmpty())
      paintIcon(*painter, icon, QRectF(box.left() + 10, box.center().y() - size / 2, size, size),
                theme_(enabled ? Token::text2 : Token::disabled));
    const double right = paintKeys(*painter, box, index.data(PaletteModel::keysRole).toString(), enabled);
    const double left = box.left() + theme_.scaled(38);
    const QRectF text(left, box.top() + theme_.scaled(4), right - left - 8, box.height() - theme_.scaled(8));
    paintTitle(*painter, text, index.data(PaletteModel::titleRole).toString(), theme_(ink), enabled);
    painter->setFont(theme_.textFont(11));
    painter->setPen(theme_(!enabled ? Token::disabled : selected ? Token::text2 : Token::text3));
    painter->drawText(text, Qt::AlignLeft | Qt::AlignBottom, index.data(PaletteModel::placeRole).toString());
    painter->restore();
  }

 private:
  /// Gives the left end of what it drew.
  double paintKeys(QPainter& painter, const QRectF& box, const QString& keys, bool enabled) const {
    double right = box.right() - 10;
    if (keys.isEmpty()) return right;
    painter.setFont(theme_.monoFont(10));
    const double width = QFontMetricsF(painter.font()).horizontalAdvance(keys) + 10,
                 height = theme_.scaled(17);
    const QRectF chip(right - width, box.center().y() - height / 2, width, height);
    paintBox(painter, chip, 3, theme_(Token::panel), controlOutline(theme_));
    painter.setPen(theme_(enabled ? Token::text2 : Token::disabled));
    painter.drawText(chip, Qt::AlignCenter, keys);
    return chip.left();
  }

  /// What was typed stands out in it.
  void paintTitle(QPainter& painter, const QRectF& area, const QString& title, const QColor& ink,
                  bool enabled) const {
    painter.setFont(theme_.textFont(12.5, QFont::Medium));
    const QFontMetricsF metrics(painter.font());
    const QString shown = metrics.elidedText(title, Qt::ElideRight, area.width());
    QBitArray typed(static_cast<int>(shown.size()));
    for (const QString& word : model_->words())
      if (const qsizetype at = shown.indexOf(word, 0, Qt::CaseInsensitive); at >= 0)
        typed.fill(true, static_cast<int>(at), static_cast<int>(at + word.size()));
    double x = area.left();
    for (int from = 0; from < typed.size();) {
      int to = from;
      while (to < typed.size() && typed[to] == typed[from]) ++to;
      const QString part = shown.mid(from, to - from);
      painter.setPen(typed[from] && enabled ? theme_(Token::accent) : ink);
      painter.drawText(QPointF(x, area.top() + metrics.ascent()), part);
      x += metrics.horizontalAdvance(part);
      from = to;
    }
  }

  Theme theme_;
  const PaletteModel* model_;
};

}  // namespace

PaletteModel::PaletteModel(const Commands& commands, QObject* parent)
    : QAbstractListModel(parent), commands_(commands) {}

void PaletteModel::setWords(const QString& typed) {
  beginResetModel();
  words_ = typed.split(' ', Qt::SkipEmptyParts);
  std::vector<std::pair<int, const Command*>> ranked;
  for (const Command& command : commands_.list()) {
    const QString title = commands_.title(command), place = Commands::place(command);
    int rank = commands_.action(command.id)->isEnabled() ? 0 : 1000;
    for (const QString& word : words_) {
      const int inTitle = rankOf(title, word);
      if (inTitle < 0 && rankOf(place, word) < 0) rank = -1;
      if (rank < 0) break;
      rank += inTitle < 0 ? 3 : inTitle;
    }
    if (rank >= 0) ranked.emplace_back(rank, &command);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](auto& a, auto& b) { return a.first < b.first; });
  rows_.clear();
  for (const auto& [rank, command] : ranked) rows_.push_back(command);
  endResetModel();
}

int PaletteModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant PaletteModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Command& command = *rows_[static_cast<size_t>(index.row())];
  const QAction* action = commands_.action(command.id);
  switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
    case titleRole:
      return commands_.title(command);
    case placeRole:
      return Commands::place(command);
    case iconRole:
      return command.icon;
    case keysRole:
      return action->shortcut().toString(QKeySequence::NativeText);
    case enabledRole:
      return action->isEnabled();
    case checkedRole:
      return action->isChecked();
    case idRole:
      return command.id;
    default:
      return {};
  }
}

CommandPalette::CommandPalette(const Theme& theme, const Commands& commands, QWidget* window)
    : QWidget(window),
      theme_(theme),
      commands_(commands),
      field_(new SearchField(theme, "command", "Type what you want to do", {}, this)),
      model_(new PaletteModel(commands, this)),
      list_(new QListView(this)) {
  hide();
  list_->setModel(model_);
  list_->setItemDelegate(new PaletteDelegate(theme, model_, list_));
  list_->setFrameShape(QFrame::NoFrame);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list_->setUniformItemSizes(true);
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setMouseTracking(true);
  list_->setAccessibleName("Commands");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(1, 8, 1, 8);
  layout->setSpacing(8);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(8, 0, 8, 0);
  top->addWidget(field_);
  layout->addLayout(top);
  layout->addWidget(list_, 1);
  connect(field_, &QLineEdit::textChanged, this, &CommandPalette::narrow);
  connect(list_, &QListView::entered, list_, &QListView::setCurrentIndex);
  connect(list_, &QListView::clicked, this, &CommandPalette::run);
  field_->installEventFilter(this);
  window->installEventFilter(this);
  setTheme(theme);
}

void CommandPalette::setTheme(const Theme& theme) {
  theme_ = theme;
  static_cast<PaletteDelegate*>(list_->itemDelegate())->setTheme(theme);
  list_->setStyleSheet(QString("QListView { background: %1; }").arg(theme(Token::raised).name()));
  update();
}

void CommandPalette::open() {
  if (isVisible()) return field_->selectAll();
  before_ = QApplication::focusWidget();
  field_->clear();
  narrow();
  place();
  show();
  raise();
  field_->setFocus(Qt::PopupFocusReason);
}

void CommandPalette::narrow() {
  model_->setWords(field_->text());
  list_->setCurrentIndex(model_->index(0, 0));
  field_->setNote(QString("%1 of %2").arg(model_->rowCount()).arg(commands_.list().size()));
}

/// In the middle of the window, as high as its rows or the window allow.
void CommandPalette::place() {
  const QWidget* around = parentWidget();
  const int top = static_cast<int>(theme_.scaled(kFromTop)), row = static_cast<int>(theme_.scaled(kRow));
  const int width = std::min(static_cast<int>(theme_.scaled(kWidth)), around->width() - 40);
  const int height = field_->height() + 24 + row * kRows;
  setGeometry((around->width() - width) / 2, top, width, std::min(height, around->height() - top - 40));
}

/// The focus goes back to where it was.
void CommandPalette::leave() {
  if (before_ && before_->isVisible()) before_->setFocus();
  hide();
}

void CommandPalette::run(const QModelIndex& index) {
  QAction* action = index.isValid() ? commands_.action(index.data(PaletteModel::idRole).toString()) : nullptr;
  if (!action || !action->isEnabled()) return;
  leave();  // first: the command may look at what has the focus
  action->trigger();
}

bool CommandPalette::pressKey(int key) {
  const int count = model_->rowCount(), row = list_->currentIndex().row();
  const auto go = [&](int to) {
    if (count > 0) list_->setCurrentIndex(model_->index(std::clamp(to, 0, count - 1), 0));
  };
  switch (key) {
    case Qt::Key_Escape:
      leave();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      run(list_->currentIndex());
      return true;
    case Qt::Key_Down:
    case Qt::Key_Tab:
      go(row + 1 == count ? 0 : row + 1);
      return true;
    case Qt::Key_Up:
    case Qt::Key_Backtab:
      go(row == 0 ? count - 1 : row - 1);
      return true;
    case Qt::Key_PageDown:
      go(row + kRows - 1);
      return true;
    case Qt::Key_PageUp:
      go(row - kRows + 1);
      return true;
    default:
      return false;
  }
}

bool CommandPalette::eventFilter(QObject* object, QEvent* event) {
  if (object == parentWidget()) {
    if (event->type() == QEvent::Resize && isVisible()) place();
    return false;
  }
  if (event->type() == QEvent::FocusOut) {  // a menu of the field and another window give it back
    const Qt::FocusReason reason = static_cast<QFocusEvent*>(event)->reason();
    if (reason != Qt::PopupFocusReason && reason != Qt::ActiveWindowFocusReason) hide();
  }
  if (event->type() == QEvent::ShortcutOverride) {  // Esc and the like are the palette's while it is open
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->modifiers() == Qt::NoModifier) event->accept();
    return key->modifiers() == Qt::NoModifier;
  }
  if (event->type() != QEvent::KeyPress) return false;
  const auto* key = static_cast<QKeyEvent*>(event);
  return !(key->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) && pressKey(key->key());
}

void CommandPalette::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintBox(painter, rect(), theme_.scaled(kRadius), theme_(Token::raised), controlOutline(theme_));
}

}  // namespace orrery::ui
