// Ops that are wrong in every way that is known: each is found in the trial, with a message that says where,
// and this program goes on.
#include <gmock/gmock.h>

#include "tests/engine/custom/own_op_testing.h"

namespace orrery::custom::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kRight = "for (int64_t i = begin; i < end; ++i) dst[i] = 2 * src[i];";

class Hostile : public WithStore {
 protected:
  /// Why the op did not pass.
  std::string refusal(const std::string& body, const std::string& before = "",
                      std::chrono::milliseconds time = 1500ms) const {
    const Report report =
        report_of(op_of(body, "mine", before), {.time = time, .memory_bytes = uint64_t{1} << 30});
    EXPECT_FALSE(report.passed);
    EXPECT_FALSE(report.op);
    for (const Diagnostic& one : report.diagnostics)
      if (one.severity == Severity::error) ADD_FAILURE() << one.to_string();
    return report.failure().what;
  }
};

TEST_F(Hostile, TheSameOpWithoutAFaultPasses) {
  const Report report = report_of(op_of(kRight));
  EXPECT_TRUE(report.passed) << report.failure().to_string();
  EXPECT_THAT(report.checks.front().text, HasSubstr("stays within its operands"));
}

TEST_F(Hostile, ReadsAndWritesOnBothSidesNameTheTensor) {
  EXPECT_THAT(refusal("for (int64_t i = begin; i < end; ++i) dst[i] = src[i + 1];"),
              AllOf(HasSubstr("It reads outside its operands: at byte 0 after the end of src, f32["),
                    HasSubstr("during: run of mine")));
  EXPECT_THAT(refusal("for (int64_t i = begin; i < end; ++i) dst[i] = src[i - 1];"),
              HasSubstr("It reads outside its operands: 4 bytes before the beginning of src"));
  EXPECT_THAT(refusal("for (int64_t i = begin; i <= end; ++i) dst[i] = 1;"),
              HasSubstr("It writes outside its operands: at byte 0 after the end of dst"));
  EXPECT_THAT(refusal("for (int64_t i = begin; i < end; ++i) dst[i] = 1;\n  dst[-3] = 1;"),
              HasSubstr("It writes outside its operands: 12 bytes before the beginning of dst"));
}

TEST_F(Hostile, WritingIntoAnInputIsFound) {
  EXPECT_THAT(refusal("for (int64_t i = begin; i < end; ++i) { dst[i] = src[i]; ((float*)src)[i] = 0; }"),
              HasSubstr("It writes into an operand that it may only read, byte 0 of src"));
}

TEST_F(Hostile, WhatIsNotWrittenOrNotItsOwnIsFound) {
  EXPECT_THAT(refusal("for (int64_t i = begin; i < end; ++i) if (i != 2) dst[i] = src[i];"),
              HasSubstr("It does not write element 2 of dst, f32["));
  EXPECT_THAT(refusal("for (int64_t i = begin; i < end; ++i) dst[i] += src[i];"),
              HasSubstr("It depends on memory that nobody wrote: element 0 of dst"));
  EXPECT_THAT(
      refusal("for (int64_t i = begin; i < end; ++i) dst[i] = src[i] + calls++;", "static int calls;\n"),
      HasSubstr("It gives other numbers each time"));
  EXPECT_THAT(refusal("for (int64_t i = 0; i < call->items; ++i) dst[i] = src[i];"),
              HasSubstr("does it keep to begin and end?"));
  EXPECT_THAT(refusal("for (int64_t i = begin; i < end; ++i) dst[i] = i == begin ? 0 : src[i];"),
              HasSubstr("when its items are shared out"));
}

TEST_F(Hostile, CrashesAreNamed) {
  EXPECT_THAT(refusal("*(volatile float*)0 = src[0] + dst[0];"),
              HasSubstr("It writes through a null pointer"));
  EXPECT_THAT(refusal("volatile int zero = 0; dst[0] = int(end + 5) / zero;"),
              HasSubstr("It divides a whole number by zero"));
  EXPECT_THAT(refusal("__builtin_abort();"), HasSubstr("It ends the program by abort()"));
  EXPECT_THAT(
      refusal(
          "dst[0] = deep(begin + 1);",
          "static int deep(volatile long n) { volatile char a[9000]; a[n % 9000] = 1; return n == 0 ? 0 : "
          "deep(n + 1) + a[n % 9]; }\n"),
      HasSubstr("beyond its stack"));
}

