#include "engine/text/decoder.h"

#include "engine/text/byte_level.h"
#include "engine/text/piece_table.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

/// A step that does the same to every token.
class EachStep : public DecodeStep {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) apply_alone(token);
  }
};

class ReplaceStep final : public EachStep {
 public:
  ReplaceStep(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  void apply_alone(std::string& token) const override { token = replace_all(token, from_, to_); }

 private:
  std::string from_, to_;
};

class ReplacePatternStep final : public EachStep {
 public:
  ReplacePatternStep(Regex pattern, std::string to) : pattern_(std::move(pattern)), to_(std::move(to)) {}
  void apply_alone(std::string& token) const override { token = pattern_.replace_all(token, to_); }

 private:
  Regex pattern_;
  std::string to_;
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

class ByteLevelStep final : public DecodeStep {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::string all;
    for (std::string& token : tokens) {
      apply_alone(token);
      all += token;
    }
    tokens.assign(1, std::move(all));
  }
  void apply_alone(std::string& token) const override {
    if (auto bytes = characters_to_bytes(token)) token = *std::move(bytes);
  }
};

/// The reference cleans each token by itself, in this order.
void clean_up(std::string& token) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRules) token = replace_all(token, from, to);
}

class WordPieceStep final : public DecodeStep {
 public:
  WordPieceStep(std::string prefix, bool clean) : prefix_(std::move(prefix)), clean_(clean) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i].starts_with(prefix_))
        tokens[i].erase(0, prefix_.size());
      else if (i > 0)
        tokens[i].insert(tokens[i].begin(), ' ');
      if (clean_) clean_up(tokens[i]);
    }
  }
  void apply_alone(std::string& token) const override {
    if (token.starts_with(prefix_) && token.size() > prefix_.size()) token.erase(0, prefix_.size());
  }

 private:
  std::string prefix_;
  bool clean_;
};

class MetaspaceStep final : public DecodeStep {
 public:
  MetaspaceStep(std::string replacement, bool drop_first)
      : replacement_(std::move(replacement)), drop_first_(drop_first) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = replace_all(tokens[i], replacement_, i == 0 && drop_first_ ? "" : " ");
  }
  void apply_alone(std::string& token) const override { token = replace_all(token, replacement_, " "); }

 private:
  std::string replacement_;
  bool drop_first_;
};

class SuffixStep final : public DecodeStep {
 public:
  explicit SuffixStep(std::string suffix) : suffix_(std::move(suffix)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
  }
  void apply_alone(std::string& token) const override { token = replace_all(token, suffix_, " "); }

 private:
  std::string suffix_;
};

}  // namespace

std::shared_ptr<const DecodeStep> byte_level_step() { return std::make_shared<ByteLevelStep>(); }
std::shared_ptr<const DecodeStep> wordpiece_step(std::string prefix, bool clean_up) {
  return std::make_shared<WordPieceStep>(std::move(prefix), clean_up);
}
std::shared_ptr<const DecodeStep> metaspace_step(std::string replacement, bool drop_first) {
  return std::make_shared<MetaspaceStep>(std::move(replacement), drop_first);
}
std::shared_ptr<const DecodeStep> suffix_step(std::string suffix) {
  return std::make_shared<SuffixStep>(std::move(suffix));
}
std::shared_ptr<const DecodeStep> replace_step(Regex pattern, std::string to) {
  return std::make_shared<ReplacePatternStep>(std::move(pattern), std::move(to));
}
std::shared_ptr<const DecodeStep> replace_step(std::string from, std::string to) {
  return std::make_shared<ReplaceStep>(std::move(from), std::move(to));
}
std::shared_ptr<const DecodeStep> byte_fallback_step() { return std::make_shared<ByteFallbackStep>(); }
std::shared_ptr<const DecodeStep> fuse_step() { return std::make_shared<FuseStep>(); }
std::shared_ptr<const DecodeStep> strip_step(char32_t content, size_t start, size_t stop) {
  return std::make_shared<StripStep>(content, start, stop);
}

}  // namespace orrery::text
