#include "ui/shell/keys_dialog.h"

#include <QAction>
#include <QGridLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include "ui/shell/commands.h"
#include "ui/widgets/text.h"

namespace orrery::ui {
namespace {

constexpr const char* kHowTo = "Click the keys of a command to give it others";
constexpr const char* kNoKeys = "none";
constexpr int kMostHeight = 680;
constexpr double kKeysWidth = 124, kKeysHeight = 26;

/// What no command is: it belongs to a field or a view.
constexpr std::pair<const char*, const char*> kFixed[] = {
    {"Send the message", "Enter"},
    {"New line in the message", "Shift+Enter"},
    {"Next match", "Enter in the find field"},
    {"Previous match", "Shift+Enter in the find field"},
    {"Fold or open a group", "Double click"},
    {"Choose several nodes or groups", "Ctrl and click"},
    {"Zoom the graph or the plot", "Wheel"},
    {"Follow the plot's live end again", "Double click in the plot"}};

bool isModifier(int key) {
  return key == Qt::Key_Control || key == Qt::Key_Shift || key == Qt::Key_Alt || key == Qt::Key_Meta ||
         key == Qt::Key_AltGr || key == Qt::Key_unknown || key == 0;
}

QString keysOf(const QAction& action) {
  return QKeySequence::listToString(action.shortcuts(), QKeySequence::NativeText);
}

}  // namespace

KeyButton::KeyButton(const Theme& theme, QWidget* parent) : QAbstractButton(parent), theme_(theme) {
  setFocusPolicy(Qt::StrongFocus);
  connect(this, &QAbstractButton::clicked, this, [this] { ask(true); });
}

void KeyButton::setKeys(const QString& keys) {
  keys_ = keys;
  ask(false);
}

void KeyButton::ask(bool asking) {
  asking_ = asking;
  setText(asking ? "Press the keys" : keys_.isEmpty() ? kNoKeys : keys_);
  update();
  if (asking) emit asked();
}

/// The same for all of them, so that nothing moves while keys are asked for.
QSize KeyButton::sizeHint() const {
  return {static_cast<int>(theme_.scaled(kKeysWidth)), static_cast<int>(theme_.scaled(kKeysHeight))};
}

void KeyButton::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const bool hot = underMouse() || isDown();
  if (asking_)
    paintBox(painter, rect(), 5, theme_(Token::selectionBg), theme_(Token::accent));
  else if (hot)
    paintBox(painter, rect(), 5, theme_(Token::hover), controlOutline(theme_));
  if (hasFocus()) paintFocus(painter, rect(), 5, theme_);
  painter.setFont(theme_.monoFont(11));
  painter.setPen(theme_(asking_           ? Token::selectionText
                        : hot             ? Token::text
                        : keys_.isEmpty() ? Token::text3
                                          : Token::text2));
  painter.drawText(rect().adjusted(8, 0, -4, 0), Qt::AlignLeft | Qt::AlignVCenter, text());
}

bool KeyButton::event(QEvent* event) {
  if (!asking_) return QAbstractButton::event(event);
  if (event->type() == QEvent::ShortcutOverride) {
    event->accept();
    return true;
  }
  if (event->type() != QEvent::KeyPress) return QAbstractButton::event(event);
  const auto* key = static_cast<QKeyEvent*>(event);
  if (isModifier(key->key())) return true;
  ask(false);
  if (key->key() == Qt::Key_Escape) return true;
  const bool none = key->key() == Qt::Key_Backspace && key->modifiers() == Qt::NoModifier;
  emit pressedKeys(none ? QKeySequence() : QKeySequence(key->keyCombination()));
  return true;
}

void KeyButton::focusOutEvent(QFocusEvent* event) {
  if (asking_) ask(false);
  QAbstractButton::focusOutEvent(event);
}

