// A change of a model's metadata, as a person asks for it.
#pragma once

#include <string>

namespace orrery {

struct MetadataEdit {
  enum class Action : uint8_t { set, remove, rename };
  Action action = Action::set;
  std::string key;
  std::string value = {};  // set: the value as text, of an array as JSON; rename: the new key
  std::string type = {};   // set: "u32", "string", "f32[]"; empty: the key's own, "string" for a new key
};

}  // namespace orrery
