#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "engine/text/jinja_filters.h"
#include "engine/text/jinja_text.h"

namespace orrery::text::jinja {
namespace {

/// The number that fills the text, white space around it left out.
bool real_of(const std::string& text, double& number) {
  const std::string digits(strip(text, nullptr, true, true));
  char* end = nullptr;
  number = std::strtod(digits.c_str(), &end);
  return !digits.empty() && *end == '\0' && digits.find_first_of("xX") == std::string::npos;
}

bool integer_of(const std::string& text, int base, int64_t& number) {
  std::string digits(strip(text, nullptr, true, true));
  std::erase(digits, '_');
  char* end = nullptr;
  errno = 0;
  number = std::strtoll(digits.c_str(), &end, base);
  return !digits.empty() && *end == '\0' && errno == 0;
}

Result<Value> integer_filter(const Value& value, const Arguments& arguments, Budget&) {
  const Value* given = arguments.find(0, "default");
  const Value otherwise = given ? *given : Value(int64_t{0});
  const int base = static_cast<int>(std::clamp<int64_t>(arguments.integer(1, "base", 10), 0, 36));
  double number = 0;
  int64_t storage = 0;
  if (const int64_t* whole = value.as_integer(storage)) return Value(*whole);
  if (const std::string* text = value.string()) {
    if (integer_of(*text, base == 1 ? 10 : base, storage)) return Value(storage);
    if (!real_of(*text, number)) return otherwise;
  } else if (!value.as_number(number)) {
    return otherwise;
  }
  if (!(std::abs(number) < 9e18)) return otherwise;
  return Value(static_cast<int64_t>(number));
}

Result<Value> float_filter(const Value& value, const Arguments& arguments, Budget&) {
  const Value* given = arguments.find(0, "default");
  double number = 0;
  if (value.string() ? real_of(*value.string(), number) : value.as_number(number)) return Value(number);
  return given ? *given : Value(0.0);
}

Result<Value> absolute(const Value& value, const Arguments&, Budget& budget) {
  const Value zero(int64_t{0});
  if (value.real()) return Value(std::abs(*value.real()));
  ORRERY_ASSIGN(const bool negative, compare("<", value, zero, budget));
  return binary(negative ? "-" : "+", zero, value, budget);
}

/// As Python's round: half to even, of the exact value.
Result<Value> round_filter(const Value& value, const Arguments& arguments, Budget&) {
  const int64_t precision = std::clamp<int64_t>(arguments.integer(0, "precision", 0), -300, 300);
  const std::string* method = arguments.string(1, "method");
  double number = 0;
  if (!value.as_number(number)) return render_error(fmt::format("a {} cannot be rounded", value.type_name()));
  if (method && (*method == "ceil" || *method == "floor")) {
    const double scale = std::pow(10.0, static_cast<double>(precision));
    return Value((*method == "ceil" ? std::ceil(number * scale) : std::floor(number * scale)) / scale);
  }
  if (method && *method != "common") return render_error("a method of rounding is common, ceil or floor");
  int64_t storage = 0;
  if (const int64_t* whole = value.as_integer(storage); whole && precision >= 0) return Value(*whole);
  if (precision >= 0 && std::isfinite(number))
    return Value(std::strtod(fmt::format("{:.{}f}", number, precision).c_str(), nullptr));
  const double scale = std::pow(10.0, static_cast<double>(-precision));
  const double rounded = std::nearbyint(number / scale) * scale;
  return value.real() ? Value(rounded) : Value(static_cast<int64_t>(rounded));
}

constexpr NamedFilter kNumberFilters[] = {
    {"int", integer_filter}, {"float", float_filter}, {"abs", absolute}, {"round", round_filter}};

}  // namespace

std::span<const NamedFilter> number_filters() { return kNumberFilters; }

}  // namespace orrery::text::jinja
