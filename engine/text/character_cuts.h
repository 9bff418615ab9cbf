// Cuts a text between characters that no token has side by side: no token reaches across such a place, so
// what stands before it and after it can be spelt apart, and kept as words are.
#pragma once

#include <memory>
#include <string_view>

#include "engine/text/pre_tokenizer.h"

namespace orrery::text {

class CharacterCuts final : public PreTokenizerStep {
 public:
  CharacterCuts();
  ~CharacterCuts() override;
  /// A token that may spell running text. All of them come before the first split().
  void add(std::string_view token);
  void split(const Segment& segment, SegmentSink& out) const override;

 private:
  struct Pairs;
  std::unique_ptr<Pairs> pairs_;
};

}  // namespace orrery::text
