#include "ui/sweep/sweep_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

bool isEncoder(const api::Sweep& sweep) {
  return std::ranges::any_of(sweep.rows,
                             [](const api::SweepRow& row) { return row.change.cosine.has_value(); });
}

QString signedText(double value) {
  return (value < 0 ? QStringLiteral("-") : QStringLiteral("+")) + format::number(std::abs(value));
}

/// "layers.12" as it is, "12.attention.q_proj" of "layers.12.attention.q_proj".
QString shortScope(const std::string& scope) {
  const QString whole = QString::fromStdString(scope);
  const QStringList parts = whole.split('.');
  return parts.size() > 2 ? parts.mid(1).join('.') : whole;
}

}  // namespace

QString distanceTitle(const api::Sweep& sweep) {
  const QString what = isEncoder(sweep) ? QStringLiteral("1 - cosine") : QStringLiteral("KL");
  switch (sweep.request.what) {
    case api::SweepKind::bypass_layers:
      return what + ", bypass";
    case api::SweepKind::zero_heads:
      return what + ", zero heads";
    case api::SweepKind::quantise_tensors:
    case api::SweepKind::precision:
    case api::SweepKind::place_layers:
      return what + ", " + QString::fromStdString(sweep.request.to);
  }
  return what;
}

SweepModel::SweepModel(const SweepController* sweeps, QObject* parent)
    : QAbstractTableModel(parent), sweeps_(sweeps) {
  reset();
  connect(sweeps, &QObject::destroyed, this, [this] {  // the window goes, and this model after it
    beginResetModel();
    sweeps_ = nullptr;
    order_.clear();
    endResetModel();
  });
}

void SweepModel::reset() {
  beginResetModel();
  sort();
  endResetModel();
}

void SweepModel::refresh() {
  if (order_.size() != sweeps_->places().size()) return reset();
  emit layoutAboutToBeChanged({}, VerticalSortHint);
  const std::vector<size_t> before = order_;
  sort();
  QModelIndexList moved;
  const QModelIndexList kept = persistentIndexList();
  for (const QModelIndex& index : kept)
    moved += this->index(rowOf(before[static_cast<size_t>(index.row())]), index.column());
  changePersistentIndexList(kept, moved);
  emit layoutChanged({}, VerticalSortHint);
}

/// Refused places come after those that were measured.
void SweepModel::sort() {
  const api::Sweep& sweep = sweeps_->sweep();
  order_.resize(sweeps_->places().size());
  std::iota(order_.begin(), order_.end(), size_t{0});
  const auto key = [&](size_t place) {
    const api::SweepRow* row = measured(place);
    if (!row) return std::pair(2, static_cast<double>(place));
    return row->refusal.empty() ? std::pair(0, api::distance_of(row->change))
                                : std::pair(1, static_cast<double>(place));
  };
  std::ranges::stable_sort(order_, {}, key);
  values_ = ScopeValues(distanceTitle(sweep));
  for (const api::SweepRow& row : sweep.rows)
    if (row.refusal.empty()) values_.add(row.scope, api::distance_of(row.change));
}

const api::SweepRow* SweepModel::measured(size_t place) const {
  const api::Sweep& sweep = sweeps_->sweep();
  return place < sweep.rows.size() ? &sweep.rows[place] : nullptr;
}

bool SweepModel::isMeasuring(size_t place) const {
  return sweeps_->running() && place == sweeps_->sweep().rows.size();
}

int SweepModel::rowOf(size_t place) const {
  return static_cast<int>(std::ranges::find(order_, place) - order_.begin());
}

int SweepModel::rowAt(std::string_view path) const {
  while (!path.empty()) {
    for (size_t row = 0; row < order_.size(); ++row)
      if (sweeps_->places()[order_[row]].scope == path) return static_cast<int>(row);
    const size_t dot = path.rfind('.');
    path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
  }
  return -1;
}

QString SweepModel::scopeAt(int row) const {
  return QString::fromStdString(sweeps_->places()[placeAt(row)].scope);
}

int SweepModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int SweepModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QString SweepModel::text(size_t place, int column) const {
  const api::SweepPlace& where = sweeps_->places()[place];
  if (column == placeColumn) {
    const auto heads = where.edit.fields.find("heads");
    const QString scope = shortScope(where.scope);
    return heads == where.edit.fields.end()
               ? scope
               : scope + QStringLiteral(" ") + QString::fromStdString(heads->second);
  }
  const api::SweepRow* row = measured(place);
  if (!row) {
    if (column != distanceColumn) return {};
    return isMeasuring(place) ? QStringLiteral("measuring") : format::dash();
  }
  if (!row->refusal.empty()) return column == distanceColumn ? QStringLiteral("refused") : QString();
  const api::MeasuredChange& change = row->change;
  switch (column) {
    case distanceColumn:
      return format::distance(api::distance_of(change));
    case top1Column:
      return change.top1_agreement ? format::percent(*change.top1_agreement) : format::dash();
    case perplexityColumn:
      return change.nll_after ? format::number(std::exp(*change.nll_after)) : format::dash();
    case speedColumn:
      return change.tokens_per_second_after && change.tokens_per_second_before
                 ? signedText(*change.tokens_per_second_after - *change.tokens_per_second_before)
                 : format::dash();
  }
  return {};
}

QString SweepModel::tip(size_t place) const {
  const api::SweepPlace& where = sweeps_->places()[place];
  QString words = QString::fromStdString(where.edit.to_string());
  const api::SweepRow* row = measured(place);
  if (!row) return words;
  if (!row->refusal.empty()) return words + "\n" + QString::fromStdString(row->refusal);
  if (row->stored.after > 0)
    words += QString("\n%1 instead of %2")
                 .arg(format::bytes(static_cast<double>(row->stored.after)),
                      format::bytes(static_cast<double>(row->stored.before)));
  if (row->change.tokens_per_second_after)
    words += QString("\n≈ %1, by the times of nodes")
                 .arg(format::rate(*row->change.tokens_per_second_after, "tok/s"));
  return words;
}

QVariant SweepModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const size_t place = placeAt(index.row());
  if (role == Qt::DisplayRole) return text(place, index.column());
  if (role == Qt::ToolTipRole) return tip(place);
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((index.column() == placeColumn ? Qt::AlignLeft : Qt::AlignRight) |
                            Qt::AlignVCenter);
  if (role == kHeatRole) {
    const api::SweepRow* row = measured(place);
    if (row && row->refusal.empty()) return values_.place(api::distance_of(row->change));
  }
  return {};
}

QVariant SweepModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((section == placeColumn ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole || !sweeps_) return {};
  if (section == distanceColumn) return distanceTitle(sweeps_->sweep()).section(',', 0, 0);
  static constexpr const char* kNames[] = {"place", "", "top-1", "perplexity", "tok/s gain"};
  return section >= 0 && section < kColumns ? QVariant(kNames[section]) : QVariant();
}

}  // namespace orrery::ui
