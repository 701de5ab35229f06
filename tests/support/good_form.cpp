#include "support/good_form.hpp"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include "support/texts.hpp"

namespace sitter {
namespace {

struct Mistake {
  const char* what;
  RE2 pattern;
};

// What is counted in texts. RE2 cannot look ahead or behind.
#define SITTER_NOUNS                                                                            \
  "byte|call|change|character|file|finding|folder|item|line|member|request|restart|start|time|" \
  "tool"

const Mistake kMistakes[] = {
    {"(s)", R"(\w\(s\))"},
    {"one of many", R"((?:^|[^#.,\d-])1 (?:more )?(?:)" SITTER_NOUNS R"()s\b)"},
    {"many of one", R"((?:^|[^#.,\d-])(?:0|[2-9]|[1-9]\d+) (?:more )?(?:)" SITTER_NOUNS R"()\b)"},
    {"no value", R"(\b(?:None|NaN|nullptr|undefined)\b|\(null\))"},
    {"two spaces", R"([a-z.,;:)]  [A-Za-z(])"},
    {"a space before a stop", R"(\w [,;:](?:\s|$)|\w \. [A-Z])"},
    {"no space after a stop", R"([a-z)]{2}[.,;:][A-Z][a-z])"},
    {"two stops", R"((?:[^.]\.|[,;:])\.(?:\s|$))"},
    {"nothing in brackets or quotes", R"(\(\s*\)|``| '' )"},
    {"a for an", R"(\b[Aa] [aeio][a-z]{2})"},
    {"an for a", R"(\b[Aa]n [bcdfgjklmnpqrstvwxyz][a-z])"},
    // The parts of a notice and the names of tools are no words of this form, and "binary" is a
    // part.
    {"a small letter after a stop", R"([a-z)]\. [ac-z][a-z]*[ ,])"},
    {"an internal word",
     R"(\b(?:external|internal|automatic)/)"
     R"(|\b(?:not_executed|ended_(?:in_opening|from_outside)|opening_\w+|said_nothing)\b)"
     R"(|\b(?:killed_by_sitter|closed_std\w+|\w+_lost|wrote_rubbish|given_up|shut_down)\b)"},
};

}  // namespace

void expect_good_form(const std::string& text) {
  note_text(text);
  for (const auto& [what, pattern] : kMistakes) {
    EXPECT_FALSE(RE2::PartialMatch(text, pattern)) << what << ": " << text;
  }
}

}  // namespace sitter
