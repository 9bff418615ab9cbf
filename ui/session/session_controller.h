// Owns the loaded session and the two threads that work on it: one loads, compiles and measures, one runs.
// Everything that can take time happens there; results come back as values by queued calls and are dropped
// when a newer job of the same kind has begun. Lives on the GUI thread. Destroying it stops and joins.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "engine/base/worker.h"
#include "ui/session/run_feed.h"
#include "ui/session/services.h"
#include "ui/session/ui_error.h"

namespace orrery::ui {

enum class RunState { idle, prefill, decode, classify, stopping };

struct LoadProgress {
  QString stage;
  quint64 done = 0, total = 0;  // total 0: unknown
  double seconds = 0;           // since the load began
};

enum class EditKind { applied, undone, redone, restored, jumped };

/// Polled beside the profile.
struct Vitals {
  api::MemoryUse memory;
  qint64 contextUsed = 0;  // tokens
  double overheadShare = 0;
  std::vector<api::DeviceVitals> cards;  // that it runs on; none: all is on the CPU
};

using ProfilePtr = api::ProfilePtr;
using PlanPtr = std::shared_ptr<const api::PlanReport>;
using TokenBatch = std::vector<api::TokenEvent>;
using ClassifyBatch = std::vector<IndexedClassification>;
using Library = std::vector<api::LibraryEntry>;
using Devices = std::vector<api::DeviceEntry>;

class SessionController : public QObject {
  Q_OBJECT
 public:
  explicit SessionController(Services services, QObject* parent = nullptr);
  ~SessionController() override;

  const Services& services() const { return services_; }
  SessionPtr session() const { return session_; }
  /// What the model that is open is called; empty without one.
  QString title() const { return title_; }
  bool loading() const { return loading_; }
  QString loadingName() const { return loadingName_; }
  /// What was asked for by the load that runs or failed last.
  const api::OpenOptions& loadingOptions() const { return loadingOptions_; }
  /// Whether that load keeps the model, its chat and its edits.
  bool moving() const { return moving_; }
  RunState state() const { return state_; }
  bool running() const { return state_ != RunState::idle; }
  /// Nothing runs, loads, compiles or is read, and what was is taken.
  bool idle() const;
  /// A change of the graph is being prepared, or waits for one that is.
  bool changing() const { return !changes_.empty(); }
  /// The edits of the model, in the state that was told last.
  const std::vector<edit::Edit>& recipe() const;
  /// Whether there are some that are in no file.
  bool unsaved() const { return !recipe().empty() && recipe() != savedRecipe_; }
  void markSaved() { savedRecipe_ = recipe(); }
  /// It has been saved as a file of its own, by whose name it is called from now on.
  void rename(const QString& title) { title_ = title; }
  bool canUndo() const { return shown_ && shown_->history.can_undo(); }
  bool canRedo() const { return shown_ && shown_->history.can_redo(); }
  /// "bypass layers.3": the edit that undo takes back, or redo makes again; empty: there is none.
  QString undoName() const;
  QString redoName() const;
  /// The steps of the model, in the state that was told last; null without a model.
  const api::History* history() const { return shown_ ? &shown_->history : nullptr; }
  Vitals vitals() const { return vitals_; }
  /// What was measured of the graph that is there now; null: nothing was read yet. Changes four times a
  /// second at most, so that it can be read by a person; the views write nothing else.
  ProfilePtr profile(api::Phase phase) const { return profiles_[phase == api::Phase::prefill ? 0 : 1]; }

  /// The session that is there stays until the new one has loaded, and stays for good if that fails. `name`:
  /// what it was called where it was chosen. Options without a model: a graph of no nodes yet.
  void open(const api::OpenOptions& options, const QString& name = {});
  /// Opens the same model on another device and makes the same edits there. The chat's text stays; its
  /// context is read again with the next message.
  void moveTo(const std::string& device);
  /// The same for any other option. A context or KV type alone loads nothing again.
  void reopen(const api::OpenOptions& options);
  /// Does what an error offered.
  void accept(const api::Offer& offer);
  /// Opens the model of another session on `device` and makes these edits there.
  void openCopy(const api::Session& model, const std::vector<edit::Edit>& edits, const std::string& device);
  /// Stops what runs or loads and gives the model back.
  void close();
  /// While `opened` is told: the model is the one that was there, moved.
  bool moved() const { return moved_; }
  void cancelLoad();
  void scanLibrary(const std::vector<std::string>& folders);
  void scanDevices();

