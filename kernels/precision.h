// How much a node may round: what a person asks for, and what a row does. Rows (kernels/row.h) declare what
// they round for a problem, and refuse one that asks for something finer.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::kernels {

/// What operands may be rounded to before they are multiplied; sums are wider. Each also allows what is
/// finer:
///   exact     float32 arithmetic, weights dequantised exactly
///   int16     integers that share a scale by block of columns: 15 bits
///   bf16      8 bits, of weights too
///   int8      integers that share a scale by block of columns: 7 bits
///   balanced  what costs little: bf16 for dense weights where the machine multiplies bf16, int16 for
///             quantised ones
enum class Precision : uint8_t { exact, int16, bf16, int8, balanced };

/// In the order that they are offered in.
inline constexpr std::array<Precision, 5> kPrecisions = {Precision::balanced, Precision::exact,
                                                         Precision::bf16, Precision::int16, Precision::int8};

constexpr std::string_view name_of(Precision precision) {
  constexpr std::string_view kNames[] = {"exact", "int16", "bf16", "int8", "balanced"};
  return kNames[static_cast<size_t>(precision)];
}

constexpr std::optional<Precision> parse_precision(std::string_view name) {
  for (const Precision precision : kPrecisions)
    if (name_of(precision) == name) return precision;
  return std::nullopt;
}

/// What a row rounds operands to before it multiplies them. int16, int8: integers that share a scale by block
/// of columns; f16: times a power of two by token; tf32: 11 bits; f8: 4 bits, which nobody is asked to
/// allow.
enum class Rounded : uint8_t { no, int16, f16, tf32, bf16, int8, f8 };
struct Rounding {
  Rounded activations = Rounded::no, weights = Rounded::no;
  auto operator<=>(const Rounding&) const = default;
};

/// For a person: "float32" for what is not rounded.
constexpr std::string_view name_of(Rounded rounded) {
  constexpr std::string_view kNames[] = {"float32", "int16", "f16", "tf32", "bf16", "int8", "f8"};
  return kNames[static_cast<size_t>(rounded)];
}

/// The coarsest that is allowed.
constexpr Rounded coarsest(Precision precision) {
  switch (precision) {
    case Precision::exact:
      return Rounded::no;
    case Precision::int16:
      return Rounded::int16;
    case Precision::int8:
      return Rounded::int8;
    case Precision::bf16:
    case Precision::balanced:
      break;
  }
  return Rounded::bf16;
}

/// f16 and tf32 are alike: 11 bits.
constexpr int coarseness(Rounded rounded) {
  constexpr int kCoarseness[] = {0, 1, 2, 2, 3, 4, 5};
  return kCoarseness[static_cast<size_t>(rounded)];
}

constexpr bool allows(Precision asked, Rounded rounded) {
  return coarseness(rounded) <= coarseness(coarsest(asked));
}

/// Why a row that rounds so refuses: "rounds activations to bf16; exact arithmetic was asked for". Empty when
/// that is allowed.
inline std::string too_coarse(Precision asked, Rounded rounded) {
  if (allows(asked, rounded)) return "";
  return "rounds activations to " + std::string(name_of(rounded)) + "; " + std::string(name_of(asked)) +
         (asked == Precision::exact ? " arithmetic" : "") + " was asked for";
}

}  // namespace orrery::kernels
