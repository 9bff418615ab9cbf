#include <fmt/format.h>

#include <algorithm>

#include "engine/text/jinja_filters.h"
#include "engine/text/jinja_text.h"
#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

/// Filters that are a method of strings by another name.
template <const char* const& method>
Result<Value> as_method(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(std::string text, to_text(value, budget));
  return call_method(Value(std::move(text)), method, arguments, budget);
}
constexpr const char* kStrip = "strip";
constexpr const char* kUpper = "upper";
constexpr const char* kLower = "lower";
constexpr const char* kCapitalize = "capitalize";
constexpr const char* kReplace = "replace";

/// As json.dumps of the reference: its first argument is ensure_ascii.
Result<Value> json_filter(const Value& value, const Arguments& arguments, Budget& budget) {
  JsonStyle style;
  style.ascii = arguments.flag(0, "ensure_ascii", false);
  style.sort_keys = arguments.flag(3, "sort_keys", false);
  if (const Value* indent = arguments.find(1, "indent"); indent && !indent->is_none()) {
    style.lines = true;
    style.item = ",";
    if (indent->string()) style.indent = indent->string()->substr(0, 64);
    if (!indent->string())
      style.indent.assign(static_cast<size_t>(std::clamp<int64_t>(arguments.integer(1, "indent", 0), 0, 64)),
                          ' ');
  }
  if (const Value* pair = arguments.find(2, "separators"); pair && pair->list()) {
    const std::vector<Value>& marks = pair->list()->items;
    if (marks.size() != 2 || !marks[0].string() || !marks[1].string())
      return render_error("the separators of tojson are two texts");
    style.item = *marks[0].string();
    style.key = *marks[1].string();
  }
  ORRERY_ASSIGN(std::string text, to_json(value, style, budget));
  return budget.text(std::move(text));
}

Result<Value> string_filter(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(std::string text, to_text(value, budget));
  return budget.text(std::move(text));
}

/// Words begin with a capital; unlike str.title, only spaces, dashes and opening brackets begin a word.
Result<Value> title_filter(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const std::string text, to_text(value, budget));
  std::string result;
  bool begins = true;
  for (const std::string_view point : code_points(text)) {
    result += begins ? uppercase(point) : lowercase(point);
    begins = is_space(point) || std::string_view("-({[<").find(point) != std::string_view::npos;
  }
  return budget.text(std::move(result));
}

Result<Value> escape(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const std::string text, to_text(value, budget));
  std::string result;
  for (const char c : text) {
    static constexpr std::pair<char, std::string_view> kNames[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&#34;"}, {'\'', "&#39;"}};
    const auto* name =
        std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& n) { return n.first == c; });
    if (name == std::end(kNames)) {
      result += c;
    } else {
      result += name->second;
    }
  }
  return budget.text(std::move(result));
}

/// The dict as attributes of a tag; what is none or undefined is left out.
Result<Value> xml_attributes(const Value& value, const Arguments& arguments, Budget& budget) {
  if (!value.dict()) return render_error("xmlattr needs a dict");
  std::string result;
  for (const auto& [key, item] : value.dict()->items()) {
    if (item.is_none() || item.is_undefined()) continue;
    const auto* own = std::get_if<std::string>(&key);
    if (!own || own->find_first_of(" \t\n\r\f\v/>=") != std::string::npos)
      return render_error("a name is a number, or has a space or a bracket");
    ORRERY_ASSIGN(const Value name, escape(Value(*own), {}, budget));
    ORRERY_ASSIGN(const Value text, escape(item, {}, budget));
    if (!result.empty()) result += ' ';
    result += *name.string() + "=\"" + *text.string() + '"';
  }
  if (arguments.flag(0, "autospace", true) && !result.empty()) result.insert(0, " ");
  return budget.text(std::move(result));
}

