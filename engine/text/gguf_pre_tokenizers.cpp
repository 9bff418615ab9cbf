#include "engine/text/gguf_pre_tokenizers.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

// The patterns of the models' own tokenizer files, in Oniguruma's dialect.
#define CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define WORD "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define TAIL " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define LLAMA3 CONTRACTION "|" WORD "|\\p{N}{1,3}|" TAIL
#define QWEN2 CONTRACTION "|" WORD "|\\p{N}|" TAIL
#define TO_LOWER "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
#define FROM_UPPER "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
#define CASED_TAIL " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define O200K(DIGITS) TO_LOWER CONTRACTION "?|" FROM_UPPER CONTRACTION "?|" DIGITS "|" CASED_TAIL
#define NOT_HAN(SET) "(?:(?!\\p{Han})[" SET "])"
#define HANLESS_UPPER NOT_HAN("\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}")
#define HANLESS_LOWER NOT_HAN("\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}")
#define DEEPSEEK3(TAIL3)                                                                                 \
  "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?" \
  "[\\p{P}\\p{S}]+" TAIL3 "|\\s+(?!\\S)|\\s+"
#define CJK_WORDS "[\\x{4e00}-\\x{9fa5}\\x{3040}-\\x{309f}\\x{30a0}-\\x{30ff}]+"
#define CJK_AND_HANGUL "[\\x{4e00}-\\x{9fa5}\\x{800}-\\x{4e00}\\x{ac00}-\\x{d7ff}]+"
// Letters with case, as Unicode had them when this pattern was written.
#define CASED_LETTERS                                                                            \
  "A-Za-z\\x{b5}\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{1ba}\\x{1bc}-\\x{1bf}"                 \
  "\\x{1c4}-\\x{293}\\x{295}-\\x{2af}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37b}-\\x{37d}\\x{37f}" \
  "\\x{386}\\x{388}-\\x{38a}\\x{38c}\\x{38e}-\\x{3a1}\\x{3a3}-\\x{3f5}\\x{3f7}-\\x{481}"         \
  "\\x{48a}-\\x{52f}\\x{531}-\\x{556}\\x{10a0}-\\x{10c5}\\x{13a0}-\\x{13f5}\\x{13f8}-\\x{13fd}"  \
  "\\x{1c90}-\\x{1cba}\\x{1cbd}-\\x{1cbf}\\x{1d00}-\\x{1d2b}\\x{1d6b}-\\x{1d77}"                 \
  "\\x{1d79}-\\x{1d9a}\\x{1e00}-\\x{1f15}\\x{1f18}-\\x{1f1d}\\x{1f20}-\\x{1f45}"                 \
  "\\x{1f48}-\\x{1f4d}\\x{1f50}-\\x{1f57}\\x{1f59}\\x{1f5b}\\x{1f5d}\\x{1f5f}-\\x{1f7d}"         \
  "\\x{1f80}-\\x{1fb4}\\x{1fb6}-\\x{1fbc}\\x{1fbe}\\x{1fc2}-\\x{1fc4}\\x{1fc6}-\\x{1fcc}"        \
  "\\x{1fd0}-\\x{1fd3}\\x{1fd6}-\\x{1fdb}\\x{1fe0}-\\x{1fec}\\x{1ff2}-\\x{1ff4}"                 \
  "\\x{1ff6}-\\x{1ffc}\\x{2102}\\x{2107}\\x{210a}-\\x{2113}\\x{2115}\\x{2119}-\\x{211d}"         \
  "\\x{2124}\\x{2126}\\x{2128}\\x{212a}-\\x{212d}\\x{212f}-\\x{2134}\\x{2139}"                   \
  "\\x{213c}-\\x{213f}\\x{2145}-\\x{2149}\\x{214e}\\x{2183}\\x{2184}\\x{2c00}-\\x{2c7b}"         \
  "\\x{2c7e}-\\x{2ce4}\\x{2ceb}-\\x{2cee}\\x{2cf2}\\x{2cf3}\\x{a640}-\\x{a66d}"                  \
  "\\x{a680}-\\x{a69b}\\x{a722}-\\x{a76f}\\x{a771}-\\x{a787}\\x{a78b}-\\x{a78e}"                 \
  "\\x{ab70}-\\x{abbf}\\x{fb00}-\\x{fb06}\\x{fb13}-\\x{fb17}\\x{ff21}-\\x{ff3a}"                 \
  "\\x{ff41}-\\x{ff5a}\\x{10400}-\\x{1044f}\\x{104b0}-\\x{104d3}\\x{104d8}-\\x{104fb}"           \
  "\\x{10c80}-\\x{10cb2}\\x{10cc0}-\\x{10cf2}\\x{118a0}-\\x{118df}\\x{1e900}-\\x{1e943}"
#define BLOOM " ?[^(\\s|.,!?…。，、।۔،)]+"
#define GRANITE_MARKS(UPPER, LOWER)                          \
  "[^\\r\\n\\p{L}\\p{N}]?(?:(?=[\\p{L}\\p{M}])[^a-z])" UPPER \
  "(?:(?=[\\p{L}\\p{M}])[^A-Z])" LOWER CONTRACTION "?"

