#include "ui/chat/prompt_dialog.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QGuiApplication>
#include <QPushButton>
#include <QTextCursor>
#include <QVBoxLayout>

#include "ui/theme/format.h"

namespace orrery::ui {

PromptDialog::PromptDialog(const Theme& theme, const api::Session& session,
                           const std::vector<api::Message>& messages, QWidget* parent)
    : QDialog(parent), theme_(theme), summary_(new QLabel(this)), text_(new QPlainTextEdit(this)) {
  setWindowTitle("Rendered prompt");
  text_->setReadOnly(true);
  text_->setFont(theme.monoFont(11));
  text_->setAccessibleName("Rendered prompt");
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  summary_->setWordWrap(true);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  QPushButton* copy = buttons->addButton("Copy", QDialogButtonBox::ActionRole);
  connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(text()); });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(summary_);
  layout->addWidget(text_, 1);
  layout->addWidget(buttons);
  resize(theme.scaled(640), theme.scaled(480));

  const auto rendered = session.render(messages, {});
  const auto ids =
      rendered.ok() ? session.tokenize(*rendered, false) : Result<std::vector<int32_t>>(rendered.error());
  if (ids.ok()) {
    showTokens(session, *ids);
    return;
  }
  summary_->setText(QString::fromStdString(ids.error().to_string()));
}

/// The pieces one after another; bytes of one character may be spread over several.
void PromptDialog::showTokens(const api::Session& session, const std::vector<int32_t>& ids) {
  QTextCharFormat plain, special;
  special.setForeground(theme_(Token::accent));
  special.setBackground(theme_(Token::selectionBg));
  QTextCursor cursor(text_->document());
  QByteArray pending;
  size_t marked = 0;
  const auto flush = [&](const QTextCharFormat& format) {
    cursor.insertText(QString::fromUtf8(pending), format);
    pending.clear();
  };
  for (const int32_t id : ids) {
    const bool is_special = session.is_special(id);
    if (is_special) flush(plain);
    pending += QByteArray::fromStdString(session.piece(id));
    if (is_special) flush(special), ++marked;
  }
  flush(plain);
  summary_->setText(
      QStringLiteral("%1 tokens, %2 of them special (marked). The model reads exactly this.")
          .arg(format::count(static_cast<qint64>(ids.size())), format::count(static_cast<qint64>(marked))));
}

}  // namespace orrery::ui
