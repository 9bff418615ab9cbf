#include "ui/change/change_page.h"

#include <QPainter>
#include <QVBoxLayout>

#include "ui/session/step_words.h"

namespace orrery::ui {
namespace {

constexpr int kPageInset = 14;

}  // namespace

ChangePage::ChangePage(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      title_(new Text(theme, {Token::text, 12, QFont::DemiBold}, {}, this)),
      hint_(new Text(
          theme, {Token::text3, 12},
          "Hold a wire over a port, choose an op or fill in a form: what it will change is told here "
          "before it is made.",
          this)),
      card_(new ChangeCard(theme, this)),
      refusal_(new RefusalCard(theme, this)) {
  hint_->setWrap(true);
  title_->setElide(Qt::ElideMiddle);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 8, 0, 8);
  layout->setSpacing(4);
  auto* head = new QVBoxLayout;
  head->setContentsMargins(kPageInset, 0, kPageInset, 0);
  head->addWidget(title_);
  head->addWidget(hint_);
  layout->addLayout(head);
  layout->addWidget(card_);
  layout->addStretch(1);
  connect(refusal_, &RefusalCard::closeAsked, this, &ChangePage::clear);
  clear();
}

void ChangePage::ask(const std::vector<edit::Edit>& edits) {
  title_->setText(stepWords({}, edits).both());
  title_->setVisible(true);
  hint_->setVisible(false);
}

void ChangePage::show(const graph::Graph& graph, const std::vector<edit::Edit>& edits,
                      const api::Preview& preview, bool writes) {
  ask(edits);
  const bool refused = !preview.refusals.empty();
  card_->setVisible(!refused);
  title_->setVisible(!refused);
  refusal_->setVisible(refused);
  refused ? refusal_->setRefusal(changeRefusal(graph, edits, preview))
          : card_->setRows(changeRows(preview, writes));
}

void ChangePage::clear() {
  title_->setVisible(false);
  card_->setVisible(false);
  refusal_->setVisible(false);
  hint_->setVisible(true);
}

void ChangePage::setTheme(const Theme& theme) {
  theme_ = theme;
  refusal_->setTheme(theme);
  update();
}

void ChangePage::resizeEvent(QResizeEvent*) { refusal_->move(kPageInset - 4, 8); }

void ChangePage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::panel));
}

}  // namespace orrery::ui
