// Methods of Python's strings and dicts that templates call, and the global functions' peers.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/text/jinja_value.h"
#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

using Text = const std::string&;

std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> points;
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = code_point_at(text, i).bytes;
    points.push_back(text.substr(i, bytes));
    i += bytes;
  }
  return points;
}

/// Whether a code point is stripped: of `set`, or white space where none is given.
bool is_stripped(std::string_view point, const std::vector<std::string_view>* set) {
  if (set) return std::find(set->begin(), set->end(), point) != set->end();
  const CodePoint decoded = code_point_at(point, 0);
  return decoded.valid && (is_white_space(decoded.value) || (decoded.value >= 0x1C && decoded.value <= 0x1F));
}

std::string_view strip(std::string_view text, const std::string* characters, bool left, bool right) {
  std::vector<std::string_view> set;
  if (characters) set = code_points(*characters);
  const auto* wanted = characters ? &set : nullptr;
  while (left && !text.empty()) {
    const size_t bytes = code_point_at(text, 0).bytes;
    if (!is_stripped(text.substr(0, bytes), wanted)) break;
    text.remove_prefix(bytes);
  }
  while (right && !text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && text.size() - begin < 4 && (static_cast<uint8_t>(text[begin]) & 0xC0U) == 0x80U)
      --begin;
    if (code_point_at(text, begin).bytes != text.size() - begin) begin = text.size() - 1;
    if (!is_stripped(text.substr(begin), wanted)) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

Result<Value> split(Text text, const Arguments& arguments, Budget& budget) {
  const std::string* separator = arguments.string(0, "sep");
  int64_t left = arguments.integer(1, "maxsplit", -1);
  if (separator && separator->empty()) return render_error("split needs a separator that is not empty");
  ORRERY_TRY(budget.make(text.size()));
  std::vector<Value> parts;
  std::string_view rest = text;
  if (!separator) rest = strip(rest, nullptr, true, false);
  while (separator || !rest.empty()) {
    ORRERY_TRY(budget.step());
    size_t at = std::string_view::npos;
    if (left != 0 && separator) at = rest.find(*separator);
    if (left != 0 && !separator) at = rest.find_first_of(" \t\n\r\v\f");
    if (at == std::string_view::npos) {
      parts.emplace_back(std::string(separator ? rest : strip(rest, nullptr, false, left != 0)));
      break;
    }
    parts.emplace_back(std::string(rest.substr(0, at)));
    rest.remove_prefix(at + (separator ? separator->size() : 1));
    if (!separator) rest = strip(rest, nullptr, true, false);
    --left;
  }
  return budget.list(std::move(parts));
}

Result<Value> replace(Text text, const Arguments& arguments, Budget& budget) {
  const std::string *from = arguments.string(0, "old"), *to = arguments.string(1, "new");
  if (!from || !to) return render_error("replace needs two texts");
  int64_t left = arguments.integer(2, "count", -1);
  std::string result;
  size_t at = 0;
  while (left != 0) {
    const size_t found = from->empty() ? (at <= text.size() ? at : std::string::npos) : text.find(*from, at);
    if (found == std::string::npos || found > text.size()) break;
    ORRERY_TRY(budget.step());
    result.append(text, at, found - at);
    result += *to;
    if (result.size() > Budget::kLongest) return limit_error("a text grows beyond 16 MB");
    at = found + from->size();
    if (from->empty()) {
      if (at >= text.size()) return budget.text(std::move(result));
      const size_t bytes = code_point_at(text, at).bytes;
      result.append(text, at, bytes);
      at += bytes;
    }
    --left;
  }
  result.append(text, std::min(at, text.size()), std::string::npos);
  return budget.text(std::move(result));
}

/// startswith, endswith: of one text or any of a list.
Result<Value> matches_end(Text text, const Arguments& arguments, bool start) {
  const Value* wanted = arguments.find(0, "prefix");
  const auto matches = [&](const Value& part) {
    if (!part.string()) return false;
    return start ? text.starts_with(*part.string()) : text.ends_with(*part.string());
  };
  if (wanted && wanted->string()) return Value(matches(*wanted));
  if (!wanted || !wanted->list()) return render_error("startswith and endswith need a text");
  return Value(std::any_of(wanted->list()->items.begin(), wanted->list()->items.end(), matches));
}

std::string title(Text text) {
  std::string result;
  bool in_word = false;
  for (const std::string_view point : code_points(text)) {
    const bool letter =
        is_word_character(code_point_at(point, 0).value) && !std::isdigit(static_cast<uint8_t>(point[0]));
    result += in_word ? lowercase(point) : uppercase(point);
    in_word = letter;
  }
  return result;
}

std::string capitalize(Text text) {
  if (text.empty()) return text;
  const size_t first = code_point_at(text, 0).bytes;
  return uppercase(std::string_view(text).substr(0, first)) + lowercase(std::string_view(text).substr(first));
}

Result<Value> find_in(Text text, const Arguments& arguments, Budget& budget, bool last) {
  const std::string* wanted = arguments.string(0, "sub");
  if (!wanted) return render_error("find needs a text");
  ORRERY_TRY(budget.step(static_cast<int64_t>(text.size() / 256)));
  const size_t at = last ? text.rfind(*wanted) : text.find(*wanted);
  if (at == std::string::npos) return Value(int64_t{-1});
  return Value(static_cast<int64_t>(count_code_points(std::string_view(text).substr(0, at))));
}

Result<Value> join(Text separator, const Arguments& arguments, Budget& budget) {
  const Value* list = arguments.find(0, "iterable");
  if (!list) return render_error("join needs a list");
  ORRERY_ASSIGN(const auto items, iterate(*list, budget));
  std::string text;
  for (size_t i = 0; i < items->items.size(); ++i) {
    if (!items->items[i].string()) return render_error("join needs a list of texts");
    ORRERY_TRY(budget.make((i ? separator.size() : 0) + items->items[i].string()->size()));
    text += (i ? separator : "") + *items->items[i].string();
    if (text.size() > Budget::kLongest) return limit_error("a text grows beyond 16 MB");
  }
  return Value(std::move(text));
}

Result<Value> string_method(Text text, const std::string& name, const Arguments& arguments, Budget& budget) {
  ORRERY_TRY(budget.step(static_cast<int64_t>(text.size() / 4096)));
  const auto stripped = [&](bool left, bool right) {
    return budget.text(std::string(strip(text, arguments.string(0, "chars"), left, right)));
  };
  if (name == "strip") return stripped(true, true);
  if (name == "lstrip") return stripped(true, false);
  if (name == "rstrip") return stripped(false, true);
  if (name == "startswith") return matches_end(text, arguments, true);
  if (name == "endswith") return matches_end(text, arguments, false);
  if (name == "split") return split(text, arguments, budget);
  if (name == "replace") return replace(text, arguments, budget);
  if (name == "upper") return budget.text(uppercase(text));
  if (name == "lower") return budget.text(lowercase(text));
  if (name == "title") return budget.text(title(text));
  if (name == "capitalize") return budget.text(capitalize(text));
  if (name == "find") return find_in(text, arguments, budget, false);
  if (name == "rfind") return find_in(text, arguments, budget, true);
  if (name == "join") return join(text, arguments, budget);
  if (name == "isdigit")
    return Value(!text.empty() &&
                 std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }));
  return render_error(fmt::format("a string has no method \"{}\"", name.substr(0, 40)));
}

