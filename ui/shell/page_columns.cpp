#include "ui/shell/page_columns.h"

#include <QHBoxLayout>

namespace orrery::ui {
namespace {

constexpr int kNumbers[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24};

}  // namespace

PageColumns::PageColumns(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      caption_(new Text(theme, {Token::text2, 11.5}, "Columns", this)),
      size_(new Text(theme, {Token::text2, 11, QFont::Normal, true}, {}, this)),
      choice_(new Segmented(theme, this)),
      numbers_(new QMenu(this)) {
  for (const char* words : {"1", "Wrap", "Auto"}) choice_->addChoice(words);
  choice_->setMenu(wrap, numbers_);
  choice_->setAccessibleName("Columns of layers");
  choice_->setToolTip("Open layers run down a column, columns from left to right");
  for (const int number : kNumbers)
    numbers_->addAction(QString("%1 columns").arg(number), this, [this, number] { emit asked(number); });
  connect(choice_, &Segmented::chosen, this, [this](int choice) { emit asked(choice == one ? 1 : 0); });
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(10);
  layout->addWidget(caption_);
  layout->addWidget(size_);
  layout->addWidget(choice_);
}

void PageColumns::setShown(int columns, const GraphView::PageSize& size) {
  choice_->setCurrent(columns == 0 ? automatic : columns == 1 ? one : wrap);
  choice_->setText(wrap, columns > 1 ? QString("Wrap %1").arg(columns) : "Wrap");
  size_->setText(QString("%1 × %2").arg(size.columns).arg(size.rows));
  setVisible(size.columns > 0);
}

void PageColumns::setBrief(bool brief) {
  if (brief == brief_) return;
  brief_ = brief;
  caption_->setVisible(!brief);
  size_->setVisible(!brief);
}

void PageColumns::setTheme(const Theme& theme) { theme_ = theme; }

}  // namespace orrery::ui
