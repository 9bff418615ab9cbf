// The facade: one loaded model that can be looked at, run, edited and measured. All methods may be called
// from any thread; those that run the model block the caller (use a job thread) and are served by the device
// scheduler in turn.
#pragma once

#include <memory>
#include <stop_token>

#include "engine/api/preview.h"
#include "engine/api/profile.h"
#include "engine/api/session_state.h"
#include "engine/api/trace.h"
#include "engine/api/types.h"
#include "engine/edit/edit.h"

namespace orrery::api {

/// A text of its own that replies go on from, beside the session's chat: what was read of it is kept as long
/// as somebody holds it. Its replies are written one after another.
class Conversation;
using ConversationPtr = std::shared_ptr<Conversation>;

class Session {
 public:
  /// Opens, builds and compiles. Progress stages are sentences for the person ("Reading
  /// SmolLM2-135M-Instruct").
  static Result<std::shared_ptr<Session>> open(const OpenOptions& options, const ProgressCallback& progress,
                                               std::stop_token stop);
  virtual ~Session() = default;

  virtual const ModelInfo& info() const = 0;
  virtual const OpenOptions& options() const = 0;

  // The state: what is edited, what runs, and how it came about. Who reads it never waits for a change.
  virtual SessionStatePtr state() const = 0;
  graph::GraphVersion model_graph() const { return state()->model; }
  graph::GraphVersion fused_graph() const { return state()->fused; }
  std::vector<EditRecord> edits() const { return state()->history.records(); }  // applied, oldest first
  std::vector<edit::Edit> recipe() const { return state()->history.recipe(); }
  virtual Result<PlanReport> plan(Phase phase) = 0;
  /// The nodes of the model graph that were asked to another device than the session's own, or run on
  /// another; nodes that do not run (bypassed, folded) are left out. Any thread.
  virtual std::vector<NodePlacement> placement() const = 0;

  // Changes of the state. Each is prepared on the session's edit thread upon what the one before it left, and
  // then adopted at once: the next step runs it, nothing is loaded again. What fails or is stopped leaves the
  // state as it was.
  /// Returns at once. The source stops this change alone, also while it waits.
  virtual std::stop_source submit(Change change, ChangeEvents events) = 0;
  /// What the edits would do, without doing it: they are prepared as far as no weight is read. Any thread.
  virtual Result<Preview> preview(const std::vector<edit::Edit>& edits, std::stop_token stop) const = 0;
  /// What the edits do to the answers, measured without doing them: both versions read the text (none: one of
  /// the program's own) beside what runs. What the edits need of weights is made for it. Any thread; waits.
  virtual Result<MeasuredChange> measure(const std::vector<edit::Edit>& edits, std::string_view text,
                                         std::stop_token stop) const = 0;

  // The same changes for who waits; not from a callback of a change.
  Result<EditRecord> apply(const edit::Edit& edit);
  /// All of a recipe, or none of it and which edit could not be made. Each is undone by itself; by its name
  /// the recipe is switched off and on.
  Result<std::vector<EditRecord>> replay(std::vector<edit::Edit> edits, const Watch& watch = {},
                                         std::string recipe = {});
  Result<EditRecord> switch_recipe(const std::string& name, bool on);
  Result<EditRecord> undo();  // not_found when there is nothing to undo
  Result<EditRecord> redo();
  /// To after so many steps of the history; 0: as it was opened.
  Result<void> jump_to(size_t steps);
  /// Takes back what was done to the nodes that a pattern names, whenever that was: the recipe is made again
  /// without it (restore.h). An edit of its own, for undo.
  Result<EditRecord> restore(const std::string& scopes);
  Result<void> set_fusion(bool enabled);
  Result<void> set_passes(std::set<std::string> disabled);

  // Text.
  virtual Result<std::vector<int32_t>> tokenize(std::string_view text, bool special) const = 0;
  virtual std::string detokenize(const std::vector<int32_t>& ids) const = 0;
  virtual std::string piece(int32_t id) const = 0;
  virtual bool is_special(int32_t id) const = 0;  // "<|im_start|>": of the model, not of the text
  virtual Result<std::string> render(const std::vector<Message>& messages,
                                     const TemplateOptions& options) const = 0;

