#include "ui/code/code_highlighter.h"

#include <QSet>

namespace orrery::ui {
namespace {

constexpr int kInComment = 1;  // the state of a line that ends within one

const QSet<QString>& keywords() {
  static const QSet<QString> words{"alignas",
                                   "alignof",
                                   "auto",
                                   "break",
                                   "case",
                                   "catch",
                                   "class",
                                   "const",
                                   "consteval",
                                   "constexpr",
                                   "constinit",
                                   "continue",
                                   "decltype",
                                   "default",
                                   "delete",
                                   "do",
                                   "else",
                                   "enum",
                                   "explicit",
                                   "extern",
                                   "false",
                                   "for",
                                   "friend",
                                   "goto",
                                   "if",
                                   "inline",
                                   "mutable",
                                   "namespace",
                                   "new",
                                   "noexcept",
                                   "nullptr",
                                   "operator",
                                   "override",
                                   "private",
                                   "protected",
                                   "public",
                                   "requires",
                                   "return",
                                   "sizeof",
                                   "static",
                                   "static_assert",
                                   "struct",
                                   "switch",
                                   "template",
                                   "this",
                                   "throw",
                                   "true",
                                   "try",
                                   "typedef",
                                   "typename",
                                   "union",
                                   "using",
                                   "virtual",
                                   "volatile",
                                   "while",
                                   "concept",
                                   "static_cast",
                                   "reinterpret_cast",
                                   "const_cast",
                                   "thread_local",
                                   "asm",
                                   "__global__",
                                   "__device__",
                                   "__host__",
                                   "__shared__",
                                   "__constant__",
                                   "__restrict__",
                                   "__launch_bounds__",
                                   "__forceinline__",
                                   "__syncthreads"};
  return words;
}

const QSet<QString>& types() {
  static const QSet<QString> words{
      "bool",    "char",     "double",    "float",    "int",    "long",   "short",   "signed",  "unsigned",
      "void",    "size_t",   "ptrdiff_t", "dim3",     "half",   "int8_t", "int16_t", "int32_t", "int64_t",
      "uint8_t", "uint16_t", "uint32_t",  "uint64_t", "float2", "float4", "uint4",   "int4",    "std"};
  return words;
}

bool isWordStart(QChar c) { return c.isLetter() || c == '_'; }
bool isWordPart(QChar c) { return c.isLetterOrNumber() || c == '_'; }

/// Where the text or letter that begins there ends.
int endOfQuoted(const QString& line, int from) {
  const QChar quote = line[from];
  int at = from + 1;
  while (at < line.size() && line[at] != quote) at += line[at] == '\\' ? 2 : 1;
  return std::min(static_cast<int>(line.size()), at + 1);
}

}  // namespace

CodeHighlighter::CodeHighlighter(const Theme& theme, QTextDocument* document)
    : QSyntaxHighlighter(document), theme_(theme) {}

void CodeHighlighter::setTheme(const Theme& theme) {
  theme_ = theme;
  rehighlight();
}

void CodeHighlighter::paint(int from, int end, Token token, QFont::Weight weight) {
  QTextCharFormat format;
  format.setForeground(theme_(token));
  if (weight != QFont::Normal) format.setFontWeight(weight);
  setFormat(from, end - from, format);
}

/// From `begin` on; gives what follows it.
int CodeHighlighter::paintComment(const QString& line, int from, int begin) {
  const int closed = static_cast<int>(line.indexOf(QLatin1String("*/"), from));
  const int end = closed < 0 ? static_cast<int>(line.size()) : closed + 2;
  paint(begin, end, Token::text3);
  setCurrentBlockState(closed < 0 ? kInComment : 0);
  return end;
}

/// A word by what it is, and by what follows it: a call has its bracket, a type is written with a capital.
void CodeHighlighter::paintWord(const QString& line, int from, int end) {
  const QString word = line.mid(from, end - from);
  if (keywords().contains(word)) return paint(from, end, Token::synKeyword, QFont::Medium);
  if (types().contains(word)) return paint(from, end, Token::synType);
  const bool call = end < line.size() && (line[end] == '(' || line.mid(end, 3) == QLatin1String("<<<"));
  if (call) return paint(from, end, Token::synFunction);
  const bool constant = word.size() > 1 && word[0] == 'k' && word[1].isUpper();
  if (word[0].isUpper() && !constant) paint(from, end, Token::synType);
}

void CodeHighlighter::highlightBlock(const QString& line) {
  setCurrentBlockState(0);
  const int size = static_cast<int>(line.size());
  int at = previousBlockState() == kInComment ? paintComment(line, 0, 0) : 0;
  if (const QString start = line.trimmed(); at == 0 && start.startsWith('#')) {
    const int hash = static_cast<int>(line.indexOf('#'));
    int end = hash + 1;
    while (end < size && (isWordPart(line[end]) || (end == hash + 1 && line[end].isSpace()))) ++end;
    paint(hash, end, Token::synDirective);
    at = end;
    if (line.mid(hash, end - hash) == QLatin1String("#include")) {
      paint(end, size, Token::synString);
      return;
    }
  }
  while (at < size) {
    const QChar c = line[at];
    if (line.mid(at, 2) == QLatin1String("//")) return paint(at, size, Token::text3);
    if (line.mid(at, 2) == QLatin1String("/*")) {
      at = paintComment(line, at + 2, at);
    } else if (c == '"' || c == '\'') {
      const int end = endOfQuoted(line, at);
      paint(at, end, Token::synString);
      at = end;
    } else if (c.isDigit()) {
      int end = at + 1;
      while (end < size && (isWordPart(line[end]) || line[end] == '.' || line[end] == '\'')) ++end;
      paint(at, end, Token::synNumber);
      at = end;
    } else if (isWordStart(c)) {
      int end = at + 1;
      while (end < size && isWordPart(line[end])) ++end;
      paintWord(line, at, end);
      at = end;
    } else {
      ++at;
    }
  }
}

}  // namespace orrery::ui
