// Gradients as a graph makes them beside central differences of what the graph computes, in float32 kernels.
#pragma once

#include <fmt/format.h>

#include <random>

#include "engine/passes/differentiate.h"
#include "tests/engine/own/own_graphs.h"
#include "tests/engine/passes/interpreter.h"

namespace orrery::passes::test {

using own::Maker;
using Floats = std::vector<float>;

/// A source and its numbers.
struct Given {
  std::string name, dtype;  // "step": the step's input of that name; "constant": f32 that nothing moves
  std::vector<int64_t> shape;
  Floats numbers;          // whole ones of i32 and i64, 0 and 1 of bool
  bool is_weight = false;  // of a file; else an input
  Shape open = {};         // its sizes, where some are those of a step
};

inline size_t count_of(const std::vector<int64_t>& shape) {
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  return count;
}

/// Reproducible numbers between two bounds, none of which comes twice.
inline Given floats(std::string name, std::vector<int64_t> shape, float low = -1, float high = 1) {
  std::mt19937 random(static_cast<uint32_t>(name.size() + 31 * static_cast<uint8_t>(name[0])));
  Floats all(count_of(shape));
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = low + (high - low) * (static_cast<float>(i) + 0.5F) / static_cast<float>(all.size());
  std::ranges::shuffle(all, random);
  return {std::move(name), "f32", std::move(shape), std::move(all)};
}

inline Given weight(std::string name, std::vector<int64_t> shape, std::string dtype = "f32") {
  Given made = floats(std::move(name), std::move(shape));
  made.dtype = std::move(dtype);
  made.is_weight = true;
  return made;
}

/// Of rows of a step.
inline Given rows_of(Given given, const Symbol& rows) {
  given.open.assign(given.shape.begin(), given.shape.end());
  given.open.front() = Dim(rows);
  return given;
}

inline Given step_input(std::string_view name, const Floats& numbers) {
  return {std::string(name), "step", {static_cast<int64_t>(numbers.size())}, numbers};
}

inline ValueId source_of(Maker& make, const Given& given) {
  if (given.is_weight)
    return make.op("weight", given.name, {},
                   {{"tensor", given.name}, {"dtype", given.dtype}, {"shape", given.shape}});
  if (given.dtype == "constant")
    return make.op(
        "constant", given.name, {},
        {{"shape", given.shape}, {"data", std::vector<double>(given.numbers.begin(), given.numbers.end())}});
  if (given.dtype == "step") return make.op("input", given.name, {}, {{"name", given.name}});
  const std::string shape =
      given.open.empty() ? fmt::format("{}", fmt::join(given.shape, ",")) : to_string(given.open);
  return make.input(given.name, given.dtype, given.open.empty() ? shape : shape.substr(1, shape.size() - 2));
}

/// The outputs of a graph, once.
inline std::vector<Floats> run(const graph::Graph& graph, const std::vector<ValueId>& outputs,
                               const std::vector<std::pair<ValueId, Floats>>& givens, const Bindings& sizes,
                               int threads = 1) {
  Interpreter interpreter(graph, outputs, sizes, threads);
  for (const auto& [source, numbers] : givens) interpreter.give(source, numbers);
  interpreter.prepare();
  if (testing::Test::HasFatalFailure()) return {};
  interpreter.run();
  std::vector<Floats> values;
  for (const ValueId output : outputs) values.push_back(interpreter.read(output));
  return values;
}

/// What some outputs of a graph are by its sources: the gradients of sum(output * weight), with weights that
/// are inputs too, so that every element has a part of its own.
class Gradient {
 public:
  using Build = std::function<std::vector<ValueId>(Maker& make, const std::vector<ValueId>& inputs)>;

