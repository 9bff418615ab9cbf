#include "engine/custom/diagnostics.h"

#include <gmock/gmock.h>

namespace orrery::custom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Diagnostics, OfGccWithItsExcerptsLeftOut) {
  const auto found = parse_diagnostics(
      "/tmp/x/add.cpp: In function 'void f()':\n"
      "/tmp/x/add.cpp:4:12: error: 'y' was not declared in this scope; did you mean 'x'?\n"
      "    4 |   return y;\n"
      "      |          ^\n"
      "/tmp/x/add.cpp:9:3: warning: unused variable 'z' [-Wunused-variable]\n"
      "orrery_op.h:3: note: declared here\n"
      "/tmp/x/add.cpp:2:10: fatal error: nothing.h: No such file or directory\n");
  EXPECT_THAT(
      found,
      ElementsAre(
          Diagnostic{"/tmp/x/add.cpp", 4, 12, Severity::error,
                     "'y' was not declared in this scope; did you mean 'x'?"},
          Diagnostic{"/tmp/x/add.cpp", 9, 3, Severity::warning, "unused variable 'z' [-Wunused-variable]"},
          Diagnostic{"orrery_op.h", 3, 0, Severity::note, "declared here"},
          Diagnostic{"/tmp/x/add.cpp", 2, 10, Severity::error, "nothing.h: No such file or directory"}));
  EXPECT_EQ(found[0].to_string(),
            "/tmp/x/add.cpp:4:12: error: 'y' was not declared in this scope; did you mean 'x'?");
}

TEST(Diagnostics, OfNvrtc) {
  EXPECT_THAT(
      parse_diagnostics("add.cu(7): error: identifier \"y\" is undefined\n"
                        "      y = 3;\n"
                        "      ^\n"
                        "add.cu(9): warning #177-D: variable \"z\" was declared but never referenced\n"
                        "1 error detected in the compilation of \"add.cu\".\n"),
      ElementsAre(
          Diagnostic{"add.cu", 7, 0, Severity::error, "identifier \"y\" is undefined"},
          Diagnostic{"add.cu", 9, 0, Severity::warning, "variable \"z\" was declared but never referenced"}));
}

TEST(Diagnostics, OfTheLinkerHaveNoLine) {
  EXPECT_THAT(parse_diagnostics("/usr/bin/ld: /tmp/a.o: in function `cpu':\n"
                                "add.cpp:(.text+0x11): undefined reference to `helper'\n"
                                "collect2: error: ld returned 1 exit status\n"),
              ElementsAre(Diagnostic{"", 0, 0, Severity::error, "undefined reference to `helper'"}));
}

TEST(Diagnostics, OfOtherTextsThereAreNone) {
  EXPECT_THAT(parse_diagnostics("a: b: c\n::\n(3)\nfile(3)\nx:1: something\n\n12:30: error\n"), IsEmpty());
}

}  // namespace
}  // namespace orrery::custom
