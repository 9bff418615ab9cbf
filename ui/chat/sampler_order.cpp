#include "ui/chat/sampler_order.h"

#include <QKeyEvent>
#include <QSignalBlocker>

#include "engine/api/sampling.h"

namespace orrery::ui {
namespace {

constexpr int kNameRole = Qt::UserRole;

QString titleOf(const QString& name) {
  static const std::pair<const char*, const char*> kTitles[] = {{"penalties", "Penalties"},
                                                                {"dry", "DRY"},
                                                                {"top_n_sigma", "Top n sigma"},
                                                                {"top_k", "Top k"},
                                                                {"temperature", "Temperature"},
                                                                {"typical", "Typical"},
                                                                {"top_p", "Top p"},
                                                                {"min_p", "Min p"},
                                                                {"xtc", "XTC"}};
  for (const auto& [known, title] : kTitles)
    if (name == known) return title;
  return name;
}

QStringList namesIn(QString order) { return order.remove(' ').split(',', Qt::SkipEmptyParts); }

}  // namespace

SamplerOrder::SamplerOrder(QWidget* parent) : QListWidget(parent) {
  setDragDropMode(QAbstractItemView::InternalMove);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName("Order of the samplers");
  setToolTip("Drag a sampler, or move it with Alt and the arrow keys; what is not checked does not run");
  const std::string_view usual = api::usual_samplers();
  setOrder(QString::fromUtf8(usual.data(), static_cast<qsizetype>(usual.size())));
  connect(model(), &QAbstractItemModel::rowsMoved, this, &SamplerOrder::changed);
  connect(this, &QListWidget::itemChanged, this, &SamplerOrder::changed);
}

QString SamplerOrder::order() const {
  QStringList names;
  for (int row = 0; row < count(); ++row)
    if (item(row)->checkState() == Qt::Checked) names += item(row)->data(kNameRole).toString();
  return names.join(',');
}

void SamplerOrder::setOrder(const QString& order) {
  const QSignalBlocker quiet(this);
  const std::string_view usual = api::usual_samplers();
  const QStringList checked = namesIn(order);
  QStringList all = checked;
  for (const QString& name : namesIn(QString::fromUtf8(usual.data(), static_cast<qsizetype>(usual.size()))))
    if (!checked.contains(name)) all += name;
  clear();
  for (const QString& name : all) {
    auto* row = new QListWidgetItem(titleOf(name), this);
    row->setData(kNameRole, name);
    row->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsDragEnabled | Qt::ItemIsUserCheckable);
    row->setCheckState(checked.contains(name) ? Qt::Checked : Qt::Unchecked);
  }
}

/// All of them are seen at once.
void SamplerOrder::showEvent(QShowEvent* event) {
  setMinimumHeight(sizeHintForRow(0) * count() + 2 * frameWidth());
  QListWidget::showEvent(event);
}

void SamplerOrder::keyPressEvent(QKeyEvent* event) {
  if (event->modifiers() == Qt::AltModifier && event->key() == Qt::Key_Up) return moveCurrent(-1);
  if (event->modifiers() == Qt::AltModifier && event->key() == Qt::Key_Down) return moveCurrent(1);
  QListWidget::keyPressEvent(event);
}

void SamplerOrder::moveCurrent(int rows) {
  const int from = currentRow(), to = from + rows;
  if (from < 0 || to < 0 || to >= count()) return;
  insertItem(to, takeItem(from));
  setCurrentRow(to);
  emit changed();
}

}  // namespace orrery::ui
