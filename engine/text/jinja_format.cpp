#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/text/jinja_text.h"
#include "engine/text/jinja_value.h"
#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

std::string escaped_point(char32_t value) {
  return value < 0x100     ? fmt::format("\\x{:02x}", static_cast<uint32_t>(value))
         : value < 0x10000 ? fmt::format("\\u{:04x}", static_cast<uint32_t>(value))
                           : fmt::format("\\U{:08x}", static_cast<uint32_t>(value));
}

/// Python's repr of a string.
std::string quoted(const std::string& text) {
  const char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string result(1, quote);
  for (const std::string_view point : code_points(text)) {
    static constexpr std::string_view kFrom = "\n\r\t", kTo = "nrt";
    const char c = point[0];
    if (c == quote || c == '\\') {
      result += '\\', result += c;
    } else if (const size_t at = kFrom.find(c); at != std::string_view::npos) {
      result += '\\', result += kTo[at];
    } else if (is_printable(point)) {
      result += point;
    } else {
      result += escaped_point(code_point_at(point, 0).value);
    }
  }
  return result + quote;
}

/// Beyond ASCII: as it is, or as UTF-16 escapes.
std::string json_point(std::string_view point, bool ascii) {
  const char32_t value = code_point_at(point, 0).value;
  if (!ascii) return std::string(point);
  if (value < 0x10000) return fmt::format("\\u{:04x}", static_cast<uint32_t>(value));
  const auto rest = static_cast<uint32_t>(value) - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
}

std::string json_quoted(const std::string& text, bool ascii) {
  std::string result = "\"";
  for (const std::string_view point : code_points(text)) {
    static constexpr std::string_view kFrom = "\"\\\n\r\t\b\f", kTo = "\"\\nrtbf";
    const char c = point[0];
    if (const size_t at = kFrom.find(c); at != std::string_view::npos) {
      result += '\\', result += kTo[at];
    } else if (static_cast<uint8_t>(c) < 0x20 || (ascii && c == 0x7F)) {
      result += fmt::format("\\u{:04x}", static_cast<uint8_t>(c));
    } else if (static_cast<uint8_t>(c) < 0x80) {
      result += c;
    } else {
      result += json_point(point, ascii);
    }
  }
  return result + '"';
}

/// One writer for both notations; they differ in words, quotes and line breaks.
class Writer {
 public:
  Writer(const JsonStyle* json, Budget& budget) : json_(json), budget_(budget) {}

  Result<void> write(const Value& value, int level) {
    ORRERY_TRY(budget_.step());
    if (level > Budget::kDeepest) return limit_error("a value holds itself");
    if (const List* list = value.list(); list && !(json_ && list->form == Form::generator))
      return write_list(*list, level);
    if (const Dict* dict = value.dict(); dict && !(json_ && dict->is_namespace))
      return write_dict(*dict, level);
    if (!json_) return put(python_scalar(value));
    if (value.list() || value.dict() || value.is_undefined() || value.is_callable())
      return render_error(fmt::format("a value of the kind \"{}\" cannot be written as JSON",
                                      value.list() ? "generator" : value.type_name()));
    return put(json_scalar(value));
  }
  std::string take() { return std::move(out_); }

 private:
  static std::string python_scalar(const Value& value) {
    if (const bool* flag = value.boolean()) return *flag ? "True" : "False";
    if (const int64_t* number = value.integer()) return fmt::format("{}", *number);
    if (const double* number = value.real()) return number_text(*number);
    if (const std::string* text = value.string()) return quoted(*text);
    if (value.is_none()) return "None";
    if (value.is_undefined()) return "Undefined";
    return fmt::format("<{}>", value.type_name());
  }
  std::string json_scalar(const Value& value) const {
    if (const bool* flag = value.boolean()) return *flag ? "true" : "false";
    if (const int64_t* number = value.integer()) return fmt::format("{}", *number);
    if (const std::string* text = value.string()) return json_quoted(*text, json_->ascii);
    const double* number = value.real();
    if (!number) return "null";
    if (std::isnan(*number)) return "NaN";
    if (std::isinf(*number)) return *number < 0 ? "-Infinity" : "Infinity";
    return number_text(*number);
  }
  Result<void> put(std::string_view text) {
    ORRERY_TRY(budget_.grow(out_.size(), text.size()));
    out_ += text;
    return {};
  }
  Result<void> new_line(int level) {
    ORRERY_TRY(put("\n"));
    for (int i = 0; i < level; ++i) ORRERY_TRY(put(json_->indent));
    return {};
  }
  Result<void> separator(bool first, int level) {
    if (!first) ORRERY_TRY(put(json_ ? json_->item : ", "));
    return json_ && json_->lines ? new_line(level + 1) : Result<void>();
  }
  Result<void> close(bool any, int level, std::string_view bracket) {
    if (json_ && json_->lines && any) ORRERY_TRY(new_line(level));
    return put(bracket);
  }
  Result<void> write_list(const List& list, int level) {
    const bool tuple = (list.form == Form::tuple || list.form == Form::group) && !json_;
    ORRERY_TRY(put(tuple ? "(" : "["));
    for (size_t i = 0; i < list.items.size(); ++i) {
      ORRERY_TRY(separator(i == 0, level));
      ORRERY_TRY(write(list.items[i], level + 1));
    }
    if (tuple) return put(list.items.size() == 1 ? ",)" : ")");
    return close(!list.items.empty(), level, "]");
  }
  /// In JSON all keys are texts.
  std::string key_text(const Key& key) const {
    const auto* text = std::get_if<std::string>(&key);
    if (!json_) return python_scalar(value_of(key)) + ": ";
    return json_quoted(text ? *text : fmt::format("{}", std::get<int64_t>(key)), json_->ascii) + json_->key;
  }
  Result<void> write_dict(const Dict& dict, int level) {
    std::vector<const Dict::Items::value_type*> entries;
    for (const auto& entry : dict.items()) entries.push_back(&entry);
    if (json_ && json_->sort_keys) {
      const auto of_one_kind = [&](const auto* entry) {
        return entry->first.index() == entries.front()->first.index();
      };
      if (!std::all_of(entries.begin(), entries.end(), of_one_kind))
        return render_error("texts and numbers cannot be sorted");
      std::sort(entries.begin(), entries.end(),
                [](const auto* a, const auto* b) { return a->first < b->first; });
    }
    ORRERY_TRY(put(dict.is_namespace ? "<Namespace {" : "{"));
    for (size_t i = 0; i < entries.size(); ++i) {
      ORRERY_TRY(separator(i == 0, level));
      ORRERY_TRY(put(key_text(entries[i]->first)));
      ORRERY_TRY(write(entries[i]->second, level + 1));
    }
    return close(!entries.empty(), level, dict.is_namespace ? "}>" : "}");
  }

  const JsonStyle* json_;  // null: Python's notation
  Budget& budget_;
  std::string out_;
};

}  // namespace

/// As Python's repr: the shortest that reads back, with ".0" on whole numbers.
std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

Result<std::string> to_repr(const Value& value, Budget& budget) {
  Writer writer(nullptr, budget);
  ORRERY_TRY(writer.write(value, 0));
  return writer.take();
}

Result<std::string> to_text(const Value& value, Budget& budget) {
  if (const std::string* text = value.string()) return *text;
  if (value.is_undefined()) return std::string();
  return to_repr(value, budget);
}

Result<std::string> to_json(const Value& value, const JsonStyle& style, Budget& budget) {
  Writer writer(&style, budget);
  ORRERY_TRY(writer.write(value, 0));
  return writer.take();
}

}  // namespace orrery::text::jinja
