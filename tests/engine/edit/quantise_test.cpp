// The quantise verb on the real models' graphs: what is stored as what, who shares it, and what undo brings
// back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/edit/model_graphs.h"

namespace orrery::edit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class QuantiseVerb : public ::testing::Test {
 protected:
  std::string attribute(std::string_view path, const char* name) const {
    return graph::to_string(graph_.node(graph_.find_path(path)).attributes.at(name));
  }
  DType type_of(std::string_view path) const {
    return graph_.value(graph_.node(graph_.find_path(path)).outputs[0]).type.dtype;
  }
  std::string done(std::string_view words) {
    const auto journal = edit(graph_, words);
    return journal.ok() ? journal->name : journal.error().to_string();
  }
  uint64_t hash() const { return graph_.feed_hash(graph_.outputs().back()); }

  Graph graph_ = graph_of("smollm2");
  const std::string before_ = print(graph_);
};

TEST_F(QuantiseVerb, MatricesOfTheScopeAreStoredAsTheType) {
  const uint64_t before = hash();
  EXPECT_EQ(done("quantise scope=layers.4-7 type=q8_0"), "quantise layers.4-7 to Q8_0");
  for (const char* matrix : {"layers.4.attention.q_proj.weight", "layers.7.mlp.down_proj.weight"}) {
    EXPECT_EQ(attribute(matrix, "dtype"), "Q8_0");
    EXPECT_EQ(attribute(matrix, "transform"), "quantised from Q4_1");
    EXPECT_EQ(type_of(matrix), DType::q8_0);
  }
  EXPECT_EQ(type_of("layers.4.attention.norm.weight"), DType::f32);
  EXPECT_EQ(type_of("layers.8.mlp.down_proj.weight"), DType::q4_1);
  EXPECT_NE(hash(), before);
  EXPECT_TRUE(verify(graph_).empty());
}

TEST_F(QuantiseVerb, FileTakesItBackWhateverWasBetween) {
  done("quantise scope=layers.4.mlp.down_proj type=q8_0");
  done("quantise scope=layers.4.mlp type=q5_1");
  EXPECT_EQ(attribute("layers.4.mlp.down_proj.weight", "transform"), "quantised from Q4_1");
  EXPECT_EQ(done("quantise scope=* type=file"), "quantise * to the file's types");
  EXPECT_EQ(print(graph_), before_);
  EXPECT_THAT(done("quantise scope=* type=file"), HasSubstr("It is as the file has it"));
  done("quantise scope=layers.4 type=q8_0");
  done("quantise scope=layers.4 type=q4_1");  // as the file has it
  EXPECT_EQ(print(graph_), before_);
}

TEST_F(QuantiseVerb, UndoAndRedoAreExact) {
  const auto journal = edit(graph_, "quantise scope=* type=q8_0");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  const std::string after = print(graph_);
  graph::undo(graph_, *journal);
  EXPECT_EQ(print(graph_), before_);
  graph::redo(graph_, *journal);
  EXPECT_EQ(print(graph_), after);
}

TEST_F(QuantiseVerb, SaysWhoSharesATiedEmbedding) {
  EXPECT_EQ(done("quantise scope=embed type=q5_0"), "quantise embed to Q5_0; output.lm_head reads it too");
  EXPECT_EQ(done("quantise scope=output type=f16"),
            "quantise output to f16; embed.token_embedding reads it too");
  EXPECT_EQ(done("quantise scope=* type=f32"), "quantise * to f32");
}

TEST_F(QuantiseVerb, RowsThatDoNotDivideAreRefusedByName) {
  const std::string refusal = done("quantise scope=layers.0 type=q4_k");
  EXPECT_THAT(refusal, AllOf(HasSubstr("The blocks of Q4_K hold 256 elements"),
                             HasSubstr("layers.0.attention.q_proj.weight has rows of 576"),
                             HasSubstr("and 3 more"), HasSubstr("q8_0")));
  EXPECT_EQ(print(graph_), before_);
  EXPECT_EQ(done("quantise scope=layers.0.mlp.down_proj type=q4_k"),
            "quantise layers.0.mlp.down_proj to Q4_K");  // rows of 1536
}

TEST_F(QuantiseVerb, WhatReadsNoMatrixAndWhatChangesNothingAreRefused) {
  EXPECT_THAT(done("quantise scope=layers.0.attention.norm type=q8_0"),
              HasSubstr("No linear or embedding reads a matrix in it"));
  EXPECT_THAT(done("quantise scope=layers.0 type=q4_1"), HasSubstr("All of it is Q4_1 already"));
  EXPECT_THAT(done("quantise scope=layers.0 type=iq4_nl"), HasSubstr("is not one of the choices"));
  EXPECT_EQ(print(graph_), before_);
}

}  // namespace
}  // namespace orrery::edit
