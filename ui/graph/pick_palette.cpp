#include "ui/graph/pick_palette.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kPaletteWidth = 250, kRow = 32, kSearch = 36, kFoot = 24, kPaletteRadius = 10, kMargin = 5;
constexpr int kRows = 7;  // that are seen at once

enum Role { nameRole = Qt::UserRole, helpRole, refusalRole, familyRole };

/// 0: it begins with the words, 1: a word of it does, 2: it holds them; -1: it does not.
int rankOf(const QString& text, const QString& word) {
  const qsizetype at = text.indexOf(word, 0, Qt::CaseInsensitive);
  if (at <= 0) return static_cast<int>(at);
  return text[at - 1] == ' ' || text[at - 1] == '_' ? 1 : 2;
}

class PickDelegate : public QStyledItemDelegate {
 public:
  PickDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}
  void setTheme(const Theme& theme) { theme_ = theme; }

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {100, static_cast<int>(theme_.scaled(kRow))};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const double s = theme_.scaled(1);
    const bool selected = option.state & QStyle::State_Selected;
    const QString refusal = index.data(refusalRole).toString();
    const auto family = static_cast<graph::OpFamily>(index.data(familyRole).toInt());
    const QRectF box = QRectF(option.rect).adjusted(kMargin, 0, -kMargin, 0);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (selected) paintBox(*painter, box, 5, theme_(Token::selectionBg), QColor());
    paintIcon(*painter, glyphName(family), QRectF(box.left() + 10 * s, box.top() + 9 * s, 14 * s, 14 * s),
              refusal.isEmpty() ? theme_.family(family) : theme_(Token::disabled));
    const double left = box.left() + 34 * s, key = selected && refusal.isEmpty() ? 44 * s : 6 * s;
    const QRectF text(left, box.top() + 2 * s, box.right() - left - key, box.height() - 4 * s);
    painter->setFont(theme_.monoFont(12, selected ? QFont::Medium : QFont::Normal));
    painter->setPen(theme_(!refusal.isEmpty() ? Token::text3
                           : selected         ? Token::selectionText
                                              : Token::text));
    painter->drawText(text, Qt::AlignLeft | Qt::AlignTop, index.data(nameRole).toString());
    paintHelp(*painter, text, refusal, index.data(helpRole).toString(), selected);
    if (selected && refusal.isEmpty()) {
      painter->setFont(theme_.monoFont(10));
      painter->setPen(theme_(Token::text2));
      painter->drawText(box.adjusted(0, 0, -9 * s, 0), Qt::AlignRight | Qt::AlignVCenter,
                        QStringLiteral("Enter"));
    }
    painter->restore();
  }

 private:
  void paintHelp(QPainter& painter, QRectF text, const QString& refusal, const QString& help,
                 bool selected) const {
    const QFont font = theme_.textFont(11);
    const double s = theme_.scaled(1);
    if (!refusal.isEmpty()) {
      paintIcon(painter, u"x", QRectF(text.left() - 2 * s, text.bottom() - 13 * s, 12 * s, 12 * s),
                theme_(Token::text2));
      text.setLeft(text.left() + 12 * s);
    }
    painter.setFont(font);
    painter.setPen(theme_(selected || !refusal.isEmpty() ? Token::text2 : Token::text3));
    painter.drawText(
        text, Qt::AlignLeft | Qt::AlignBottom,
        QFontMetricsF(font).elidedText(refusal.isEmpty() ? help : refusal, Qt::ElideRight, text.width()));
  }

  Theme theme_;
};

}  // namespace

void PickModel::setPicks(Picks picks) {
  picks_ = std::move(picks);
  filtered_ = true;
  typed_.clear();
  rank();
}

void PickModel::setWords(const QString& typed) {
  typed_ = typed;
  rank();
}

void PickModel::setFiltered(bool filtered) {
  filtered_ = filtered;
  rank();
}

size_t PickModel::fitting() const {
  return static_cast<size_t>(
      std::count_if(picks_.begin(), picks_.end(), [](const Pick& pick) { return pick.refusal.isEmpty(); }));
}

