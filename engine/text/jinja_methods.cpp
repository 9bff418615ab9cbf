// Methods of Python's strings, lists, dicts and loops that templates call. What would change a list or a dict
// is refused, as by the reference's sandbox.
#include <fmt/format.h>

#include <algorithm>

#include "engine/text/jinja_text.h"
#include "engine/text/jinja_value.h"
#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

using Text = const std::string&;
using StringMethod = Result<Value> (*)(Text, const Arguments&, Budget&);

template <bool left, bool right>
Result<Value> stripped(Text text, const Arguments& arguments, Budget& budget) {
  return budget.text(std::string(strip(text, arguments.string(0, "chars"), left, right)));
}

template <std::string (*change)(std::string_view)>
Result<Value> changed(Text text, const Arguments&, Budget& budget) {
  return budget.text(change(text));
}

/// Whether there are code points and `holds` for all.
template <bool (*holds)(std::string_view)>
Result<Value> every(Text text, const Arguments&, Budget& budget) {
  ORRERY_TRY(budget.step(static_cast<int64_t>(text.size() / 64)));
  const auto points = code_points(text);
  return Value(!points.empty() && std::all_of(points.begin(), points.end(), holds));
}

template <Case wanted>
Result<Value> of_case(Text text, const Arguments&, Budget& budget) {
  ORRERY_TRY(budget.step(static_cast<int64_t>(text.size() / 64)));
  return Value(is_case(text, wanted));
}

/// startswith, endswith: of one text or any of a tuple.
template <bool start>
Result<Value> matches_end(Text text, const Arguments& arguments, Budget&) {
  const Value* wanted = arguments.find(0, "prefix");
  const auto matches = [&](const Value& part) {
    if (!part.string()) return false;
    return start ? text.starts_with(*part.string()) : text.ends_with(*part.string());
  };
  if (wanted && wanted->string()) return Value(matches(*wanted));
  if (!wanted || !wanted->list()) return render_error("startswith and endswith need a text");
  return Value(std::any_of(wanted->list()->items.begin(), wanted->list()->items.end(), matches));
}

Result<Value> split_at_spaces(Text text, int64_t most, bool from_right, Budget& budget) {
  std::vector<std::string_view> words = split_words(text);
  ORRERY_TRY(budget.step(static_cast<int64_t>(words.size())));
  std::vector<Value> parts;
  const size_t cuts = most < 0 ? words.size() : static_cast<size_t>(most);
  if (cuts >= words.size()) {
    for (const std::string_view word : words) parts.emplace_back(std::string(word));
  } else if (!from_right) {
    for (size_t i = 0; i < cuts; ++i) parts.emplace_back(std::string(words[i]));
    const auto begin = static_cast<size_t>(words[cuts].data() - text.data());
    parts.emplace_back(text.substr(begin));
  } else {
    const std::string_view last = words[words.size() - cuts - 1];
    const auto end = static_cast<size_t>(last.data() + last.size() - text.data());
    parts.emplace_back(text.substr(0, end));
    for (size_t i = words.size() - cuts; i < words.size(); ++i) parts.emplace_back(std::string(words[i]));
  }
  return budget.list(std::move(parts));
}

template <bool from_right>
Result<Value> split(Text text, const Arguments& arguments, Budget& budget) {
  const std::string* separator = arguments.string(0, "sep");
  int64_t left = arguments.integer(1, "maxsplit", -1);
  ORRERY_TRY(budget.make(text.size()));
  if (!separator) return split_at_spaces(text, left, from_right, budget);
  if (separator->empty()) return render_error("split needs a separator that is not empty");
  std::vector<Value> parts;
  std::string_view rest = text;
  for (;; --left) {
    ORRERY_TRY(budget.step());
    const size_t at = left == 0    ? std::string_view::npos
                      : from_right ? rest.rfind(*separator)
                                   : rest.find(*separator);
    if (at == std::string_view::npos) break;
    const size_t behind = at + separator->size();
    parts.emplace_back(std::string(from_right ? rest.substr(behind) : rest.substr(0, at)));
    rest = from_right ? rest.substr(0, at) : rest.substr(behind);
  }
  parts.emplace_back(std::string(rest));
  if (from_right) std::reverse(parts.begin(), parts.end());
  return budget.list(std::move(parts));
}

