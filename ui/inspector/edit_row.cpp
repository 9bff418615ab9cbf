#include "ui/inspector/edit_row.h"

#include <QGridLayout>
#include <QKeyEvent>
#include <QPainter>

namespace orrery::ui {
namespace {

constexpr double kLabelWidth = 64, kFieldHeight = 24, kBarWidth = 2.5;
constexpr qsizetype kFewChoices = 3;

}  // namespace

EditRow::EditRow(const Theme& theme, const FormField& field, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      field_(field),
      label_(new Text(theme, {Token::text2, 12}, field.name, this)),
      range_(new Text(theme, {Token::text3, 10.5, QFont::Normal, true}, {}, this)),
      help_(new Text(theme, {Token::text3, 10.5}, {}, this)) {
  QWidget* editor = makeEditor();
  editor->setAccessibleName(field.name);
  editor->installEventFilter(this);
  label_->setFixedWidth(qRound(theme.scaled(kLabelWidth)));
  label_->setElide(Qt::ElideMiddle);
  label_->setToolTip(field.name);
  range_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  help_->setWrap(true);
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(8, 2, 0, 4);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(3);
  grid->setColumnStretch(1, 1);
  grid->addWidget(label_, 0, 0, Qt::AlignTop);
  grid->addWidget(editor, 0, 1, line_ || heads_ ? Qt::Alignment() : Qt::AlignLeft);
  grid->addWidget(range_, 0, 2);
  grid->addWidget(help_, 1, 1, 1, 2);
  label_->setFixedHeight(qRound(theme.scaled(kFieldHeight)));
  setText(field.before);
}

QWidget* EditRow::makeEditor() {
  using Kind = FormField::Kind;
  if (field_.kind == Kind::heads) {
    heads_ = new HeadToggles(theme_, field_.heads, this);
    connect(heads_, &HeadToggles::changed, this, [this] {
      refresh();
      emit changed();
    });
    return heads_;
  }
  if (field_.kind != Kind::text && field_.choices.size() <= kFewChoices) {
    segments_ = new Segmented(theme_, this);
    for (const QString& choice : field_.choices) segments_->addChoice(choice);
    connect(segments_, &Segmented::chosen, this, [this] {
      refresh();
      emit changed();
    });
    return segments_;
  }
  if (field_.kind != Kind::text) {
    drop_ = new DropButton(theme_, this);
    for (const QString& choice : field_.choices)
      drop_->menu()->addAction(choice, this, [this, choice] {
        setText(choice);
        emit changed();
      });
    return drop_;
  }
  line_ = new QLineEdit(this);
  line_->setFixedHeight(qRound(theme_.scaled(kFieldHeight)));
  connect(line_, &QLineEdit::textEdited, this, [this] {
    refresh();
    emit changed();
  });
  connect(line_, &QLineEdit::returnPressed, this, &EditRow::entered);
  return line_;
}

QString EditRow::text() const {
  if (line_) return line_->text().trimmed();
  if (drop_) return chosen_;
  if (segments_) return segments_->current() < 0 ? QString() : field_.choices.at(segments_->current());
  std::vector<int> named;  // that are zero, or that stay
  bool any = false;
  for (size_t head = 0; head < heads_->off().size(); ++head) {
    any = any || heads_->off()[head];
    if (heads_->off()[head] == field_.zeroes) named.push_back(static_cast<int>(head));
  }
  return any ? rangesOf(named) : QString();
}

void EditRow::setText(const QString& text) {
  if (line_) line_->setText(text);
  if (segments_) segments_->setCurrent(static_cast<int>(field_.choices.indexOf(text)));
  if (drop_) {
    chosen_ = text;
    drop_->setCaption(text.isEmpty() ? QString("choose") : text);
  }
  if (heads_) {
    std::vector<bool> off(static_cast<size_t>(field_.heads), !text.isEmpty() && !field_.zeroes);
    for (const QString& part : text.split(',', Qt::SkipEmptyParts))
      for (int head = part.section('-', 0, 0).toInt(); head <= part.section('-', -1).toInt(); ++head)
        if (head >= 0 && head < field_.heads) off[static_cast<size_t>(head)] = field_.zeroes;
    heads_->setOff(off);
  }
  refresh();
}

QString EditRow::problem() const {
  if (heads_ && !field_.zeroes && text().isEmpty() && heads_->off().front())
    return "one head at least has to stay";
  return isChanged() ? field_.reason(text()) : QString();
}

void EditRow::refresh() {
  const QString why = problem();
  help_->setToken(why.isEmpty() ? Token::text3 : Token::error);
  help_->setText(why.isEmpty() ? field_.help : why);
  help_->setVisible(!help_->text().isEmpty());
  const bool was = isChanged();
  range_->setToken(was ? Token::edited : Token::text3);
  range_->setText(!was ? field_.range : field_.before.isEmpty() ? QString("new") : "was " + field_.before);
  range_->reserve(range_->text());
  if (line_)
    line_->setStyleSheet(
        QString("QLineEdit { min-height: 0; font-family: \"%1\"; border-color: %2; }")
            .arg(theme_.monoFont().family(), theme_(!why.isEmpty()      ? Token::error
                                                    : line_->hasFocus() ? Token::accent
                                                                        : Token::borderStrong)
                                                 .name()));
  update();
}

bool EditRow::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut)
    QMetaObject::invokeMethod(this, &EditRow::refresh, Qt::QueuedConnection);
  if (event->type() != QEvent::KeyPress || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape)
    return false;
  emit escaped();
  return true;
}

void EditRow::setTheme(const Theme& theme) {
  theme_ = theme;
  refresh();
}

void EditRow::paintEvent(QPaintEvent*) {
  if (!isChanged()) return;
  QPainter painter(this);
  painter.fillRect(QRectF(0, 2, theme_.scaled(kBarWidth), height() - 6), theme_(Token::edited));
}

}  // namespace orrery::ui
