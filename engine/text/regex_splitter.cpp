#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/text/regex_splitter.h"

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

/// What one split needs and no other thread may share.
struct Match {
  explicit Match(const pcre2_code* code)
      : data(pcre2_match_data_create_from_pattern(code, nullptr)),
        context(pcre2_match_context_create(nullptr)) {
    if (context) pcre2_set_match_limit(context, kMatchLimit);
  }
  ~Match() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  Match(const Match&) = delete;
  Match& operator=(const Match&) = delete;
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

struct RegexSplitter::Code {
  explicit Code(pcre2_code* compiled) : code(compiled) {}
  ~Code() { pcre2_code_free(code); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  pcre2_code* code;
};

Result<RegexSplitter> RegexSplitter::compile(const std::string& pattern, SplitBehavior behavior,
                                             bool invert) {
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
  RegexSplitter splitter;
  splitter.code_ = std::make_shared<const Code>(code);
  splitter.behavior_ = behavior;
  splitter.invert_ = invert;
  return splitter;
}

Result<RegexSplitter> RegexSplitter::literal(const std::string& text, SplitBehavior behavior, bool invert) {
  std::string pattern;
  for (const char c : text) {
    if (static_cast<uint8_t>(c) < 0x80 && !std::isalnum(static_cast<uint8_t>(c)))
      pattern += fmt::format("\\x{{{:x}}}", static_cast<uint8_t>(c));
    else
      pattern += c;
  }
  return compile(pattern, behavior, invert);
}

std::vector<RegexSplitter::Span> RegexSplitter::find_spans(std::string_view text) const {
  std::vector<Span> spans;
  Match match(code_->code);
  size_t position = 0, last = 0;
  while (match.data && position <= text.size() && !text.empty()) {
    const int found = pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                  position, PCRE2_NOTEMPTY, match.data, match.context);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT && match.grow_stack()) continue;
    if (found < 0) break;  // no further match, or over the limits: the rest is one segment
    const PCRE2_SIZE* at = pcre2_get_ovector_pointer(match.data);
    const size_t begin = std::max<size_t>(at[0], last), end = at[1];
    if (end <= begin) break;  // \K may turn a match around
    if (begin > last) spans.push_back({last, begin, invert_});
    spans.push_back({begin, end, !invert_});
    position = last = end;
  }
  if (last < text.size()) spans.push_back({last, text.size(), invert_});
  return spans;
}

void RegexSplitter::split(std::string_view text, std::vector<std::string_view>& segments) const {
  const std::vector<Span> spans = find_spans(text);
  const auto emit = [&](size_t begin, size_t end) {
    if (end > begin) segments.push_back(text.substr(begin, end - begin));
  };
  for (size_t i = 0; i < spans.size(); ++i) {
    size_t begin = spans[i].begin, end = spans[i].end;
    switch (behavior_) {
      case SplitBehavior::removed:
        if (spans[i].match) continue;
        break;
      case SplitBehavior::isolated:
        break;
      case SplitBehavior::merged_with_previous:
        if (!spans[i].match && i + 1 < spans.size() && spans[i + 1].match) end = spans[++i].end;
        break;
      case SplitBehavior::merged_with_next:
        if (spans[i].match && i + 1 < spans.size() && !spans[i + 1].match) end = spans[++i].end;
        break;
      case SplitBehavior::contiguous:
        while (i + 1 < spans.size() && spans[i + 1].match == spans[i].match) end = spans[++i].end;
        break;
    }
    emit(begin, end);
  }
}

}  // namespace orrery::text