Result<Value> splitlines(Text text, const Arguments& arguments, Budget& budget) {
  ORRERY_TRY(budget.make(text.size()));
  std::vector<Value> parts;
  for (const std::string_view line : split_lines(text, arguments.flag(0, "keepends", false))) {
    ORRERY_TRY(budget.step());
    parts.emplace_back(std::string(line));
  }
  return budget.list(std::move(parts));
}

template <bool from_right>
Result<Value> partition(Text text, const Arguments& arguments, Budget& budget) {
  const std::string* separator = arguments.string(0, "sep");
  if (!separator || separator->empty()) return render_error("partition needs a separator");
  const size_t at = from_right ? text.rfind(*separator) : text.find(*separator);
  std::vector<Value> parts;
  if (at == std::string::npos) {
    parts = from_right ? std::vector{Value(""), Value(""), Value(text)}
                       : std::vector{Value(text), Value(""), Value("")};
  } else {
    parts = {Value(text.substr(0, at)), Value(*separator), Value(text.substr(at + separator->size()))};
  }
  return budget.list(std::move(parts), Form::tuple);
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
    ORRERY_TRY(budget.grow(result.size(), found - at + to->size()));
    result.append(text, at, found - at);
    result += *to;
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

template <bool prefix>
Result<Value> remove_end(Text text, const Arguments& arguments, Budget& budget) {
  const std::string* part = arguments.string(0, prefix ? "prefix" : "suffix");
  if (!part) return render_error("the text to remove is missing");
  if (prefix && text.starts_with(*part)) return budget.text(text.substr(part->size()));
  if (!prefix && text.ends_with(*part)) return budget.text(text.substr(0, text.size() - part->size()));
  return Value(text);
}

/// find, rfind, index, rindex: the code points before the first or last place within [start, end).
template <bool last, bool must_exist>
Result<Value> find_in(Text text, const Arguments& arguments, Budget& budget) {
  const std::string* wanted = arguments.string(0, "sub");
  if (!wanted) return render_error("find needs a text");
  ORRERY_TRY(budget.step(static_cast<int64_t>(text.size() / 64)));
  const Value *start = arguments.find(1, "start"), *stop = arguments.find(2, "end");
  const Value zero(int64_t{0});
  const Value& from = start ? *start : zero;
  ORRERY_ASSIGN(const Value before, get_slice(Value(text), nullptr, &from, nullptr, budget));
  ORRERY_ASSIGN(const Value part, get_slice(Value(text), &from, stop, nullptr, budget));
  const size_t at = last ? part.string()->rfind(*wanted) : part.string()->find(*wanted);
  if (at != std::string::npos)
    return Value(static_cast<int64_t>(count_code_points(*before.string()) +
                                      count_code_points(std::string_view(*part.string()).substr(0, at))));
  if (must_exist) return render_error("a text was not found in another");
  return Value(int64_t{-1});
}

Result<Value> count(Text text, const Arguments& arguments, Budget& budget) {
  const std::string* wanted = arguments.string(0, "sub");
  if (!wanted) return render_error("count needs a text");
  ORRERY_TRY(budget.step(static_cast<int64_t>(text.size() / 64)));
  if (wanted->empty()) return Value(static_cast<int64_t>(count_code_points(text)) + 1);
  int64_t found = 0;
  for (size_t at = text.find(*wanted); at != std::string::npos; at = text.find(*wanted, at + wanted->size()))
    ++found;
  return Value(found);
}

Result<Value> join(Text separator, const Arguments& arguments, Budget& budget) {
  const Value* list = arguments.find(0, "iterable");
  if (!list) return render_error("join needs a list");
  ORRERY_ASSIGN(const auto items, iterate(*list, budget));
  std::string text;
  for (size_t i = 0; i < items->items.size(); ++i) {
    const std::string* item = items->items[i].string();
    if (!item) return render_error("join needs a list of texts");
    ORRERY_TRY(budget.make((i ? separator.size() : 0) + item->size()));
    ORRERY_TRY(budget.grow(text.size(), separator.size() + item->size()));
    text += (i ? separator : "") + *item;
  }
  return Value(std::move(text));
}

template <char align>
Result<Value> aligned(Text text, const Arguments& arguments, Budget& budget) {
  const int64_t width = arguments.integer(0, "width", 0);
  const std::string* fill = arguments.string(1, "fillchar");
  if (width > static_cast<int64_t>(Budget::kLongest)) return limit_error("a text grows beyond 16 MB");
  return budget.text(
      padded(text, static_cast<size_t>(std::max<int64_t>(width, 0)), align, fill ? *fill : " "));
}

Result<Value> zero_filled(Text text, const Arguments& arguments, Budget& budget) {
  const int64_t width = arguments.integer(0, "width", 0);
  if (width > static_cast<int64_t>(Budget::kLongest)) return limit_error("a text grows beyond 16 MB");
  const bool sign = text.starts_with("-") || text.starts_with("+");
  const auto inner = static_cast<size_t>(std::max<int64_t>(width - (sign ? 1 : 0), 0));
  return budget.text(text.substr(0, sign ? 1 : 0) + padded(text.substr(sign ? 1 : 0), inner, '>', "0"));
}

bool is_alphanumeric(std::string_view point) { return is_letter(point) || is_decimal(point); }

struct NamedMethod {
  std::string_view name;
  StringMethod run;
};
constexpr NamedMethod kStringMethods[] = {{"strip", stripped<true, true>},
                                          {"lstrip", stripped<true, false>},
                                          {"rstrip", stripped<false, true>},
                                          {"startswith", matches_end<true>},
                                          {"endswith", matches_end<false>},
                                          {"split", split<false>},
                                          {"rsplit", split<true>},
                                          {"splitlines", splitlines},
                                          {"partition", partition<false>},
                                          {"rpartition", partition<true>},
                                          {"replace", replace},
                                          {"removeprefix", remove_end<true>},
                                          {"removesuffix", remove_end<false>},
                                          {"upper", changed<uppercase>},
                                          {"lower", changed<lowercase>},
                                          {"casefold", changed<lowercase>},
                                          {"title", changed<title>},
                                          {"capitalize", changed<capitalize>},
                                          {"swapcase", changed<swap_case>},
                                          {"find", find_in<false, false>},
                                          {"rfind", find_in<true, false>},
                                          {"index", find_in<false, true>},
                                          {"rindex", find_in<true, true>},
                                          {"count", count},
                                          {"join", join},
                                          {"format", format_braces},
                                          {"ljust", aligned<'<'>},
                                          {"rjust", aligned<'>'>},
                                          {"center", aligned<'c'>},
                                          {"zfill", zero_filled},
                                          {"isdigit", every<is_decimal>},
                                          {"isdecimal", every<is_decimal>},
                                          {"isnumeric", every<is_decimal>},
                                          {"isalpha", every<is_letter>},
                                          {"isalnum", every<is_alphanumeric>},
                                          {"isspace", every<is_space>},
                                          {"islower", of_case<Case::lower>},
                                          {"isupper", of_case<Case::upper>}};
constexpr std::string_view kDictMethods[] = {"get", "keys", "values", "items", "copy"};
constexpr std::string_view kListMethods[] = {"index", "count", "copy"};
constexpr std::string_view kLoopMethods[] = {"cycle", "changed"};
constexpr std::string_view kChanging[] = {"append", "extend", "insert",     "remove",  "pop",    "clear",
                                          "update", "sort",   "setdefault", "popitem", "reverse"};

template <class Names>
bool holds(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

const NamedMethod* string_method(std::string_view name) {
  const auto* found = std::find_if(std::begin(kStringMethods), std::end(kStringMethods),
                                   [&](const NamedMethod& method) { return method.name == name; });
  return found == std::end(kStringMethods) ? nullptr : found;
}

Result<Value> dict_method(const Dict& dict, const std::string& name, const Arguments& arguments,
                          Budget& budget) {
  if (name == "get") {
    const Value* key = arguments.find(0, "key");
    const Value* value = key ? dict.find(*key) : nullptr;
    const Value* fallback = arguments.find(1, "default");
    return value ? *value : fallback ? *fallback : Value(None{});
  }
  ORRERY_TRY(budget.step(static_cast<int64_t>(dict.items().size())));
  if (name == "copy") return Value(std::make_shared<Dict>(dict));
  std::vector<Value> items;
  for (const auto& [key, value] : dict.items()) {
    if (name == "keys") {
      items.push_back(value_of(key));
    } else if (name == "values") {
      items.push_back(value);
    } else {
      items.emplace_back(std::vector<Value>{value_of(key), value}, Form::tuple);
    }
  }
  return budget.list(std::move(items));
}

Result<Value> list_method(const Value& object, const std::string& name, const Arguments& arguments,
                          Budget& budget) {
  const std::vector<Value>& items = object.list()->items;
  if (name == "copy") return object;
  const Value* wanted = arguments.find(0, "value");
  if (!wanted) return render_error(fmt::format("\"{}\" needs a value", name));
  int64_t found = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    ORRERY_TRY(budget.step());
    if (!equal(items[i], *wanted, budget)) continue;
    if (name == "index") return Value(static_cast<int64_t>(i));
    ++found;
  }
  if (name == "index") return render_error("a value is not in the list");
  return Value(found);
}

Result<Value> loop_method(Loop& loop, const std::string& name, const Arguments& arguments, Budget& budget) {
  if (name == "cycle") {
    if (arguments.positional.empty()) return render_error("loop.cycle needs values");
    return arguments.positional[loop.index % arguments.positional.size()];
  }
  const bool same = loop.watched.size() == arguments.positional.size() && !loop.watched.empty() &&
                    std::equal(loop.watched.begin(), loop.watched.end(), arguments.positional.begin(),
                               [&](const Value& a, const Value& b) { return equal(a, b, budget); });
  loop.watched = arguments.positional;
  return Value(!same);
}

}  // namespace