  Gradient(std::vector<Given> givens, const Build& build, Bindings sizes = {})
      : givens_(std::move(givens)), sizes_(std::move(sizes)) {
    for (const Given& given : givens_) sources_.push_back(source_of(make_, given));
    outputs_ = build(make_, sources_);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const graph::ValueType type = make_.graph.value(outputs_[i]).type;
      std::vector<int64_t> shape;
      for (const Dim& dim : type.shape) shape.push_back(dim.evaluate(sizes_).value_or(0));
      Given factors = floats(fmt::format("{}_factors", i), shape, 0.5F, 1.5F);
      factors.open = type.shape;
      ends_.push_back({outputs_[i], source_of(make_, factors)});
      factors_.push_back(std::move(factors));
    }
  }

  /// By the sources that hold floats. Refused ones fail the test.
  void make() {
    std::vector<ValueId> by;
    for (size_t i = 0; i < sources_.size(); ++i)
      if (givens_[i].dtype == "f32") by_.push_back(i);
    for (const size_t i : by_) by.push_back(sources_[i]);
    auto made = differentiate(make_.graph, ends_, by);
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_TRUE(graph::verify(made->graph).empty());
    for (size_t i = 0; i < by.size(); ++i)
      EXPECT_EQ(made->graph.value(made->values[i]).type, make_.graph.value(by[i]).type)
          << givens_[by_[i]].name;
    std::vector<std::pair<ValueId, Floats>> all;
    for (size_t i = 0; i < sources_.size(); ++i) all.emplace_back(sources_[i], givens_[i].numbers);
    for (size_t i = 0; i < ends_.size(); ++i) all.emplace_back(ends_[i].gradient, factors_[i].numbers);
    gradients_ = run(made->graph, made->values, all, sizes_);
    EXPECT_EQ(run(made->graph, made->values, all, sizes_, 3), gradients_) << "bit for bit";
  }

  /// Each gradient within `tolerance` (of it, or of 1) of differences of the fourth order: (8 (f(x + h) - f(x
  /// - h)) - (f(x + 2h) - f(x - 2h))) / 12h.
  void expect_differences(double tolerance, float step = 0.03125F) {
    make();
    if (testing::Test::HasFailure()) return;
    for (size_t i = 0; i < by_.size(); ++i) {
      const Given& given = givens_[by_[i]];
      Floats moved = given.numbers;
      ASSERT_EQ(gradients_[i].size(), moved.size());
      const auto interpreter = prepared(by_[i], moved);
      if (testing::Test::HasFatalFailure()) return;
      for (size_t k = 0; k < moved.size(); ++k) {
        const auto at = [&](float by) {
          moved[k] = given.numbers[k] + by;
          if (given.is_weight) return loss(*prepared(by_[i], moved));  // it may have been packed
          interpreter->give(sources_[by_[i]], moved);
          return loss(*interpreter);
        };
        const double slope = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12.0 * step);
        moved[k] = given.numbers[k];
        EXPECT_NEAR(gradients_[i][k], slope, tolerance * std::max(1.0, std::abs(slope)))
            << given.name << "[" << k << "]";
      }
    }
  }

 private:
  std::unique_ptr<Interpreter> prepared(size_t moved_source, const Floats& moved) const {
    auto interpreter = std::make_unique<Interpreter>(make_.graph, outputs_, sizes_);
    for (size_t i = 0; i < sources_.size(); ++i)
      interpreter->give(sources_[i], i == moved_source ? moved : givens_[i].numbers);
    interpreter->prepare();
    return interpreter;
  }

  double loss(Interpreter& interpreter) const {
    interpreter.run();
    double sum = 0;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Floats made = interpreter.read(outputs_[i]);
      for (size_t k = 0; k < made.size(); ++k) sum += double{made[k]} * double{factors_[i].numbers[k]};
    }
    return sum;
  }

  std::vector<Given> givens_, factors_;
  Bindings sizes_;
  Maker make_;
  std::vector<ValueId> sources_, outputs_;
  std::vector<Differentiated> ends_;
  std::vector<size_t> by_;  // sources that are floats
  std::vector<Floats> gradients_;
};

}  // namespace orrery::passes::test
