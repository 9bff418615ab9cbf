// What a template can call by name: its macros, its loops, and the functions that every template is given.
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <ctime>

#include "engine/text/jinja_evaluator.h"

namespace orrery::text::jinja {
namespace {

constexpr std::string_view kFunctions[] = {"range", "namespace", "dict", "raise_exception", "strftime_now"};
constexpr size_t kLongestRange = 100'000;  // as the reference's sandbox

/// strftime in English, whatever the language of the person.
std::string formatted_time(const std::string& format, const std::tm& time) {
  const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  char buffer[2048];
  const size_t size = plain ? strftime_l(buffer, sizeof buffer, format.c_str(), &time, plain) : 0;
  if (plain) freelocale(plain);
  return std::string(buffer, size);
}

}  // namespace

bool is_global_function(std::string_view name) {
  return std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions);
}

Result<Value> Evaluator::call_value(const Value& target, const std::string& name, Arguments given) {
  if (const Method* method = target.method())
    return call_method(*method->object, method->name, given, budget_);
  if (const Macro* macro = target.macro()) return call_macro(*macro, given);
  if (const Loop* loop = target.loop()) return call_loop(*loop, given);
  if (target.function()) return call_function(target.function()->name, given);
  return render_error(fmt::format("\"{}\" is {}, not a function",
                                  name.empty() ? "a value" : name.substr(0, 60), target.type_name()));
}

/// Into the scope of the macro's body, which is the current one.
Result<void> Evaluator::bind_parameters(const Statement& definition, const Arguments& given) {
  const Signature& signature = definition.signature;
  const std::string& name = definition.text.empty() ? "caller" : definition.text;
  const size_t count = signature.names.size();
  if (given.positional.size() > count && !signature.varargs)
    return render_error(
        fmt::format("the macro \"{}\" takes {} arguments, not {}", name, count, given.positional.size()));
  auto others = std::make_shared<Dict>();
  for (const auto& [key, value] : given.named) {
    if (std::find(signature.names.begin(), signature.names.end(), key) != signature.names.end()) continue;
    if (key == "caller" && signature.caller) {
      scope_->set(key, value);
    } else if (signature.kwargs) {
      others->set(key, value);
    } else {
      return render_error(fmt::format("the macro \"{}\" has no parameter \"{}\"", name, key.substr(0, 40)));
    }
  }
  const size_t first_default = count - signature.defaults.size();
  for (size_t i = 0; i < count; ++i) {
    const Value* value = given.find(i, signature.names[i]);
    if (value) {
      scope_->set(signature.names[i], *value);
    } else if (i >= first_default) {
      ORRERY_ASSIGN(Value fallback, eval(*signature.defaults[i - first_default]));
      scope_->set(signature.names[i], std::move(fallback));
    } else {
      scope_->set(signature.names[i], Value(Undefined{signature.names[i]}));
    }
  }
  if (signature.kwargs) scope_->set("kwargs", Value(std::move(others)));
  if (!signature.varargs) return {};
  const size_t taken = std::min(count, given.positional.size());
  ORRERY_ASSIGN(Value rest, budget_.list({given.positional.begin() + static_cast<ptrdiff_t>(taken),
                                          given.positional.end()},
                                         Form::tuple));
  scope_->set("varargs", std::move(rest));
  return {};
}

Result<Value> Evaluator::call_function(const std::string& name, const Arguments& given) {
  if (name == "range") return range(given);
  if (name == "strftime_now") return time_now(given);
  if (name == "raise_exception") {
    const std::string* message = given.string(0, "message");
    return Error{ErrorCode::invalid_argument,
                 "The chat template refuses these messages: " + (message ? *message : "no reason given"), "",
                 "Change the messages as it says"};
  }
  return make_dict(given, name == "namespace");
}

Result<Value> Evaluator::make_dict(const Arguments& given, bool is_namespace) {
  auto made = std::make_shared<Dict>();
  made->is_namespace = is_namespace;
  if (const Value* first = given.find(0, ""); first && first->dict()) {
    ORRERY_TRY(budget_.step(static_cast<int64_t>(first->dict()->items().size())));
    for (const auto& [key, value] : first->dict()->items()) made->set(key, value);
  } else if (first) {
    ORRERY_ASSIGN(const auto pairs, iterate(*first, budget_));
    for (const Value& pair : pairs->items) {
      const List* parts = pair.list();
      if (!parts || parts->items.size() != 2 || !(parts->items[0].string() || parts->items[0].integer()))
        return render_error("a dict is made of pairs of a key and a value");
      made->set(*key_of(parts->items[0]), parts->items[1]);
    }
  }
  for (const auto& [key, value] : given.named) made->set(key, value);
  if (made->depth > Budget::kDeepest) return limit_error("values are nested too deeply");
  if (is_namespace) namespaces_.push_back(made);
  return Value(std::move(made));
}

Result<Value> Evaluator::range(const Arguments& given) {
  int64_t bounds[3] = {0, 0, 1};
  const size_t count = given.positional.size();
  for (size_t i = 0; i < count && i < 3; ++i) {
    int64_t storage = 0;
    const int64_t* number = given.positional[i].as_integer(storage);
    if (!number) return render_error("range needs whole numbers");
    bounds[count == 1 ? 1 : i] = *number;
  }
  const auto [start, stop, step] = bounds;
  if (count == 0 || count > 3 || step == 0)
    return render_error("range needs one to three numbers, the step not 0");
  std::vector<Value> items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    ORRERY_TRY(budget_.step());
    if (items.size() == kLongestRange) return limit_error("a range has more than 100,000 numbers");
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return budget_.list(std::move(items));
}

Result<Value> Evaluator::time_now(const Arguments& given) {
  const std::string* format = given.string(0, "format");
  if (!format || format->size() > 200) return render_error("strftime_now needs a short format");
  return budget_.text(formatted_time(*format, context_.now));
}

}  // namespace orrery::text::jinja
