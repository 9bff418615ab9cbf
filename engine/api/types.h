// Values that the window and the command line exchange with the engine. Plain data, no behaviour.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/sampling.h"
#include "engine/base/progress.h"
#include "engine/graph/graph.h"
#include "kernels/machine_speed.h"

namespace orrery::api {

enum class Phase : uint8_t { prefill, decode };
enum class Task : uint8_t { generate, embed, classify, tensors };  // tensors: a graph of one's own

struct OpenOptions {
  std::string model;            // a path, or a name from the library
  std::string adapter;          // PEFT folder; empty: none
  std::string recipe;           // JSON file; empty: none
  std::string device = "cpu";   // cpu, cuda:N; cuda is cuda:0
  int threads = 0;              // 0: the cores this process may run on
  int64_t context = 0;          // 0: the model's own, at most 8192 or least_context
  int64_t least_context = 0;    // tokens that should have room where no context is chosen
  std::string kv_type = "f16";  // f16, bf16, f32, q8_0
  int64_t batch_tokens = 0;     // of one step at most; 0: what the device likes
  bool fusion = true;
  std::vector<std::string> disabled_passes = {};  // by name; Session::plan() lists those that there are
  /// Of the nodes that do not ask for another: balanced, exact, bf16, int16, int8 (kernels/precision.h).
  /// exact also keeps the KV cache in float32.
  std::string precision = "balanced";
  bool check_memory = true;  // refuse what is estimated not to fit before any weight is read
};

/// A change of one option with which a model fits where it does not as it was asked for.
struct Offer {
  std::string option;  // "context", "kv-type", "device": as the command line calls it
  std::string value;   // "4096", "f16", "cpu"
};

struct TensorRow {
  std::string name;
  std::string dtype;  // as the field writes it: "f32", "Q4_K", "IQ2_XXS"
  std::vector<int64_t> shape;
  uint64_t bytes;
};

struct MemoryEstimate {
  uint64_t weights = 0, kv_cache = 0, scratch = 0;  // bytes, at `context` tokens
  int64_t context = 0;
};

/// Memory that is held now, in bytes.
struct MemoryUse {
  uint64_t weights = 0, kv_cache = 0, scratch = 0;  // of the session, on its device
  uint64_t program = 0;                             // of this machine's, by the whole program; 0: not known