  // Runs.
  virtual Result<ChatResult> chat(const ChatRequest& request, const ChatEvents& events,
                                  std::stop_token stop) = 0;
  virtual ConversationPtr new_conversation() = 0;
  /// Begins a reply and returns at once; those of several conversations are written together, and wait where
  /// the cache is full. The source stops this reply alone, also while it waits: it ends as `cancelled`, with
  /// what it had. What still runs when the session ends is stopped and told before.
  virtual std::stop_source start(const ConversationPtr& conversation, ChatRequest request,
                                 ReplyEvents events) = 0;
  virtual Result<ScoreResult> score(std::string_view text, int top, std::stop_token stop) = 0;
  virtual Result<std::vector<Classification>> classify(const std::vector<std::string>& texts,
                                                       const ClassifyCallback& on_result,
                                                       std::stop_token stop) = 0;
  virtual Result<std::vector<Embedding>> embed(const std::vector<std::string>& texts,
                                               std::stop_token stop) = 0;
  /// How well each passage answers the query, in the order of the passages; of a model that classifies with
  /// one label.
  virtual Result<std::vector<Relevance>> rerank(const std::string& query,
                                                const std::vector<std::string>& passages,
                                                std::stop_token stop) = 0;
  virtual Result<BenchResult> bench(const BenchOptions& options, const ProgressCallback& progress,
                                    std::stop_token stop) = 0;

  // Measurements.
  virtual void set_profiling(bool enabled) = 0;
  /// The same value as before while nothing was recorded. Never null. Any thread.
  virtual ProfilePtr profile(Phase phase) const = 0;
  /// Keeps what every step did and when, as far back as there is room; its nodes where they were measured
  /// (set_profiling). Turned on anew it begins anew; turned off it keeps what it has.
  virtual void set_tracing(bool enabled) = 0;
  virtual Trace trace() const = 0;  // any thread; with 10^5 spans it takes some 100 ms
  virtual const MachineLimits& limits() const = 0;
  virtual std::vector<DerivedWeight> derived_weights() const = 0;
  virtual MemoryUse memory_use() const = 0;              // any thread
  virtual int64_t context_used() const = 0;              // tokens of the chat's sequence
  virtual std::vector<DeviceVitals> vitals() const = 0;  // of the cards that it runs on; any thread
  virtual void forget_context() = 0;                     // a new chat
  /// What would fit now instead, after out_of_memory.
  virtual std::vector<Offer> memory_offers() const = 0;
  /// Another session of the same model over the same weights, so that nothing is loaded: what could be, tried
  /// beside what is. It begins with this one's history and an empty context, and from there on the two change
  /// apart. Its memory_use() has the weights that they share as well. Any thread; waits.
  virtual Result<std::shared_ptr<Session>> fork(const Fork& otherwise, const Watch& watch) const = 0;
};

/// Submits a change and waits for its end.
Changed wait_for(Session& session, Change change, const Watch& watch = {});

/// Tokens of context that a bench of a model that writes takes.
int64_t bench_context(const BenchOptions& options);

/// What can be told without weights or a compile: `info`, `tokenize`, `render` of the command line.
class TextTools {
 public:
  static Result<std::shared_ptr<TextTools>> open(const std::string& model);
  virtual ~TextTools() = default;
  virtual std::vector<int32_t> encode(std::string_view text, bool special) const = 0;
  virtual std::string decode(const std::vector<int32_t>& ids) const = 0;
  virtual std::string piece(int32_t id) const = 0;
  virtual Result<std::string> render(const std::vector<Message>& messages,
                                     const TemplateOptions& options) const = 0;
};
/// A template of its own.
Result<std::string> render_template(std::string_view source, const std::vector<Message>& messages,
                                    const TemplateOptions& options, std::string_view bos,
                                    std::string_view eos);

/// Reads headers only; device memory is estimated for `context` tokens (0: the default).
Result<ModelInfo> inspect(const std::string& model, const std::string& adapter, int64_t context,
                          const std::string& kv_type);

/// The CPU, then every CUDA device; without any, one entry with the reason. Opens the devices, which takes
/// some 100 ms each.
std::vector<DeviceEntry> list_devices();

/// A recipe that lies beside a model.
struct ListedRecipe {
  std::string name, path;
  std::vector<edit::Edit> edits;
};

struct LibraryEntry {
  std::string name, path, adapter, format, architecture, dtype;
  uint64_t parameters = 0, bytes = 0;
  std::vector<ListedRecipe> recipes = {};
};
/// The default models that are there, then the models found in `folders`, in those of ORRERY_MODELS_PATH, and
/// in the stores of other programs (library_scan.h).
std::vector<LibraryEntry> list_models(const std::vector<std::string>& folders);
/// ${XDG_CACHE_HOME:-~/.cache}/orrery/models
std::string default_models_folder();

}  // namespace orrery::api
