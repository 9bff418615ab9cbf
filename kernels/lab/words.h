// Problems told in words: "decode 1x576x1536 Q8_0 window=100". Words before the first sizes are a label.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/lab/inputs.h"
#include "kernels/precision.h"

namespace orrery::kernels::lab {

/// Each question takes the word that answers it away; the first thing that is wrong is kept in error().
class Words {
 public:
  explicit Words(std::string_view text);

  /// "1x576x1536": `count` sizes of at least 1 each, else an error that names them by `names`.
  std::vector<int64_t> sizes(size_t count, std::string_view names);
  /// "1x576x1536+192+192": the last of them may be several.
  std::vector<int64_t> last_sizes() const { return last_; }
  /// Whether the word is there.
  bool flag(std::string_view word);
  /// The index of the one that is there.
  size_t choice(std::span<const std::string_view> words, size_t otherwise);
  /// "window=100"
  double number(std::string_view name, double otherwise);
  int64_t count(std::string_view name, int64_t otherwise) {
    return static_cast<int64_t>(number(name, static_cast<double>(otherwise)));
  }
  /// "Q4_K+Q6_K", in any case.
  std::vector<DType> types(DType otherwise);
  /// "exact", "int16" or "int8", else balanced; bf16 is the name of a type.
  Precision precision();
  /// "inputs=heavy", one of those that the op defines.
  Distribution inputs(std::initializer_list<Distribution> defined);

  /// Says what is wrong, with a word that nothing asked for too. Empty: nothing.
  std::string error() const;
  void fail(const std::string& what) {
    if (error_.empty()) error_ = what;
  }

 private:
  std::optional<std::string> take(std::string_view word);

  std::vector<std::string> words_;
  std::vector<int64_t> sizes_, last_;
  std::string error_;
};

}  // namespace orrery::kernels::lab
