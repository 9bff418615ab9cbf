#include "ui/classify/token_labels_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <algorithm>

#include "ui/widgets/ground_scroll.h"

namespace orrery::ui {
namespace {

constexpr int kTableWidth = 280;
constexpr graph::OpFamily kColors[] = {graph::OpFamily::linear,    graph::OpFamily::sampling,
                                       graph::OpFamily::embedding, graph::OpFamily::attention,
                                       graph::OpFamily::norm,      graph::OpFamily::activation,
                                       graph::OpFamily::custom,    graph::OpFamily::elementwise};

QString toolTipOf(const api::TokenLabel& token, const std::vector<std::string>& labels) {
  QStringList lines{pieceText(token)};
  for (size_t i = 0; i < std::min(labels.size(), token.probabilities.size()); ++i)
    lines += QString::fromStdString(labels[i]) + "  " +
             QString::number(static_cast<double>(token.probabilities[i]), 'f', 3);
  return lines.join('\n');
}

}  // namespace

QString pieceText(const api::TokenLabel& token) { return QString::fromStdString(token.piece); }

double scoreOf(const api::TokenLabel& token) {
  const auto best = std::max_element(token.probabilities.begin(), token.probabilities.end());
  return best == token.probabilities.end() ? 0 : static_cast<double>(*best);
}

QString entityOf(const std::string& label) {
  const QString name = QString::fromStdString(label);
  if (name == "O") return {};
  return name.size() > 2 && (name.startsWith("B-") || name.startsWith("I-")) ? name.mid(2) : name;
}

std::vector<TokenSpan> labelledSpans(const std::vector<api::TokenLabel>& tokens,
                                     const std::vector<std::string>& labels) {
  QStringList entities;  // in the order of the labels
  for (const std::string& label : labels)
    if (const QString entity = entityOf(label); !entity.isEmpty() && !entities.contains(entity))
      entities += entity;
  std::vector<TokenSpan> spans;
  for (const api::TokenLabel& token : tokens) {
    TokenSpan span{pieceText(token),
                   QString::fromStdString(token.label) + " " + QString::number(scoreOf(token), 'f', 2),
                   toolTipOf(token, labels)};
    if (const qsizetype entity = entities.indexOf(entityOf(token.label)); entity >= 0)
      span.color = [family = kColors[static_cast<size_t>(entity) % std::size(kColors)]](const Theme& theme) {
        return theme.family(family);
      };
    spans.push_back(std::move(span));
  }
  return spans;
}

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
  spans_->setTokens(labelledSpans(tokens, labels));
  table_->setRowCount(static_cast<int>(tokens.size()));
  for (int row = 0; row < table_->rowCount(); ++row) {
    const api::TokenLabel& token = tokens[static_cast<size_t>(row)];
    table_->setItem(row, 0, new QTableWidgetItem(pieceText(token)));
    table_->setItem(row, 1, new QTableWidgetItem(QString::fromStdString(token.label)));
    table_->setItem(row, 2, new QTableWidgetItem(QString::number(scoreOf(token), 'f', 3)));
  }
}

}  // namespace orrery::ui
