#include "kernels/lab/words.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

namespace orrery::kernels::lab {
namespace {

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// What follows the last separator is a part too, empty or not.
std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end = 0; (end = text.find(at, begin)) != std::string::npos; begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

bool is_sizes(const std::string& word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0 &&
         word.find_first_not_of("0123456789x+") == std::string::npos;
}

/// 0 for what is none, or too large to be meant.
int64_t size_of(const std::string& text) {
  return text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos
             ? 0
             : std::atoll(text.c_str());
}

std::optional<DType> type_named(const std::string& word) {
  for (int i = 0; i <= static_cast<int>(kLastDType); ++i)
    if (same(name_of(static_cast<DType>(i)), word)) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace

Words::Words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) {
    if (sizes_.empty() && is_sizes(word)) {
      words_.clear();  // the label
      const std::vector<std::string> parts = split(word, 'x');
      for (const std::string& part : parts) sizes_.push_back(size_of(part.substr(0, part.find('+'))));
      for (const std::string& part : split(parts.back(), '+')) last_.push_back(size_of(part));
      continue;
    }
    words_.push_back(word);
  }
}

std::vector<int64_t> Words::sizes(size_t count, std::string_view names) {
  constexpr double kMost = 1e11;
  const auto wrong = [](int64_t size) { return size < 1; };
  const bool legal = sizes_.size() == count && std::none_of(sizes_.begin(), sizes_.end(), wrong) &&
                     std::none_of(last_.begin(), last_.end(), wrong);
  if (!legal) {
    fail("the sizes " + std::string(names) + " are missing or not numbers from 1 on");
    last_.assign(1, 1);
    return std::vector<int64_t>(count, 1);
  }
  double all = 1;
  for (const int64_t size : sizes_) all *= static_cast<double>(size);
  if (all > kMost) fail("the sizes " + std::string(names) + " are too large");
  return sizes_;
}

std::optional<std::string> Words::take(std::string_view word) {
  const auto found =
      std::find_if(words_.begin(), words_.end(), [&](const std::string& each) { return same(each, word); });
  if (found == words_.end()) return std::nullopt;
  std::string taken = *found;
  words_.erase(found);
  return taken;
}

bool Words::flag(std::string_view word) { return take(word).has_value(); }

Precision Words::precision() {
  for (const Precision precision : {Precision::exact, Precision::int16, Precision::int8})
    if (flag(name_of(precision))) return precision;
  return Precision::balanced;
}

size_t Words::choice(std::span<const std::string_view> words, size_t otherwise) {
  for (size_t i = 0; i < words.size(); ++i)
    if (take(words[i])) return i;
  return otherwise;
}

double Words::number(std::string_view name, double otherwise) {
  const std::string begin = std::string(name) + "=";
  for (auto word = words_.begin(); word != words_.end(); ++word) {
    if (word->rfind(begin, 0) != 0) continue;
    const std::string value = word->substr(begin.size());
    words_.erase(word);
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (!value.empty() && *end == 0 && number >= 0 && number < 1e9) return number;
    fail(begin + value + " has no number from 0 on");
    return otherwise;
  }
  return otherwise;
}

std::vector<DType> Words::types(DType otherwise) {
  for (auto word = words_.begin(); word != words_.end(); ++word) {
    std::vector<DType> types;
    const std::vector<std::string> parts = split(*word, '+');
    for (const std::string& part : parts)
      if (const std::optional<DType> type = type_named(part)) types.push_back(*type);
    if (types.empty() || types.size() != parts.size()) continue;
    words_.erase(word);
    return types;
  }
  return {otherwise};
}

Distribution Words::inputs(std::initializer_list<Distribution> defined) {
  for (const Distribution distribution : defined)
    if (take("inputs=" + std::string(kDistributionNames[static_cast<size_t>(distribution)])))
      return distribution;
  return *defined.begin();
}

std::string Words::error() const {
  if (!error_.empty()) return error_;
  return words_.empty() ? "" : "not understood: " + words_.front();
}

}  // namespace orrery::kernels::lab
