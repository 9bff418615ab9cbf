#include "ui/history/history_model.h"

#include <algorithm>

namespace orrery::ui {
void HistoryModel::setHistory(const api::History* history, const QString& title) {
  beginResetModel();
  std::vector<Row> before = std::exchange(rows_, {});
  now_ = 0;
  considered_.clear();
  if (!history) {
    opened_ = nullptr;
    return endResetModel();
  }
  if (history->opened() != std::exchange(opened_, history->opened())) before.clear();
  rows_.push_back({{}, {title, tr("original")}, 0});
  for (const auto& step : history->steps()) {
    const QString recipe =
        step->edits.empty() || step->anew ? QString() : QString::fromStdString(step->edits.front().recipe);
    StepWords words =
        stepWords(step->record.name, step->anew ? std::vector<edit::Edit>() : api::edits_of(step->edits));
    if (!recipe.isEmpty()) words.scope += words.scope.isEmpty() ? recipe : ", " + recipe;
    rows_.push_back({step->record.name + '\n' + step->record.words, words, 0});
  }
  for (size_t i = 0; i < std::min(before.size(), rows_.size()) && before[i].record == rows_[i].record; ++i)
    rows_[i].us = before[i].us;
  now_ = static_cast<int>(history->position());
  endResetModel();
}

void HistoryModel::setTime(double us) {
  if (rows_.empty() || us <= 0) return;
  rows_[static_cast<size_t>(now_)].us = us;
  emit dataChanged(index(now_), index(now_), {timeRole});
}

void HistoryModel::setConsidered(const std::vector<edit::Edit>& edits, double us) {
  const bool was = !considered_.empty(), is = !edits.empty() && !rows_.empty();
  const int row = now_ + 1;  // below the step that it would follow
  if (is && !was) beginInsertRows({}, row, row);
  if (was && !is) beginRemoveRows({}, row, row);
  considered_ = is ? edits : std::vector<edit::Edit>();
  consideredUs_ = us;
  if (is && !was) endInsertRows();
  if (was && !is) endRemoveRows();
  if (was && is) emit dataChanged(index(row), index(row));
}

int HistoryModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size()) + (considered_.empty() ? 0 : 1);
}

HistoryModel::State HistoryModel::stateOf(int row) const {
  if (!considered_.empty() && row == now_ + 1) return State::considered;
  if (row == now_) return State::now;
  return row > now_ ? State::undone : row == 0 ? State::opened : State::done;
}

QVariant HistoryModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const State state = stateOf(index.row());
  const bool shifted = !considered_.empty() && index.row() > now_ + 1;
  if (role == stateRole) return static_cast<int>(state);
  if (state == State::considered) {
    const StepWords words = stepWords({}, considered_);
    if (role == Qt::DisplayRole) return words.name;
    if (role == scopeRole) return tr("not applied yet");
    if (role == timeRole) return consideredUs_;
    if (role == stepsRole) return -1;
    return {};
  }
  const int step = index.row() - (shifted ? 1 : 0);
  const Row& row = rows_[static_cast<size_t>(step)];
  if (role == Qt::DisplayRole) return row.words.name;
  if (role == scopeRole)
    return state != State::undone      ? row.words.scope
           : row.words.scope.isEmpty() ? tr("undone")
                                       : row.words.scope + tr(", undone");
  if (role == timeRole) return row.us;
  if (role == stepsRole) return step;
  if (role == Qt::ToolTipRole && step > 0)
    return QString::fromStdString(row.record.substr(row.record.find('\n') + 1));
  return {};
}

}  // namespace orrery::ui
