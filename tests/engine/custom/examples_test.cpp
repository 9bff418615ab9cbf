// The examples of the SDK: each passes, its kernels compile where NVRTC is, and it computes what it says.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/engine/custom/own_op_testing.h"

namespace orrery::custom::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A tensor and its numbers.
template <class T>
struct Given {
  std::vector<int64_t> sizes;
  std::vector<T> values;
};

class Examples : public WithStore {
 protected:
  Report report_of_example(const std::string& name) const {
    return report_of(
        {{name + ".cpp", sdk("examples/" + name + ".cpp")}, {name + ".cu", sdk("examples/" + name + ".cu")}});
  }
  OwnOp passed(const std::string& name) const {
    const Report report = report_of_example(name);
    EXPECT_TRUE(report.passed) << report.failure().to_string();
    EXPECT_TRUE(report.card.find("this machine has no card") != std::string::npos ||
                report.card.find("compared with the CPU") != std::string::npos ||
                report.card.find("NVRTC") != std::string::npos)
        << report.card;
    return report.op.value_or(OwnOp{});
  }

  template <class T>
  static void give(orrery_call& call, int i, int32_t dtype, Given<T>& given) {
    orrery_tensor& tensor = call.inputs[i];
    tensor.dtype = dtype;
    tensor.rank = static_cast<int32_t>(given.sizes.size());
    std::ranges::copy(given.sizes, tensor.sizes);
    tensor.data = given.values.data();
  }

  /// The elements of an output; the call has its inputs.
  template <class T>
  static std::vector<T> run(const Body& body, orrery_call call, int32_t wanted) {
    const auto completed = body.complete(call);
    EXPECT_TRUE(completed.ok()) << (completed.ok() ? "" : completed.error().to_string());
    std::vector<std::vector<std::byte>> memory;
    for (int32_t o = 0; o < call.output_count; ++o) {
      memory.emplace_back(bytes_of(call.outputs[o]));
      call.outputs[o].data = memory.back().data();
    }
    body.run(call, 0, call.items);
    std::vector<T> values(static_cast<size_t>(elements_of(call.outputs[wanted])));
    std::memcpy(values.data(), call.outputs[wanted].data, values.size() * sizeof(T));
    return values;
  }
};

TEST_F(Examples, AddOneAndWhatIsNewComeFromOneText) {
  const OwnOp op = passed("add_one");
  const Body body(op.library, false);
  Given<float> src{{2, 2}, {1, 2, -3, 0.5F}};
  orrery_call call = body.start({{"amount", 1.5}});
  give(call, 0, ORRERY_F32, src);
  EXPECT_THAT(run<float>(body, call, 0), ElementsAre(2.5F, 3.5F, -1.5F, 2));
  const auto made = new_sources("twice_over", true);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)[0].name, "twice_over.cpp");
  EXPECT_THAT((*made)[0].bytes, HasSubstr("ORRERY_OP(\"twice_over\""));
  EXPECT_THAT((*made)[1].bytes, HasSubstr("void twice_over(orrery_call call)"));
  EXPECT_FALSE(new_sources("../x", false).ok());
}

TEST_F(Examples, VectorAddition) {
  const OwnOp op = passed("vector_addition");
  const Body body(op.library, false);
  Given<float> a{{3}, {1, 2, 3}}, b{{3}, {10, 20, 30}};
  orrery_call call = body.start({});
  give(call, 0, ORRERY_F32, a);
  give(call, 1, ORRERY_F32, b);
  EXPECT_THAT(run<float>(body, call, 0), ElementsAre(11, 22, 33));
}

TEST_F(Examples, Mandelbrot) {
  const OwnOp op = passed("mandelbrot");
  const Body body(op.library, false);
  Given<float> x{{4}, {0, 2, 1, -1}}, y{{4}, {0, 2, 0, 0}};
  orrery_call call = body.start({{"iterations", int64_t{50}}});
  give(call, 0, ORRERY_F32, x);
  give(call, 1, ORRERY_F32, y);
  // 0, and -1 with its cycle 0, -1, stay; 1 goes 0, 1, 2, 5; 2 + 2i is outside at once.
  EXPECT_THAT(run<int32_t>(body, call, 0), ElementsAre(50, 1, 3, 50));
}