bool has_method(const Value& object, std::string_view name) {
  if (object.string()) return string_method(name) != nullptr;
  if (const Dict* dict = object.dict())
    return !dict->is_namespace && (holds(kDictMethods, name) || holds(kChanging, name));
  if (const List* list = object.list())
    return list->form != Form::generator && (holds(kListMethods, name) || holds(kChanging, name));
  return object.loop() && holds(kLoopMethods, name);
}

Result<Value> call_method(const Value& object, const std::string& name, const Arguments& arguments,
                          Budget& budget) {
  ORRERY_TRY(budget.step());
  if (const std::string* text = object.string(); text && string_method(name)) {
    ORRERY_TRY(budget.step(static_cast<int64_t>(text->size() / 4096)));
    return string_method(name)->run(*text, arguments, budget);
  }
  if (holds(kChanging, name) && (object.dict() || object.list()))
    return render_error(
        fmt::format("\"{}\" would change a {}, which templates may not do", name, object.type_name()));
  if (object.dict() && holds(kDictMethods, name)) return dict_method(*object.dict(), name, arguments, budget);
  if (object.list() && holds(kListMethods, name)) return list_method(object, name, arguments, budget);
  if (object.loop() && holds(kLoopMethods, name)) return loop_method(*object.loop(), name, arguments, budget);
  return render_error(fmt::format("a {} has no method \"{}\"", object.type_name(), name.substr(0, 40)));
}

}  // namespace orrery::text::jinja