KeysDialog::KeysDialog(const Theme& theme, Commands& commands, QWidget* parent)
    : QDialog(parent),
      commands_(commands),
      note_(new Text(theme, {Token::text2, 12}, kHowTo, this)),
      reset_(new Button(theme, "As they were at first", Button::Kind::plain, this)) {
  setWindowTitle("Keys");
  auto* list = new QWidget;
  auto* grid = new QGridLayout(list);
  grid->setContentsMargins(16, 12, 16, 12);
  grid->setHorizontalSpacing(20);
  grid->setVerticalSpacing(0);
  addCommands(grid, theme);
  addFixed(grid, theme);
  auto* scroll = new QScrollArea(this);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidget(list);
  auto* close = new Button(theme, "Close", Button::Kind::primary, this);
  close->setFocus();
  connect(close, &QAbstractButton::clicked, this, &QDialog::accept);
  connect(reset_, &QAbstractButton::clicked, this, [this] {
    commands_.restoreKeys({});
    note_->setText("All keys are as they were at first");
  });
  connect(&commands_, &Commands::keysChanged, this, &KeysDialog::showKeys);
  auto* foot = new QHBoxLayout;
  foot->addWidget(note_, 1);
  foot->addWidget(reset_);
  foot->addWidget(close);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(scroll, 1);
  layout->addLayout(foot);
  showKeys();
  scroll->setMinimumWidth(list->minimumSizeHint().width() + scroll->verticalScrollBar()->sizeHint().width());
  resize(scroll->minimumWidth() + 30, std::min({list->sizeHint().height() + 90, kMostHeight,
                                                screen()->availableGeometry().height() - 60}));
}

/// In two columns, menu after menu.
void KeysDialog::addCommands(QGridLayout* grid, const Theme& theme) {
  const auto& all = commands_.list();
  const int half = static_cast<int>(all.size() + 1) / 2;
  int at = 0;
  for (const Menu menu :
       {Menu::file, Menu::edit, Menu::view, Menu::graph, Menu::model, Menu::run, Menu::help})
    for (const Command& command : all) {
      if (command.menu != menu) continue;
      const int row = at % half, column = at < half ? 0 : 2;
      ++at;
      const QString title = commands_.title(command);
      auto* name = new Text(theme, {Token::text, 12}, title);
      name->reserve(title);
      auto* keys = new KeyButton(theme, nullptr);
      keys->setObjectName(command.id);
      keys->setAccessibleName("Keys of " + title);
      connect(keys, &KeyButton::asked, this, [this, title] {
        note_->setText("Press the keys of \"" + title + "\"; Esc leaves them, Backspace takes them away");
      });
      connect(keys, &KeyButton::pressedKeys, this,
              [this, id = command.id](const QKeySequence& pressed) { change(id, pressed); });
      grid->addWidget(name, row, column);
      grid->addWidget(keys, row, column + 1, Qt::AlignLeft);
    }
}

void KeysDialog::addFixed(QGridLayout* grid, const Theme& theme) {
  const int first = grid->rowCount(), half = (static_cast<int>(std::size(kFixed)) + 1) / 2;
  grid->setRowMinimumHeight(first, 12);
  for (int i = 0; i < static_cast<int>(std::size(kFixed)); ++i) {
    const auto& [title, keys] = kFixed[i];
    const int row = first + 1 + i % half, column = i < half ? 0 : 2;
    auto* name = new Text(theme, {Token::text, 12}, title);
    name->reserve(title);
    auto* fixed = new Text(theme, {Token::text2, 11, QFont::Normal, true}, keys);
    fixed->reserve(keys);
    fixed->setContentsMargins(8, 4, 0, 4);
    grid->addWidget(name, row, column);
    grid->addWidget(fixed, row, column + 1);
  }
}

KeyButton* KeysDialog::button(const QString& id) const { return findChild<KeyButton*>(id); }

QString KeysDialog::note() const { return note_->text(); }

void KeysDialog::change(const QString& id, const QKeySequence& keys) {
  const QString words = keys.toString(QKeySequence::NativeText);
  if (const Command* owner = commands_.owner(keys, id))
    return note_->setText(words + " belongs to \"" + commands_.title(*owner) +
                          "\": choose others, or take them away there first");
  commands_.setKeys(id, keys);
  note_->setText(kHowTo);
}

void KeysDialog::showKeys() {
  for (KeyButton* button : findChildren<KeyButton*>())
    button->setKeys(keysOf(*commands_.action(button->objectName())));
  reset_->setEnabled(!commands_.changedKeys().isEmpty());
}

}  // namespace orrery::ui
