// Where the difference of two sides comes from: a value of side A is put into side B, and what is left of the
// difference is what B makes after it.
#pragma once

#include "engine/api/session.h"

namespace orrery::api {

/// B reads the text with A's value of one node.
struct PatchedNode {
  std::string node;  // its path, on both sides
  double kl = 0;     // KL(a || b) that is left, in nats, mean over positions
  /// The share of the whole difference that goes away; negative where the value of A makes it larger.
  double gone = 0;
};

struct PatchResult {
  double kl = 0;  // of the sides as they are, without fusion
  int64_t tokens = 0, positions = 0;
  /// Those that both sides have, in a's order. Along the stream `gone` grows from one to the next by what B
  /// does between them.
  std::vector<PatchedNode> nodes;
};

/// Into which nodes, one at a time. Of either side they have the same path, type and shape, and give float32.
struct PatchPlaces {
  /// Patterns of scopes and nodes of a, "layers.*.mlp", "*" for all (edit/scope_pattern.h). Empty: the nodes
  /// of the stream, whose value is all that the rest of the graph is made of.
  std::string nodes = {};
};

/// The text as both sides' first tokens; of two models that write, with the same vocabulary. B runs from the
/// last value of the stream before the node. Needs two sessions of Session::open. Any thread; waits.
Result<PatchResult> patch(Session& a, Session& b, std::string_view text, const PatchPlaces& places,
                          const ProgressCallback& progress, std::stop_token stop);

}  // namespace orrery::api
