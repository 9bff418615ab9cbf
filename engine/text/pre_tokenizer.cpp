#include "engine/text/pre_tokenizer.h"

#include <algorithm>

#include "engine/text/byte_level.h"
#include "engine/text/character_kinds.h"
#include "engine/text/unicode.h"
#include "engine/text/word_scanner.h"

namespace orrery::text {
namespace {

/// A stretch of a text that is a match, or lies between matches.
struct Span {
  size_t begin, end;
  bool match;
};

void emit(const Segment& whole, size_t begin, size_t end, SegmentSink& out) {
  if (end > begin) out.take({whole.text.substr(begin, end - begin), whole.first && begin == 0});
}

void join_spans(const Segment& segment, const std::vector<Span>& spans, SplitBehavior behavior,
                SegmentSink& out) {
  for (size_t i = 0; i < spans.size(); ++i) {
    const size_t begin = spans[i].begin;
    size_t end = spans[i].end;
    switch (behavior) {
      case SplitBehavior::removed:
        if (spans[i].match) continue;
        break;
      case SplitBehavior::isolated:
        break;
      case SplitBehavior::merged_with_previous:
        if (!spans[i].match && i + 1 < spans.size() && spans[i + 1].match) end = spans[++i].end;
        break;
      case SplitBehavior::merged_with_next:
        if (spans[i].match && i + 1 < spans.size() && !spans[i + 1].match) end = spans[++i].end;
        break;
      case SplitBehavior::contiguous:
        while (i + 1 < spans.size() && spans[i + 1].match == spans[i].match) end = spans[++i].end;
        break;
    }
    emit(segment, begin, end, out);
  }
}

/// Collects matches, and what lies between them, in order.
class SpanList {
 public:
  SpanList(size_t size, bool invert) : size_(size), invert_(invert) {}
  void match(size_t begin, size_t end) {
    if (begin > last_) spans_.push_back({last_, begin, invert_});
    spans_.push_back({begin, end, !invert_});
    last_ = end;
  }
  const std::vector<Span>& finish() {
    if (last_ < size_) spans_.push_back({last_, size_, invert_});
    return spans_;
  }

