// What the latency plot draws, as numbers: the time of every token, or of every text that was encoded, with
// rolling percentiles, prefills as blocks, edits as marks, along one axis of tokens or texts. Holds no
// widget.
#pragma once

#include <QString>
#include <deque>
#include <vector>

#include "engine/api/types.h"

namespace orrery::ui {

/// What of a series is drawn, and can be hidden.
enum class LatencyCurve { p50, band, each, prefill };
inline constexpr int kLatencyCurves = 4;

class LatencySeries {
 public:
  struct Sample {
    double x = 0;  // token, counted over all replies, prompt tokens included; or text
    double ms = 0, p50 = 0, p95 = 0;
    int reply = 0;
  };
  struct Block {
    double x = 0;  // its left edge; it is `tokens` wide
    int64_t tokens = 0;
    double ms = 0;  // of the whole prefill
    double perToken() const { return tokens > 0 ? ms / static_cast<double>(tokens) : 0; }
  };
  struct Mark {
    double x = 0;
    QString name;
    double p50Before = 0;  // 0: nothing was measured before
  };
  void beginReply();
  void addPrefill(const api::PrefillEvent& event);  // the events of one prompt count up
  void addToken(const api::TokenEvent& token);      // the first of a reply is the prefill's own
  void addText(double ms);
  /// `p50Before` in ms, as it was shown; 0: nothing was measured.
  void addEdit(const QString& name, double p50Before);
  void clear();

  const std::vector<Sample>& samples() const { return samples_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const std::vector<Mark>& marks() const { return marks_; }
  int replies() const { return reply_; }
  double end() const { return x_; }
  /// Where a reply's first token after its prefill stands; reply counts from 1.
  double decodeStart(int reply) const;
  double p50() const { return samples_.empty() ? 0 : samples_.back().p50; }  // ms; 0: none
  QString csv() const;

 private:
  void addSample(double ms);

  std::vector<Sample> samples_;
  std::vector<Block> blocks_;
  std::vector<Mark> marks_;
  std::vector<double> starts_;
  std::deque<double> window_;  // the last times, of which the percentiles are taken
  double x_ = 0;
  int reply_ = 0;
  bool prefillOpen_ = false, firstToken_ = true;
};

}  // namespace orrery::ui
