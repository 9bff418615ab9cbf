#include "ui/classify/classify_details.h"

#include <QVBoxLayout>

#include "ui/classify/score_delegate.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

QHBoxLayout* pair(QWidget* left, QWidget* right) {
  auto* row = new QHBoxLayout;
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(left, 1);
  row->addWidget(right);
  return row;
}

}  // namespace

ClassifyDetails::ClassifyDetails(const Theme& theme, ClassifyModel* model, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      model_(model),
      title_(new Text(theme, {Token::text, 12, QFont::DemiBold}, {}, this)),
      truth_(new Text(theme, {Token::text3, 11}, {}, this)),
      summary_(new Text(theme, {Token::text3, 11, QFont::Normal, true}, {}, this)),
      bars_(new QVBoxLayout) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(14, 6, 14, 8);
  column->setSpacing(5);
  column->addLayout(pair(title_, truth_));
  column->addLayout(bars_);
  bars_->setSpacing(2);
  setupThreshold(theme, column);
  setupConfusion(theme, column);
  column->addStretch(1);
  column->addWidget(summary_);
  connect(model, &QAbstractItemModel::modelReset, this, [this] {
    row_ = -1;
    makeBars();
    refresh();
  });
  connect(model, &QAbstractItemModel::dataChanged, this, &ClassifyDetails::refresh);
  makeBars();
  refresh();
}

void ClassifyDetails::setupThreshold(const Theme& theme, QVBoxLayout* column) {
  thresholdBox_ = new QWidget(this);
  auto* layout = new QVBoxLayout(thresholdBox_);
  layout->setContentsMargins(0, 6, 0, 0);
  layout->setSpacing(2);
  thresholdValue_ = new Text(theme, {Token::text, 11.5, QFont::Normal, true}, "0.50", thresholdBox_);
  layout->addLayout(
      pair(new Text(theme, {Token::text, 12, QFont::DemiBold}, "Threshold", thresholdBox_), thresholdValue_));
  slider_ = new QSlider(Qt::Horizontal, thresholdBox_);
  slider_->setRange(1, 99);
  slider_->setValue(50);
  slider_->setAccessibleName("Threshold");
  layout->addWidget(slider_);
  column->addWidget(thresholdBox_);
  connect(slider_, &QSlider::valueChanged, this, [this](int value) {
    thresholdValue_->setText(QString::number(value / 100.0, 'f', 2));
    model_->setThreshold(value / 100.0);
  });
}

void ClassifyDetails::setupConfusion(const Theme& theme, QVBoxLayout* column) {
  confusionBox_ = new QWidget(this);
  auto* layout = new QVBoxLayout(confusionBox_);
  layout->setContentsMargins(0, 6, 0, 0);
  layout->setSpacing(5);
  accuracy_ = new Text(theme, {Token::text2, 11, QFont::Normal, true}, {}, confusionBox_);
  layout->addLayout(
      pair(new Text(theme, {Token::text, 12, QFont::DemiBold}, "Confusion", confusionBox_), accuracy_));
  confusion_ = new ConfusionView(theme, confusionBox_);
  layout->addWidget(confusion_);
  column->addWidget(confusionBox_);
}

void ClassifyDetails::makeBars() {
  for (const Bar& bar : labels_) {
    delete bar.name;
    delete bar.value;
    delete bar.meter;
  }
  labels_.clear();
  while (QLayoutItem* item = bars_->takeAt(0)) delete item;
  for (const QString& label : model_->labels()) {
    const Bar bar{new Text(theme_, {Token::text, 12}, label, this),
                  new Text(theme_, {Token::text, 11.5, QFont::Normal, true}, {}, this),
                  new Meter(theme_, Token::accent, this, 7)};
    bar.value->reserve("0.000");
    bars_->addLayout(pair(bar.name, bar.value));
    bars_->addWidget(bar.meter);
    labels_.push_back(bar);
  }
}

void ClassifyDetails::showRow(int row) {
  row_ = row;
  refresh();
}

void ClassifyDetails::refresh() {
  const bool shown = row_ >= 0 && row_ < model_->rowCount();
  const ClassifyModel::Row* row = shown ? &model_->rows()[static_cast<size_t>(row_)] : nullptr;
  title_->setText(shown ? QString("Row %1").arg(row_ + 1) : "No text chosen");
  truth_->setText(row && !row->truth.isEmpty() ? "true: " + row->truth : QString());
  const bool done = row && row->result;
  const int best = done ? model_->predicted(*row) : -1;
  for (size_t i = 0; i < labels_.size(); ++i) {
    const double p = done && i < row->result->probabilities.size()
                         ? static_cast<double>(row->result->probabilities[i])
                         : 0;
    const bool chosen = static_cast<int>(i) == best;
    labels_[i].value->setText(done ? QString::number(p, 'f', 3) : format::dash());
    labels_[i].meter->setShare(p);
    labels_[i].meter->setToken(chosen && p >= kSureFrom ? Token::accent
                               : chosen                 ? Token::text2
                                                        : Token::text3);
    labels_[i].meter->setMark(labels_.size() == 2 ? (i == 1 ? model_->threshold() : 1 - model_->threshold())
                                                  : -1);
  }
  thresholdBox_->setVisible(labels_.size() == 2);
  const bool truths = model_->hasTruths();
  confusionBox_->setVisible(truths);
  if (!truths) return;
  const ConfusionMatrix matrix = model_->confusion();
  confusion_->setMatrix(matrix);
  accuracy_->setText(matrix.known > 0 ? "accuracy " + QString::number(matrix.accuracy(), 'f', 3) : QString());
}

void ClassifyDetails::showSummary(double milliseconds, bool stopped) {
  if (milliseconds < 0) return summary_->setText({});
  const int done = model_->doneCount();
  summary_->setText(QString("%1 %2 in %3%4")
                        .arg(format::count(done), done == 1 ? "text" : "texts",
                             format::time(milliseconds * 1e3), stopped ? ", stopped" : ""));
}

}  // namespace orrery::ui