enum Flags : unsigned {
  kPlain = 0,
  kIgnoreMerges = 1,
  kAddBos = 2,
  kNotBytes = 4,
  kAlwaysBos = 8,
  kWholeLineEnds = 16
};

/// Up to six patterns, one after the other.
struct Family {
  unsigned flags;
  std::array<const char*, 6> patterns;
};
constexpr Family kGpt2{kPlain, {GPT2}};
constexpr Family kDigitsGpt2{kPlain, {"\\p{N}", GPT2}};
constexpr Family kDefault{kPlain, {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"}};
constexpr Family kFalcon{kPlain, {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]"}};
constexpr Family kLlama3{kIgnoreMerges | kAddBos, {LLAMA3}};
constexpr Family kLlama3Words{kPlain, {LLAMA3}};
constexpr Family kJais2{
    kPlain,
    {CONTRACTION "|" WORD
                 "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|"
                 "\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|"
                 "\\s{1,2}(?!\\S)|\\s{1}"}};
constexpr Family kQwen2{kPlain, {QWEN2}};
constexpr Family kQwen35{
    kPlain,
    {CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+"
                 "[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}};
constexpr Family kO200k{kPlain, {O200K("\\p{N}{1,3}")}};
constexpr Family kTekken{kIgnoreMerges | kAddBos, {TO_LOWER "|" FROM_UPPER "|\\p{N}|" CASED_TAIL}};
constexpr Family kTinyAya{kPlain, {"\\d{1,3}(?=(?:\\d{3})*\\b)", O200K("\\p{N}{1,3}")}};
constexpr Family kYoutu{
    kIgnoreMerges,
    {"[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|" CJK_WORDS,
     O200K("\\p{N}")}};
constexpr Family kKimi{
    kPlain,
    {"\\p{Han}+|[^\\r\\n\\p{L}\\p{N}]?" HANLESS_UPPER "*" HANLESS_LOWER "+" CONTRACTION
     "?|[^\\r\\n\\p{L}\\p{N}]?" HANLESS_UPPER "+" HANLESS_LOWER "*" CONTRACTION "?|\\p{N}{1,3}|" TAIL}};
constexpr Family kDeepSeekLlm{kPlain,
                              {"[\\r\\n]", "\\s?[" CASED_LETTERS "]+",
                               "\\s?[!-/:-~！-／：-～‘-‟\\x{3000}-。]+", "\\s+$", CJK_AND_HANGUL, "\\p{N}+"}};
constexpr Family kDeepSeekCoder{kPlain, {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", CJK_AND_HANGUL, "\\p{N}"}};
constexpr Family kDeepSeek3{kPlain, {"\\p{N}{1,3}", CJK_WORDS, DEEPSEEK3("[\\r\\n]*|\\s*[\\r\\n]+")}};
constexpr Family kSpark{kPlain, {"\\p{N}{1,3}", CJK_WORDS, DEEPSEEK3("|[\\r\\n]"), "\\p{N}"}};
constexpr Family kBloom{kPlain, {BLOOM}};
constexpr Family kViking{kPlain, {BLOOM, "\\p{N}"}};
constexpr Family kChameleon{
    kAddBos,
    {"<sentinel:[0-9]+>", "IMGIMG[A-I]{1,4}Z", "[\\t\\n]|    |  ", "\\p{N}", "[\\p{P}!-/:-@\\[-`{-~]", GPT2}};
constexpr Family kSuperBpe{kPlain, {"\\p{N}+", "\\d{1,3}(?=(?:\\d{3})*(?!\\d))"}};
constexpr Family kBailing{
    kPlain,
    {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|"
     "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}};
constexpr Family kSeedCoder{kPlain,
                            {CONTRACTION "|" WORD "|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s*[\\r\\n]+|"
                                         "\\s+(?!\\S)|\\s+"}};
constexpr Family kExaoneMoe{
    kPlain,
    {CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| "
                 "?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}};
constexpr Family kGraniteMultilingual{
    kIgnoreMerges, {GRANITE_MARKS("*", "+") "|" GRANITE_MARKS("+", "*") "|\\p{N}{1,3}|" CASED_TAIL}};
constexpr Family kUfakzeka{kPlain, {WORD "|\\p{N}|" TAIL}};
constexpr Family kLaguna{kPlain, {"[^\\n]+|[\\n]+", QWEN2}};
constexpr Family kMiniCpm5{kIgnoreMerges, {"\\p{N}{1,3}", CONTRACTION "|" WORD "|\\p{N}+|" TAIL}};
constexpr Family kLines{kNotBytes, {"[^\\n]+|[\\n]+"}};
constexpr Family kGemma4{kNotBytes | kAlwaysBos | kWholeLineEnds, {"[^\\n]+|[\\n]+"}};

struct Named {
  std::string_view name;
  const Family& family;
};
constexpr Named kNames[] = {
    {"a.x-4.0", kGpt2},
    {"bailingmoe", kBailing},
    {"bailingmoe2", kBailing},
    {"bloom", kBloom},
    {"chameleon", kChameleon},
    {"chatglm-bpe", kLlama3Words},
    {"codeshell", kDigitsGpt2},
    {"cohere2moe", kTinyAya},
    {"command-r", kDigitsGpt2},
    {"dbrx", kLlama3Words},
    {"deepseek-coder", kDeepSeekCoder},
    {"deepseek-llm", kDeepSeekLlm},
    {"deepseek-r1-qwen", kQwen2},
    {"deepseek-v3", kDeepSeek3},
    {"default", kDefault},
    {"exaone", kDigitsGpt2},
    {"exaone-moe", kExaoneMoe},
    {"exaone4", kGpt2},
    {"f2llmv2", kQwen2},
    {"falcon", kFalcon},
    {"falcon-h1", kLlama3},
    {"falcon3", kLlama3},
    {"gemma4", kGemma4},
    {"gigachat", kGpt2},
    {"glm4", kLlama3Words},
    {"gpt-2", kGpt2},
    {"gpt-4o", kO200k},
    {"gpt2", kGpt2},
    {"gpt3-finnish", kBloom},
    {"granite-docling", kGpt2},
    {"granite-embed-multi-311m", kGemma4},
    {"granite-embed-multi-97m", kGraniteMultilingual},
    {"grok-2", kQwen2},
    {"hunyuan", kQwen2},
    {"hunyuan-dense", kDeepSeek3},
    {"hy_v4", kDeepSeek3},
    {"jais", kGpt2},
    {"jais-2", kJais2},
    {"jina-de", kGpt2},
    {"jina-es", kGpt2},
    {"jina-v1-en", kGpt2},
    {"jina-v2-code", kGpt2},
    {"jina-v2-de", kGpt2},
    {"jina-v2-es", kGpt2},
    {"jina-v5-nano", kLlama3},
    {"joyai-llm", kDeepSeek3},
    {"kanana2", kO200k},
    {"kimi-k2", kKimi},
    {"kormo", kQwen2},
    {"laguna", kLaguna},
    {"lfm2", kLlama3},
    {"llada-moe", kBailing},
    {"llama-bpe", kLlama3},
    {"llama-v3", kLlama3},
    {"llama3", kLlama3},
    {"llama4", kO200k},
    {"megrez", kQwen2},
    {"mellum", kGpt2},
    {"mellum2", kDigitsGpt2},
    {"midm-2.0", kLlama3},
    {"minerva-7b", kDigitsGpt2},
    {"minicpm5", kMiniCpm5},
    {"minimax-m2", kO200k},
    {"modern-bert", kGpt2},
    {"mpt", kGpt2},
    {"olmo", kGpt2},
    {"phi-2", kGpt2},
    {"pixtral", kLlama3},
    {"poro-chat", kBloom},
    {"qwen2", kQwen2},
    {"qwen35", kQwen35},
    {"refact", kDigitsGpt2},
    {"roberta-bpe", kGpt2},
    {"sarvam-moe", kLines},
    {"seed-coder", kSeedCoder},
    {"smaug-bpe", kLlama3Words},
    {"smollm", kDigitsGpt2},
    {"solar-open", kQwen2},
    {"spark2_5", kSpark},
    {"stablelm2", kQwen2},
    {"starcoder", kDigitsGpt2},
    {"superbpe", kSuperBpe},
    {"talkie", kO200k},
    {"tekken", kTekken},
    {"tiny_aya", kTinyAya},
    {"trillion", kGpt2},
    {"ufakzeka", kUfakzeka},
    {"viking", kViking},
    {"youtu", kYoutu},
};

Error unknown_name(std::string_view name) {
  std::string known;
  for (const Named& other : kNames) known += (known.empty() ? "" : ", ") + std::string(other.name);
  return {ErrorCode::unsupported,
          "The pre-tokenizer \"" + replace_invalid(name.substr(0, 60)) + "\" is not known",
          "tokenizer.ggml.pre", "Known ones: " + known};
}

}  // namespace

std::vector<std::string_view> gguf_pre_tokenizer_names() {
  std::vector<std::string_view> names;
  for (const Named& named : kNames) names.push_back(named.name);
  return names;
}

Result<GgufPreTokenizer> gguf_pre_tokenizer(std::string_view name) {
  const std::string_view wanted = name.empty() ? "gpt-2" : name;
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const Named& n) { return n.name == wanted; });
  if (found == std::end(kNames)) return unknown_name(name);
  const Family& family = found->family;
  GgufPreTokenizer result;
  for (const char* pattern : family.patterns) {
    if (!pattern) break;
    ORRERY_ASSIGN(PreTokenizerStepPtr step, isolating_step(pattern));
    result.steps.add(std::move(step));
  }
  result.ignore_merges = (family.flags & kIgnoreMerges) != 0;
  result.add_bos = (family.flags & (kAddBos | kAlwaysBos)) != 0;
  result.always_bos = (family.flags & kAlwaysBos) != 0;
  result.whole_line_ends = (family.flags & kWholeLineEnds) != 0;
  result.byte_level = (family.flags & kNotBytes) == 0;
  return result;
}

}  // namespace orrery::text
