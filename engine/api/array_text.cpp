#include "engine/api/array_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "engine/api/guard.h"
#include "engine/ops/elements.h"
#include "engine/ops/infer_support.h"

namespace orrery::api {
namespace {

constexpr size_t kMostRank = 16;
constexpr std::string_view kFills[] = {"zeros", "ones", "fill", "range", "random"};
constexpr const char* kHelp =
    "write numbers (1, 2; 3, 4), zeros, ones, fill 0.5, range, random 7, or the path of a .npy file";

Error bad_text(std::string what, std::string advice = kHelp) {
  return {ErrorCode::invalid_argument, std::move(what), "", std::move(advice)};
}

Error not_fitting(const std::string& is, const graph::ValueType& type) {
  return {ErrorCode::shape_mismatch, fmt::format("It is {}, and {} is asked", is, to_string(type)), "",
          "give it the dims that are asked"};
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string shown(std::string_view text) { return std::string(text.substr(0, 40)); }

std::optional<double> number_in(std::string_view text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

/// Elements of a type, one after another, checked as they come.
class Elements {
 public:
  explicit Elements(Array& array) : array_(array) {}

  Result<void> add(double number) {
    Result<void> added;
    with_element(array_.dtype, [&](auto type) {
      constexpr DType kType = decltype(type)::value;
      added = check<kType>(number);
      if (!added.ok()) return;
      const auto element = ops::element_of<kType>(number);
      std::memcpy(array_.data.get() + at_, &element, sizeof(element));
      at_ += sizeof(element);
    });
    return added;
  }

 private:
  template <DType dtype>
  static Result<void> check(double number) {
    using Kind = Element<dtype>;
    if constexpr (is_float(dtype)) return {};
    const double least = dtype == DType::boolean ? 0 : static_cast<double>(std::numeric_limits<Kind>::min());
    const double most = dtype == DType::boolean ? 1 : static_cast<double>(std::numeric_limits<Kind>::max());
    if (number == std::floor(number) && number >= least && number < most + 1) return {};  // most + 1 is exact
    return bad_text(fmt::format("{} is no {}", number, name_of(dtype)),
                    "write another number, or give the input another dtype");
  }

  Array& array_;
  size_t at_ = 0;
};

/// Numbers with how they are nested: commas part numbers, one semicolon rows, two of them planes, and so do
/// brackets that close and open.
class Numbers {
 public:
  Result<void> read(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const char sign = text[at];
      if (std::string_view(" \t\r\n,;[]").find(sign) != std::string_view::npos) {
        ORRERY_TRY(part(sign));
        ++at;
        continue;
      }
      const size_t end = std::min(text.find_first_of(" \t\r\n,;[]", at), text.size());
      const std::string_view word = text.substr(at, end - at);
      const auto number = number_in(word);
      if (!number) return bad_text(fmt::format("\"{}\" is no number", shown(word)));
      ORRERY_TRY(begin_number());
      numbers.push_back(*number);
      at = end;
    }
    if (open_ != 0) return bad_text("A bracket is not closed", "write [[1, 2], [3, 4]]");
    if (numbers.empty()) return bad_text("There are no numbers");
    return finish();
  }

  std::vector<double> numbers;
  std::vector<int64_t> shape;  // outermost first

 private:
  Result<void> part(char sign) {
    if (sign == ';') ++level_;
    if (sign == '[') {
      if (++open_ > kMostRank) return bad_text("There are too many brackets");
      depth_ = std::max(depth_, open_);
    }
    if (sign == ']') {
      if (open_ == 0) return bad_text("A bracket closes that is not open", "write [[1, 2], [3, 4]]");
      --open_;
      if (!numbers.empty()) ++level_;
    }
    return level_ > kMostRank ? Result<void>(bad_text("There are too many dims")) : Result<void>();
  }

  /// Where a level begins anew, what lies below it is as long as it was before.
  Result<void> begin_number() {
    if (numbers.empty()) {
      level_ = 0;
      return {};
    }
    counts_.resize(std::max(counts_.size(), level_ + 1), 1);
    for (size_t below = 0; below < level_; ++below) ORRERY_TRY(close(below));
    ++counts_[level_];
    level_ = 0;
    return {};
  }

  Result<void> close(size_t level) {
    lengths_.resize(std::max(lengths_.size(), level + 1), 0);
    if (lengths_[level] != 0 && lengths_[level] != counts_[level])
      return bad_text(fmt::format("Rows are of {} and of {}", lengths_[level], counts_[level]),
                      "make them as long as each other");
    lengths_[level] = std::exchange(counts_[level], 1);
    return {};
  }

  Result<void> finish() {
    counts_.resize(std::max(counts_.size(), size_t{1}), 1);
    for (size_t level = 0; level < counts_.size(); ++level) ORRERY_TRY(close(level));
    for (size_t level = counts_.size(); level < depth_; ++level) lengths_.push_back(1);
    shape.assign(lengths_.rbegin(), lengths_.rend());
    return {};
  }

  std::vector<int64_t> counts_, lengths_;  // by the level, the innermost first
  size_t level_ = 0, open_ = 0, depth_ = 0;
};

/// With outer dims of 1 where some are missing; nothing where they are other dims.
std::optional<std::vector<int64_t>> fitted(std::vector<int64_t> shape, const Shape& asked) {
  while (shape.size() > asked.size() && shape.front() == 1) shape.erase(shape.begin());
  if (shape.size() > asked.size()) return std::nullopt;
  shape.insert(shape.begin(), asked.size() - shape.size(), 1);
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (asked[dim].is_constant() && asked[dim].constant() != shape[dim]) return std::nullopt;
  return shape;
}

Result<Array> numbers_in(std::string_view text, const graph::ValueType& type) {
  Numbers read;
  ORRERY_TRY(read.read(text));
  auto shape = fitted(read.shape, type.shape);
  if (!shape) return not_fitting(fmt::format("[{}]", fmt::join(read.shape, ", ")), type);
  ORRERY_ASSIGN(Array array, make_array(type.dtype, *std::move(shape)));
  Elements elements(array);
  for (const double number : read.numbers) ORRERY_TRY(elements.add(number));
  return array;
}

/// Of a fill: those that are written, else those of the type.
Result<std::vector<int64_t>> sizes_in(std::string_view text, const graph::ValueType& type) {
  if (text.empty()) {
    std::vector<int64_t> sizes;
    for (const Dim& dim : type.shape) {
      if (!dim.is_constant())
        return bad_text(fmt::format("Nothing tells how large {} is", dim.to_string()),
                        "add the sizes in brackets: zeros [4, 64]");
      sizes.push_back(dim.constant());
    }
    return sizes;
  }
  if (!text.starts_with('[') || !text.ends_with(']'))
    return bad_text(fmt::format("\"{}\" is no list of sizes", shown(text)),
                    "write them in brackets: zeros [4, 64]");
  Shape sizes = parse_shape(text.substr(1, text.size() - 2)).value_or(Shape());
  std::vector<int64_t> numbers;
  for (const Dim& dim : sizes) {
    if (!dim.is_constant() || dim.constant() < 1)
      return bad_text(fmt::format("\"{}\" is no list of sizes", shown(text)),
                      "write numbers from 1: zeros [4, 64]");
    numbers.push_back(dim.constant());
  }
  auto shape = fitted(numbers, type.shape);
  if (!shape) return not_fitting(std::string(text), type);
  return *std::move(shape);
}

/// "fill 0.5 [4, 64]" as it is written; nothing is made of it yet.
struct Fill {
  std::string_view word;
  double number = 0;  // of fill the element, of random the seed
  std::vector<int64_t> sizes;
};

/// Whether the type has the largest element of the fill.
Result<void> check_largest(const Fill& fill, DType dtype) {
  if (fill.word == "random" || fill.word == "zeros") return {};
  const auto count = element_count(Shape(fill.sizes.begin(), fill.sizes.end()), {});
  ORRERY_ASSIGN(Array one, make_array(dtype, {1}));
  return Elements(one).add(fill.word == "range"
                               ? static_cast<double>(std::max<int64_t>(count.value_or(1) - 1, 0))
                           : fill.word == "ones" ? 1
                                                 : fill.number);
}

/// Nothing where the text is no fill.
std::optional<Result<Fill>> fill_in(std::string_view text, const graph::ValueType& type) {
  const std::string_view word = text.substr(0, text.find_first_of(" \t["));
  if (std::ranges::find(kFills, word) == std::end(kFills)) return std::nullopt;
  return [&]() -> Result<Fill> {
    const std::string_view rest = text.substr(word.size());
    const size_t bracket = std::min(rest.find('['), rest.size());
    const std::string_view given = trimmed(rest.substr(0, bracket));
    const std::optional<double> number = number_in(given);
    if (!given.empty() && !number) return bad_text(fmt::format("\"{}\" is no number", shown(given)));
    const bool numbered = word == "fill" || word == "random";
    if (number && !numbered) return bad_text(fmt::format("{} takes no number", word), "write fill 0.5");
    if (!number && word == "fill") return bad_text("fill needs a number", "write fill 0.5");
    Fill fill{word, number.value_or(0), {}};
    if (word == "random" && (fill.number < 0 || fill.number > 9e15 || fill.number != std::floor(fill.number)))
      return bad_text(fmt::format("{} is no seed", fill.number), "write a whole number from 0: random 7");
    ORRERY_ASSIGN(fill.sizes, sizes_in(trimmed(rest.substr(bracket)), type));
    ORRERY_TRY(check_largest(fill, type.dtype));
    return fill;
  }();
}

/// The same numbers on every machine: the bits of the engine, no distribution of a library.
class Drawn {
 public:
  Drawn(double seed, DType dtype) : engine_(static_cast<uint64_t>(seed)), dtype_(dtype) {}
  double next() {
    const double share = static_cast<double>(engine_() >> 11) * 0x1p-53;
    return is_float(dtype_) ? share * 2 - 1 : std::floor(share * (dtype_ == DType::boolean ? 2 : 100));
  }

 private:
  std::mt19937_64 engine_;
  DType dtype_;
};

Result<Array> filled(Fill fill, const graph::ValueType& type) {
  ORRERY_ASSIGN(Array array, make_array(type.dtype, std::move(fill.sizes)));
  Elements elements(array);
  Drawn drawn(fill.number, type.dtype);
  const int64_t count = element_count(Shape(array.shape.begin(), array.shape.end()), {}).value_or(0);
  for (int64_t i = 0; i < count; ++i)
    ORRERY_TRY(elements.add(fill.word == "random"  ? drawn.next()
                            : fill.word == "range" ? static_cast<double>(i)
                            : fill.word == "ones"  ? 1
                                                   : fill.number));
  return array;
}

Result<Array> file_in(const std::string& path, const graph::ValueType& type) {
  ORRERY_ASSIGN(Array array, read_array(path));
  const auto shape = fitted(array.shape, type.shape);
  if (array.dtype == type.dtype && shape == array.shape) return array;
  return not_fitting(to_string(array.type()), type);
}

/// How many dims a text has, by its opening brackets, by the sizes in brackets after a word, or by its
/// separators.
size_t dims_in(std::string_view text) {
  size_t dims = 1;
  if (text.starts_with('['))
    dims = static_cast<size_t>(std::ranges::count(text.substr(0, text.find_first_not_of("[ ")), '['));
  else if (const size_t sizes = text.find('['); sizes != std::string_view::npos)
    dims += static_cast<size_t>(std::ranges::count(text.substr(sizes), ','));
  else if (text.find(';') != std::string_view::npos)
    dims = text.find(";;") != std::string_view::npos ? 3 : 2;
  return std::min(dims, kMostRank + 1);  // more are refused
}

}  // namespace

Result<Array> array_in(std::string_view text, const graph::ValueType& type) {
  return guarded([&]() -> Result<Array> {
    const std::string_view words = trimmed(text);
    if (words.empty()) return bad_text("Nothing is given");
    if (words.ends_with(".npy")) return file_in(std::string(words), type);
    if (auto fill = fill_in(words, type)) {
      if (!fill->ok()) return fill->error();
      return filled(std::move(*fill).value(), type);
    }
    return numbers_in(words, type);
  });
}

Result<Array> array_in(std::string_view text) {
  return guarded([&]() -> Result<Array> {
    std::string_view words = trimmed(text);
    if (words.ends_with(".npy")) return read_array(std::string(words));
    graph::ValueType type{DType::f32, {}};
    const size_t first = words.find(' ');
    if (const auto dtype = element_type_in(words.substr(0, first));
        dtype && first != std::string_view::npos) {
      type.dtype = *dtype;
      words = trimmed(words.substr(first));
    }
    const size_t dims = dims_in(words);
    for (size_t d = 0; d < dims; ++d) type.shape.emplace_back(Symbol(fmt::format("n{}", d)));
    return array_in(words, type);
  });
}

Result<graph::ValueType> array_type_in(std::string_view text, const graph::ValueType& type) {
  return guarded([&]() -> Result<graph::ValueType> {
    if (const auto fill = fill_in(trimmed(text), type)) {
      if (!fill->ok()) return fill->error();
      return graph::ValueType{type.dtype, Shape((*fill)->sizes.begin(), (*fill)->sizes.end())};
    }
    ORRERY_ASSIGN(const Array array, array_in(text, type));
    return array.type();
  });
}

std::optional<DType> element_type_in(std::string_view name) {
  const auto dtype = ops::parse_dtype(name);
  return dtype && is_element(*dtype) ? dtype : std::nullopt;
}

double number_at(const Array& array, int64_t element) {
  double number = 0;
  with_element(array.dtype, [&](auto type) {
    constexpr DType kType = decltype(type)::value;
    Element<kType> held{};
    const size_t at = static_cast<size_t>(element) * sizeof(held);
    if (element < 0 || at + sizeof(held) > array.bytes) return;
    std::memcpy(&held, array.data.get() + at, sizeof(held));
    number = ops::number_of<kType>(held);
  });
  return number;
}

}  // namespace orrery::api
