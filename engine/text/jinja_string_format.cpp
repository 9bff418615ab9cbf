// "%-5s" % value and "{:>5}".format(value): what Python's two ways to fill in texts have in common, and how
// each is read. Widths and precisions are bounded.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/text/jinja_text.h"
#include "engine/text/jinja_value.h"
#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

constexpr int kWidest = 1000;

struct Spec {
  std::string fill = " ";
  char align = '\0', sign = '-', type = '\0', group = '\0';
  bool alternate = false, zero = false;
  int width = 0, precision = -1;
};

Error bad_format(std::string_view what) {
  return render_error(fmt::format("a text cannot be filled in: {}", what));
}

bool take(std::string_view& rest, char c) {
  if (rest.empty() || rest[0] != c) return false;
  rest.remove_prefix(1);
  return true;
}

/// Digits as a number, at most kWidest + 1.
int take_number(std::string_view& rest) {
  int number = 0;
  while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
    number = std::min(number * 10 + (rest[0] - '0'), kWidest + 1);
    rest.remove_prefix(1);
  }
  return number;
}

std::string grouped(std::string digits, char mark) {
  size_t end = digits.find_first_not_of("0123456789");
  if (end == std::string::npos) end = digits.size();
  for (size_t i = end; i > 3; i -= 3) digits.insert(i - 3, 1, mark);
  return digits;
}

std::string integer_digits(uint64_t number, const Spec& spec) {
  const std::string prefix = !spec.alternate || spec.type == 'd' ? "" : std::string("0") + spec.type;
  switch (spec.type) {
    case 'x':
      return prefix + fmt::format("{:x}", number);
    case 'X':
      return prefix + fmt::format("{:X}", number);
    case 'o':
      return prefix + fmt::format("{:o}", number);
    case 'b':
      return prefix + fmt::format("{:b}", number);
    default:
      return fmt::format("{}", number);
  }
}

std::string real_digits(double number, const Spec& spec) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return "inf";
  if (spec.type == '\0' && spec.precision < 0) return number_text(number);
  const double shown = spec.type == '%' ? number * 100 : number;
  const char type = spec.type == '%' ? 'f' : spec.type == '\0' ? 'g' : spec.type;
  const char pattern[] = {'%', '.', '*', type, '\0'};
  char buffer[1600];
  const int size =
      std::snprintf(buffer, sizeof buffer, pattern, spec.precision < 0 ? 6 : spec.precision, shown);
  std::string text(buffer, static_cast<size_t>(std::clamp(size, 0, int{sizeof buffer} - 1)));
  if (spec.type == '\0' && text.find_first_of(".e") == std::string::npos) text += ".0";
  return spec.type == '%' ? text + "%" : text;
}

std::string laid_out(const std::string& sign, std::string digits, const Spec& spec) {
  if (spec.group) digits = grouped(std::move(digits), spec.group);
  const auto width = static_cast<size_t>(spec.width);
  if (spec.zero && (spec.align == '\0' || spec.align == '=')) {
    const size_t inner = width > sign.size() ? width - sign.size() : 0;
    return sign + padded(digits, inner, '>', "0");
  }
  if (spec.align == '=')
    return sign + padded(digits, width > sign.size() ? width - sign.size() : 0, '>', spec.fill);
  return padded(sign + digits, width, spec.align ? spec.align : '>', spec.fill);
}

Result<std::string> number_by(const Value& value, const Spec& spec) {
  int64_t storage = 0;
  double number = 0;
  const int64_t* whole = value.as_integer(storage);
  value.as_number(number);
  const auto sign_of = [&](bool negative) {
    return std::string(negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign));
  };
  const bool as_integer = spec.type == '\0'
                              ? whole != nullptr
                              : std::string_view("dxXobc").find(spec.type) != std::string_view::npos;
  if (as_integer) {
    if (!whole) return bad_format("a whole number is needed");
    const uint64_t size = *whole < 0 ? 0 - static_cast<uint64_t>(*whole) : static_cast<uint64_t>(*whole);
    return laid_out(sign_of(*whole < 0), integer_digits(size, spec), spec);
  }
  return laid_out(sign_of(std::signbit(number)), real_digits(std::abs(number), spec), spec);
}

Result<std::string> text_by(const std::string& text, const Spec& spec) {
  std::string shown = text;
  if (spec.precision >= 0) {
    const auto points = code_points(text);
    size_t bytes = 0;
    for (size_t i = 0; i < std::min(points.size(), static_cast<size_t>(spec.precision)); ++i)
      bytes += points[i].size();
    shown.resize(bytes);
  }
  return padded(shown, static_cast<size_t>(spec.width), spec.align ? spec.align : '<', spec.fill);
}