  /// The last message, or the first of the texts, that the model was given to read; empty: none yet.
  const QString& lastRead() const { return lastRead_; }

  void chat(const api::ChatRequest& request);
  void classify(const std::vector<std::string>& texts);
  /// How well each passage answers the query; ends with classifyFinished, as `classify` does.
  void rerank(const std::string& query, const std::vector<std::string>& passages);
  void stop();
  void forgetContext();

  void apply(const edit::Edit& edit);
  /// What one gesture on the drawing asks for: all of it or nothing, undone as one. A refusal is told by
  /// handRefused, to be shown where the gesture was. `name`: the step's; empty: as its one edit says.
  void applyByHand(const std::vector<edit::Edit>& edits, const QString& name = {});
  /// The edits of a file of this name, if all of them fit; otherwise reports those that do not. `model`: the
  /// identity of the one that they were made on; empty: not said.
  void replay(const std::vector<edit::Edit>& edits, const QString& name, const std::string& model = {});
  void undo();
  void redo();
  /// Takes back what bypasses these scopes, as an edit names them, and leaves the other edits.
  void restore(const QString& scopes);
  /// To after so many steps of the history; 0: as it was opened.
  void jumpTo(size_t steps);
  /// The edits of a recipe are left out, or made again at their place.
  void switchRecipe(const std::string& name, bool on);
  void setFusion(bool enabled);
  /// Passes that are left out, by name; all others run. Kept through edits.
  void setPasses(std::set<std::string> disabled);
  /// Stops the changes that are being prepared or wait: the graph stays as it is.
  void cancelChanges();
  void setProfiling(bool enabled);
  void requestPlan(api::Phase phase);
  /// Of a run of a graph of one's own, which its session does not measure itself.
  void showProfile(ProfilePtr profile);
  /// What the edit would do to the answers; the graph stays as it is.
  void measure(const edit::Edit& edit);
  /// Reads profile and vitals once, for instance after the phase switch.
  void poll();
  /// Reads what the card says of itself; nothing on the CPU.
  void pollDevice();

 signals:
  void loadStarted(const QString& name);
  void loadProgress(const orrery::ui::LoadProgress& progress);
  void loadFailed(const orrery::ui::UiError& error);
  void loadEnded();  // after opened, failed and cancelled alike
  void opened();
  void libraryScanned(const orrery::ui::Library& models);
  void devicesScanned(const orrery::ui::Devices& devices);

  void stateChanged(orrery::ui::RunState state);
  void chatStarted(const orrery::api::ChatRequest& request);
  /// Of a chat or of texts: lastRead() is another one.
  void readingStarted();
  void prefilled(const orrery::api::PrefillEvent& event);
  void tokensArrived(const orrery::ui::TokenBatch& tokens);
  void replyFinished(const orrery::api::ChatResult& result);
  void replyFailed(const orrery::ui::UiError& error);
  void classified(const orrery::ui::ClassifyBatch& batch);
  void reranked(const std::vector<orrery::api::Relevance>& relevance);
  void classifyFinished(double milliseconds, bool stopped);
  void classifyFailed(const orrery::ui::UiError& error);

  /// A change that takes its time: told from then on until all are done.
  void changeStarted();
  void changeProgress(const orrery::ui::LoadProgress& progress);
  void changeEnded();
  void edited(const orrery::api::EditRecord& record, orrery::ui::EditKind kind);
  void editFailed(const orrery::ui::UiError& error);
  void handRefused(const orrery::Error& error);
  /// An edit was made where `steps` of them were undone, and these are gone. `recipe`: with them.
  void stepsReplaced(const std::vector<orrery::edit::Edit>& recipe, int steps);
  void graphChanged();
  void planReady(orrery::api::Phase phase, const orrery::ui::PlanPtr& plan);
  void planFailed(const orrery::ui::UiError& error);
  void measured(const orrery::edit::Edit& edit, const orrery::api::MeasuredChange& change);
  void profileChanged(orrery::api::Phase phase);
  void vitalsChanged(const orrery::ui::Vitals& vitals);

 private:
  using OpenCall = std::function<Result<SessionPtr>(const ProgressCallback&, std::stop_token)>;
  /// How a change is told of.
  struct ChangeWords {
    QString failed;                // "Could not undo"
    std::optional<EditKind> kind;  // none: the fusion
    std::string done;              // empty: as the edit's record says
    /// Why it failed, told better than by the change; empty: not. On the session's thread.
    std::function<Error(const api::Changed&)> explain;
    bool byHand = false;  // a refusal is told where the gesture was
  };