  uint64_t session() const { return weights + kv_cache + scratch; }
};

struct ModelInfo {
  std::string name, path, format, architecture, tokenizer, chat_template;
  Task task = Task::generate;
  uint64_t parameters = 0, bytes = 0;
  int64_t context_length = 0, layers = 0, width = 0, vocabulary = 0;
  std::string main_dtype;  // the mix that the file names ("Q4_K_M"), else the dtype of most bytes ("Q4_1")
  std::vector<std::string> labels;
  bool classifies_tokens = false;  // each token of a text gets a label, not the text
  std::vector<TensorRow> tensors;
  std::string cannot_run;  // why the file can be looked at only; empty: it can run
  MemoryEstimate memory;
  std::vector<std::pair<std::string, std::string>> metadata;  // key, value as text (long arrays elided)
};

struct Message {
  std::string role, content;
  /// The whole message as a JSON object where it has more than these two (tool_calls, name, ...): then the
  /// chat template sees just this. Empty: role and content.
  std::string json = {};
};

/// What a chat template is given beside the messages; JSON texts.
struct TemplateOptions {
  bool generation_prompt = true;
  std::string tools, documents;  // arrays; empty: none
  std::vector<std::pair<std::string, std::string>> variables =
      {};  // name and value: enable_thinking, "false"
};

struct ChatRequest {
  std::vector<Message> messages;  // the whole conversation; or
  std::string raw;                // a raw prompt, no template, when messages is empty
  TemplateOptions template_options = {};
  int64_t max_tokens = 512;
  SamplingOptions sampling;
  int logprobs = 0;               // top N of each token, at most 20
  std::vector<std::string> stop;  // texts that end the reply
  /// A full context: false, the reply ends (stop_reason "context"), and a conversation that is too long is
  /// refused; true, the oldest messages but the system's are left out, and in the middle of a reply the older
  /// half of the text.
  bool context_shift = false;
};

struct TokenAlternative {
  int32_t id = 0;
  std::string piece;  // bytes; may be part of a UTF-8 sequence
  float logprob = 0;
};

struct TokenEvent {
  int32_t id = 0;
  std::string piece;  // bytes
  std::string text;   // whole UTF-8 text that is ready now; may be empty
  float logprob = 0;
  std::vector<TokenAlternative> top;
  double step_ms = 0;  // this token's decode step; the first token: the prefill
  int64_t position = 0;
};

struct PrefillEvent {
  int64_t tokens = 0, done = 0;  // of this prompt; reused KV left out
  double ms = 0;
};

/// Called in order, on the thread of whoever waits for the reply; must return quickly.
struct ChatEvents {
  std::function<void(const PrefillEvent&)> on_prefill;
  std::function<void(const TokenEvent&)> on_token;
};

struct ChatResult {
  std::string text;
  std::vector<TokenEvent> tokens;
  std::string stop_reason;  // end, length, stop, cancelled, context
  int64_t prompt_tokens = 0, reused_tokens = 0;
  int64_t left_out_messages = 0, forgotten_tokens = 0;  // context_shift: what the context had no room for
  double prefill_ms = 0, decode_ms = 0, prefill_tokens_per_second = 0, decode_tokens_per_second = 0,
         time_to_first_token_ms = 0;
  int64_t context_used = 0;
};

/// Of a reply that nobody waits for. Called in order, on the thread of the session's replies; must return
/// quickly, and not let go of the session.
struct ReplyEvents : ChatEvents {
  std::function<void(Result<ChatResult>)> on_done;  // once, after all others
};

struct ScoreResult {
  int64_t tokens = 0;
  double nll_per_token = 0;  // of the tokens after the first, which nothing foretells; without any 0
  double perplexity = 0;     // exp(nll_per_token)
  std::vector<TokenAlternative> last_top;  // of the position after the last token
};

/// One token of a text, where the model labels tokens.
struct TokenLabel {
  int32_t id = 0;
  std::string piece;  // bytes; empty for special tokens without any
  std::string label;
  std::vector<float> probabilities;  // by ModelInfo::labels
};

struct Classification {
  std::string text, label;
  std::vector<float> probabilities;  // by ModelInfo::labels; of a single label its own: 0 to 1
  std::vector<float> logits;
  double ms = 0;
  std::vector<TokenLabel>
      tokens;  // where ModelInfo::classifies_tokens; label and numbers above are empty then
};

/// How well a passage answers a query.
struct Relevance {
  float logit = 0, score = 0;  // score: 0 to 1
  double ms = 0;               // its share of the step that read it
};

struct Embedding {
  std::string text;
  std::vector<float> vector;
};

struct Rate {
  int64_t tokens = 0;
  double tokens_per_second = 0;  // the median of the repeats
  double sd = 0, min = 0, max = 0;
};
struct BenchOptions {
  int64_t prompt = 512, gen = 128, depth = 0, batch = 1, tokens = 128;
  int repeats = 5;
  /// Rising. Where there are some, texts are read to each of them in turn, and only what a token takes there
  /// is measured: nothing is read twice, so that a long context is reached once.
  std::vector<int64_t> depths = {};
};
struct BenchResult {
  std::optional<Rate> prefill, decode;
  struct Encode {
    int64_t batch = 0, tokens = 0;
    double ms = 0, sequences_per_second = 0;  // ms: the median of the repeats
    double min_ms = 0, max_ms = 0;
  };
  std::optional<Encode> encode;
  struct Depth {
    int64_t tokens = 0;  // in the context of each sequence when it is measured
    double ms = 0;       // of a token; the median of the repeats
    double min_ms = 0, max_ms = 0;
    uint64_t context_bytes = 0;  // that there is memory for, of all sequences
    int64_t read = 0;            // tokens that each sequence read to come there, and the time of that
    double read_ms = 0;
  };
  std::vector<Depth> depths = {};
  std::string device;
  int threads = 0;
};

struct PlanStep {
  NodeId node;
  std::string path, op, device, kernel;  // device: where it runs
  struct Refused {
    std::string kernel, reason;
  };
  std::vector<Refused> refused;
  std::vector<std::string> not_asked;  // slower rows after the chosen one
  double flops = 0, bytes = 0;
  std::string asked, reason;  // where it was asked to run; why it runs elsewhere, empty when it does not
  double us = 0;              // of one run, where it was measured
  /// Of a node that multiplies: the precision that it was asked for ("bf16"), what it rounds activations to
  /// ("int16", "float32": nothing), and why that is finer than asked, empty where it is not.
  std::string precision, computes, precision_reason;
};

/// Where a node of the model graph runs.
struct NodePlacement {
  NodeId node;
  std::string asked, device;  // "cpu", "cuda:0"
  std::string reason;         // why it runs elsewhere than asked; empty where it does not
};

/// What one pass did to the graph of a plan.
struct PlanPass {
  std::string name, doc;
  int rewrites = 0;
  double ms = 0;
  bool disabled = false;
};

struct PlanReport {
  std::vector<PlanStep> steps;
  /// What it runs, with the types that values have in steps of so many tokens; and dead what is bypassed.
  graph::GraphVersion graph;
  std::vector<PlanPass> passes;  // that made it of the model graph, in their order
  uint64_t arena_bytes = 0, workspace_bytes = 0;
  double compile_ms = 0;
};

/// What this machine can do at most: measured once, or the card's figures.
struct MachineLimits {
  std::vector<kernels::ReadingSpeed> reading;  // by rising bytes; empty: not measured yet, or not known
  std::array<double, kArithmetics> operations_per_second = {};  // by Arithmetic; 0: not known, or it has none
  int threads = 0;
  std::string cpu;  // "AVX-512 VNNI BF16"; on a device its name
};

/// One entry of list_devices().
struct DeviceEntry {
  std::string device;   // "cpu", "cuda:0"
  std::string name;     // "AVX-512 VNNI BF16", "NVIDIA H200"
  std::string refusal;  // why it cannot be used; empty: it can
  uint64_t memory_bytes = 0, free_bytes = 0;
};

/// What a card says of itself now; zeros where it says nothing.
struct DeviceVitals {
  std::string device, name;                    // "cuda:0", "NVIDIA H200"
  uint64_t memory_used = 0, memory_total = 0;  // bytes, of all programs
  double clock_mhz = 0, power_watts = 0, celsius = 0, busy_share = 0;
};

struct DerivedWeight {
  std::string tensor, transform, reason;
  uint64_t bytes = 0;
};

struct EditRecord {
  std::string name;     // "bypass layers.3"
  std::string words;    // "bypass scope=layers.3"
  bool kv_kept = true;  // false: the context is read again at the next message
};

/// Tells of every text classified, in order; returns false to stop.
using ClassifyCallback = std::function<bool(size_t index, const Classification&)>;

}  // namespace orrery::api
