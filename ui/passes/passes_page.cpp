#include "ui/passes/passes_page.h"

#include <QHBoxLayout>
#include <QPainter>
#include <algorithm>

#include "ui/session/model_use.h"
#include "ui/theme/format.h"

namespace orrery::ui {

PassesPage::PassesPage(const Theme& theme, PassGains* gains, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      gains_(gains),
      words_(new Text(theme, {Token::text3, 11}, {}, this)),
      all_(new Button(theme, "Measure all", Button::Kind::plain, this)),
      head_(new PassHead(theme, this)),
      scroll_(new GroundScroll(theme, Token::panel, this)),
      hint_(new Text(theme, {Token::text3, 12}, {}, this)) {
  hint_->setWrap(true);
  all_->setToolTip("What each pass is worth: the time of a step with it and without it");
  auto* head = new QHBoxLayout;
  head->setContentsMargins(12, 0, 12, 0);
  head->addWidget(words_, 1);
  head->addWidget(all_);
  auto* hint = new QHBoxLayout;
  hint->setContentsMargins(12, 0, 12, 0);
  hint->addWidget(hint_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 6, 0, 6);
  layout->setSpacing(4);
  layout->addLayout(head);
  layout->addWidget(head_);
  layout->addLayout(hint);
  layout->addWidget(scroll_, 1);
  scroll_->column()->setContentsMargins(0, 0, 0, 0);
  scroll_->column()->setSpacing(0);
  scroll_->column()->addStretch(1);
  connect(all_, &QAbstractButton::clicked, this,
          [this] { gains_->measuring() ? gains_->stop() : gains_->measureAll(); });
  connect(gains_, &PassGains::changed, this, &PassesPage::refresh);
}

void PassesPage::setSource(SessionController* source) {
  source_ = source;
  gains_->setSource(source);
}

PassRowView* PassesPage::row(const QString& pass) const {
  const auto found = std::ranges::find_if(rows_, [&pass](const PassRowView* row) {
    return QString::fromStdString(row->row().report.name) == pass;
  });
  return found == rows_.end() ? nullptr : *found;
}

PassRowView* PassesPage::addRow() {
  auto* view = new PassRowView(theme_, scroll_->widget());
  connect(view, &PassRowView::switched, this,
          [this, view](bool on) { gains_->switchPass(view->row().report.name, on); });
  connect(view->measure(), &QAbstractButton::clicked, this,
          [this, view] { gains_->measure(view->row().report.name); });
  connect(view, &PassRowView::chosen, this, [this, view] {
    const std::string& name = view->row().report.name;
    choose(name == chosen_ ? std::string() : name);
  });
  connect(view, &PassRowView::walked, this, [this, view](int rows) {
    const auto place = std::ranges::find(rows_, view) - rows_.begin() + rows;
    if (place >= 0 && place < std::ssize(rows_)) rows_[static_cast<size_t>(place)]->setFocus();
  });
  scroll_->column()->insertWidget(static_cast<int>(rows_.size()), view);
  rows_.push_back(view);
  return view;
}

void PassesPage::refresh() {
  if (!isVisible()) return;
  const std::vector<PassRow>& passes = gains_->rows();
  const SessionPtr session = source_ ? source_->session() : nullptr;
  const bool writes = session && writesText(session->info());
  while (rows_.size() > passes.size()) {
    rows_.back()->hide();
    rows_.back()->deleteLater();
    rows_.pop_back();
  }
  while (rows_.size() < passes.size()) addRow();
  for (size_t i = 0; i < passes.size(); ++i) rows_[i]->setRow(passes[i], writes, gains_->done());
  head_->setWrites(writes);
  head_->setVisible(!passes.empty());
  const bool runnable = session && runs(session->info());
  all_->setCaption(gains_->measuring() ? "Stop" : "Measure all");
  all_->setEnabled(gains_->measuring() || (runnable && !passes.empty()));
  hint_->setText(!gains_->refusal().isEmpty() ? gains_->refusal()
                 : session                    ? QString()
                           : "Open a model: what the passes make of its graph is shown here.");
  hint_->setVisible(!hint_->text().isEmpty());
  const auto off = std::ranges::count_if(passes, [](const PassRow& row) { return !row.on; });
  words_->setText(passes.empty() ? QString()
                                 : QString("%1 nodes, %2 that run")
                                       .arg(format::count(passes.front().report.nodes_before),
                                            format::count(passes.back().report.nodes_after)));
  emit wordsChanged(off > 0 ? QString("%1 off").arg(off) : QString());
  tellLit();
}

/// Nothing is chosen where the name is empty.
void PassesPage::choose(const std::string& pass) {
  chosen_ = pass;
  tellLit();
}

void PassesPage::tellLit() {
  std::vector<NodeId> lit;
  for (PassRowView* view : rows_) {
    const bool chosen = !chosen_.empty() && view->row().report.name == chosen_;
    view->setChosen(chosen);
    if (chosen) lit = view->row().report.made;
  }
  if (lit == lit_) return;
  lit_ = lit;
  emit nodesLit(lit_);
}

void PassesPage::leaveChoice() { choose({}); }

void PassesPage::showEvent(QShowEvent*) {
  gains_->setActive(true);
  refresh();
}

void PassesPage::hideEvent(QHideEvent*) {
  gains_->setActive(false);
  leaveChoice();
}

QSize PassesPage::sizeHint() const { return {qRound(theme_.scaled(640)), qRound(theme_.scaled(290))}; }

void PassesPage::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void PassesPage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::panel));
}

}  // namespace orrery::ui