TEST_F(Hostile, AnEndlessLoopIsEnded) {
  EXPECT_THAT(
      refusal("for (volatile int i = 0;; i = i + 1) {}"),
      AllOf(HasSubstr("It did not come back within 1.5 s"), HasSubstr("during: run of mine, with src f32[")));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which run without a limit of addresses
TEST_F(Hostile, AllocatingForEverEnds) {
  // A gigabyte takes a busy machine longer than an endless loop is waited for.
  EXPECT_THAT(refusal("for (;;) __builtin_memset(__builtin_malloc(1 << 24), 1, 1 << 24);", "", 20s),
              HasSubstr("after it had used up the memory of a trial"));
  EXPECT_THAT(refusal("for (;;) kept = new char[1 << 24];", "static char* volatile kept;\n"),
              HasSubstr("It asks for more memory than a trial has"));
}
#endif

TEST_F(Hostile, ThrowingAndLeavingAreTold) {
  EXPECT_THAT(refusal("throw std::runtime_error(\"no such luck\");", "#include <stdexcept>\n"),
              HasSubstr("It throws an exception: no such luck"));
  EXPECT_THAT(refusal("throw 3;"), HasSubstr("It throws an exception"));
  EXPECT_THAT(refusal("exit(0);", "#include <stdlib.h>\n"), HasSubstr("It ends the program by exit()"));
  EXPECT_THAT(refusal("_exit(0);", "#include <unistd.h>\n"),
              HasSubstr("It ended the process with exit code 0 during: run of mine"));
  EXPECT_THAT(refusal(kRight, "struct A { A() { __builtin_trap(); } } a;\n"),
              HasSubstr("during: loading the library"));
}

TEST_F(Hostile, WrongShapesAreTold) {
  const auto with_shape = [&](const std::string& shape) {
    std::string source =
        op_of(kRight, "mine", "static const char* shape(orrery_call* call) {" + shape + "}\n");
    source.replace(source.find(".cpu = cpu"), 4, ".shape = shape, .cpu");
    const Report report = report_of(source);
    EXPECT_FALSE(report.passed);
    return report.failure().what;
  };
  EXPECT_THAT(with_shape("call->outputs[0].sizes[0] = -4; return 0;"), HasSubstr("gives dst the size -4"));
  EXPECT_THAT(with_shape("call->outputs[0].rank = 9; return 0;"), HasSubstr("gives dst 9 dims"));
  EXPECT_THAT(with_shape("call->outputs[0].dtype = 77; return 0;"), HasSubstr("gives dst the type 77"));
  EXPECT_THAT(with_shape("return \"I take nothing\";"),
              HasSubstr("It takes none of the inputs that it was tried with (I take nothing)"));
  EXPECT_THAT(with_shape("call->outputs[0].sizes[call->outputs[0].rank - 1] *= 2; return 0;"),
              HasSubstr("It reads outside its operands: at byte 0 after the end of src"))
      << "twice what the body has";
}

TEST_F(Hostile, WrongGradientsAreFound) {
  std::string source = op_of(kRight, "mine",
                             "static void back(const orrery_call* call, int64_t begin, int64_t end) {"
                             "for (int64_t i = begin; i < end; ++i) ORRERY_OUT(float, call, 0)[i] = 3 * "
                             "ORRERY_IN(float, call, 2)[i]; }\n");
  source.replace(source.find(".cpu = cpu"), 10, ".cpu = cpu, .cpu_backward = back");
  const Report wrong = report_of(source);
  EXPECT_FALSE(wrong.passed);
  EXPECT_THAT(wrong.failure().what, HasSubstr("Its gradients are wrong: element 0 of grad_src is"));
  source.replace(source.find("3 *"), 3, "2 *");
  const Report right = report_of(source);
  EXPECT_TRUE(right.passed) << right.failure().to_string();
}

TEST_F(Hostile, DeclarationsThatDoNotHoldTogetherAreTold) {
  const auto declared = [&](const std::string& from, const std::string& to) {
    std::string source = op_of(kRight);
    source.replace(source.find(from), from.size(), to);
    const Report report = report_of(source);
    EXPECT_FALSE(report.passed);
    return report.failure().what;
  };
  EXPECT_THAT(declared("\"mine\"", "\"My op\""), HasSubstr("\"My op\" is no name of an op"));
  EXPECT_THAT(declared("src f32[..., cols]", "src f32[cols, ...]"), HasSubstr("... only comes first"));
  EXPECT_THAT(declared(".cpu = cpu", ".cuda_block = 32"), HasSubstr("The op has no body for the CPU"));
  EXPECT_THAT(declared(".cpu = cpu", ".items = 12, .cpu = cpu"), HasSubstr("Its items are 12"));
}

TEST_F(Hostile, WhatDoesNotCompileSaysTheLine) {
  const Report report = report_of(op_of("  dst[0] = nothing;"));
  EXPECT_FALSE(report.passed);
  ASSERT_FALSE(report.diagnostics.empty());
  const Diagnostic& first = report.diagnostics.front();
  EXPECT_EQ(first.file, "mine.cpp");
  EXPECT_EQ(first.line, 4);
  EXPECT_EQ(first.column, 12);
  EXPECT_EQ(report.failure().where, "mine.cpp:4");
  EXPECT_THAT(report.failure().what, HasSubstr("'nothing' was not declared in this scope"));

  const Report unlinked = report_of(op_of("  helper();", "mine", "void helper();\n"));
  EXPECT_FALSE(unlinked.passed);
  EXPECT_THAT(unlinked.failure().what, HasSubstr("undefined reference"));

  const Report empty = report_of("int x;\n");
  EXPECT_FALSE(empty.passed);
  EXPECT_THAT(empty.failure().what, HasSubstr("The library declares no op"));
}

}  // namespace
}  // namespace orrery::custom::test
