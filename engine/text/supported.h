// What tokenizers are read, by the names that files use: asked of the tables that read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery::text {

struct SupportedPart {
  std::string part;  // "Normalizers of tokenizer.json"
  std::vector<std::string> names;
};
std::vector<SupportedPart> supported_tokenizers();

}  // namespace orrery::text
