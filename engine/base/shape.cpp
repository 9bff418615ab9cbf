#include "engine/base/shape.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace orrery {
namespace {

constexpr int64_t kLargestNumber = int64_t{1} << 56;

std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number >= kLargestNumber)
    return std::nullopt;
  return number;
}

/// The nearest number that there is.
int64_t held_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}
int64_t held_product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
  return product;
}

bool is_symbol(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

/// "tokens", "2*tokens", "1": without its sign.
std::optional<Dim> term_in(std::string_view text) {
  if (!text.empty() && text.front() == '-') return std::nullopt;
  if (const auto number = number_in(text)) return Dim(*number);
  const size_t times = text.find('*');
  const auto factor =
      times == std::string_view::npos ? std::optional<int64_t>(1) : number_in(text.substr(0, times));
  const std::string_view symbol = times == std::string_view::npos ? text : text.substr(times + 1);
  if (!factor || !is_symbol(symbol)) return std::nullopt;
  return Dim(Symbol(symbol)) * *factor;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace

std::optional<int64_t> Dim::evaluate(const Bindings& bindings) const {
  int64_t sum = constant_;
  for (const auto& [symbol, coefficient] : terms_) {
    const auto bound = bindings.find(symbol);
    int64_t term = 0;
    if (bound == bindings.end() || __builtin_mul_overflow(bound->second, coefficient, &term) ||
        __builtin_add_overflow(sum, term, &sum))
      return std::nullopt;
  }
  return sum;
}

std::string Dim::to_string() const {
  std::string text;
  for (const auto& [symbol, coefficient] : terms_) {
    if (!text.empty() && coefficient > 0) text += '+';
    if (coefficient == -1)
      text += '-';
    else if (coefficient != 1)
      text += std::to_string(coefficient) + '*';
    text += symbol;
  }
  if (text.empty()) return std::to_string(constant_);
  if (constant_ > 0) text += '+';
  if (constant_ != 0) text += std::to_string(constant_);
  return text;
}

std::optional<Dim> Dim::parse(std::string_view text) {
  constexpr size_t kMostTerms = 64;
  Dim sum;
  for (size_t terms = 0; terms == 0 || !text.empty(); ++terms) {
    const bool negative = text.starts_with('-');
    if (negative || (terms > 0 && text.starts_with('+'))) text.remove_prefix(1);
    const size_t end = std::min(text.find_first_of("+-"), text.size());
    const auto term = term_in(text.substr(0, end));
    if (!term || terms == kMostTerms) return std::nullopt;
    sum = sum + *term * (negative ? -1 : 1);
    text.remove_prefix(end);
  }
  return sum;
}

Dim Dim::operator+(const Dim& other) const {
  Dim sum = *this;
  sum.constant_ = held_sum(sum.constant_, other.constant_);
  for (const auto& [symbol, coefficient] : other.terms_) {
    int64_t& own = sum.terms_[symbol];
    own = held_sum(own, coefficient);
    if (own == 0) sum.terms_.erase(symbol);
  }
  return sum;
}

Dim Dim::operator*(int64_t factor) const {
  if (factor == 0) return 0;
  Dim product = *this;
  product.constant_ = held_product(product.constant_, factor);
  for (auto& [symbol, coefficient] : product.terms_) coefficient = held_product(coefficient, factor);
  return product;
}

int64_t Dim::divisor() const {
  int64_t divisor = constant_;
  for (const auto& [symbol, coefficient] : terms_) divisor = std::gcd(divisor, coefficient);
  return divisor < 0 ? -divisor : divisor;
}

Dim Dim::operator/(int64_t divisor) const {
  Dim quotient = *this;
  quotient.constant_ /= divisor;
  for (auto& [symbol, coefficient] : quotient.terms_) coefficient /= divisor;
  return quotient;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const Dim& dim : shape) text += (text.size() > 1 ? ", " : "") + dim.to_string();
  return text + "]";
}

std::optional<Shape> parse_shape(std::string_view text) {
  Shape shape;
  if (trimmed(text).empty()) return shape;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    auto dim = Dim::parse(trimmed(text.substr(0, comma)));
    if (!dim) return std::nullopt;
    shape.push_back(*std::move(dim));
    if (comma == text.size()) return shape;
    text.remove_prefix(comma + 1);
  }
}

std::optional<int64_t> element_count(const Shape& shape, const Bindings& bindings) {
  int64_t count = 1;
  for (const Dim& dim : shape) {
    const auto extent = dim.evaluate(bindings);
    if (!extent || *extent < 0 || __builtin_mul_overflow(count, *extent, &count)) return std::nullopt;
  }
  return count;
}

}  // namespace orrery
