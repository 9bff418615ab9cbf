#include "ui/session/scope_values.h"

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr double kMostDecades = 5;  // what is colder is as cold as the cold end

}  // namespace

void ScopeValues::add(const std::string& path, double value) {
  if (std::isnan(value)) return;
  double& known = values_.try_emplace(path, value).first->second;
  known = std::max(known, value);
  if (!(value > 0) || !std::isfinite(value)) return;
  high_ = std::max(high_, value);
  low_ = low_ > 0 ? std::min(low_, value) : value;
  low_ = std::max(low_, high_ * std::pow(10, -kMostDecades));
}

double ScopeValues::place(double value) const {
  if (!(value > low_)) return 0;
  if (!(value < high_)) return 1;
  return std::log(value / low_) / std::log(high_ / low_);
}

std::optional<double> ScopeValues::of(std::string_view path) const {
  while (!path.empty()) {
    if (const auto found = values_.find(path); found != values_.end()) return found->second;
    const size_t dot = path.rfind('.');
    path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
  }
  return std::nullopt;
}

std::optional<double> ScopeValues::of(const graph::Graph& shown, const graph::Graph& model,
                                      NodeId node) const {
  const graph::Node* there = shown.find(node);
  if (!there || there->is_source()) return std::nullopt;
  std::optional<double> largest;
  const auto take = [&](const graph::Node& own) {
    if (const auto value = of(own.path()); value && !(largest >= value)) largest = value;
  };
  const graph::Node* same = model.find(node);  // drawn in an opened node, it has another path
  if (&shown == &model || there->origins.empty()) take(same ? *same : *there);
  if (&shown == &model) return largest;
  for (const graph::Origin& origin : there->origins)
    if (const graph::Node* source = model.find(origin.node)) take(*source);
  return largest;
}

}  // namespace orrery::ui
