// Runs kernels by themselves, on a thread of its own: every row held against its reference, then timed, on
// one device after another. Rows come as values, in order, on the GUI thread. What was run is kept in a file,
// a line a run, so that it can be held against what an earlier version of the program did.
#pragma once

#include <QObject>
#include <QTimer>
#include <memory>

#include "engine/base/worker.h"
#include "ui/session/services.h"
#include "ui/session/ui_error.h"

namespace orrery::ui {

/// What is run: the problem in the kernel's words, on these devices.
struct LabAsk {
  std::string kernel, shape;
  std::vector<std::string> devices;
  int threads = 0;                // 0: all cores
  std::vector<std::string> rows;  // these alone; empty: all

  bool operator==(const LabAsk&) const = default;
};

class LabController : public QObject {
  Q_OBJECT
 public:
  explicit LabController(const Services& services, QObject* parent = nullptr);
  ~LabController() override;

  /// Why nothing can be run; empty: it can.
  QString refusal() const;
  /// Looks up the kernels and what was run before, once.
  void look();
  /// The kernels once more, where they were looked up: the registry has other ops of one's own.
  void lookAgain();
  const std::vector<api::LabKernel>& kernels() const { return kernels_; }
  const api::LabKernel* kernel(const std::string& name) const;

  /// What run() runs: as the page tells it now.
  void setAsk(const LabAsk& ask) { ask_ = ask; }
  const LabAsk& ask() const { return ask_; }
  /// Its page is seen: what is asked for there is what a person means to run.
  void setShown(bool shown) { pageShown_ = shown; }
  bool isShown() const { return pageShown_; }
  void run();
  /// Those rows of it alone, which take the place of what was measured of them.
  void run(const std::vector<std::string>& rows);
  /// After the current call; what was timed stays.
  void stop();
  bool running() const { return running_; }

  /// What is shown of a kernel: the last run, a device after another; else what the file has of it.
  const std::vector<api::LabRun>& runs(const std::string& kernel) const;
  /// They are from an earlier session.
  bool stored(const std::string& kernel) const;
  /// All that is kept, the oldest first.
  const std::vector<api::KeptLabRun>& history() const { return history_; }
  /// Of the run that goes on: which device, and which row of it; empty: none yet.
  const std::string& runningKernel() const { return begun_.kernel; }
  const std::string& device() const { return device_; }
  const std::string& row() const { return row_; }
  /// "Measuring what the machine can do", "Timing cpu.avx2".
  const QString& stage() const { return stage_; }
  /// Of all rows of all devices, 0 to 1.
  double share() const { return share_; }

 signals:
  void listed();
  /// A run began, or came to its end.
  void changed();
  /// Rows were added, or another one is being timed; ten times a second at most.
  void advanced();
  /// The problem is none of the kernel, or there is no such device.
  void refused(const orrery::Error& error);
  void failed(const orrery::ui::UiError& error);

 private:
  struct Shown {
    std::vector<api::LabRun> runs;
    bool stored = false;
  };
  struct Looked {
    std::vector<api::LabKernel> kernels;
    std::vector<api::KeptLabRun> history;
  };
  void begin(const LabAsk& ask);
  void take(const api::LabRun& run);
  void tell(const std::string& device, const std::string& words, double share);
  void finish(const Result<void>& result);
  void takeLooked(Looked looked);
  void post(quint64 generation, std::function<void()> call);
  static Result<void> runAll(const LabAsk& ask, const LabCalls& calls,
                             const std::function<void(const api::LabRun&)>& onRow,
                             const std::function<void(const std::string&, std::string_view, double)>& onStage,
                             const std::stop_token& stop);
  void keep();

  LabCalls calls_;
  std::vector<api::LabKernel> kernels_;
  std::vector<api::KeptLabRun> history_;
  std::map<std::string, Shown> shown_;
  LabAsk ask_, begun_;
  std::vector<api::LabRun> before_;  // of the rows that are not run anew
  std::string device_, row_;
  QString stage_;
  double share_ = 0;
  bool looked_ = false, running_ = false, pageShown_ = false;
  QTimer telling_;
  quint64 generation_ = 0, look_ = 0;
  std::stop_source stop_{std::nostopstate};
  std::unique_ptr<Worker> worker_;  // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