Result<void> check_bounds(const Spec& spec) {
  if (spec.width > kWidest || spec.precision > kWidest) return limit_error("a width is more than 1000");
  return {};
}

/// The arguments of one call, taken in turn or by name.
class Fields {
 public:
  Fields(const Arguments& given, Budget& budget) : given_(given), budget_(budget) {}

  /// "", "0", "name", and after it .attribute and [item].
  Result<Value> field(std::string_view path) {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    ORRERY_ASSIGN(Value value, root(path.substr(0, end)));
    for (path.remove_prefix(end); !path.empty();) {
      const bool item = path[0] == '[';
      const size_t stop = item ? path.find(']') : std::min(path.find_first_of(".[", 1), path.size());
      if (stop == std::string_view::npos) return bad_format("\"]\" is missing");
      const std::string name(path.substr(1, stop - 1));
      const bool index = item && !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
      if (index) {
        std::string_view digits = name;
        ORRERY_ASSIGN(value, get_item(value, Value(int64_t{take_number(digits)}), budget_));
      } else if (item) {
        ORRERY_ASSIGN(value, get_item(value, Value(name), budget_));
      } else {
        ORRERY_ASSIGN(value, get_attribute(value, name));
      }
      path.remove_prefix(stop + (item ? 1 : 0));
    }
    return value;
  }

 private:
  Result<Value> root(std::string_view name) {
    const bool digits = !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
    if (name.empty() || digits) {
      const size_t at = name.empty() ? next_++ : static_cast<size_t>(take_number(name));
      if (at < given_.positional.size()) return given_.positional[at];
      return bad_format("there are fewer values than places");
    }
    const Value* value = given_.find(SIZE_MAX, name);
    return value ? Result<Value>(*value) : bad_format(fmt::format("\"{}\" is not given", name.substr(0, 40)));
  }
  const Arguments& given_;
  Budget& budget_;
  size_t next_ = 0;
};

/// [[fill]align][sign][#][0][width][,][.precision][type]
Result<Spec> brace_spec(std::string_view text) {
  Spec spec;
  const auto is_align = [](std::string_view at) {
    return !at.empty() && std::string_view("<>=^").find(at[0]) != std::string_view::npos;
  };
  const size_t first = text.empty() ? 0 : code_point_at(text, 0).bytes;
  if (is_align(text.substr(first))) {
    spec.fill = text.substr(0, first);
    spec.align = text[first];
    text.remove_prefix(first + 1);
  } else if (is_align(text)) {
    spec.align = text[0];
    text.remove_prefix(1);
  }
  for (const char sign : {'+', '-', ' '})
    if (take(text, sign)) spec.sign = sign;
  spec.alternate = take(text, '#');
  spec.zero = take(text, '0');
  spec.width = take_number(text);
  for (const char group : {',', '_'})
    if (take(text, group)) spec.group = group;
  if (take(text, '.')) spec.precision = take_number(text);
  if (!text.empty()) spec.type = text[0];
  if (text.size() > 1 || std::string_view("\0sdxXobeEfFgG%", 14).find(spec.type) == std::string_view::npos)
    return bad_format("its format is not known");
  ORRERY_TRY(check_bounds(spec));
  return spec;
}

Result<std::string> brace_field(std::string_view inside, Fields& fields, Budget& budget) {
  const size_t colon = std::min(inside.find(':'), inside.size());
  std::string_view name = inside.substr(0, colon);
  const size_t bang = name.find('!');
  const char conversion = bang == std::string_view::npos ? '\0'
                          : bang + 2 == name.size()      ? name[bang + 1]
                                                         : '?';
  ORRERY_ASSIGN(Value value, fields.field(name.substr(0, bang)));
  if (conversion == 'r') {
    ORRERY_ASSIGN(std::string text, to_repr(value, budget));
    value = Value(std::move(text));
  } else if (conversion == 's') {
    ORRERY_ASSIGN(std::string text, to_text(value, budget));
    value = Value(std::move(text));
  } else if (conversion != '\0') {
    return bad_format("a conversion is !s or !r");
  }
  if (colon + 1 >= inside.size()) return to_text(value, budget);
  ORRERY_ASSIGN(const Spec spec, brace_spec(inside.substr(colon + 1)));
  double number = 0;
  if (value.string()) return text_by(*value.string(), spec);
  if (value.as_number(number)) return number_by(value, spec);
  return bad_format(fmt::format("a {} takes no format", value.type_name()));
}

