// What the latency plot shows, as numbers: every token's time with rolling percentiles, prefills as blocks,
// edits as marks, along one axis of tokens. Holds no widget.
#pragma once

#include <QString>
#include <deque>
#include <vector>

#include "engine/api/types.h"

namespace orrery::ui {

class LatencySeries {
 public:
  struct Sample {
    double x = 0;  // token, counted over all replies, prompt tokens included
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
  struct Figures {
    double p50 = 0, p95 = 0, tokensPerSecond = 0;  // of the decode tokens since the last edit; 0: none
    double beforeEdit = 0;                         // p50; 0: none
  };

  void beginReply();
  void addPrefill(const api::PrefillEvent& event);  // the events of one prompt count up
  void addToken(const api::TokenEvent& token);      // the first of a reply is the prefill's own
  void addEdit(const QString& name);
  void clear();

  const std::vector<Sample>& samples() const { return samples_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const std::vector<Mark>& marks() const { return marks_; }
  int replies() const { return reply_; }
  double end() const { return x_; }
  /// Where a reply's first token after its prefill stands; reply counts from 1.
  double decodeStart(int reply) const;
  Figures figures() const;
  QString csv() const;

 private:
  std::vector<Sample> samples_;
  std::vector<Block> blocks_;
  std::vector<Mark> marks_;
  std::vector<double> starts_;
  std::deque<double> window_;  // the last decode times that the percentiles are taken of
  double x_ = 0;
  int reply_ = 0;
  bool prefillOpen_ = false, firstToken_ = true;
  size_t sinceEdit_ = 0;  // index of the first sample after the last edit
};

}  // namespace orrery::ui