void PickModel::rank() {
  beginResetModel();
  std::vector<std::pair<int, size_t>> ranked;
  for (size_t i = 0; i < picks_.size(); ++i) {
    const Pick& pick = picks_[i];
    int rank = filtered_ && !pick.refusal.isEmpty() ? 1000 : 0;
    for (const QString& word : typed_.split(' ', Qt::SkipEmptyParts)) {
      const int inName = rankOf(pick.name, word);
      if (inName < 0 && rankOf(pick.help, word) < 0 && rankOf(familyName(pick.family), word) < 0) rank = -1;
      if (rank < 0) break;
      rank += inName < 0 ? 3 : inName;
    }
    if (rank >= 0) ranked.emplace_back(rank, i);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  rows_.clear();
  for (const auto& [rank, index] : ranked) rows_.push_back(index);
  endResetModel();
}

int PickModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant PickModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Pick& pick = at(index.row());
  switch (role) {
    case Qt::DisplayRole:
    case nameRole:
      return pick.name;
    case Qt::AccessibleTextRole:
      return pick.refusal.isEmpty() ? pick.name : tr("%1, does not fit: %2").arg(pick.name, pick.refusal);
    case Qt::ToolTipRole:
      return pick.refusal.isEmpty() ? pick.help : pick.help + '\n' + pick.refusal;
    case helpRole:
      return pick.help;
    case refusalRole:
      return pick.refusal;
    case familyRole:
      return static_cast<int>(pick.family);
    default:
      return {};
  }
}

