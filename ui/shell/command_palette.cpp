#include "ui/shell/command_palette.h"

#include <QAction>
#include <QBitArray>
#include <QEvent>
#include <QPainter>
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

class PaletteDelegate : public PopupRows {
 public:
  PaletteDelegate(const Theme& theme, const PaletteModel* model, QObject* parent)
      : PopupRows(theme, kRow, parent), model_(model) {}

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
    const int rank = rankOf(title, QStringList{place}, words_);
    if (rank >= 0)
      ranked.emplace_back(rank + (commands_.action(command.id)->isEnabled() ? 0 : 1000), &command);
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
    : SearchPopup(theme, new SearchField(theme, "command", "Type what you want to do", {}), kRows, window),
      commands_(commands),
      model_(new PaletteModel(commands, this)) {
  setRows(model_, new PaletteDelegate(theme, model_, list()));
  list()->setAccessibleName("Commands");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(1, 8, 1, 8);
  layout->setSpacing(8);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(8, 0, 8, 0);
  top->addWidget(field());
  layout->addLayout(top);
  layout->addWidget(list(), 1);
  window->installEventFilter(this);
  setTheme(theme);
}

void CommandPalette::open() {
  if (isVisible()) return field()->selectAll();
  field()->clear();
  narrow();
  openAt(place());
}

void CommandPalette::narrow() {
  model_->setWords(field()->text());
  chooseFirst();
  field()->setNote(QString("%1 of %2").arg(model_->rowCount()).arg(commands_.list().size()));
}

/// In the middle of the window, as high as its rows or the window allow.
QRect CommandPalette::place() const {
  const QWidget* around = parentWidget();
  const int top = static_cast<int>(theme().scaled(kFromTop)), row = static_cast<int>(theme().scaled(kRow));
  const int width = std::min(static_cast<int>(theme().scaled(kWidth)), around->width() - 40);
  const int height = field()->height() + 24 + row * page();
  return {(around->width() - width) / 2, top, width, std::min(height, around->height() - top - 40)};
}

void CommandPalette::take(const QModelIndex& row, Qt::KeyboardModifiers) {
  QAction* action = row.isValid() ? commands_.action(row.data(PaletteModel::idRole).toString()) : nullptr;
  if (!action || !action->isEnabled()) return;
  putAway();  // first: the command may look at what has the focus
  action->trigger();
}

bool CommandPalette::eventFilter(QObject* object, QEvent* event) {
  if (object == parentWidget() && event->type() == QEvent::Resize && isVisible()) setGeometry(place());
  return SearchPopup::eventFilter(object, event);
}

void CommandPalette::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintBox(painter, rect(), theme().scaled(kRadius), theme()(Token::raised), controlOutline(theme()));
}

}  // namespace orrery::ui
