// Reading what the person hands over: files, stdin, lists of texts, conversations.
#pragma once

#include <string>
#include <vector>

#include "engine/api/types.h"
#include "engine/base/result.h"

namespace orrery::cli {

Result<std::string> read_file(const std::string& path);
std::string read_stdin();  // every byte to the end
/// A JSON array of strings.
Result<std::vector<std::string>> read_texts(const std::string& path);
/// A JSON array of {"role", "content", ...}, or an object with it under "messages". A message with more than
/// a role and a text goes to the chat template as it is; its content is then the text of its parts.
Result<std::vector<api::Message>> read_messages(const std::string& path);
/// Numbers from text or from JSON: "1 2 3", "[1, 2, 3]", {"ids": [1, 2, 3]}.
Result<std::vector<int32_t>> parse_ids(const std::string& text);

}  // namespace orrery::cli
