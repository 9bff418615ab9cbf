// What the rows of a kernel reach under the roofs of the machine: floating point operations a byte across, a
// second up, both logarithmic. A roof is what reading and multiplying allow at most; the highest of a device
// is a line, lower ones are dashed. Rows of one problem do the same work, so they stand above each other.
#pragma once

#include "ui/lab/lab_rows.h"
#include "ui/plot/plot.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class RooflineMarks;

/// A row where it stands.
struct RooflinePoint {
  int number = 0;
  double x = 0, y = 0;  // flops a byte, TFLOP/s
  Token token = Token::cpu;
  bool square = false, stored = false;
  QPointF at = {};  // px, beside those that stand in the same place
};

/// What the fastest row of another problem reached.
struct OtherProblem {
  std::string problem, row;
  double x = 0, y = 0;
  Token token = Token::cpu;
};
/// Of the same kernel on the same machine, the last run of each problem on each device.
std::vector<OtherProblem> otherProblems(const std::vector<api::KeptLabRun>& history,
                                        const std::vector<api::LabRun>& shown);

/// What others published of the same problem.
struct PublishedMark {
  QString words;  // whose, on what, what it reached, where that was read
  QString name;   // whose, on what
  double x = 0, y = 0;
};
std::vector<PublishedMark> publishedMarks(const std::vector<api::LabRun>& runs);

/// A row that calls a library: what the steps are held against.
struct RivalLine {
  int number = 0;
  QString name;         // "cuBLAS"
  double x = 0, y = 0;  // flops a byte, TFLOP/s
  Token token = Token::cpu;
};

class RooflinePlot : public Plot, public Themed {
  Q_OBJECT
 public:
  explicit RooflinePlot(const Theme& theme, QWidget* parent = nullptr);

  void show(const std::vector<api::LabRun>& runs, const std::vector<LabRow>& rows,
            const std::vector<OtherProblem>& others = {});
  /// By its number; 0: none.
  void choose(int number);
  int chosen() const { return chosen_; }
  const std::vector<RooflinePoint>& points() const { return points_; }
  const std::vector<OtherProblem>& others() const { return others_; }
  const std::vector<PublishedMark>& published() const { return published_; }
  const std::vector<RivalLine>& rivals() const { return rivals_; }
  /// The lines: of reading, of each way of multiplying.
  int roofs() const { return graphCount(); }
  void setTheme(const Theme& theme) override;

 signals:
  void numberChosen(int number);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  friend class RooflineMarks;
  struct Roof {
    QString name;
    double bytesPerSecond = 0, operations = 0;  // of a line of reading the first alone
    bool highest = false;
  };

  void setupAxes();
  void styleAll();
  void findRanges();
  void drawRoofs();
  void placeWords();
  double placeOfReading(const Roof& roof) const;
  void placePoints();
  QPointF placeOf(const PublishedMark& mark) const;
  /// From one end to the other, across the rows.
  QLineF lineOf(const RivalLine& rival) const;
  const RivalLine* rivalAt(const QPointF& position) const;
  const RooflinePoint* pointAt(const QPointF& position) const;
  QString tipOf(int number, double x) const;
  QString tipAt(const QPointF& position) const;

  Theme theme_;
  std::vector<RooflinePoint> points_;
  std::vector<OtherProblem> others_;
  std::vector<PublishedMark> published_;
  std::vector<RivalLine> rivals_;
  std::vector<LabRow> rows_;
  std::vector<Roof> roofs_;
  std::vector<QCPItemText*> words_;
  QCPItemText *empty_, *yWord_;
  RooflineMarks* marks_;
  double flops_ = 0, bytes_ = 0;
  int chosen_ = 0;
};

}  // namespace orrery::ui
