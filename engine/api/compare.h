// The same text through two sessions: what each part costs on either side, and where the numbers part.
#pragma once

#include "engine/api/patch.h"
#include "engine/api/session.h"

namespace orrery::api {

/// A side's own settings over those of `base`: "device=cuda:0,fusion=off". Keys: device, model, recipe,
/// fusion (on, off), adapter, threads, precision (balanced, exact, bf16, int16, int8), kv-type, context.
Result<OpenOptions> with_spec(const OpenOptions& base, std::string_view spec);

enum class Side : uint8_t { a, b };

struct CompareRequest {
  std::vector<Message> messages;  // or
  std::string raw;                // a raw prompt; an encoder's text
  int64_t max_tokens = 48;        // of each side's greedy reply
  double divergent_nmse = 1e-3;   // from here on a node differs
  bool patch = false;             // values of A are put into B, one after another (patch.h)
  PatchPlaces patch_places = {};  // which
};

/// Called on the engine's threads, in order within a side.
struct CompareEvents {
  std::function<void(Side, const PrefillEvent&)> on_prefill;
  std::function<void(Side, const TokenEvent&)> on_token;
};

/// How b's values of a node differ from a's, over one step that reads the text on both sides.
struct Difference {
  double max_abs = 0, nmse = 0, cosine = 1;  // nmse: |a - b|^2 / |a|^2
};

/// One node of the model graph, by its path, in the order of a's graph. Times are medians of decode steps (of
/// an encoder: of its step), warm-up left out.
struct NodeComparison {
  std::string node;
  NodeId a, b;  // in either model graph; none where a side does not have it
  double a_us = 0, b_us = 0;
  bool estimated = false;                // a fused node's time, shared out
  std::optional<Difference> difference;  // none where only one side has the node, or shapes differ
  /// The share of the difference of the answers that goes away with A's value of it in B, where that was
  /// asked for.
  std::optional<double> gone = {};
};

struct CompareResult {
  ChatResult a, b;  // an encoder: figures only
  double total_a_ms = 0, total_b_ms = 0;
  std::vector<NodeComparison> nodes;
  std::string first_divergent;               // path; empty: none
  std::optional<double> kl, top1_agreement;  // KL(a || b) in nats, mean over positions; none for encoders
  int64_t positions = 0;                     // next-token distributions that were compared
  int64_t probed_tokens = 0;                 // tokens of the step that the differences are of
  int64_t first_different_token = -1;        // of the replies; -1: none
  std::optional<double> patched_kl = {};     // of which NodeComparison::gone are shares
  bool patched_stream = true;                // each node of the stream, not nodes by a pattern
};

/// Runs side after side where both use the same device, be it for a part of their nodes, else both at once.
/// Both sides read A's prompt; the distributions are those of the prompt and A's reply, as the sides run
/// (fused or not); the nodes' values are those of the model graphs without fusion. Needs two sessions of
/// Session::open.
Result<CompareResult> compare(Session& a, Session& b, const CompareRequest& request,
                              const CompareEvents& events, const ProgressCallback& progress,
                              std::stop_token stop);

}  // namespace orrery::api
