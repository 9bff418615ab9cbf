#include "engine/text/tokenizer_json_reader.h"

#include <fmt/format.h>

namespace orrery::text {
namespace {

using nlohmann::json;
constexpr size_t kDeepest = 64;
constexpr size_t kMostNodes = 400'000;  // of the tree beside vocabulary and merges

class JsonReader final : public nlohmann::json_sax<json> {
 public:
  TokenizerJson take() { return std::move(result_); }
  const std::string& problem() const { return problem_; }
  size_t problem_byte() const { return problem_byte_; }

  bool null() override { return value(json()); }
  bool boolean(bool flag) override { return value(json(flag)); }
  bool number_integer(number_integer_t number) override { return integer(number); }
  bool number_unsigned(number_unsigned_t number) override {
    return integer(number > INT64_MAX ? INT64_MAX : static_cast<int64_t>(number));
  }
  bool number_float(number_float_t number, const string_t&) override {
    return place_ == Place::pieces ? score(number) : value(json(number));
  }
  bool binary(binary_t&) override { return refuse("binary values do not belong here"); }

  bool string(string_t& text) override {
    if (place_ == Place::pieces) {
      if (!in_pair_ || !pair_.empty()) return refuse("a piece is not a text and a score");
      pair_.push_back(std::move(text));
      return true;
    }
    if (place_ != Place::merges) return value(json(std::move(text)));
    if (in_pair_) {
      pair_.push_back(std::move(text));
      return pair_.size() <= 2 || refuse("a merge has more than two parts");
    }
    const size_t space = text.find(' ');
    if (space == std::string::npos) return refuse("a merge has no space between its parts");
    result_.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
    return true;
  }

  bool start_object(size_t) override {
    if (place_ != Place::tree) return refuse("an object inside the vocabulary or the merges");
    if (is_model_key("vocab")) return enter(Place::vocabulary);
    return open(json::object());
  }
  bool key(string_t& text) override {
    key_ = std::move(text);
    return true;
  }
  bool end_object() override {
    if (place_ == Place::vocabulary) return leave();
    return close();
  }
  bool start_array(size_t) override {
    if (place_ == Place::vocabulary) return refuse("a list inside the vocabulary");
    if (place_ == Place::merges || place_ == Place::pieces) {
      if (in_pair_) return refuse("a list inside a pair");
      in_pair_ = true;
      pair_.clear();
      return true;
    }
    if (is_model_key("merges")) return enter(Place::merges);
    if (is_model_key("vocab")) return enter(Place::pieces);
    return open(json::array());
  }
  bool end_array() override {
    if (place_ != Place::merges && place_ != Place::pieces) return close();
    if (!in_pair_) return leave();
    in_pair_ = false;
    if (place_ == Place::pieces) return pair_.size() == 2 || refuse("a piece is not a text and a score");
    if (pair_.size() != 2) return refuse("a merge has not two parts");
    result_.merges.emplace_back(std::move(pair_[0]), std::move(pair_[1]));
    return true;
  }
  bool parse_error(size_t byte, const std::string&, const json::exception& error) override {
    problem_byte_ = byte;
    if (problem_.empty()) problem_ = error.what();
    return false;
  }

 private:
  enum class Place { tree, vocabulary, merges, pieces };

  bool refuse(std::string why) {
    problem_ = std::move(why);
    return false;
  }
  bool is_model_key(std::string_view name) const {
    return open_.size() == 2 && in_model_ && open_.back()->is_object() && key_ == name;
  }
  bool enter(Place place) {
    place_ = place;
    return true;
  }
  bool leave() { return enter(Place::tree); }

  /// The second half of a piece; the first is kept until its list ends.
  bool score(double number) {
    if (!in_pair_ || pair_.size() != 1) return refuse("a piece is not a text and a score");
    result_.pieces.emplace_back(pair_[0], number);
    pair_.emplace_back();
    return true;
  }

  bool integer(int64_t number) {
    if (place_ == Place::pieces) return score(static_cast<double>(number));
    if (place_ != Place::vocabulary) return value(json(number));
    result_.vocabulary.emplace_back(std::move(key_), number);
    return true;
  }

  json* attach(json&& node) {
    if (++nodes_ > kMostNodes) {
      refuse("too many values beside the vocabulary");
      return nullptr;
    }
    if (open_.empty()) return &(result_.rest = std::move(node));
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(node));
      return &open_.back()->back();
    }
    json& slot = (*open_.back())[key_];
    slot = std::move(node);
    return &slot;
  }
  bool value(json&& node) {
    if (place_ != Place::tree) return refuse("the vocabulary and the merges hold something of another type");
    return attach(std::move(node)) != nullptr;
  }
  bool open(json&& node) {
    if (open_.size() >= kDeepest) return refuse("nested too deeply");
    if (open_.size() == 1) in_model_ = key_ == "model";
    json* const place = attach(std::move(node));
    if (place) open_.push_back(place);
    return place != nullptr;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  TokenizerJson result_;
  std::vector<json*> open_;  // the containers around; a container grows only while it is the last one
  std::string key_;
  Place place_ = Place::tree;
  bool in_model_ = false, in_pair_ = false;
  std::vector<std::string> pair_;
  size_t nodes_ = 0, problem_byte_ = 0;
  std::string problem_;
};

}  // namespace

Result<TokenizerJson> read_tokenizer_json(std::string_view text, std::string_view name) {
  JsonReader reader;
  const bool whole = json::sax_parse(text.begin(), text.end(), &reader);
  TokenizerJson result = reader.take();
  if (!whole || !result.rest.is_object())
    return Error{ErrorCode::corrupt_file,
                 fmt::format("{} cannot be read: {}", name,
                             reader.problem().empty() ? "not an object" : reader.problem()),
                 reader.problem_byte() ? fmt::format("byte {}", reader.problem_byte()) : "",
                 fmt::format("Get the model's {} again", name)};
  return result;
}

}  // namespace orrery::text
