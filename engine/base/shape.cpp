#include "engine/base/shape.h"

#include <numeric>

namespace orrery {

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

Dim Dim::operator+(const Dim& other) const {
  Dim sum = *this;
  sum.constant_ += other.constant_;
  for (const auto& [symbol, coefficient] : other.terms_)
    if ((sum.terms_[symbol] += coefficient) == 0) sum.terms_.erase(symbol);
  return sum;
}

Dim Dim::operator*(int64_t factor) const {
  if (factor == 0) return 0;
  Dim product = *this;
  product.constant_ *= factor;
  for (auto& [symbol, coefficient] : product.terms_) coefficient *= factor;
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

std::optional<int64_t> element_count(const Shape& shape, const Bindings& bindings) {
  int64_t count = 1;
  for (const Dim& dim : shape) {
    const auto extent = dim.evaluate(bindings);
    if (!extent || *extent < 0 || __builtin_mul_overflow(count, *extent, &count)) return std::nullopt;
  }
  return count;
}

}  // namespace orrery
