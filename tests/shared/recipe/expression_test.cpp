// The grammar of ${...}: what OmegaConf 2.3 makes of each text.
#include <gtest/gtest.h>

#include "shared/base/error.h"
#include "shared/recipe/interpolation.h"
#include "shared/recipe/node.h"

namespace ringwright::recipe {
namespace {

// The value of `text` beside {q: Q}, as JSON; "refused" when it does not parse.
std::string value_of(const std::string& text) {
  Node root;
  root.kind = Kind::map;
  root.entries.emplace_back(make_text("q"), make_text("Q"));
  root.entries.emplace_back(make_text("x"), make_text(text));
  try {
    check_interpolation(text, {});
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-RECIPE-008");
    return "refused";
  }
  resolve_interpolations(root);
  return to_json(*root.find("x")).dump();
}

struct Pair {
  const char* text;
  const char* value;
};

class Grammar : public testing::TestWithParam<Pair> {};

TEST_P(Grammar, IsUpstreams) { EXPECT_EQ(value_of(GetParam().text), GetParam().value) << GetParam().text; }

INSTANTIATE_TEST_SUITE_P(Escapes, Grammar,
                         testing::Values(Pair{R"(x\\y${q})", R"("x\\\\yQ")"}, Pair{R"(\\\${q})", R"("\\${q}")"}, Pair{R"(\\${q}\\)", R"("\\Q\\\\")"},
                                         Pair{R"(a\${b)", R"("a${b")"}, Pair{R"(a\${b${q})", R"("a${bQ")"}, Pair{"$${q}", R"("$Q")"},
                                         Pair{"${q}}", R"("Q}")"}));

INSTANTIATE_TEST_SUITE_P(Arguments, Grammar,
                         testing::Values(Pair{"${oc.create:a b }", R"("a b")"}, Pair{"${oc.create:a:b}", R"("a:b")"},
                                         Pair{R"(${oc.create:"a\"b"})", R"("a\"b")"}, Pair{"${oc.create:'${q}x'}", R"("Qx")"},
                                         Pair{"${oc.create:{a:1,b:[1,2]}}", R"({"a":1,"b":[1,2]})"},
                                         Pair{"${oc.create:[nUll,TRUE,1.,00,1__0,+1,+x]}", R"([null,true,1.0,"00","1__0",1,"+x"])"},
                                         Pair{R"(${oc.create:a\,b})", R"("a,b")"}, Pair{R"(${oc.create:a\b})", R"("a\\b")"},
                                         Pair{"${oc.create:[a,,b]}", R"(["a","","b"])"}, Pair{"${oc.create:[,]}", R"(["",""])"},
                                         Pair{"${oc.create:a$}", R"("a$")"}, Pair{"${oc.create:[1_0.5,1e-3]}", "[10.5,0.001]"}));

TEST(Expression, AMessageQuotesTheNeighbourhoodOfTheFault) {
  const std::string text = std::string(90'000, 'a') + "${q" + std::string(90'000, 'b') + "${";
  try {
    check_interpolation(text, {});
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_LT(error.parts().what.size(), 400u);
    EXPECT_NE(error.parts().what.find("character "), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(References, Grammar, testing::Values(Pair{"${ q }", R"("Q")"}, Pair{"${.q}", R"("Q")"}, Pair{"${oc.select:.q}", R"("Q")"}));

INSTANTIATE_TEST_SUITE_P(Refused, Grammar,
                         testing::Values(Pair{"${oc.create:a=b}", "refused"}, Pair{"${oc.create:a#b}", "refused"},
                                         Pair{"${oc.create:a(b)}", "refused"}, Pair{"${oc.create:it's}", "refused"},
                                         Pair{"${oc.create:é}", "refused"}, Pair{R"(${oc.create:"a" b})", "refused"}, Pair{"${q.}", "refused"},
                                         Pair{"${a${q}}", "refused"}, Pair{"${}", "refused"}, Pair{"${oc.create:{a:}}", "refused"},
                                         Pair{R"(${"q"})", "refused"}, Pair{"${.q:1}", "refused"}, Pair{"${q", "refused"},
                                         Pair{"${oc.create:a\nb}", "refused"}));

TEST(PythonText, OfAFloat) {
  EXPECT_EQ(python_real(1e-5), "1e-05");
  EXPECT_EQ(python_real(0.0001), "0.0001");
  EXPECT_EQ(python_real(1e16), "1e+16");
  EXPECT_EQ(python_real(123456789012345.0), "123456789012345.0");
  EXPECT_EQ(python_real(-0.0), "-0.0");
}

}  // namespace
}  // namespace ringwright::recipe
