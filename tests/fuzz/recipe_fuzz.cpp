// Any text as a recipe and as the words of an edit; what is read must be written and read again as the same.
#include <cstdlib>
#include <string_view>

#include "engine/edit/edit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::edit;
  if (size > 16384) return 0;  // quotes may make an edit longer than the longest that is read
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto recipe = parse_recipe(text); recipe.ok()) {
    const std::string written = write_recipe(*recipe);
    const auto again = parse_recipe(written);
    if (!again.ok() || write_recipe(*again) != written) std::abort();
  } else if (recipe.error().what.empty()) {
    std::abort();
  }
  if (const auto edit = parse_edit(text); edit.ok()) {
    const auto again = parse_edit(edit->to_string());
    if (!again.ok() || again->op != edit->op || again->fields != edit->fields) std::abort();
  }
  return 0;
}
