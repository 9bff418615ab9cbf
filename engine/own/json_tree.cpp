#include "engine/own/json_tree.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "engine/io/reader.h"

namespace orrery::own {
namespace {

constexpr size_t kMostLevels = 16;
constexpr uint64_t kValueCost = 64;  // bytes of a value in the tree, about

/// Receives the events of nlohmann's parser, which does not recurse; false stops it, with the error kept.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, std::string_view where) : where_(where), allowance_(text.size()) {}
  Result<Json> take() {
    if (error_) return *std::move(error_);
    return std::move(root_);
  }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(int64_t value) override { return put(value); }
  bool number_unsigned(uint64_t value) override { return put(value); }
  bool number_float(double value, const std::string&) override { return put(value); }
  bool string(std::string& value) override {
    if (!allowance_.take(value.size())) return too_many();
    return put(std::move(value));
  }
  bool binary(Json::binary_t&) override { return fail("Binary data in JSON"); }

  bool start_object(size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    if (open_.back()->contains(name)) return fail(fmt::format("The key {} is there twice", io::shown(name)));
    key_ = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& problem) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without its code.
    std::string reason = problem.what();
    if (const size_t end = reason.find("] "); end != std::string::npos) reason.erase(0, end + 2);
    error_ =
        io::corrupt("Not legal JSON: " + reason.substr(0, 300), fmt::format("{}, byte {}", where_, position));
    return false;
  }

 private:
  bool fail(std::string what) {
    error_ = io::corrupt(std::move(what), where_);
    return false;
  }

  bool too_many() { return fail("The JSON text has too many entries"); }

  bool open(Json container) {
    if (open_.size() == kMostLevels)
      return fail(fmt::format("JSON nested more than {} levels deep", kMostLevels));
    if (!allowance_.take(kValueCost)) return too_many();
    open_.push_back(&place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  bool put(Json value) {
    if (!allowance_.take(kValueCost)) return too_many();
    place(std::move(value));
    return true;
  }

  /// The value where it belongs. What was opened stays where it is until it is closed: only the innermost
  /// grows.
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_object()) return parent[std::exchange(key_, {})] = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }

  std::string where_, key_;
  io::Allowance allowance_;
  Json root_;
  std::vector<Json*> open_;  // outermost first
  std::optional<Error> error_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view where) {
  Builder builder(text, where);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace orrery::own
