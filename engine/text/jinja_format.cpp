#include <fmt/format.h>

#include <cmath>

#include "engine/text/jinja_value.h"
#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

/// As Python's repr: the shortest that reads back, with ".0" on whole numbers.
std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string quoted(const std::string& text) {
  const char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      result += '\\', result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\r') {
      result += "\\r";
    } else if (c == '\t') {
      result += "\\t";
    } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    } else {
      result += c;
    }
  }
  return result + quote;
}

std::string json_quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    static constexpr std::string_view kFrom = "\"\\\n\r\t\b\f", kTo = "\"\\nrtbf";
    if (const size_t at = kFrom.find(c); at != std::string_view::npos) {
      result += '\\', result += kTo[at];
    } else if (static_cast<uint8_t>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<uint8_t>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// One writer for both notations; they differ in words, quotes and line breaks.
class Writer {
 public:
  Writer(bool json, int indent, Budget& budget) : json_(json), indent_(indent), budget_(budget) {}

  Result<void> write(const Value& value, int level) {
    ORRERY_TRY(budget_.step());
    if (level > Budget::kDeepest) return limit_error("a value holds itself");
    if (const List* list = value.list()) return write_list(*list, level);
    if (const Dict* dict = value.dict()) return write_dict(*dict, level);
    if (value.is_undefined() && json_) return render_error("an undefined value cannot be written as JSON");
    return put(scalar(value));
  }
  std::string take() { return std::move(out_); }

 private:
  std::string scalar(const Value& value) const {
    if (const bool* flag = value.boolean())
      return json_ ? (*flag ? "true" : "false") : (*flag ? "True" : "False");
    if (const int64_t* number = value.integer()) return fmt::format("{}", *number);
    if (const double* number = value.real()) return number_text(*number);
    if (const std::string* text = value.string()) return json_ ? json_quoted(*text) : quoted(*text);
    if (value.is_none()) return json_ ? "null" : "None";
    if (value.is_undefined()) return "Undefined";
    return fmt::format("<{}>", value.type_name());
  }
  Result<void> put(std::string_view text) {
    if (out_.size() + text.size() > Budget::kLongest) return limit_error("a text grows beyond 16 MB");
    out_ += text;
    return {};
  }
  Result<void> separator(bool first, int level) {
    if (indent_ < 0) return put(first ? "" : ", ");
    return put((first ? "\n" : ",\n") + std::string(static_cast<size_t>(indent_ * (level + 1)), ' '));
  }
  Result<void> close(bool any, int level, std::string_view bracket) {
    if (indent_ >= 0 && any) ORRERY_TRY(put("\n" + std::string(static_cast<size_t>(indent_ * level), ' ')));
    return put(bracket);
  }
  Result<void> write_list(const List& list, int level) {
    const bool tuple = list.tuple && !json_;
    ORRERY_TRY(put(tuple ? "(" : "["));
    for (size_t i = 0; i < list.items.size(); ++i) {
      ORRERY_TRY(separator(i == 0, level));
      ORRERY_TRY(write(list.items[i], level + 1));
    }
    if (tuple) return put(list.items.size() == 1 ? ",)" : ")");
    return close(!list.items.empty(), level, "]");
  }
  Result<void> write_dict(const Dict& dict, int level) {
    ORRERY_TRY(put("{"));
    bool first = true;
    for (const auto& [key, value] : dict.items) {
      ORRERY_TRY(separator(first, level));
      first = false;
      ORRERY_TRY(put((json_ ? json_quoted(key) : quoted(key)) + ": "));
      ORRERY_TRY(write(value, level + 1));
    }
    return close(!first, level, "}");
  }

  bool json_;
  int indent_;
  Budget& budget_;
  std::string out_;
};

}  // namespace

Result<std::string> to_text(const Value& value, Budget& budget) {
  if (const std::string* text = value.string()) return *text;
  if (value.is_undefined()) return std::string();
  Writer writer(false, -1, budget);
  ORRERY_TRY(writer.write(value, 0));
  return writer.take();
}

Result<std::string> to_json(const Value& value, int indent, Budget& budget) {
  Writer writer(true, std::min(indent, 16), budget);
  ORRERY_TRY(writer.write(value, 0));
  return writer.take();
}

}  // namespace orrery::text::jinja
