#include "engine/io/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "engine/io/reader.h"

namespace orrery::io {
namespace {

constexpr size_t kMostLevels = 64;
constexpr size_t kLongestKey = 1024;
constexpr uint64_t kEntryCost = 192, kElementCost = 64;

using Scalar = std::variant<std::monostate, bool, int64_t, double, std::string>;

/// Receives the events of nlohmann's parser (which does not recurse); false stops it, with the error kept.
class Flattener : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Flattener(std::string_view where) : where_(where) {}
  Result<Metadata> take() {
    if (error_) return *std::move(error_);
    return std::move(metadata_);
  }

  bool null() override { return scalar({}); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(int64_t value) override { return scalar(value); }
  bool number_unsigned(uint64_t value) override {
    if (std::in_range<int64_t>(value)) return scalar(static_cast<int64_t>(value));
    return scalar(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) override { return scalar(value); }
  bool string(std::string& value) override { return scalar(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) override { return fail("Binary data in JSON"); }

  bool start_object(size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(true); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    levels_.back().key = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& problem) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without its code.
    std::string reason = problem.what();
    if (const size_t end = reason.find("] "); end != std::string::npos) reason.erase(0, end + 2);
    error_ =
        corrupt("Not legal JSON: " + reason.substr(0, 300), fmt::format("{}, byte {}", where_, position));
    return false;
  }

 private:
  struct Level {
    bool array = false;
    std::string path;   // of this container; empty for the root
    std::string key;    // the member that is read now
    size_t index = 0;   // the element that is read now
    bool plain = true;  // an array of scalars so far
    std::vector<Scalar> items;
  };

  bool fail(std::string what) {
    error_ = corrupt(std::move(what), where_);
    return false;
  }

  std::string child_path(const Level& level, size_t index) const {
    const std::string own = level.array ? std::to_string(index) : level.key;
    return level.path.empty() ? own : level.path + "." + own;
  }

  bool open(bool array) {
    if (levels_.empty() && array) return fail("The root of the JSON text is not an object");
    if (levels_.size() == kMostLevels)
      return fail(fmt::format("JSON nested more than {} levels deep", kMostLevels));
    Level level;
    level.array = array;
    if (!levels_.empty()) {
      if (levels_.back().array && !scatter(levels_.back())) return false;
      level.path = child_path(levels_.back(), levels_.back().index);
      if (level.path.size() > kLongestKey)
        return fail(fmt::format("A key of more than {} bytes", kLongestKey));
    }
    levels_.push_back(std::move(level));
    return true;
  }

  bool close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    if (level.array && level.plain && !gather(level)) return false;
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }

  bool scalar(Scalar value) {
    if (levels_.empty()) return fail("The root of the JSON text is not an object");
    Level& level = levels_.back();
    if (level.array && level.plain) {
      if (!allowance_.take(kElementCost)) return fail("The JSON text has too many entries");
      level.items.push_back(std::move(value));
      ++level.index;
      return true;
    }
    return store(child_path(level, level.index++), std::move(value));
  }

  /// The elements kept so far become entries of their own.
  bool scatter(Level& level) {
    level.plain = false;
    for (size_t i = 0; i < level.items.size(); ++i)
      if (!store(child_path(level, i), std::move(level.items[i]))) return false;
    level.items.clear();
    return true;
  }

  /// One value out of an array of scalars, when they are of one kind.
  bool gather(Level& level) {
    const auto all = [&](auto... types) {
      return std::all_of(level.items.begin(), level.items.end(),
                         [&](const Scalar& item) { return ((item.index() == types) || ...); });
    };
    constexpr size_t kBool = 1, kInteger = 2, kReal = 3, kText = 4;
    if (all(kBool, kInteger)) return put(level.path, collect<int64_t>(level.items));
    if (all(kInteger, kReal)) return put(level.path, collect<double>(level.items));
    if (all(kText)) return put(level.path, collect<std::string>(level.items));
    return scatter(level);
  }

  template <class T>
  static std::vector<T> collect(std::vector<Scalar>& items) {
    std::vector<T> values;
    values.reserve(items.size());
    for (Scalar& item : items)
      std::visit(
          [&]<class From>(From& value) {
            if constexpr (std::is_same_v<From, T>)
              values.push_back(std::move(value));
            else if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<T>)
              values.push_back(static_cast<T>(value));
          },
          item);
    return values;
  }

  bool store(std::string key, Scalar value) {
    return std::visit(
        [&]<class T>(T& held) {
          if constexpr (std::is_same_v<T, std::monostate>)
            return true;
          else
            return put(std::move(key), std::move(held));
        },
        value);
  }

  bool put(std::string key, Metadata::Value value) {
    if (key.size() > kLongestKey) return fail(fmt::format("A key of more than {} bytes", kLongestKey));
    if (!allowance_.take(kEntryCost + key.size())) return fail("The JSON text has too many entries");
    if (metadata_.find(key)) return fail(fmt::format("The key {} is there twice", shown(key)));
    metadata_.set(std::move(key), std::move(value));
    return true;
  }

  std::string where_;
  std::vector<Level> levels_;
  Metadata metadata_;
  Allowance allowance_{0};
  std::optional<Error> error_;
};

}  // namespace

Result<Metadata> flatten_json(std::string_view text, std::string_view where) {
  Flattener flattener(where);
  // A byte order mark is skipped by the parser; everything after the root's end is an error.
  nlohmann::json::sax_parse(text.begin(), text.end(), &flattener);
  return flattener.take();
}

}  // namespace orrery::io