/// %[(name)][flags][width][.precision]type, after the "%".
Result<std::string> percent_field(std::string_view& rest, const Value& values, Fields& fields,
                                  Budget& budget) {
  Value value;
  bool named = false;
  if (take(rest, '(')) {
    const size_t end = rest.find(')');
    if (end == std::string_view::npos || !values.dict()) return bad_format("a name needs a dict of values");
    ORRERY_ASSIGN(value, get_item(values, Value(std::string(rest.substr(0, end))), budget));
    rest.remove_prefix(end + 1);
    named = true;
  }
  Spec spec;
  for (bool more = true; more;) {
    more = false;
    if (take(rest, '-')) spec.align = '<', more = true;
    if (take(rest, '0')) spec.zero = true, more = true;
    if (take(rest, '#')) spec.alternate = true, more = true;
    for (const char sign : {'+', ' '})
      if (take(rest, sign)) spec.sign = sign, more = true;
  }
  spec.width = take_number(rest);
  if (take(rest, '.')) spec.precision = take_number(rest);
  ORRERY_TRY(check_bounds(spec));
  if (rest.empty()) return bad_format("it ends within \"%\"");
  spec.type = rest[0];
  rest.remove_prefix(1);
  if (spec.type == '%') return std::string("%");
  if (!named) {
    ORRERY_ASSIGN(value, fields.field(""));
  }
  if (spec.type == 's' || spec.type == 'r' || spec.type == 'a') {
    ORRERY_ASSIGN(const std::string text, spec.type == 's' ? to_text(value, budget) : to_repr(value, budget));
    if (spec.align == '\0') spec.align = '>';
    return text_by(text, spec);
  }
  double number = 0;
  if (!value.as_number(number) || std::string_view("diuxXoeEfFgG").find(spec.type) == std::string_view::npos)
    return bad_format(fmt::format("\"%{}\" does not take a {}", spec.type, value.type_name()));
  if (spec.type == 'i' || spec.type == 'u') spec.type = 'd';
  if (spec.type == 'd' && value.real()) {
    if (!(std::abs(number) < 9e18)) return bad_format("a number is too large");
    value = Value(static_cast<int64_t>(number));
  }
  return number_by(value, spec);
}

}  // namespace

Result<Value> format_percent(const std::string& format, const Value& values, Budget& budget) {
  Arguments given;
  if (const List* tuple = values.list(); tuple && tuple->form == Form::tuple) {
    given.positional = tuple->items;
  } else {
    given.positional = {values};
  }
  Fields fields(given, budget);
  std::string result;
  for (std::string_view rest = format; !rest.empty();) {
    ORRERY_TRY(budget.step());
    const size_t at = std::min(rest.find('%'), rest.size());
    std::string part(rest.substr(0, at));
    rest.remove_prefix(at);
    if (take(rest, '%')) {
      ORRERY_ASSIGN(const std::string filled, percent_field(rest, values, fields, budget));
      part += filled;
    }
    ORRERY_TRY(budget.grow(result.size(), part.size()));
    result += part;
  }
  return budget.text(std::move(result));
}

Result<Value> format_braces(const std::string& format, const Arguments& arguments, Budget& budget) {
  Fields fields(arguments, budget);
  std::string result;
  for (size_t i = 0; i < format.size();) {
    ORRERY_TRY(budget.step());
    const char c = format[i];
    if ((c == '{' || c == '}') && i + 1 < format.size() && format[i + 1] == c) {
      result += c;
      i += 2;
    } else if (c == '{') {
      const size_t end = format.find('}', i);
      if (end == std::string::npos) return bad_format("\"}\" is missing");
      ORRERY_ASSIGN(const std::string filled,
                    brace_field(std::string_view(format).substr(i + 1, end - i - 1), fields, budget));
      ORRERY_TRY(budget.grow(result.size(), filled.size()));
      result += filled;
      i = end + 1;
    } else if (c == '}') {
      return bad_format("\"}\" stands alone");
    } else {
      const size_t end = std::min(format.find_first_of("{}", i), format.size());
      ORRERY_TRY(budget.grow(result.size(), end - i));
      result.append(format, i, end - i);
      i = end;
    }
  }
  return budget.text(std::move(result));
}

}  // namespace orrery::text::jinja
