#include "ui/classify/token_labels_view.h"

#include <QHBoxLayout>
#include <QHeaderView>

#include "ui/widgets/ground_scroll.h"

namespace orrery::ui {
namespace {

constexpr int kTableWidth = 280;

}  // namespace

TokenLabelsView::TokenLabelsView(const Theme& theme, QWidget* parent)
    : QWidget(parent), spans_(new TokenSpans(theme)), table_(new QTableWidget(0, 3, this)) {
  auto* scroll = new GroundScroll(theme, Token::panel, this);
  scroll->column()->addWidget(spans_);
  scroll->column()->addStretch(1);
  table_->setHorizontalHeaderLabels({"token", "label", "score"});
  table_->setAccessibleName("Labels of the tokens");
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setShowGrid(false);
  table_->verticalHeader()->hide();
  table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  table_->setFixedWidth(kTableWidth);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(scroll, 1);
  row->addWidget(table_);
  connect(table_, &QTableWidget::currentCellChanged, spans_,
          [this](int current) { spans_->setCurrent(current); });
  connect(spans_, &TokenSpans::tokenClicked, table_, [this](int token) { table_->selectRow(token); });
}

void TokenLabelsView::setTokens(const std::vector<api::TokenLabel>& tokens,
                                const std::vector<std::string>& labels) {
  spans_->setTokens(tokens, labels);
  table_->setRowCount(static_cast<int>(tokens.size()));
  for (int row = 0; row < table_->rowCount(); ++row) {
    const api::TokenLabel& token = tokens[static_cast<size_t>(row)];
    table_->setItem(row, 0, new QTableWidgetItem(pieceText(token)));
    table_->setItem(row, 1, new QTableWidgetItem(QString::fromStdString(token.label)));
    table_->setItem(row, 2, new QTableWidgetItem(QString::number(scoreOf(token), 'f', 3)));
  }
}

}  // namespace orrery::ui