TEST_F(Examples, Histogram) {
  const OwnOp op = passed("histogram");
  const Body body(op.library, false);
  Given<uint8_t> src{{2, 3}, {7, 7, 255, 0, 1, 0}};
  orrery_call call = body.start({});
  give(call, 0, ORRERY_U8, src);
  const auto counts = run<int32_t>(body, call, 0);
  ASSERT_EQ(counts.size(), 512U);
  EXPECT_EQ(counts[7], 2);
  EXPECT_EQ(counts[255], 1);
  EXPECT_EQ(counts[256], 2);
  EXPECT_EQ(counts[257], 1);
  EXPECT_EQ(std::ranges::count(counts, 0), 508);
}

TEST_F(Examples, ImagePipeline) {
  const OwnOp op = passed("image_pipeline");
  const Body body(op.library, false);
  Given<uint8_t> src{{1, 3, 3}, {0, 0, 0, 100, 100, 100, 255, 255, 255}};
  orrery_call call = body.start({{"brightness", int64_t{10}}});
  give(call, 0, ORRERY_U8, src);
  // light: 10, 110, 255; each a mean over three, with the edge repeated.
  EXPECT_THAT(run<uint8_t>(body, call, 0), ElementsAre(43, 125, 207));
}

TEST_F(Examples, BiasGeluAndItsGradients) {
  const OwnOp op = passed("bias_gelu");
  const Body body(op.library, false);
  Given<float> src{{2, 2}, {0, 1, -1, 2}}, bias{{2}, {1, -1}};
  orrery_call call = body.start({});
  give(call, 0, ORRERY_F32, src);
  give(call, 1, ORRERY_F32, bias);
  const auto gelu = [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); };
  const auto made = run<float>(body, call, 0);
  for (const auto& [i, x] : {std::pair(0, 1.0), {1, 0.0}, {2, 0.0}, {3, 1.0}})
    EXPECT_NEAR(made[static_cast<size_t>(i)], gelu(x), 1e-6);
  const Body backward(op.library, true);
  EXPECT_EQ(backward.name(), "bias_gelu_backward");
  ASSERT_EQ(backward.inputs().size(), 4U);
  EXPECT_EQ(backward.inputs()[3].name, "grad_dst");
  EXPECT_THAT(backward.outputs(), ElementsAre("grad_src", "grad_bias"));
}

TEST_F(Examples, TopKOfRowsAndWhatItRefuses) {
  const OwnOp op = passed("top_k_rows");
  const Body body(op.library, false);
  Given<float> src{{2, 4}, {1, 5, 5, -2, 0, 0, 9, 3}};
  orrery_call call = body.start({{"k", int64_t{2}}});
  give(call, 0, ORRERY_F32, src);
  EXPECT_THAT(run<float>(body, call, 0), ElementsAre(5, 5, 9, 3));
  EXPECT_THAT(run<int32_t>(body, call, 1), ElementsAre(1, 2, 2, 3));
  orrery_call more = body.start({{"k", int64_t{5}}});
  give(more, 0, ORRERY_F32, src);
  const auto refused = body.complete(more);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what, "k must be from 1 to the length of a row");
}

TEST_F(Examples, CudaThatDoesNotCompileSaysTheLine) {
  std::string kernel = sdk("examples/add_one.cu");
  kernel.replace(kernel.find("const int64_t i"), 15, "const int64_t j");
  const Report report = report_of({{"add_one.cpp", sdk("examples/add_one.cpp")}, {"add_one.cu", kernel}});
  if (report.card.find("NVRTC") != std::string::npos) GTEST_SKIP() << report.card;
  EXPECT_FALSE(report.passed);
  ASSERT_FALSE(report.diagnostics.empty());
  EXPECT_EQ(report.diagnostics.front().file, "add_one.cu");
  EXPECT_EQ(report.diagnostics.front().line, 6);
  EXPECT_THAT(report.diagnostics.front().text, HasSubstr("identifier \"i\" is undefined"));
}

TEST_F(Examples, OneFileOfCudaMayHaveBothBodies) {
  std::string host = sdk("examples/add_one.cpp"), kernel = sdk("examples/add_one.cu");
  host.erase(host.find("#include"), 24);
  const Report report =
      report_of({{"add_one.cu", kernel.insert(kernel.find("extern"), "#ifdef __CUDACC__\n") + "#else\n" +
                                    host + "#endif\n"}});
  EXPECT_TRUE(report.passed) << report.failure().to_string();
}

}  // namespace
}  // namespace orrery::custom::test
