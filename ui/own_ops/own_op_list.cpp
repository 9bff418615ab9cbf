#include "ui/own_ops/own_op_list.h"

#include <QPainter>
#include <algorithm>

#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kTwoLines = 40, kInset = 8;  // px
constexpr int kShortContent = 8;              // letters of a hash

struct OwnOpState {
  QString word;
  Token token;
};

OwnOpState stateOf(const OwnOpDraft& draft) {
  if (draft.failedTrial()) return {QStringLiteral("trial failed"), Token::error};
  if (draft.current() && !draft.report->passed) return {QStringLiteral("error"), Token::error};
  if (draft.added()) return {QStringLiteral("added"), Token::ok};
  if (draft.verified()) return {QStringLiteral("verified"), Token::ok};
  if (draft.compiled()) return {QStringLiteral("compiles"), Token::text2};
  return {QStringLiteral("\u2026"), Token::text3};
}

/// Before a trial only the files tell where it is to run.
QString noteOf(const OwnOpDraft& draft) {
  if (draft.verified())
    return ownOpNote(draft.report->devices, draft.report->backward, draft.report->content);
  QStringList names;
  for (const custom::SourceFile& file : draft.files) names += QString::fromStdString(file.name);
  return names.join(", ");
}

}  // namespace

QString ownOpNote(const std::vector<std::string>& devices, bool backward, const std::string& content) {
  QStringList names;
  for (const std::string& device : devices) names += QString::fromStdString(device).toUpper();
  return QStringList{names.join(", "), backward ? "gradients" : "no gradients",
                     QString::fromStdString(content).left(kShortContent)}
      .join(QStringLiteral(" · "));
}

QSize OwnOpDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
  return {qRound(theme_.scaled(120)), qRound(theme_.scaled(kTwoLines))};
}

void OwnOpDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
  QStyleOptionViewItem ground = option;
  initStyleOption(&ground, index);
  ground.text.clear();
  option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &ground, painter, option.widget);
  const bool selected = option.state.testFlag(QStyle::State_Selected);
  const auto token = static_cast<Token>(index.data(OwnOpList::tokenRole).toInt());
  const double inset = theme_.scaled(kInset);
  const QRectF room = QRectF(option.rect).adjusted(inset, 3, -inset, -3);
  QRectF first(room.left(), room.top(), room.width(), room.height() / 2);
  const QRectF second = first.translated(0, first.height());
  painter->save();
  const QFont small = theme_.textFont(11), name = theme_.textFont(12, QFont::Medium),
              mono = theme_.monoFont(10.5);
  const QString state = index.data(OwnOpList::stateRole).toString();
  const double stateWidth = textWidth(state, small);
  painter->setPen(theme_(selected ? Token::selectionText : token));
  drawLabel(*painter, QRectF(first.right() - stateWidth, first.top(), stateWidth + 1, first.height()),
            Qt::AlignLeft, state, small);
  first.setRight(first.right() - stateWidth - inset);
  painter->setPen(theme_(selected ? Token::selectionText : Token::text));
  drawLabel(*painter, first, Qt::AlignLeft, elided(index.data().toString(), name, first.width()), name);
  painter->setPen(theme_(selected ? Token::selectionText : Token::text3));
  drawLabel(*painter, second, Qt::AlignLeft,
            QFontMetricsF(mono).elidedText(index.data(OwnOpList::noteRole).toString(), Qt::ElideRight,
                                           second.width()),
            mono);
  painter->restore();
}

OwnOpList::OwnOpList(const Theme& theme, QWidget* parent)
    : QTreeWidget(parent), looks_(new OwnOpDelegate(theme, this)) {
  setColumnCount(1);
  setHeaderHidden(true);
  setRootIsDecorated(false);
  setIndentation(0);
  setUniformRowHeights(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setItemDelegate(looks_);
  setAccessibleName("Ops of one's own");
  connect(this, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
    if (filling_ || !item) return;
    const int draft = item->data(0, draftRole).toInt();
    if (draft >= 0)
      emit draftChosen(draft);
    else
      emit addedChosen(item->data(0, nameRole).toString());
  });
}

void OwnOpList::add(const QString& title, const QString& name, int draft, const QString& state, Token token,
                    const QString& note, const QString& tip) {
  auto* item = new QTreeWidgetItem(this, {title});
  item->setData(0, draftRole, draft);
  item->setData(0, nameRole, name);
  item->setData(0, stateRole, state);
  item->setData(0, tokenRole, static_cast<int>(token));
  item->setData(0, noteRole, note);
  item->setToolTip(0, tip);
  item->setData(0, Qt::AccessibleTextRole, QStringList{title, state, note}.join(", "));
}

void OwnOpList::fill(const std::vector<OwnOpDraft>& drafts, int chosen,
                     const std::vector<api::OwnOpEntry>& added) {
  filling_ = true;
  clear();
  for (size_t i = 0; i < drafts.size(); ++i) {
    const OwnOpDraft& draft = drafts[i];
    const auto [word, token] = stateOf(draft);
    const QString tip = draft.verified() ? "content " + QString::fromStdString(draft.report->content) : "";
    add(draft.name + (draft.unsaved() ? " *" : ""),
        draft.report && !draft.report->name.empty() ? QString::fromStdString(draft.report->name) : draft.name,
        static_cast<int>(i), word, token, noteOf(draft), tip);
    if (static_cast<int>(i) == chosen) setCurrentItem(topLevelItem(static_cast<int>(i)));
  }
  for (const api::OwnOpEntry& one : added) {
    const bool written = std::ranges::any_of(drafts, [&](const OwnOpDraft& draft) {
      return (draft.report && draft.report->name == one.name) || draft.name.toStdString() == one.name;
    });
    if (written) continue;
    const QString name = QString::fromStdString(one.name);
    const bool there = one.problem.empty();
    add(name, name, -1, there ? "added" : "not loaded", there ? Token::ok : Token::warn,
        there ? ownOpNote(one.devices, one.backward, one.content) : QString::fromStdString(one.problem),
        QString::fromStdString("content " + one.content + (there ? "" : "\n" + one.problem)));
  }
  filling_ = false;
}

QString OwnOpList::currentName() const {
  const QTreeWidgetItem* item = currentItem();
  return item ? item->data(0, nameRole).toString() : QString();
}

void OwnOpList::setTheme(const Theme& theme) {
  looks_->setTheme(theme);
  viewport()->update();
}

}  // namespace orrery::ui
