// What edits call things by: the verb rename, drawings on nodes, and the names that a refusal offers.
#include "engine/edit/names.h"

#include "engine/edit/words.h"
#include "tests/engine/edit/edited_graph.h"

namespace orrery::edit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using NamesLlama = EditedLlama;

TEST_F(NamesLlama, RenameTakesWhatStandsBelowAlongAndKeepsTheContext) {
  const uint64_t before = hash("layers.29.attention.kv_append");
  EXPECT_EQ(make("rename node=layers.3.attention.q_proj to=query").name,
            "rename layers.3.attention.q_proj to query");
  EXPECT_EQ(reads("layers.3.attention.query", 1), "layers.3.attention.query.weight:weight");
  EXPECT_FALSE(has("layers.3.attention.q_proj"));
  make("rename node=layers.7 to=seventh");
  EXPECT_EQ(reads("layers.8.attention.norm"), "layers.seventh.mlp.residual:dst");
  EXPECT_EQ(hash("layers.29.attention.kv_append"), before);
  make("bypass scope=layers.seventh");
}

TEST_F(NamesLlama, RenameRefusesWhatIsTaken) {
  EXPECT_THAT(refused("rename node=layers.3.attention.q_proj to=k_proj"),
              HasSubstr("This name is taken (layers.3.attention.k_proj): choose another one, such as "
                        "layers.3.attention.k_proj_2"));
  EXPECT_THAT(refused("rename node=layers.3 to=4"), HasSubstr("This name is taken (layers.4)"));
  EXPECT_THAT(refused("rename node=layers.3 to=3"), HasSubstr("that name already"));
  EXPECT_THAT(refused("rename node=layers.3 to=a.b"), HasSubstr("not a name within a scope"));
  EXPECT_THAT(refused("rename node=layers.31 to=a"), HasSubstr("did you mean layers.29?"));
}

TEST_F(NamesLlama, FramesAndNotesAreDrawingsAlone) {
  const uint64_t before = hash("layers.29.attention.kv_append");
  EXPECT_EQ(make("frame nodes=layers.3-4.mlp title=\"my part\"").name,
            "frame \"my part\" around layers.3-4.mlp");
  EXPECT_EQ(frame_of(node("layers.4.mlp.gate")), "my part");
  EXPECT_EQ(frame_of(node("layers.4.mlp.gate_proj.weight")), "") << "sources stand on what reads them";
  make("note node=layers.3.mlp.gate text=\"look here\ntwice\"");
  EXPECT_EQ(note_of(node("layers.3.mlp.gate")), "look here\ntwice");
  EXPECT_EQ(hash("layers.29.attention.kv_append"), before);
  make("frame nodes=layers.3.mlp title=\"\"");
  EXPECT_EQ(frame_of(node("layers.3.mlp.gate")), "");
  make("note node=layers.3.mlp.gate");
  EXPECT_EQ(note_of(node("layers.3.mlp.gate")), "");
  EXPECT_THAT(refused("note node=layers.3.mlp.gate"), HasSubstr("It has no note"));
  EXPECT_THAT(refused("note node=layers.3.mlp.norm.weight text=a"), HasSubstr("drawn on what reads it"));
  EXPECT_THAT(refused("frame nodes=layers.4.mlp title=\"my part\""), HasSubstr("is in this frame already"));
  EXPECT_THAT(refused("frame nodes=layers.3.mlp"), HasSubstr("It is in no frame"));
  EXPECT_THAT(refused("note node=layers.3.mlp.gate text=" + std::string(5000, 'a')),
              HasSubstr("up to 4000 bytes"));
}

TEST_F(NamesLlama, TheNearestNamesAreOffered) {
  const auto near = [&](std::string_view pattern) { return nearest_names(graph_, pattern); };
  EXPECT_THAT(near("layers.3.atention"), ElementsAre("layers.3.attention"));
  EXPECT_THAT(near("layer.3.mlp"), ElementsAre("layers.3.mlp"));
  EXPECT_THAT(near("layers.*.mpl"), ElementsAre("layers.*.mlp"));
  EXPECT_THAT(near("layers.2-5.mpl"), ElementsAre("layers.2-5.mlp"));
  EXPECT_THAT(near("layers.44"), ElementsAre("layers.29"));
  EXPECT_THAT(near("model.layers.3.mlp"), ElementsAre("layers.3.mlp"));
  EXPECT_THAT(near("mlp.down_proj"),
              ElementsAre("layers.0.mlp.down_proj", "layers.1.mlp.down_proj", "layers.2.mlp.down_proj"));
  EXPECT_THAT(near("something_else"), IsEmpty());
  EXPECT_THAT(near(""), IsEmpty());
  EXPECT_EQ(offer({"a"}, "b"), "did you mean a?");
  EXPECT_EQ(offer({"a", "b", "c"}, ""), "did you mean a, b or c?");
  EXPECT_EQ(offer({}, "choose another"), "choose another");
}

TEST_F(NamesLlama, EveryVerbOffersThem) {
  for (const char* words :
       {"bypass scope=layers.3.mpl", "place scope=layers.3.mpl device=cpu",
        "note node=layers.3.mpl.gate text=a", "probe as=p value=layers.3.mpl.gate:dst",
        "connect input=layers.3.mpl.gate.0 value=output.norm:dst", "move scope=layers.3 after=layers.3.mpl",
        "set node=layers.3.mpl.norm attribute=eps value=1"})
    EXPECT_THAT(refused(words), HasSubstr("did you mean layers.3.mlp")) << words;
}

TEST(Words, DistancesAreCountedAsFarAsAsked) {
  EXPECT_EQ(edit_distance("", "", 3), 0U);
  EXPECT_EQ(edit_distance("mlp", "mpl", 3), 1U) << "two letters changed places";
  EXPECT_EQ(edit_distance("attention", "atention", 3), 1U);
  EXPECT_EQ(edit_distance("abc", "", 3), 3U);
  EXPECT_EQ(edit_distance("abcd", "", 3), 4U);
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3U) << "more than two";
}

}  // namespace
}  // namespace orrery::edit
