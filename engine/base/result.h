// Result<T>: a value, or an Error that a person can act on. Public engine functions return it; nothing public
// throws.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace orrery {

enum class ErrorCode {
  invalid_argument,
  not_found,
  corrupt_file,
  unsupported,
  shape_mismatch,
  out_of_memory,
  io,
  cancelled,
  device,
  internal
};

/// Printed as "WHAT (WHERE): WHAT TO DO". All three are sentences for the person who sees them, without a
/// full stop.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string what;
  std::string where;   // file and byte, node and value, option; may be empty
  std::string advice;  // may be empty

  std::string to_string() const {
    std::string text = what;
    if (!where.empty()) text += " (" + where + ")";
    if (!advice.empty()) text += ": " + advice;
    return text;
  }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace orrery

/// Evaluates a Result<void>; returns its error from the calling function.
#define ORRERY_TRY(expression)                                                                           \
  do {                                                                                                   \
    if (auto orrery_result = (expression); !orrery_result.ok()) return std::move(orrery_result).error(); \
  } while (false)

#define ORRERY_JOIN_(a, b) a##b
#define ORRERY_JOIN(a, b) ORRERY_JOIN_(a, b)
/// ORRERY_ASSIGN(auto x, f()): x is f's value, or the calling function returns f's error.
#define ORRERY_ASSIGN(declaration, expression)                       \
  auto ORRERY_JOIN(orrery_result_, __LINE__) = (expression);         \
  if (!ORRERY_JOIN(orrery_result_, __LINE__).ok())                   \
    return std::move(ORRERY_JOIN(orrery_result_, __LINE__)).error(); \
  declaration = std::move(ORRERY_JOIN(orrery_result_, __LINE__)).value()
