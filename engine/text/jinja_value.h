// What a template computes with: Python's values as Jinja shows them. Containers are shared and, but for
// namespaces, never change. The budget of a rendering bounds its steps and the bytes it makes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/result.h"

namespace orrery::text::jinja {

struct Undefined {
  std::string name;  // for the message when it is used
};
struct None {};
struct Function {
  std::string name;  // a global function; called by the evaluator
};
class Value;
struct List;
struct Dict;
struct Loop;
using Strings = std::vector<std::string>;

class Value {
 public:
  using Data =
      std::variant<Undefined, None, bool, int64_t, double, std::shared_ptr<const std::string>,
                   std::shared_ptr<const List>, std::shared_ptr<Dict>, std::shared_ptr<const Loop>, Function>;
  Value() = default;
  template <class T>
  requires std::is_constructible_v<Data, std::in_place_type_t<T>, T>
  explicit Value(T value) : data_(std::in_place_type<T>, std::move(value)) {}
  explicit Value(std::string text) : data_(std::make_shared<const std::string>(std::move(text))) {}
  explicit Value(const char* text) : Value(std::string(text)) {}
  explicit Value(std::vector<Value> items, bool tuple = false);

  bool is_undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool is_none() const { return std::holds_alternative<None>(data_); }
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const int64_t* integer() const { return std::get_if<int64_t>(&data_); }
  const double* real() const { return std::get_if<double>(&data_); }
  const std::string* string() const {
    const auto* text = std::get_if<std::shared_ptr<const std::string>>(&data_);
    return text ? text->get() : nullptr;
  }
  const List* list() const {
    const auto* items = std::get_if<std::shared_ptr<const List>>(&data_);
    return items ? items->get() : nullptr;
  }
  Dict* dict() const {
    const auto* items = std::get_if<std::shared_ptr<Dict>>(&data_);
    return items ? items->get() : nullptr;
  }
  const Loop* loop() const {
    const auto* state = std::get_if<std::shared_ptr<const Loop>>(&data_);
    return state ? state->get() : nullptr;
  }
  const Function* function() const { return std::get_if<Function>(&data_); }
  const std::string& undefined_name() const { return std::get<Undefined>(data_).name; }

  bool truthy() const;
  /// True, False and integers.
  const int64_t* as_integer(int64_t& storage) const;
  bool as_number(double& number) const;
  std::string_view type_name() const;  // "string", "list", ... for messages
  int depth() const;                   // 1 and the deepest of what it holds

 private:
  Data data_;
};

struct List {
  std::vector<Value> items;
  int depth = 1;
  bool tuple = false;  // written with round brackets; otherwise a list
};
struct Dict {
  std::vector<std::pair<std::string, Value>> items;  // in order of insertion
  bool is_namespace = false;
  int depth = 1;
  const Value* find(std::string_view key) const;
  void set(const std::string& key, Value value);
};
/// The variable `loop` of one turn.
struct Loop {
  std::shared_ptr<const List> items;
  size_t index = 0;
};

/// What one rendering may use.
struct Budget {
  int64_t steps = 1'000'000;
  int64_t bytes = 256'000'000;                    // of all strings made
  static constexpr size_t kLongest = 16'000'000;  // bytes of the output and of any one string
  static constexpr int kDeepest = 100;            // containers in containers

  Result<void> step(int64_t count = 1);
  Result<void> make(size_t size);  // before a string of this size is built
  Result<Value> text(std::string value);
  Result<Value> list(std::vector<Value> items, bool tuple = false);
};

Error render_error(std::string what);
Error limit_error(std::string what);

// jinja_format.cpp: str(), repr() and JSON, as Python writes them.
Result<std::string> to_text(const Value& value, Budget& budget);
Result<std::string> to_json(const Value& value, int indent, Budget& budget);  // indent -1: one line

// jinja_operators.cpp
bool equal(const Value& a, const Value& b, Budget& budget, int depth = 0);
Result<Value> binary(std::string_view op, const Value& a, const Value& b, Budget& budget);
Result<bool> compare(std::string_view op, const Value& a, const Value& b, Budget& budget);
Result<Value> get_attribute(const Value& object, const std::string& name);
Result<Value> get_item(const Value& object, const Value& key, Budget& budget);
Result<Value> get_slice(const Value& object, const Value* start, const Value* stop, const Value* step,
                        Budget& budget);
/// The items that a loop walks: a list's, a dict's keys, a string's characters; none of an undefined value.
Result<std::shared_ptr<const List>> iterate(const Value& value, Budget& budget);

/// Arguments of a filter, test, method or function.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
  /// Null when not given.
  const Value* find(size_t position, std::string_view name) const;
  int64_t integer(size_t position, std::string_view name, int64_t fallback) const;
  bool flag(size_t position, std::string_view name, bool fallback) const;
  const std::string* string(size_t position, std::string_view name) const;
};

// jinja_methods.cpp, jinja_filters.cpp, jinja_tests.cpp
Result<Value> call_method(const Value& object, const std::string& name, const Arguments& arguments,
                          Budget& budget);
Result<Value> apply_filter(const std::string& name, const Value& value, const Arguments& arguments,
                           Budget& budget);
Result<bool> apply_test(const std::string& name, const Value& value, const Arguments& arguments,
                        Budget& budget);

}  // namespace orrery::text::jinja
