#include "ui/shell/keys_dialog.h"

#include <QGridLayout>
#include <QScreen>
#include <QScrollArea>
#include <QVBoxLayout>

#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

KeysDialog::KeysDialog(const Theme& theme, const std::vector<KeyEntry>& entries, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle("Keys");
  auto* list = new QWidget;
  auto* grid = new QGridLayout(list);
  grid->setContentsMargins(16, 12, 16, 12);
  grid->setHorizontalSpacing(28);
  grid->setVerticalSpacing(5);
  const int half = static_cast<int>(entries.size() + 1) / 2;
  for (int i = 0; i < static_cast<int>(entries.size()); ++i) {
    const KeyEntry& entry = entries[static_cast<size_t>(i)];
    const int row = i % half, column = i < half ? 0 : 2;
    auto* keys = new Text(theme, {Token::text2, 11, QFont::Normal, true}, entry.keys, list);
    keys->reserve(entry.keys);
    auto* name = new Text(theme, {Token::text, 12}, entry.action, list);
    name->reserve(entry.action);
    grid->addWidget(name, row, column);
    grid->addWidget(keys, row, column + 1);
  }
  auto* scroll = new QScrollArea(this);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setWidget(list);
  auto* close = new Button(theme, "Close", Button::Kind::primary, this);
  connect(close, &QAbstractButton::clicked, this, &QDialog::accept);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(scroll, 1);
  layout->addWidget(close, 0, Qt::AlignRight);
  resize(list->sizeHint().width() + 60,
         std::min({list->sizeHint().height() + 90, 640, screen()->availableGeometry().height() - 60}));
}

}  // namespace orrery::ui