Result<Value> dict_method(const Dict& dict, const std::string& name, const Arguments& arguments,
                          Budget& budget) {
  ORRERY_TRY(budget.step(static_cast<int64_t>(dict.items.size())));
  if (name == "get") {
    const std::string* key = arguments.string(0, "key");
    const Value* value = key ? dict.find(*key) : nullptr;
    const Value* fallback = arguments.find(1, "default");
    return value ? *value : fallback ? *fallback : Value(None{});
  }
  std::vector<Value> items;
  for (const auto& [key, value] : dict.items) {
    if (name == "keys") {
      items.emplace_back(key);
    } else if (name == "values") {
      items.push_back(value);
    } else if (name == "items") {
      items.emplace_back(std::vector<Value>{Value(key), value}, true);
    } else {
      break;
    }
  }
  if (name == "keys" || name == "values" || name == "items") return budget.list(std::move(items));
  return render_error(fmt::format("a dict has no method \"{}\"", name.substr(0, 40)));
}

}  // namespace

Result<Value> call_method(const Value& object, const std::string& name, const Arguments& arguments,
                          Budget& budget) {
  if (const std::string* text = object.string()) return string_method(*text, name, arguments, budget);
  if (const Dict* dict = object.dict()) return dict_method(*dict, name, arguments, budget);
  if (const Loop* loop = object.loop(); loop && name == "cycle" && !arguments.positional.empty())
    return arguments.positional[loop->index % arguments.positional.size()];
  if (object.is_undefined())
    return render_error(fmt::format("\"{}\" is undefined and has no \"{}\"", object.undefined_name(), name));
  return render_error(fmt::format("a {} has no method \"{}\"", object.type_name(), name.substr(0, 40)));
}

}  // namespace orrery::text::jinja
