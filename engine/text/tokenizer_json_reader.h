// tokenizer.json as it streams by: the vocabulary and the merges go into flat lists, the small rest into a
// tree. Nothing is built that the file did not pay for: nesting and the size of the tree are bounded.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace orrery::text {

struct TokenizerJson {
  std::vector<std::pair<std::string, int64_t>> vocabulary;  // model.vocab as an object: token and id
  std::vector<std::pair<std::string, double>> pieces;       // model.vocab as a list of pairs: token and score
  std::vector<std::pair<std::string, std::string>> merges;  // model.merges, "a b" or ["a", "b"]
  nlohmann::json rest;                                      // everything else
  std::string bos, eos;  // tokens that a file beside it names so; empty: none does
};

/// `name`: of the file, for messages. Other files of a tokenizer are read with the same care.
Result<TokenizerJson> read_tokenizer_json(std::string_view json, std::string_view name = "tokenizer.json");

}  // namespace orrery::text
