#include "engine/text/jinja_value.h"

#include <algorithm>
#include <cmath>

namespace orrery::text::jinja {

namespace {

constexpr size_t kIndexed = 16;  // entries from which a dict keeps where each is

}  // namespace

Value::Value(std::vector<Value> items, Form form) {
  List list;
  list.form = form;
  for (const Value& item : items) list.depth = std::max(list.depth, item.depth() + 1);
  list.items = std::move(items);
  data_ = std::make_shared<const List>(std::move(list));
}

bool Value::truthy() const {
  if (const bool* flag = boolean()) return *flag;
  if (const int64_t* number = integer()) return *number != 0;
  if (const double* number = real()) return *number != 0;
  if (const std::string* text = string()) return !text->empty();
  if (const List* items = list()) return items->form == Form::generator || !items->items.empty();
  if (const Dict* items = dict()) return items->is_namespace || !items->items().empty();
  return loop() || is_callable();
}

bool Value::is_callable() const { return function() || method() || macro() || loop(); }

bool Value::same_as(const Value& other) const {
  if (data_.index() != other.data_.index()) return false;
  return std::visit(
      [&](const auto& mine) {
        using T = std::decay_t<decltype(mine)>;
        const T& theirs = std::get<T>(other.data_);
        if constexpr (std::is_same_v<T, Undefined>) {
          return mine.name == theirs.name;
        } else if constexpr (std::is_same_v<T, None>) {
          return true;
        } else if constexpr (std::is_same_v<T, Function>) {
          return mine.name == theirs.name;
        } else if constexpr (std::is_same_v<T, Method>) {
          return mine.object == theirs.object && mine.name == theirs.name;
        } else if constexpr (std::is_same_v<T, std::shared_ptr<const std::string>>) {
          return *mine == *theirs;  // equal short strings are one object in Python too
        } else {
          return mine == theirs;
        }
      },
      data_);
}

const int64_t* Value::as_integer(int64_t& storage) const {
  if (const int64_t* number = integer()) return number;
  if (const bool* flag = boolean()) return &(storage = *flag ? 1 : 0);
  return nullptr;
}

bool Value::as_number(double& number) const {
  int64_t storage = 0;
  if (const int64_t* whole = as_integer(storage)) return number = static_cast<double>(*whole), true;
  if (const double* value = real()) return number = *value, true;
  return false;
}

std::string_view Value::type_name() const {
  static constexpr std::string_view kNames[] = {"undefined", "none",     "boolean", "integer",
                                                "number",    "string",   "list",    "dict",
                                                "loop",      "function", "method",  "macro"};
  return kNames[data_.index()];
}

int Value::depth() const {
  if (const List* items = list()) return items->depth;
  if (const Dict* items = dict()) return items->depth;
  if (const Method* named = method()) return named->object->depth() + 1;
  return 1;
}

Value value_of(const Key& key) {
  return std::visit([](const auto& own) { return Value(own); }, key);
}

std::optional<Key> key_of(const Value& value) {
  int64_t storage = 0;
  if (const std::string* text = value.string()) return *text;
  if (const int64_t* number = value.as_integer(storage)) return *number;
  const double* number = value.real();
  if (!number || *number != std::trunc(*number) || std::abs(*number) >= 0x1p63) return std::nullopt;
  return static_cast<int64_t>(*number);
}

size_t Dict::place_of(const Key& key) const {
  if (items_.size() >= kIndexed) {
    const auto place = places_.find(key);
    return place == places_.end() ? items_.size() : place->second;
  }
  const auto found =
      std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item.first == key; });
  return static_cast<size_t>(found - items_.begin());
}

const Value* Dict::find(const Value& key) const {
  const std::optional<Key> wanted = key_of(key);
  return wanted ? find(*wanted) : nullptr;
}

const Value* Dict::find(const Key& key) const {
  const size_t place = place_of(key);
  return place < items_.size() ? &items_[place].second : nullptr;
}

void Dict::set(Key key, Value value) {
  depth = std::max(depth, value.depth() + 1);
  const size_t place = place_of(key);
  if (place < items_.size()) {
    items_[place].second = std::move(value);
    return;
  }
  items_.emplace_back(std::move(key), std::move(value));
  if (items_.size() < kIndexed) return;
  for (size_t i = places_.size(); i < items_.size(); ++i) places_.emplace(items_[i].first, i);
}

void Dict::clear() {
  items_.clear();
  places_.clear();
}

Error render_error(std::string what) {
  return {ErrorCode::invalid_argument, "The chat template failed: " + std::move(what), "",
          "Change the messages, or use another template"};
}

Error limit_error(std::string what) {
  return {ErrorCode::unsupported, "The chat template was stopped: " + std::move(what), "",
          "Use a template that ends and stays small"};
}

Result<void> Budget::step(int64_t count) {
  steps -= count;
  if (steps < 0) return limit_error("it takes too many steps");
  return {};
}

Result<void> Budget::make(size_t size) {
  if (size > kLongest) return limit_error("a text grows beyond 16 MB");
  bytes -= static_cast<int64_t>(size);
  if (bytes < 0) return limit_error("it makes too much text");
  return step(static_cast<int64_t>(size / 4096));
}

Result<void> Budget::grow(size_t size, size_t more) {
  if (size + more > kLongest) return limit_error("a text grows beyond 16 MB");
  return step(static_cast<int64_t>(more / 4096));
}

Result<Value> Budget::text(std::string value) {
  ORRERY_TRY(make(value.size()));
  return Value(std::move(value));
}

Result<Value> Budget::list(std::vector<Value> items, Form form) {
  ORRERY_TRY(step(static_cast<int64_t>(items.size() / 8)));
  Value value(std::move(items), form);
  if (value.depth() > kDeepest) return limit_error("lists are nested too deeply");
  return value;
}

const Value* Arguments::find(size_t position, std::string_view name) const {
  if (position < positional.size()) return &positional[position];
  for (const auto& [key, value] : named)
    if (key == name) return &value;
  return nullptr;
}

int64_t Arguments::integer(size_t position, std::string_view name, int64_t fallback) const {
  const Value* value = find(position, name);
  int64_t storage = 0;
  const int64_t* number = value ? value->as_integer(storage) : nullptr;
  return number ? *number : fallback;
}

bool Arguments::flag(size_t position, std::string_view name, bool fallback) const {
  const Value* value = find(position, name);
  return value ? value->truthy() : fallback;
}

const std::string* Arguments::string(size_t position, std::string_view name) const {
  const Value* value = find(position, name);
  return value ? value->string() : nullptr;
}

}  // namespace orrery::text::jinja