 private:
  std::vector<Span> spans_;
  size_t size_, last_ = 0;
  bool invert_;
};

class Split final : public PreTokenizerStep {
 public:
  Split(Regex pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  void split(const Segment& segment, SegmentSink& out) const override {
    SpanList spans(segment.text.size(), invert_);
    for (const Regex::Match& match : pattern_.find_all(segment.text)) spans.match(match.begin, match.end);
    join_spans(segment, spans.finish(), behavior_, out);
  }

 private:
  Regex pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

class Scan final : public PreTokenizerStep {
 public:
  explicit Scan(size_t (*next)(std::string_view, size_t)) : next_(next) {}
  void split(const Segment& segment, SegmentSink& out) const override {
    for (size_t begin = 0; begin < segment.text.size();) {
      const size_t end = next_(segment.text, begin);
      emit(segment, begin, end, out);
      begin = end;
    }
  }

 private:
  size_t (*next_)(std::string_view, size_t);
};

class FixedLength final : public PreTokenizerStep {
 public:
  explicit FixedLength(size_t characters) : characters_(characters) {}
  void split(const Segment& segment, SegmentSink& out) const override {
    for (size_t begin = 0; begin < segment.text.size();) {
      size_t end = begin;
      for (size_t i = 0; i < characters_ && end < segment.text.size(); ++i)
        end += code_point_at(segment.text, end).bytes;
      emit(segment, begin, end, out);
      begin = end;
    }
  }

 private:
  size_t characters_;
};

/// Each character that `matches` is a match by itself.
template <class Matches>
void split_characters(const Segment& segment, SplitBehavior behavior, Matches matches, SegmentSink& out) {
  SpanList spans(segment.text.size(), false);
  for (size_t i = 0; i < segment.text.size();) {
    const CodePoint point = code_point_at(segment.text, i);
    if (point.valid && matches(point.value)) spans.match(i, i + point.bytes);
    i += point.bytes;
  }
  join_spans(segment, spans.finish(), behavior, out);
}

/// White space goes, punctuation stands alone: BERT's words, in one walk.
class BertWords final : public PreTokenizerStep {
 public:
  void split(const Segment& segment, SegmentSink& out) const override {
    size_t begin = 0;
    for (size_t i = 0; i < segment.text.size();) {
      const CodePoint point = code_point_at(segment.text, i);
      const size_t end = i + point.bytes;
      const uint8_t kinds = point.valid ? character_kinds(point.value) : 0;
      if ((kinds & (kSpace | kPunctuation)) != 0) {
        emit(segment, begin, i, out);
        if ((kinds & kPunctuation) != 0) emit(segment, i, end, out);
        begin = end;
      }
      i = end;
    }
    emit(segment, begin, segment.text.size(), out);
  }
};

class Characters final : public PreTokenizerStep {
 public:
  Characters(bool (*matches)(char32_t), SplitBehavior behavior) : matches_(matches), behavior_(behavior) {}
  void split(const Segment& segment, SegmentSink& out) const override {
    split_characters(segment, behavior_, matches_, out);
  }

 private:
  bool (*matches_)(char32_t);
  SplitBehavior behavior_;
};

class Delimiter final : public PreTokenizerStep {
 public:
  explicit Delimiter(char32_t delimiter) : delimiter_(delimiter) {}
  void split(const Segment& segment, SegmentSink& out) const override {
    split_characters(
        segment, SplitBehavior::removed, [this](char32_t value) { return value == delimiter_; }, out);
  }

 private:
  char32_t delimiter_;
};

class Metaspace final : public PreTokenizerStep {
 public:
  Metaspace(std::string replacement, PrependScheme scheme, bool split)
      : replacement_(std::move(replacement)), scheme_(scheme), split_(split) {}
  void split(const Segment& segment, SegmentSink& out) const override {
    std::string text = replace_all(segment.text, " ", replacement_);
    const bool prepend =
        scheme_ == PrependScheme::always || (scheme_ == PrependScheme::first && segment.first);
    if (prepend && !text.starts_with(replacement_)) text.insert(0, replacement_);
    const Segment whole{text, segment.first};
    for (size_t begin = 0; begin < text.size();) {
      size_t end = text.size();
      if (split_) {
        const bool marked = text.compare(begin, replacement_.size(), replacement_) == 0;
        end = std::min(text.find(replacement_, marked ? begin + replacement_.size() : begin), end);
      }
      emit(whole, begin, end, out);
      begin = end;
    }
    out.settle();
  }

 private:
  std::string replacement_;
  PrependScheme scheme_;
  bool split_;
};

class PrefixSpace final : public PreTokenizerStep {
 public:
  void split(const Segment& segment, SegmentSink& out) const override {
    if (segment.text.front() == ' ') return out.take(segment);
    const std::string text = std::string(" ").append(segment.text);
    out.take({text, segment.first});
    out.settle();
  }
};

class ByteCharacters final : public PreTokenizerStep {
 public:
  void split(const Segment& segment, SegmentSink& out) const override {
    const std::string text = bytes_to_characters(segment.text);
    out.take({text, segment.first});
    out.settle();
  }
};

/// Hands the segments of one step to the next.
class Link final : public SegmentSink {
 public:
  Link(const PreTokenizerStep& step, SegmentSink& next) : step_(step), next_(next) {}
  void take(const Segment& segment) override { step_.split(segment, next_); }
  void settle() override { next_.settle(); }

 private:
  const PreTokenizerStep& step_;
  SegmentSink& next_;
};

}  // namespace

void PreTokenizer::split(const Segment& text, SegmentSink& words) const {
  if (text.text.empty()) return;
  std::vector<Link> links;  // the last step's first
  links.reserve(steps_.size());
  SegmentSink* sink = &words;
  for (size_t i = steps_.size(); i-- > 0;) sink = &links.emplace_back(*steps_[i], *sink);
  sink->take(text);
  sink->settle();
}

PreTokenizerStepPtr split_step(Regex pattern, SplitBehavior behavior, bool invert) {
  return std::make_shared<Split>(std::move(pattern), behavior, invert);
}
Result<PreTokenizerStepPtr> isolating_step(std::string_view pattern) {
  if (const WordScanner scanner = scanner_of(pattern)) return scanner_step(scanner);
  ORRERY_ASSIGN(Regex regex, Regex::compile_oniguruma(pattern));
  return split_step(std::move(regex), SplitBehavior::isolated, false);
}

PreTokenizerStepPtr scanner_step(size_t (*next)(std::string_view, size_t)) {
  return std::make_shared<Scan>(next);
}
PreTokenizerStepPtr fixed_length_step(size_t characters) { return std::make_shared<FixedLength>(characters); }
PreTokenizerStepPtr character_step(bool (*matches)(char32_t), SplitBehavior behavior) {
  return std::make_shared<Characters>(matches, behavior);
}
PreTokenizerStepPtr delimiter_step(char32_t delimiter) { return std::make_shared<Delimiter>(delimiter); }
void add_bert_words(PreTokenizer& target) { target.add(std::make_shared<BertWords>()); }
PreTokenizerStepPtr metaspace_step(std::string replacement, PrependScheme scheme, bool split) {
  return std::make_shared<Metaspace>(std::move(replacement), scheme, split);
}
PreTokenizerStepPtr prefix_space_step() { return std::make_shared<PrefixSpace>(); }
PreTokenizerStepPtr byte_characters_step() { return std::make_shared<ByteCharacters>(); }

}  // namespace orrery::text
