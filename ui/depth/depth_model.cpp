#include "ui/depth/depth_model.h"

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kMicroseconds = 1e3;  // of a millisecond

size_t sideOf(int column) {
  return column == DepthModel::timeBesideColumn || column == DepthModel::bytesBesideColumn ? 1 : 0;
}

}  // namespace

DepthModel::DepthModel(const DepthController* depths, QObject* parent)
    : QAbstractTableModel(parent), depths_(depths) {}

void DepthModel::reset() {
  beginResetModel();
  endResetModel();
}

void DepthModel::refresh() {
  if (rowCount() > 0) emit dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
}

int DepthModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !depths_ ? 0 : static_cast<int>(depths_->depths().size());
}

int DepthModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

const api::BenchResult::Depth* DepthModel::at(int row, size_t side) const {
  if (side >= depths_->curves().size()) return nullptr;
  const std::vector<api::BenchResult::Depth>& points = depths_->curves()[side].points;
  return row < static_cast<int>(points.size()) ? &points[static_cast<size_t>(row)] : nullptr;
}

bool DepthModel::isLive(int row, size_t side) const {
  const std::optional<api::DepthProgress>& progress = depths_->progress();
  return progress && progress->side == side &&
         progress->depth == depths_->depths()[static_cast<size_t>(row)] && !at(row, side);
}

QString DepthModel::text(int row, int column) const {
  if (column == tokensColumn) {
    const api::BenchResult::Depth* there = at(row, 0);  // past the depth where the one before is near
    return format::count(there ? there->tokens : depths_->depths()[static_cast<size_t>(row)]);
  }
  const size_t side = sideOf(column);
  const bool time = column == timeColumn || column == timeBesideColumn;
  if (const api::BenchResult::Depth* there = at(row, side))
    return time ? format::time(there->ms * kMicroseconds)
                : format::bytes(static_cast<double>(there->context_bytes));
  if (!time || !isLive(row, side)) return format::dash();
  const api::DepthProgress& progress = *depths_->progress();
  if (progress.read >= progress.to_read) return QStringLiteral("writing");
  return QString("%1 %").arg(100 * progress.read / std::max<int64_t>(progress.to_read, 1));
}

QString DepthModel::tip(int row) const {
  QStringList lines;
  for (size_t side = 0; side < depths_->curves().size(); ++side) {
    const api::BenchResult::Depth* there = at(row, side);
    if (!there) continue;
    lines += QString("%1, after %2 tokens: %3 a token (%4 to %5), context %6; the last %7 read in %8")
                 .arg(depths_->curves()[side].name, format::count(there->tokens),
                      format::time(there->ms * kMicroseconds), format::time(there->min_ms * kMicroseconds),
                      format::time(there->max_ms * kMicroseconds),
                      format::bytes(static_cast<double>(there->context_bytes)), format::count(there->read),
                      format::time(there->read_ms * kMicroseconds));
  }
  return lines.isEmpty() ? QStringLiteral("Not measured yet") : lines.join('\n');
}

QVariant DepthModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !depths_) return {};
  if (role == Qt::DisplayRole) return text(index.row(), index.column());
  if (role == Qt::ToolTipRole) return tip(index.row());
  if (role == Qt::TextAlignmentRole) return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
  if (role == kLiveRole) return index.column() != tokensColumn && isLive(index.row(), sideOf(index.column()));
  return {};
}

QVariant DepthModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns || !depths_) return {};
  if (role == Qt::TextAlignmentRole) return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  if (section == tokensColumn) return QStringLiteral("tokens");
  const size_t side = sideOf(section);
  return side < depths_->curves().size() ? depths_->curves()[side].name : QString();
}

}  // namespace orrery::ui
