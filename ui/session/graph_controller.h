// A graph of one's own beside the model's session: what its inputs are given, as a person types it, its runs
// and the values that they made. Arrays are read, filled and run on threads of its own; results come as
// values on the GUI thread.
#pragma once

#include <QObject>
#include <map>
#include <memory>
#include <optional>

#include "engine/api/own_inputs.h"
#include "ui/session/session_controller.h"

namespace orrery::ui {

/// A value that a run was given or made, with its statistics.
struct ShownArray {
  QString path;  // "y:dst"
  api::Array array;
  api::Statistics statistics;
};

struct GraphResult {
  graph::GraphVersion graph;  // that ran
  std::map<ValueId, ShownArray> values;
  std::vector<ValueId> order;  // outputs first, then what was kept, then what was given
  size_t outputs = 0;          // of them
  PlanPtr plan;
  ProfilePtr profile;  // of its nodes
  double us = 0;
  Bindings sizes;
};
using GraphResultPtr = std::shared_ptr<const GraphResult>;

/// An input of the graph with what it is given.
struct GivenInput {
  api::GraphInput input;
  QString words;  // as typed
  QString is;     // the type that the words make: "f32[2, 2]"; empty: not known yet
  QString why;    // why they make none
};

class GraphController : public QObject {
  Q_OBJECT
 public:
  explicit GraphController(SessionController* session, QObject* parent = nullptr);
  ~GraphController() override;

  SessionController* session() const { return session_; }
  /// Whether the model that is open is a graph of one's own.
  bool own() const;
  /// Why it cannot be run; empty: it can.
  QString refusal() const;
  /// An empty one is opened in the place of the model.
  void make(const api::OpenOptions& options);

  const std::vector<GivenInput>& inputs() const { return inputs_; }
  void give(const QString& input, const QString& words);
  /// By the paths of the nodes, as a file keeps it.
  api::Given given() const;
  /// Whether something typed is in no file.
  bool unsaved() const { return given() != saved_; }
  void markSaved() { saved_ = given(); }

  void run();
  void stop();
  bool running() const { return running_; }
  /// Whether the values between inputs and outputs are kept, which leaves out fusions that have none.
  bool keepsAll() const { return keepsAll_; }
  void setKeepsAll(bool keeps);
  /// Of the last run; null: nothing ran.
  const GraphResultPtr& result() const { return result_; }
  /// The graph has been edited, or given something else, since.
  bool stale() const { return stale_; }
  const ShownArray* valueOf(ValueId value) const;
  /// "-3.1 … 4.8: 0.5, 1.2, -3.1 …"; empty: not known.
  QString rangeOf(ValueId value) const;

 signals:
  /// The inputs, what they are given, or whether it runs.
  void changed();
  void ran();
  void failed(const orrery::Error& error);
  /// Of the file that was opened.
  void canvasRead(const orrery::api::Canvas& canvas);

 private:
  struct Asked;
  void takeSession();
  void takeGraph();
  void check(GivenInput& given);
  void finish(Result<GraphResultPtr> result);
  void post(quint64 generation, std::function<void()> call);

  SessionController* session_;
  SessionPtr model_;  // whose values these are
  std::vector<GivenInput> inputs_;
  std::map<QString, QString> words_;  // by the inputs' names, of inputs that were deleted too
  api::Given saved_;                  // what the file holds
  GraphResultPtr result_;
  bool running_ = false, stale_ = false, keepsAll_ = true;
  int made_ = 0;            // graphs, each called otherwise
  quint64 generation_ = 0;  // of the session
  std::stop_source stop_{std::nostopstate};
  std::unique_ptr<Worker> checks_, runs_;  // last: joined before what their jobs use is gone
};

}  // namespace orrery::ui

Q_DECLARE_METATYPE(orrery::api::Canvas)
