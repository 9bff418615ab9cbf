// JSON into values, by events: depth and size are bounded while the text is read.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/text/jinja_value.h"

namespace orrery::text::jinja {
namespace {

using nlohmann::json;

class Reader final : public nlohmann::json_sax<json> {
 public:
  explicit Reader(Budget& budget) : budget_(budget) {}

  bool null() override { return put(Value(None{})); }
  bool boolean(bool flag) override { return put(Value(flag)); }
  bool number_integer(number_integer_t number) override { return put(Value(int64_t{number})); }
  bool number_unsigned(number_unsigned_t number) override {
    if (number > static_cast<number_unsigned_t>(INT64_MAX)) return put(Value(static_cast<double>(number)));
    return put(Value(static_cast<int64_t>(number)));
  }
  bool number_float(number_float_t number, const string_t&) override { return put(Value(double{number})); }
  bool binary(binary_t&) override { return false; }
  bool string(string_t& text) override { return put(Value(std::move(text))); }

  bool start_object(size_t) override { return open(std::make_shared<Dict>()); }
  bool key(string_t& text) override {
    open_.back().key = std::move(text);
    return true;
  }
  bool end_object() override {
    const auto dict = std::move(open_.back().dict);
    open_.pop_back();
    return put(Value(dict));
  }
  bool start_array(size_t) override { return open(nullptr); }
  bool end_array() override {
    std::vector<Value> items = std::move(open_.back().items);
    open_.pop_back();
    return put(Value(std::move(items)));
  }
  bool parse_error(size_t position, const std::string&, const json::exception&) override {
    problem_ = fmt::format("it is not JSON at byte {}", position);
    return false;
  }

  Value take() { return std::move(root_); }
  const std::string& problem() const { return problem_; }

 private:
  struct Open {
    std::shared_ptr<Dict> dict;  // null: a list
    std::vector<Value> items;
    std::string key;
  };

  bool open(std::shared_ptr<Dict> dict) {
    if (open_.size() + 2 > static_cast<size_t>(Budget::kDeepest)) {
      problem_ = "it is nested too deeply";
      return false;
    }
    open_.push_back({std::move(dict), {}, {}});
    return true;
  }

  bool put(Value value) {
    if (!budget_.step().ok()) {
      problem_ = "it has too many values";
      return false;
    }
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Open& around = open_.back(); around.dict) {
      around.dict->set(around.key, std::move(value));
    } else {
      around.items.push_back(std::move(value));
    }
    return true;
  }

  Budget& budget_;
  std::vector<Open> open_;
  Value root_;
  std::string problem_;
};

}  // namespace

Result<Value> from_json(std::string_view text, std::string_view what, Budget& budget) {
  Reader reader(budget);
  if (!json::sax_parse(text, &reader))
    return Error{ErrorCode::invalid_argument, fmt::format("{} cannot be read: {}", what, reader.problem()),
                 "chat template", "Give one JSON value in UTF-8"};
  return reader.take();
}

}  // namespace orrery::text::jinja
