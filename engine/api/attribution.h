// Which tokens of a text an answer follows from: gradient x input (Shrikumar et al. 2016, arXiv 1605.01713)
// on the embeddings. The score of a token is the sum over the embedding's elements of element times gradient
// of the answer's logit: how much the logit would gain if the token's embedding grew by a small share of
// itself, per share.
//
// The gradients are nodes appended to the model's own (engine/passes/differentiate.h), run in a step apart
// from what the session runs. A decoder reads the text in that step alone (engine/passes/whole_text.h).
#pragma once

#include <string>
#include <vector>

#include "engine/api/session.h"
#include "engine/base/progress.h"

namespace orrery::api {

struct AttributionRequest {
  std::string text;
  /// What the logit is of: of a model that writes, the next token, by its id or as a text of one token; of
  /// one that classifies, a label by its name or its number. Empty: the likeliest.
  std::string target = {};
};

struct TokenScore {
  int32_t id = 0;
  std::string piece;  // bytes; empty for special tokens without any
  double score = 0;
};

struct Attribution {
  int32_t target = 0;       // a token's id, or a label's number
  std::string target_name;  // its piece (bytes), or the label
  double logit = 0;         // of the step with the gradients
  double probability = 0;   // as the session computes it
  std::vector<TokenScore> tokens;
  double ms = 0;  // of the step with the gradients, compiled anew
};

/// Tokens of a text at most: all scores of attention are kept for the way back.
inline constexpr int64_t kMostAttributed = 512;

/// Waits: for a thread of one's own. Refused: models that neither write nor label texts; an empty or a longer
/// text; a target that is no token and no label; graphs with an op between the embeddings and the logits
/// whose gradient is not known (mixtures of experts, recurrent states, fastmax), with its node.
Result<Attribution> attribute(Session& session, const AttributionRequest& request, const Watch& watch = {});

}  // namespace orrery::api
