#include "app/cli/input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace orrery::cli {
namespace {

using json = nlohmann::ordered_json;  // templates show keys in the order of the file

Error bad_input(std::string what, const std::string& where, std::string advice) {
  return {ErrorCode::invalid_argument, std::move(what), where, std::move(advice)};
}

Result<json> parse_json(const std::string& text, const std::string& where) {
  // Deep nesting is cut off before it costs memory.
  bool deep = false;
  const auto shallow = [&](int depth, json::parse_event_t, json&) {
    return depth < 64 || (deep = true, false);
  };
  json document = json::parse(text, shallow, false);
  if (document.is_discarded() || deep)
    return bad_input("This is not the JSON that was expected", where, "Check the file with a JSON tool");
  return document;
}

/// The text of a message's content: a string, the text parts of a list, nothing of null.
std::string text_of(const json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  for (const json& part : content)
    if (part.is_object() && part.contains("text") && part["text"].is_string())
      text += part["text"].get<std::string>();
  return text;
}

Result<api::Message> message_of(const json& item, size_t index, const std::string& where) {
  if (!item.is_object() || !item.contains("role") || !item["role"].is_string())
    return bad_input(fmt::format("Message {} has no role", index), where,
                     "Write each as {\"role\": ..., \"content\": ...}");
  const bool has_content = item.contains("content");
  const json content = has_content ? json(item["content"]) : json();
  if (!content.is_string() && !content.is_array() && !(content.is_null() && item.contains("tool_calls")))
    return bad_input(fmt::format("Message {} has no content", index), where,
                     "Give it a text or a list of parts under \"content\"");
  api::Message message{item["role"].get<std::string>(), text_of(content)};
  if (item.size() > 2 || !content.is_string()) message.json = item.dump();
  return message;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, error))
    return Error{ErrorCode::io,
                 fmt::format("The file cannot be read: {}", file ? "it is a folder" : std::strerror(errno)),
                 path, "Check the path and its permissions"};
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

std::string read_stdin() {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

Result<std::vector<std::string>> read_texts(const std::string& path) {
  ORRERY_ASSIGN(const std::string text, read_file(path));
  ORRERY_ASSIGN(const json document, parse_json(text, path));
  if (!document.is_array())
    return bad_input("The file holds no list of texts", path, "Write a JSON array of strings");
  std::vector<std::string> texts;
  for (const json& item : document) {
    if (!item.is_string())
      return bad_input(fmt::format("Entry {} of the list is not a text", texts.size()), path,
                       "Write a JSON array of strings");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

Result<std::vector<api::Message>> read_messages(const std::string& path) {
  ORRERY_ASSIGN(const std::string text, read_file(path));
  ORRERY_ASSIGN(json document, parse_json(text, path));
  if (document.is_object() && document.contains("messages")) document = json(document["messages"]);
  if (!document.is_array())
    return bad_input("The file holds no conversation", path, "Write a JSON array of {\"role\", \"content\"}");
  std::vector<api::Message> messages;
  for (const json& item : document) {
    ORRERY_ASSIGN(api::Message message, message_of(item, messages.size(), path));
    messages.push_back(std::move(message));
  }
  return messages;
}

Result<std::vector<int32_t>> parse_ids(const std::string& text) {
  std::vector<int32_t> ids;
  const auto refuse = [] {
    return bad_input("These are not token ids", "stdin",
                     "Give whole numbers, or the JSON that tokenize writes");
  };
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (text[first] == '[' || text[first] == '{')) {
    ORRERY_ASSIGN(json document, parse_json(text, "stdin"));
    if (document.is_object()) document = json(document.value("ids", json::array()));
    if (!document.is_array()) return refuse();
    for (const json& id : document) {
      if (!id.is_number_integer() || id < INT32_MIN || id > INT32_MAX) return refuse();
      ids.push_back(id.get<int32_t>());
    }
    return ids;
  }
  for (size_t at = first; at != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(" \t\r\n,", at), text.size());
    char* stop = nullptr;
    const std::string word = text.substr(at, end - at);
    errno = 0;
    const long number = std::strtol(word.c_str(), &stop, 10);
    if (word.empty() || *stop != '\0' || errno == ERANGE || number < INT32_MIN || number > INT32_MAX)
      return refuse();
    ids.push_back(static_cast<int32_t>(number));
    at = text.find_first_not_of(" \t\r\n,", end);
  }
  return ids;
}

}  // namespace orrery::cli
