#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/text/regex.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <cctype>

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

constexpr uint32_t kMatchLimit = 20'000'000;      // a hostile pattern must not run without end
constexpr size_t kJitStackMax = 4 * 1024 * 1024;  // bytes; grows from 64 kB as needed

std::string message_of(int code) {
  PCRE2_UCHAR buffer[256];
  return pcre2_get_error_message(code, buffer, sizeof buffer) < 0 ? "unknown error"
                                                                  : reinterpret_cast<const char*>(buffer);
}

/// What one search needs and no other thread may share.
struct Search {
  explicit Search(const pcre2_code* code)
      : data(pcre2_match_data_create_from_pattern(code, nullptr)),
        context(pcre2_match_context_create(nullptr)) {
    if (context) pcre2_set_match_limit(context, kMatchLimit);
  }
  ~Search() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  bool grow_stack() {
    if (stack || !context) return false;
    stack = pcre2_jit_stack_create(64 * 1024, kJitStackMax, nullptr);
    if (stack) pcre2_jit_stack_assign(context, nullptr, stack);
    return stack != nullptr;
  }
  pcre2_match_data* data;
  pcre2_match_context* context;
  pcre2_jit_stack* stack = nullptr;
};

}  // namespace

struct Regex::Code {
  explicit Code(pcre2_code* compiled) : code(compiled) {}
  ~Code() { pcre2_code_free(code); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  pcre2_code* code;
};

Result<Regex> Regex::compile(const std::string& pattern) {
  int error = 0;
  PCRE2_SIZE position = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                                   &error, &position, nullptr);
  if (!code)
    return Error{ErrorCode::unsupported, "The tokenizer's pattern cannot be compiled: " + message_of(error),
                 fmt::format("character {} of {}", position, replace_invalid(pattern.substr(0, 200))),
                 "Use a tokenizer whose patterns are Perl-compatible"};
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // without JIT the interpreter does the same
  Regex regex;
  regex.code_ = std::make_shared<const Code>(code);
  return regex;
}

Result<Regex> Regex::literal(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    if (static_cast<uint8_t>(c) < 0x80 && !std::isalnum(static_cast<uint8_t>(c)))
      pattern += fmt::format("\\x{{{:x}}}", static_cast<uint8_t>(c));
    else
      pattern += c;
  }
  return compile(pattern);
}

std::vector<Regex::Match> Regex::find_all(std::string_view text) const {
  std::vector<Match> matches;
  Search search(code_->code);
  for (size_t position = 0; search.data && position < text.size();) {
    const int found = pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                  position, PCRE2_NOTEMPTY, search.data, search.context);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT && search.grow_stack()) continue;
    if (found < 0) break;  // no further match, or over the limits
    const PCRE2_SIZE* at = pcre2_get_ovector_pointer(search.data);
    const size_t begin = std::max<size_t>(at[0], position), end = at[1];
    if (end <= begin) break;  // \K may turn a match around
    matches.push_back({begin, end});
    position = end;
  }
  return matches;
}

std::string Regex::replace_all(std::string_view text, std::string_view content) const {
  std::string result;
  size_t last = 0;
  for (const Match& match : find_all(text)) {
    result.append(text.substr(last, match.begin - last)).append(content);
    last = match.end;
  }
  return result.append(text.substr(last));
}

}  // namespace orrery::text
