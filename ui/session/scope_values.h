// One number for each of some scopes and nodes of a model graph, as a sweep measures them, and where it lies
// on the scale from cold to hot: table, chart and graph colour it alike.
#pragma once

#include <QMetaType>
#include <QString>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "engine/graph/graph.h"

namespace orrery::ui {

class ScopeValues {
 public:
  ScopeValues() = default;
  explicit ScopeValues(QString title) : title_(std::move(title)) {}

  const QString& title() const { return title_; }
  /// Of one that is there already the larger value stays.
  void add(const std::string& path, double value);
  explicit operator bool() const { return !values_.empty(); }

  /// The ends of the scale, which is logarithmic; 0: nothing on it.
  double low() const { return low_; }
  double high() const { return high_; }
  /// 0 to 1; of 0, which no logarithm has, 0.
  double place(double value) const;

  /// Of the path, or of the nearest scope around it.
  std::optional<double> of(std::string_view path) const;
  /// Of a node of `shown`, the model graph or the fused graph made of `model`: the largest of what it was
  /// fused from.
  std::optional<double> of(const graph::Graph& shown, const graph::Graph& model, NodeId node) const;

 private:
  QString title_;
  std::map<std::string, double, std::less<>> values_;
  double low_ = 0, high_ = 0;
};

}  // namespace orrery::ui

Q_DECLARE_METATYPE(orrery::ui::ScopeValues)
