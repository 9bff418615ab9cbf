#include "ui/code/line_difference.h"

#include <algorithm>

namespace orrery::ui {
namespace {

/// Lengths of the longest common subsequences of what follows two lines.
class CommonLengths {
 public:
  CommonLengths(const QStringList& before, const QStringList& after)
      : columns_(static_cast<size_t>(after.size()) + 1),
        lengths_((static_cast<size_t>(before.size()) + 1) * columns_) {
    for (qsizetype b = before.size(); b-- > 0;)
      for (qsizetype a = after.size(); a-- > 0;)
        at(b, a) = before[b] == after[a] ? at(b + 1, a + 1) + 1 : std::max(at(b + 1, a), at(b, a + 1));
  }
  int& at(qsizetype b, qsizetype a) {
    return lengths_[static_cast<size_t>(b) * columns_ + static_cast<size_t>(a)];
  }

 private:
  size_t columns_;
  std::vector<int> lengths_;
};

}  // namespace

std::vector<DiffLine> differenceOf(const QStringList& before, const QStringList& after) {
  using enum DiffLine::Kind;
  qsizetype head = 0, tail = 0;
  const qsizetype shorter = std::min(before.size(), after.size());
  while (head < shorter && before[head] == after[head]) ++head;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;

  std::vector<DiffLine> lines;
  const auto line = [&](DiffLine::Kind kind, qsizetype index, const QString& text) {
    lines.push_back({kind, static_cast<int>(index) + 1, text});
  };
  for (qsizetype i = 0; i < head; ++i) line(both, i, after[i]);
  const QStringList old = before.mid(head, before.size() - tail - head),
                    now = after.mid(head, after.size() - tail - head);
  CommonLengths common(old, now);
  for (qsizetype b = 0, a = 0; b < old.size() || a < now.size();) {
    if (b < old.size() && a < now.size() && old[b] == now[a]) {
      line(both, head + a, now[a]);
      ++b, ++a;
    } else if (b < old.size() && (a == now.size() || common.at(b + 1, a) >= common.at(b, a + 1))) {
      line(removed, head + b, old[b]);  // what goes stands before what comes
      ++b;
    } else {
      line(added, head + a, now[a]);
      ++a;
    }
  }
  for (qsizetype i = after.size() - tail; i < after.size(); ++i) line(both, i, after[i]);
  return lines;
}

}  // namespace orrery::ui
