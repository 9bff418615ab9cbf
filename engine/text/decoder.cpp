#include "engine/text/decoder.h"

#include "engine/text/piece_table.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

class ReplaceStep final : public DecodeStep {
 public:
  ReplaceStep(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) apply_alone(token);
  }
  void apply_alone(std::string& token) const override { token = replace_all(token, from_, to_); }

 private:
  std::string from_, to_;
};

class ByteFallbackStep final : public DecodeStep {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::vector<std::string> result;
    std::string bytes;
    const auto flush = [&] {
      if (is_valid_utf8(bytes)) {
        if (!bytes.empty()) result.push_back(bytes);
      } else {
        for (size_t i = 0; i < bytes.size(); ++i) append_utf8(result.emplace_back(), kReplacement);
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const int byte = byte_of_token(token); byte >= 0) {
        bytes.push_back(static_cast<char>(byte));
      } else {
        flush();
        result.push_back(std::move(token));
      }
    }
    flush();
    tokens = std::move(result);
  }
  void apply_alone(std::string& token) const override {
    if (const int byte = byte_of_token(token); byte >= 0) token.assign(1, static_cast<char>(byte));
  }
};

class FuseStep final : public DecodeStep {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::string all;
    for (const std::string& token : tokens) all += token;
    tokens.assign(1, std::move(all));
  }
  void apply_alone(std::string&) const override {}
};

class StripStep final : public DecodeStep {
 public:
  StripStep(char32_t content, size_t start, size_t stop) : start_(start), stop_(stop) {
    append_utf8(content_, content);
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      for (size_t i = 0; i < start_ && token.starts_with(content_); ++i) token.erase(0, content_.size());
      for (size_t i = 0; i < stop_ && token.ends_with(content_); ++i)
        token.resize(token.size() - content_.size());
    }
  }
  void apply_alone(std::string&) const override {}  // only the ends of a whole text lose something

 private:
  std::string content_;
  size_t start_, stop_;
};

}  // namespace

std::shared_ptr<const DecodeStep> replace_step(std::string from, std::string to) {
  return std::make_shared<ReplaceStep>(std::move(from), std::move(to));
}
std::shared_ptr<const DecodeStep> byte_fallback_step() { return std::make_shared<ByteFallbackStep>(); }
std::shared_ptr<const DecodeStep> fuse_step() { return std::make_shared<FuseStep>(); }
std::shared_ptr<const DecodeStep> strip_step(char32_t content, size_t start, size_t stop) {
  return std::make_shared<StripStep>(content, start, stop);
}

}  // namespace orrery::text
