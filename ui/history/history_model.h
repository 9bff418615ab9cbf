// The states of a model as rows: as it was opened, then after each step, and last what is considered. QtCore
// only.
#pragma once

#include <QAbstractListModel>
#include <memory>
#include <vector>

#include "engine/api/history.h"
#include "ui/session/step_words.h"

namespace orrery::ui {

class HistoryModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum class State { opened, done, now, undone, considered };
  /// stepsRole: the steps that are in force there; -1: of what is considered. timeRole: microseconds of a
  /// step that the model ran in that state; 0: none was measured.
  enum Role { scopeRole = Qt::UserRole, stateRole, timeRole, stepsRole };
  using QAbstractListModel::QAbstractListModel;

  /// Null: no model is open. `title`: what it is called.
  void setHistory(const api::History* history, const QString& title);
  /// Of the state that is there now.
  void setTime(double us);
  /// What would be the next step, and what the model would take then; empty: nothing is considered.
  void setConsidered(const std::vector<edit::Edit>& edits, double us);
  /// Steps, of which `now()` are in force.
  int steps() const { return static_cast<int>(rows_.size()) - 1; }
  int now() const { return now_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  struct Row {
    std::string record;  // tells the step from another one at its place
    StepWords words;
    double us = 0;
  };
  State stateOf(int row) const;

  graph::GraphVersion opened_;  // of the model whose rows they are
  std::vector<Row> rows_;
  int now_ = 0;
  std::vector<edit::Edit> considered_;
  double consideredUs_ = 0;
};

}  // namespace orrery::ui
