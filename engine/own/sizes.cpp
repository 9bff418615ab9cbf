#include "engine/own/sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/ops/infer_support.h"
#include "engine/ops/lowering.h"

namespace orrery::own {
namespace {

using graph::ValueType;

Error misfit(std::string what, std::string advice) {
  return {ErrorCode::shape_mismatch, std::move(what), "", std::move(advice)};
}

std::string joined_names(const std::vector<Input>& inputs) {
  std::string names;
  for (const Input& input : inputs) (names += names.empty() ? "" : ", ") += input.name;
  return names.empty() ? "the graph has no inputs" : "the inputs are " + names;
}

/// A dim of an input, and the size that is given for it.
struct Asked {
  const Input& input;
  const ValueType& given;
  const Dim& dim;
  int64_t size;
};

/// Type and rank; the sizes are left to who knows the symbols.
Result<void> check_type(const Input& input, const ValueType& given) {
  if (given.dtype == input.type.dtype && given.shape.size() == input.type.shape.size()) return {};
  return misfit(
      fmt::format("{} is {}, but the graph asks {}", input.name, to_string(given), to_string(input.type)),
      given.dtype == input.type.dtype ? "give it the dims that the graph asks"
                                      : "convert it, or give the input another dtype");
}

/// The size of the only symbol of the dim that is not known yet; nothing where there are more, or none.
std::optional<std::pair<Symbol, int64_t>> solved(const Asked& asked, const Bindings& sizes) {
  const Symbol* unknown = nullptr;
  int64_t factor = 0, rest = asked.size - asked.dim.constant();
  for (const auto& [symbol, coefficient] : asked.dim.terms()) {
    int64_t term = 0;
    if (const auto known = sizes.find(symbol); known != sizes.end()) {
      if (__builtin_mul_overflow(known->second, coefficient, &term) ||
          __builtin_sub_overflow(rest, term, &rest))
        return std::nullopt;
    } else if (unknown) {
      return std::nullopt;
    } else {
      unknown = &symbol;
      factor = coefficient;
    }
  }
  if (!unknown || rest % factor != 0 || rest / factor < 1) return std::nullopt;
  return std::pair(*unknown, rest / factor);
}

/// Whether a dim has the size that is given, by the sizes of the symbols.
Result<void> check_size(const Asked& asked, const Bindings& sizes) {
  if (asked.dim.evaluate(sizes) == asked.size) return {};
  std::string known;
  bool all = true;
  for (const auto& [symbol, coefficient] : asked.dim.terms()) {
    const auto size = sizes.find(symbol);
    all = all && size != sizes.end();
    if (size != sizes.end())
      known += fmt::format("{}{} is {}", known.empty() ? ", and " : ", ", symbol, size->second);
  }
  const std::string what = fmt::format("{} is {}, but the graph asks {}{}", asked.input.name,
                                       to_string(asked.given), to_string(asked.input.type), known);
  return all ? misfit(what, "give it the sizes that the graph asks")
             : misfit(what, fmt::format("no size at least 1 follows for {}", asked.dim.to_string()));
}

bool depends_on_symbols(const ValueType& type) {
  return std::any_of(type.shape.begin(), type.shape.end(), [](const Dim& dim) { return !dim.is_constant(); });
}

/// By symbols that no step binds either.
bool is_open(const ValueType& type) {
  return std::any_of(type.shape.begin(), type.shape.end(),
                     [](const Dim& dim) { return !ops::row_count_of(dim).has_value(); });
}

}  // namespace

Result<std::vector<Input>> inputs_of(const graph::Graph& graph) {
  std::vector<Input> inputs;
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < live.size(); ++i) {
    const graph::Node& node = graph.node(graph.order()[i]);
    if (!node.is_source() || node.op->name != "input") continue;
    const std::string name(ops::text(node.attributes, "name"));
    const ValueType& type = graph.value(node.outputs.front()).type;
    if (!ops::is_given(node)) {
      if (!live[i]) continue;
      return Error{ErrorCode::unsupported, fmt::format("{} is what a step of a model brings", name),
                   node.path(), "give the input a dtype and a shape, to bring it oneself"};
    }
    const auto same = std::ranges::find(inputs, name, &Input::name);
    if (same == inputs.end()) {
      inputs.push_back({name, type, live[i]});
    } else if (same->type != type) {
      return Error{ErrorCode::shape_mismatch,
                   fmt::format("\"{}\" is given as {}, and as {} to another node", name, to_string(type),
                               to_string(same->type)),
                   node.path(), "give one of them another name"};
    } else {
      same->needed = same->needed || live[i];
    }
  }
  return inputs;
}

Result<Bindings> sizes_of(const graph::Graph& graph, const GivenTypes& given) {
  ORRERY_ASSIGN(const std::vector<Input> inputs, inputs_of(graph));
  for (const auto& [name, type] : given)
    if (std::ranges::find(inputs, name, &Input::name) == inputs.end())
      return Error{ErrorCode::not_found, fmt::format("The graph has no input \"{}\"", name), "",
                   joined_names(inputs)};
  std::vector<Asked> asked;
  for (const Input& input : inputs) {
    const auto found = given.find(input.name);
    if (found == given.end()) {
      if (!input.needed) continue;
      return Error{ErrorCode::invalid_argument,
                   fmt::format("Nothing is given for {}, {}", input.name, to_string(input.type)), "",
                   "give an array for each input"};
    }
    const ValueType& type = found->second;
    ORRERY_TRY(check_type(input, type));
    for (size_t d = 0; d < type.shape.size(); ++d)
      asked.push_back({input, type, input.type.shape[d], type.shape[d].constant()});
  }
  Bindings sizes;
  const auto solve_one = [&] {
    return std::ranges::any_of(asked, [&](const Asked& one) {
      const auto size = solved(one, sizes);
      return size && sizes.insert(*size).second;
    });
  };
  while (solve_one()) {
  }
  for (const Asked& one : asked) ORRERY_TRY(check_size(one, sizes));
  return sizes;
}

Result<Sized> with_sizes(const graph::GraphVersion& graph, const Bindings& sizes) {
  Sized sized;
  std::shared_ptr<graph::Graph> copy;
  const std::vector<bool> live = graph->live();
  for (size_t i = 0; i < live.size(); ++i) {
    const graph::Node& node = graph->node(graph->order()[i]);
    if (!ops::is_given(node)) continue;
    const graph::Value& value = graph->value(node.outputs.front());
    if (!depends_on_symbols(value.type)) continue;
    ValueType type = value.type;
    for (Dim& dim : type.shape)
      if (const auto size = dim.evaluate(sizes)) dim = *size;
    sized.open = sized.open || (live[i] && is_open(type));
    if (type == value.type) continue;
    if (!copy) copy = std::make_shared<graph::Graph>(*graph);
    ORRERY_TRY(copy->set_value_type(value.id, std::move(type)));
  }
  if (copy) ORRERY_TRY(copy->infer_types());
  sized.graph = copy ? graph::GraphVersion(std::move(copy)) : graph;
  return sized;
}

}  // namespace orrery::own
