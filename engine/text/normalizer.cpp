#include "engine/text/normalizer.h"

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

class Sequence final : public Normalizer {
 public:
  explicit Sequence(std::vector<NormalizerPtr> steps) : steps_(std::move(steps)) {}
  void apply(std::string& text) const override {
    for (const NormalizerPtr& step : steps_) step->apply(text);
  }

 private:
  std::vector<NormalizerPtr> steps_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}
  void apply(std::string& text) const override {
    if (!text.empty()) text.insert(0, prefix_);
  }

 private:
  std::string prefix_;
};

class Replace final : public Normalizer {
 public:
  Replace(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  void apply(std::string& text) const override { text = replace_all(text, from_, to_); }

 private:
  std::string from_, to_;
};

}  // namespace

NormalizerPtr normalizer_sequence(std::vector<NormalizerPtr> steps) {
  return std::make_shared<Sequence>(std::move(steps));
}
NormalizerPtr prepend_normalizer(std::string prefix) { return std::make_shared<Prepend>(std::move(prefix)); }
NormalizerPtr replace_normalizer(std::string from, std::string to) {
  return std::make_shared<Replace>(std::move(from), std::move(to));
}

}  // namespace orrery::text
