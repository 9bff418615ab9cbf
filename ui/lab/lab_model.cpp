#include "ui/lab/lab_model.h"

#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

/// Half of what lies between the tenth and the ninetieth of a hundred samples.
QString spreadOf(const api::LabVersion& version) {
  const double percent = 50 * (version.p90 - version.p10) / version.us;
  return QString::number(percent, 'f', percent < 9.95 ? 1 : 0);
}

QString cellOf(const LabRow& row, int column) {
  if (column == LabModel::numberColumn) return row.isRival() ? QString() : QString::number(row.number);
  if (column == LabModel::nameColumn) return QString::fromStdString(row.name);
  if (!row.version) return column == LabModel::timeColumn ? wordOf(row.mark) : QString();
  const api::LabVersion& version = *row.version;
  if (!version.refused.empty()) return column == LabModel::timeColumn ? QStringLiteral("refused") : QString();
  if (column == LabModel::errorColumn) return format::distance(version.max_error);
  if (column == LabModel::allowedColumn) return format::distance(version.tolerance);
  if (!row.timed()) return column == LabModel::timeColumn ? wordOf(row.mark) : QString();
  switch (column) {
    case LabModel::timeColumn:
      return format::number(version.us);
    case LabModel::spreadColumn:
      return spreadOf(version);
    case LabModel::flopsColumn:
      return format::number(version.gflops);
    case LabModel::bytesColumn:
      return format::number(version.gbytes_per_second);
    case LabModel::shareColumn:
      return version.share_of_limit > 0
                 ? QString::number(100 * version.share_of_limit, 'f', 0) + QStringLiteral(" %")
                 : format::dash();
    default:
      return {};
  }
}

bool isSame(const LabRow& a, const LabRow& b) { return a.name == b.name && a.device == b.device; }

QStringList wordsOfRow(const LabRow& row) {
  if (!row.version) return {};
  const api::LabVersion& version = *row.version;
  if (!version.refused.empty()) return {"refused: " + QString::fromStdString(version.refused)};
  QStringList words;
  if (row.isRival()) words += "a rival: it calls " + QString::fromStdString(row.library);
  if (!version.ok)
    words += QString("off by %1, where %2 is allowed: %3")
                 .arg(format::distance(version.max_error), format::distance(version.tolerance),
                      QString::fromStdString(version.where));
  if (row.timed()) {
    words += QString("%1 (%2 to %3), %4")
                 .arg(format::time(version.us), format::time(version.p10), format::time(version.p90),
                      format::counted(version.samples, "sample"));
    words += QString("multiplies in %1, reads from %2")
                 .arg(QString::fromUtf8(api::name_of(version.arithmetic).data()),
                      version.memory ? "memory" : "a cache");
    if (version.launched_us > 0) words += format::time(version.launched_us) + " when launched alone";
  }
  if (row.busy) words += "the machine was busy, or the samples lie far apart";
  if (row.stored) words += "from an earlier session";
  return words;
}

}  // namespace

QString labTip(const LabRow& row) {
  return (QStringList{QString::fromStdString(row.name) + ", " + wordOf(row.mark)} + wordsOfRow(row))
      .join('\n');
}

QString labDetail(const LabRow& row) {
  const QStringList words = wordsOfRow(row);
  return words.isEmpty() ? wordOf(row.mark) : words.join(QStringLiteral(" · "));
}

void LabModel::show(std::vector<LabRow> rows) {
  if (std::ranges::equal(rows, rows_, isSame)) {
    rows_ = std::move(rows);
    if (!rows_.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
    return;
  }
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

int LabModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int LabModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant LabModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const LabRow& row = rows_[static_cast<size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      return cellOf(row, index.column());
    case Qt::ToolTipRole:
      return labTip(row);
    case Qt::AccessibleTextRole:
      if (index.column() == nameColumn) return QString::fromStdString(row.name) + ", " + wordOf(row.mark);
      return cellOf(row, index.column());
    case Qt::TextAlignmentRole:
      return static_cast<int>((index.column() == nameColumn ? Qt::AlignLeft : Qt::AlignRight) |
                              Qt::AlignVCenter);
    case markRole:
      return static_cast<int>(row.mark);
    case busyRole:
      return row.busy;
    case shareRole:
      return row.timed() ? row.version->share_of_limit : 0.0;
    case tokenRole:
      return static_cast<int>(row.token());
    default:
      return {};
  }
}

QVariant LabModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((section == nameColumn ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole && section == shareColumn)
    return "Of what the machine reaches at most with so many bytes and operations";
  if (role != Qt::DisplayRole) return {};
  static constexpr const char* kHeads[] = {"",     "row",   "µs",        "± %",    "GFLOP/s",
                                           "GB/s", "share", "max error", "allowed"};
  return QString::fromUtf8(kHeads[section]);
}

}  // namespace orrery::ui
