// Typed key-values of a model: GGUF metadata as it is, config.json flattened with dots ("id2label.0",
// "rope_scaling.type").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace orrery {

class Metadata {
 public:
  using Value = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                             std::vector<std::string>>;

  void set(std::string key, Value value) { values_.insert_or_assign(std::move(key), std::move(value)); }
  const std::map<std::string, Value, std::less<>>& all() const { return values_; }
  const Value* find(std::string_view key) const {
    const auto it = values_.find(key);
    return it == values_.end() ? nullptr : &it->second;
  }

  /// Nothing when absent or of another type. integer() and number() convert between integers and doubles
  /// where exact.
  std::optional<int64_t> integer(std::string_view key) const {
    if (const Value* value = find(key)) {
      if (const auto* number = std::get_if<int64_t>(value)) return *number;
      if (const auto* flag = std::get_if<bool>(value)) return *flag ? 1 : 0;
      if (const auto* real = std::get_if<double>(value);
          real && *real >= -9e15 && *real <= 9e15 &&
          static_cast<double>(static_cast<int64_t>(*real)) == *real)
        return static_cast<int64_t>(*real);
    }
    return std::nullopt;
  }
  std::optional<double> number(std::string_view key) const {
    if (const Value* value = find(key)) {
      if (const auto* real = std::get_if<double>(value)) return *real;
      if (const auto* number = std::get_if<int64_t>(value)) return static_cast<double>(*number);
    }
    return std::nullopt;
  }
  std::optional<bool> flag(std::string_view key) const {
    const Value* value = find(key);
    const auto* flag = value ? std::get_if<bool>(value) : nullptr;
    return flag ? std::optional(*flag) : std::nullopt;
  }
  /// Null when absent or of another type.
  const std::string* text(std::string_view key) const { return get<std::string>(key); }
  const std::vector<std::string>* texts(std::string_view key) const {
    return get<std::vector<std::string>>(key);
  }
  const std::vector<int64_t>* integers(std::string_view key) const { return get<std::vector<int64_t>>(key); }
  const std::vector<double>* numbers(std::string_view key) const { return get<std::vector<double>>(key); }

 private:
  template <class T>
  const T* get(std::string_view key) const {
    const Value* value = find(key);
    return value ? std::get_if<T>(value) : nullptr;
  }
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace orrery
