// Looks for the texts that end a reply in a stream, and holds back what may be the beginning of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery::generate {

class StopTexts {
 public:
  /// Empty texts are ignored.
  explicit StopTexts(std::vector<std::string> texts);

  /// The text that is certain to stand before any stop text. Nothing more once one was found.
  std::string push(std::string_view text);
  /// What was held back, when the stream ends without a stop text.
  std::string finish();
  bool found() const { return found_; }

 private:
  std::vector<std::string> texts_;
  std::string held_;
  bool found_ = false;
};

}  // namespace orrery::generate
