// Hand-written scanners of the published word patterns, each equal to its regular expression and many times
// faster. A scanner gives the end of the word that starts at `position`; bytes that are not UTF-8 are words
// of their own.
#pragma once

#include <cstddef>
#include <string_view>

namespace orrery::text {

using WordScanner = size_t (*)(std::string_view text, size_t position);

size_t scan_digits_apart(std::string_view text, size_t position);  // each number character, what lies between
size_t scan_gpt2(std::string_view text, size_t position);
size_t scan_llama3(std::string_view text, size_t position);  // GPT-4's: words, up to three digits
size_t scan_qwen2(std::string_view text, size_t position);   // the same with single digits
size_t scan_o200k(std::string_view text, size_t position);   // GPT-4o's: words end where their case turns
size_t scan_tekken(std::string_view text, size_t position);  // the same with single digits, no contractions

/// The scanner of a pattern that is written so in tokenizer.json or by this program's own tables; null: none.
WordScanner scanner_of(std::string_view pattern);

}  // namespace orrery::text