Result<Value> indent(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const std::string text, to_text(value, budget));
  const std::string* given = arguments.string(0, "width");
  const std::string space =
      given ? given->substr(0, 64)
            : std::string(static_cast<size_t>(std::clamp<int64_t>(arguments.integer(0, "width", 4), 0, 64)),
                          ' ');
  const bool first = arguments.flag(1, "first", false), blank = arguments.flag(2, "blank", false);
  const std::string ended = text + "\n";
  std::string result;
  size_t count = 0;
  for (const std::string_view line : split_lines(ended, false)) {
    ORRERY_TRY(budget.step());
    ORRERY_TRY(budget.grow(result.size(), line.size() + space.size() + 1));
    if (count > 0) result += '\n';
    if (count == 0 ? first : blank || !line.empty()) result += space;
    result += line;
    ++count;
  }
  return budget.text(std::move(result));
}

Result<Value> center(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(std::string text, to_text(value, budget));
  Arguments width;
  width.positional = {Value(arguments.integer(0, "width", 80))};
  return call_method(Value(std::move(text)), "center", width, budget);
}

Result<Value> format_filter(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const std::string text, to_text(value, budget));
  if (arguments.named.empty()) return format_percent(text, Value(arguments.positional, Form::tuple), budget);
  auto names = std::make_shared<Dict>();
  for (const auto& [name, item] : arguments.named) names->set(name, item);
  return format_percent(text, Value(std::move(names)), budget);
}

Result<Value> truncate(const Value& value, const Arguments& arguments, Budget& budget) {
  ORRERY_ASSIGN(const std::string text, to_text(value, budget));
  const int64_t length = arguments.integer(0, "length", 255), leeway = arguments.integer(3, "leeway", 5);
  const bool within_words = arguments.flag(1, "killwords", false);
  const std::string* given = arguments.string(2, "end");
  const std::string end = given ? *given : "...";
  const auto points = code_points(text);
  const auto wanted = static_cast<size_t>(std::max<int64_t>(length, 0));
  if (points.size() <= wanted + static_cast<size_t>(std::max<int64_t>(leeway, 0))) return Value(text);
  const size_t end_length = count_code_points(end);
  const size_t kept = wanted > end_length ? wanted - end_length : 0;
  std::string_view result(
      text.data(),
      kept == 0 ? 0 : static_cast<size_t>(points[kept - 1].data() - text.data()) + points[kept - 1].size());
  if (!within_words && result.rfind(' ') != std::string_view::npos)
    result = result.substr(0, result.rfind(' '));
  return budget.text(std::string(result) + end);
}

/// Words as \w+ finds them.
Result<Value> word_count(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const std::string text, to_text(value, budget));
  ORRERY_TRY(budget.step(static_cast<int64_t>(text.size() / 64)));
  int64_t words = 0;
  bool inside = false;
  for (const std::string_view point : code_points(text)) {
    const bool word = is_word_character(code_point_at(point, 0).value);
    words += word && !inside;
    inside = word;
  }
  return Value(words);
}

Result<Value> url_encode(const Value& value, const Arguments&, Budget& budget) {
  ORRERY_ASSIGN(const std::string text, to_text(value, budget));
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("_.-~/").find(c) != std::string_view::npos;
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<uint8_t>(c));
  }
  return budget.text(std::move(result));
}

Result<Value> same(const Value& value, const Arguments&, Budget&) { return value; }

constexpr NamedFilter kTextFilters[] = {{"trim", as_method<kStrip>},
                                        {"upper", as_method<kUpper>},
                                        {"lower", as_method<kLower>},
                                        {"capitalize", as_method<kCapitalize>},
                                        {"replace", as_method<kReplace>},
                                        {"title", title_filter},
                                        {"tojson", json_filter},
                                        {"string", string_filter},
                                        {"safe", same},
                                        {"escape", escape},
                                        {"e", escape},
                                        {"forceescape", escape},
                                        {"xmlattr", xml_attributes},
                                        {"indent", indent},
                                        {"center", center},
                                        {"format", format_filter},
                                        {"truncate", truncate},
                                        {"wordcount", word_count},
                                        {"urlencode", url_encode}};

}  // namespace

std::span<const NamedFilter> text_filters() { return kTextFilters; }

}  // namespace orrery::text::jinja
