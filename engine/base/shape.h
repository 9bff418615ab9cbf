// Shapes whose dims are affine integer expressions of symbols: 4*tokens + 1. Every step binds the symbols to
// numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Symbols are interned names; the well-known ones are those of a step (see kTokens and the others).
using Symbol = std::string;
inline const Symbol kTokens = "tokens";        // rows of the packed step
inline const Symbol kSequences = "sequences";  // sequences in the step
inline const Symbol kOutputs = "outputs";      // rows whose logits are asked for
/// Bound besides by who knows them, for costs: the tokens of a sequence after the step, and the bytes of an
/// element of the KV cache.
inline const Symbol kContext = "context", kKvBytes = "kv_bytes";

using Bindings = std::map<Symbol, int64_t>;

/// constant + sum of coefficient * symbol; zero coefficients are never stored, so equal expressions compare
/// equal.
class Dim {
 public:
  Dim(int64_t constant = 0) : constant_(constant) {}  // NOLINT: implicit on purpose
  Dim(const Symbol& symbol) : terms_{{symbol, 1}} {}  // NOLINT

  bool is_constant() const { return terms_.empty(); }
  int64_t constant() const { return constant_; }
  const std::map<Symbol, int64_t>& terms() const { return terms_; }

  /// Nothing when a symbol is not bound or the value does not fit 64 bits.
  std::optional<int64_t> evaluate(const Bindings& bindings) const;
  std::string to_string() const;  // "tokens", "2*tokens+1", "576"
  /// Reads what to_string writes; nothing for any other text. Numbers are below 2^56.
  static std::optional<Dim> parse(std::string_view text);

  friend bool operator==(const Dim&, const Dim&) = default;
  /// Numbers that do not fit 64 bits are held at the ends: no memory holds so much.
  Dim operator+(const Dim& other) const;
  Dim operator*(int64_t factor) const;
  /// The greatest number that divides it whatever the symbols are; 0 for 0.
  int64_t divisor() const;
  /// `divisor` divides it.
  Dim operator/(int64_t divisor) const;

 private:
  int64_t constant_ = 0;
  std::map<Symbol, int64_t> terms_;
};

/// Outermost dim first.
using Shape = std::vector<Dim>;
std::string to_string(const Shape& shape);  // "[tokens, 576]"
/// Dims between commas, spaces allowed: "n, 64"; no dims of an empty text. Nothing for any other text.
std::optional<Shape> parse_shape(std::string_view text);
std::optional<int64_t> element_count(const Shape& shape, const Bindings& bindings);

}  // namespace orrery
