// What a template computes with: Python's values as Jinja shows them. Containers are shared and, but for
// namespaces, never change. The budget of a rendering bounds its steps and the bytes it makes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
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
class Dict;
struct Loop;
struct Macro;
/// A method of a string, list, dict or loop that was named without being called: `message.items`.
struct Method {
  std::shared_ptr<const Value> object;
  std::string name;
};
using Strings = std::vector<std::string>;

/// How a sequence was made: a generator (map, select, ...) is always true and has no length; a group is a
/// tuple whose two items are also called grouper and list.
enum class Form : uint8_t { list, tuple, group, generator };

class Value {
 public:
  using Data = std::variant<Undefined, None, bool, int64_t, double, std::shared_ptr<const std::string>,
                            std::shared_ptr<const List>, std::shared_ptr<Dict>, std::shared_ptr<Loop>,
                            Function, Method, std::shared_ptr<const Macro>>;
  Value() = default;
  template <class T>
  requires std::conjunction_v<std::negation<std::is_same<T, Value>>,
                              std::is_constructible<Data, std::in_place_type_t<T>, T>>
  explicit Value(T value) : data_(std::in_place_type<T>, std::move(value)) {}
  explicit Value(std::string text) : data_(std::make_shared<const std::string>(std::move(text))) {}
  explicit Value(const char* text) : Value(std::string(text)) {}
  explicit Value(std::vector<Value> items, Form form = Form::list);

  bool is_undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool is_none() const { return std::holds_alternative<None>(data_); }
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const int64_t* integer() const { return std::get_if<int64_t>(&data_); }
  const double* real() const { return std::get_if<double>(&data_); }
  const std::string* string() const { return shared<const std::string>(); }
  const List* list() const { return shared<const List>(); }
  Dict* dict() const { return shared<Dict>(); }
  Loop* loop() const { return shared<Loop>(); }
  const Macro* macro() const { return shared<const Macro>(); }
  const Function* function() const { return std::get_if<Function>(&data_); }
  const Method* method() const { return std::get_if<Method>(&data_); }
  const std::string& undefined_name() const { return std::get<Undefined>(data_).name; }
  bool is_callable() const;
  /// Whether both are the same object: Python's `is`.
  bool same_as(const Value& other) const;

  bool truthy() const;
  /// True, False and integers.
  const int64_t* as_integer(int64_t& storage) const;
  bool as_number(double& number) const;
  std::string_view type_name() const;  // "string", "list", ... for messages
  int depth() const;                   // 1 and the deepest of what it holds

 private:
  template <class T>
  T* shared() const {
    const auto* pointer = std::get_if<std::shared_ptr<T>>(&data_);
    return pointer ? pointer->get() : nullptr;
  }
  Data data_;
};

struct List {
  std::vector<Value> items;
  int depth = 1;
  Form form = Form::list;
};

/// Of a dict: a text, or a whole number.
using Key = std::variant<std::string, int64_t>;
Value value_of(const Key& key);
/// As what a value is looked up: 1, 1.0 and True are one key. None: no dict has it.
std::optional<Key> key_of(const Value& value);

/// In order of insertion.
class Dict {
 public:
  using Items = std::vector<std::pair<Key, Value>>;
  const Items& items() const { return items_; }
  const Value* find(const Key& key) const;
  const Value* find(const Value& key) const;  // as key_of() has it
  void set(Key key, Value value);
  void clear();
  bool is_namespace = false;
  int depth = 1;

 private:
  size_t place_of(const Key& key) const;  // items_.size(): nowhere

  Items items_;
  std::unordered_map<Key, size_t> places_;  // of large ones
};

struct Statement;
struct Scope;
/// The variable `loop`. `again` runs a recursive loop anew, in the scope around it.
struct Loop {
  std::shared_ptr<const List> items;
  size_t index = 0;
  int depth0 = 0;
  const Statement* again = nullptr;
  std::shared_ptr<Scope> scope;
  std::vector<Value> watched;  // of loop.changed(), at its last call
};
/// A macro, or the body of a call block; it sees the variables of the place where it stands.
struct Macro {
  const Statement* definition;
  std::shared_ptr<Scope> scope;
};

/// What one rendering may use.
struct Budget {
  int64_t steps = 1'000'000;
  int64_t bytes = 256'000'000;                    // of all strings made
  static constexpr size_t kLongest = 16'000'000;  // bytes of the output and of any one string
  static constexpr int kDeepest = 100;            // containers in containers

  Result<void> step(int64_t count = 1);
  Result<void> make(size_t size);  // before a string of this size is built
  /// Before `more` bytes join a string of `size`.
  Result<void> grow(size_t size, size_t more);
  Result<Value> text(std::string value);
  Result<Value> list(std::vector<Value> items, Form form = Form::list);
};

Error render_error(std::string what);
Error limit_error(std::string what);

/// How json.dumps writes. Without indent all is on one line.
struct JsonStyle {
  bool ascii = false, sort_keys = false, lines = false;
  std::string indent;  // of one level, where `lines`
  std::string item = ", ", key = ": ";
};

// jinja_format.cpp: str(), repr() and JSON, as Python writes them.
std::string number_text(double number);
Result<std::string> to_text(const Value& value, Budget& budget);
Result<std::string> to_repr(const Value& value, Budget& budget);
Result<std::string> to_json(const Value& value, const JsonStyle& style, Budget& budget);

// jinja_json.cpp: numbers that 64 bits do not hold become real. `what` names the text in errors.
Result<Value> from_json(std::string_view text, std::string_view what, Budget& budget);

// jinja_operators.cpp
bool equal(const Value& a, const Value& b, Budget& budget, int depth = 0);
Result<Value> binary(std::string_view op, const Value& a, const Value& b, Budget& budget);
Result<bool> compare(std::string_view op, const Value& a, const Value& b, Budget& budget);

// jinja_access.cpp
/// object.name: a method, then an item.
Result<Value> get_attribute(const Value& object, const std::string& name);
/// object[key]: an item, then a method.
Result<Value> get_item(const Value& object, const Value& key, Budget& budget);
Result<Value> get_slice(const Value& object, const Value* start, const Value* stop, const Value* step,
                        Budget& budget);
/// The items that a loop walks: a list's, a dict's keys, a string's characters; none of an undefined value.
Result<std::shared_ptr<const List>> iterate(const Value& value, Budget& budget);
Result<int64_t> length_of(const Value& value, Budget& budget);

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

// jinja_string_format.cpp: "%s" % values, and "{}".format(values).
Result<Value> format_percent(const std::string& format, const Value& values, Budget& budget);
Result<Value> format_braces(const std::string& format, const Arguments& arguments, Budget& budget);

// jinja_methods.cpp, jinja_filters.cpp, jinja_tests.cpp
bool has_method(const Value& object, std::string_view name);
Result<Value> call_method(const Value& object, const std::string& name, const Arguments& arguments,
                          Budget& budget);
bool has_filter(std::string_view name);
Result<Value> apply_filter(const std::string& name, const Value& value, const Arguments& arguments,
                           Budget& budget);
bool has_test(std::string_view name);
Result<bool> apply_test(const std::string& name, const Value& value, const Arguments& arguments,
                        Budget& budget);

}  // namespace orrery::text::jinja