  /// The way here from threads that may outlive this object.
  struct Mailbox {
    std::mutex mutex;
    SessionController* owner = nullptr;
    void post(std::function<void()> call);
  };

  /// Tells the window what a working thread says, `from` so many milliseconds on.
  ProgressCallback paced(std::function<void(const LoadProgress&)> tell, qint64 from = 0);
  /// Loads on the job thread.
  void load(const api::OpenOptions& options, OpenCall call, bool moving, const QString& name = {});
  OpenCall openCall(const api::OpenOptions& options) const;
  /// Opens and makes the edits.
  OpenCall copyCall(const api::OpenOptions& options, std::vector<edit::Edit> edits) const;
  void finishLoad(quint64 generation, Result<SessionPtr> result);
  void adopt(SessionPtr session);
  void setState(RunState state);
  void submit(api::Change change, const ChangeWords& words);
  void tellChange(quint64 id, const LoadProgress& progress);
  void finishChange(quint64 id, const ChangeWords& words, const api::Changed& changed,
                    const UiError& failure);
  /// Tells of undone steps of `before` that a new one has replaced.
  void tellReplaced(const api::History& before);
  bool isPending(quint64 change) const;
  void forgetChanges();
  /// Another graph runs: nothing was measured of it.
  void takeGraph();
  void finishChat(quint64 generation, const Result<api::ChatResult>& result, const UiError& failure);
  void finishClassify(quint64 generation, double milliseconds, const Result<void>& result,
                      const UiError& failure);
  void beginRun(RunState state);
  void endRun();
  void drain();
  void pace();
  void feed();
  void takePolled();
  /// Runs `call` on the GUI thread, unless this object is gone by then.
  void post(std::function<void()> call);

  Services services_;
  SessionPtr session_;
  bool loading_ = false, moving_ = false, moved_ = false;
  QString lastRead_;
  QString title_, chosenName_, loadingName_;  // chosenName_: of the load that runs
  api::OpenOptions loadingOptions_;
  quint64 loadGeneration_ = 0, runGeneration_ = 0, sessionGeneration_ = 0;
  std::stop_source loadStop_{std::nostopstate}, runStop_{std::nostopstate};
  RunState state_ = RunState::idle;
  api::SessionStatePtr shown_;           // that was told last
  std::vector<edit::Edit> savedRecipe_;  // what a file holds
  struct Submitted {
    quint64 id = 0;
    std::stop_source stop;
  };
  std::vector<Submitted> changes_;  // not done yet, in order
  quint64 lastChange_ = 0;
  bool changeTold_ = false;  // changeStarted was
  bool pollPending_ = false, pollAgain_ = false, devicePending_ = false;
  QElapsedTimer sincePoll_;
  Vitals vitals_;
  ProfilePtr profiles_[2];
  /// What a poll has read and the window has not taken yet.
  struct Polled {
    ProfilePtr profiles[2];
    Vitals vitals;
  };
  std::optional<Polled> polled_;
  std::shared_ptr<Mailbox> mailbox_;
  std::shared_ptr<RunFeed> feed_;
  QTimer feedTimer_;
  double paintedAt_ = 0;  // CPU time of the GUI thread at the last drain, ms
  // Last, so that both threads are joined before anything that their jobs use is gone.
  std::unique_ptr<Worker> jobs_, runs_;
};

}  // namespace orrery::ui

Q_DECLARE_METATYPE(orrery::ui::LoadProgress)
Q_DECLARE_METATYPE(orrery::ui::RunState)
Q_DECLARE_METATYPE(orrery::ui::EditKind)
Q_DECLARE_METATYPE(orrery::ui::Vitals)
Q_DECLARE_METATYPE(orrery::ui::ProfilePtr)
Q_DECLARE_METATYPE(orrery::ui::PlanPtr)
Q_DECLARE_METATYPE(orrery::ui::TokenBatch)
Q_DECLARE_METATYPE(orrery::ui::ClassifyBatch)
Q_DECLARE_METATYPE(orrery::ui::Library)
Q_DECLARE_METATYPE(orrery::ui::Devices)
Q_DECLARE_METATYPE(orrery::api::ChatResult)
Q_DECLARE_METATYPE(orrery::api::PrefillEvent)
Q_DECLARE_METATYPE(orrery::api::EditRecord)
Q_DECLARE_METATYPE(orrery::api::Phase)