PickPalette::PickPalette(const Theme& theme, QWidget* view)
    : QWidget(view),
      theme_(theme),
      field_(new SearchField(theme, "search", tr("Search"), {}, this)),
      model_(new PickModel(this)),
      list_(new QListView(this)) {
  hide();
  list_->setModel(model_);
  list_->setItemDelegate(new PickDelegate(theme, list_));
  list_->setFrameShape(QFrame::NoFrame);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list_->setUniformItemSizes(true);
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setMouseTracking(true);
  list_->setAccessibleName(tr("Choices"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(1, 0, 1, 0);
  layout->setSpacing(0);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(4, 4, 4, 4);
  top->addWidget(field_);
  layout->addLayout(top);
  layout->addSpacing(4);
  layout->addWidget(list_, 1);
  layout->addSpacing(static_cast<int>(theme.scaled(kFoot)));
  connect(field_, &QLineEdit::textChanged, this, &PickPalette::narrow);
  connect(list_, &QListView::entered, list_, &QListView::setCurrentIndex);
  connect(list_, &QListView::clicked, this, [this](const QModelIndex& index) {
    run(index, !(QApplication::keyboardModifiers() & Qt::AltModifier));
  });
  connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this,
          [this](const QModelIndex& now) {
            const bool fits = now.isValid() && model_->at(now.row()).refusal.isEmpty();
            if (isVisible()) emit considered(fits ? model_->at(now.row()).key : QString());
          });
  field_->installEventFilter(this);
  field_->setFrame(false);
  setTheme(theme);
}

void PickPalette::setTheme(const Theme& theme) {
  theme_ = theme;
  static_cast<PickDelegate*>(list_->itemDelegate())->setTheme(theme);
  list_->setStyleSheet(QString("QListView { background: %1; }").arg(theme(Token::raised).name()));
  field_->setStyleSheet(
      QString("QLineEdit { background: %1; border: none; }").arg(theme(Token::raised).name()));
  update();
}

void PickPalette::open(Picks picks, const QString& placeholder, const QString& takes, const QPoint& at) {
  if (!isVisible()) before_ = QApplication::focusWidget();
  takes_ = takes;
  model_->setPicks(std::move(picks));
  field_->setPlaceholderText(placeholder);
  field_->setAccessibleName(placeholder);
  field_->clear();
  const int rows = std::clamp(model_->rowCount(), 1, kRows);
  const QSize size(qRound(theme_.scaled(kPaletteWidth)),
                   qRound(theme_.scaled(kSearch + 6 + kFoot + rows * kRow)));
  const QRect room = parentWidget()->rect().adjusted(8, 8, -8, -8);
  QRect place(at - QPoint(0, qRound(theme_.scaled(kSearch + kRow / 2))), size.boundedTo(room.size()));
  place.moveLeft(std::clamp(place.left(), room.left(), room.right() + 1 - place.width()));
  place.moveTop(std::clamp(place.top(), room.top(), room.bottom() + 1 - place.height()));
  setGeometry(place);
  show();
  raise();
  field_->setFocus(Qt::PopupFocusReason);
  narrow();
}

void PickPalette::narrow() {
  model_->setWords(field_->text());
  list_->setCurrentIndex(model_->index(0, 0));
  list_->scrollToTop();
  note();
}

void PickPalette::note() {
  field_->setNote(takes_.isEmpty() ? QString::number(model_->rowCount())
                                   : tr("%1 of %2").arg(model_->fitting()).arg(model_->picks().size()));
  update();
}

void PickPalette::leave() {
  if (!isVisible()) return;
  putAway();
  emit left();
}

/// The focus goes back to where it was. Not a word of it: the field loses the focus, but not by the person.
void PickPalette::putAway() {
  const QSignalBlocker quiet(this);
  if (before_ && before_->isVisible()) before_->setFocus();
  hide();
}

void PickPalette::run(const QModelIndex& index, bool connected) {
  if (!index.isValid()) return;
  const Pick pick = model_->at(index.row());
  if (!pick.refusal.isEmpty() && connected) return;  // it says why
  putAway();
  emit chosen(pick.key, connected);
}

bool PickPalette::pressKey(const QKeyEvent& key) {
  const int count = model_->rowCount(), row = list_->currentIndex().row();
  const auto go = [&](int to) {
    if (count > 0) list_->setCurrentIndex(model_->index(std::clamp(to, 0, count - 1), 0));
  };
  switch (key.key()) {
    case Qt::Key_Escape:
      leave();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      run(list_->currentIndex(), !(key.modifiers() & Qt::AltModifier));
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

bool PickPalette::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::FocusOut) {  // a menu of the field and another window give it back
    const Qt::FocusReason reason = static_cast<QFocusEvent*>(event)->reason();
    if (reason != Qt::PopupFocusReason && reason != Qt::ActiveWindowFocusReason && isVisible()) {
      hide();
      emit left();
    }
  }
  if (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress) return false;
  const auto* key = static_cast<QKeyEvent*>(event);
  const bool own = !(key->modifiers() & ~(Qt::ShiftModifier | Qt::AltModifier | Qt::KeypadModifier));
  if (event->type() == QEvent::KeyPress) return own && pressKey(*key);
  if (own) event->accept();  // Esc, letters and the like are the palette's while it is open
  return own;
}

QRectF PickPalette::allOps() const {
  const double foot = theme_.scaled(kFoot), width = theme_.scaled(64);
  return {this->width() - width, height() - foot, width, foot};
}

void PickPalette::mousePressEvent(QMouseEvent* event) {
  if (takes_.isEmpty() || !allOps().contains(event->position())) return;
  model_->setFiltered(!model_->filtered());
  list_->setCurrentIndex(model_->index(0, 0));
  note();
}

void PickPalette::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double s = theme_.scaled(1), foot = height() - kFoot * s;
  paintBox(painter, rect(), kPaletteRadius * s, theme_(Token::raised), controlOutline(theme_));
  painter.setPen(QPen(theme_(Token::border), 1));
  painter.drawLine(QPointF(1, kSearch * s + 0.5), QPointF(width() - 1, kSearch * s + 0.5));
  painter.drawLine(QPointF(1, foot + 0.5), QPointF(width() - 1, foot + 0.5));
  const QRectF line(14 * s, foot, width() - 26 * s, kFoot * s);
  painter.setFont(theme_.textFont(10.5));
  painter.setPen(theme_(Token::text3));
  if (takes_.isEmpty()) {
    painter.drawText(line, Qt::AlignVCenter, tr("Alt+Enter leaves it unconnected"));
    return;
  }
  painter.drawText(line, Qt::AlignVCenter, tr("takes"));
  painter.setFont(theme_.monoFont(10.5));
  painter.setPen(theme_(Token::text2));
  painter.drawText(line.adjusted(32 * s, 0, -60 * s, 0), Qt::AlignVCenter, takes_);
  painter.setFont(theme_.textFont(10.5, QFont::Medium));
  painter.setPen(theme_(Token::accent));
  painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight,
                   model_->filtered() ? tr("all ops") : tr("what fits"));
}

}  // namespace orrery::ui
