#include "core/schema/schema_format.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sitter {
namespace {

TEST(SchemaFormatTest, TheFormatsThatAreKnown) {
  struct Row {
    std::string format;
    std::vector<std::string> right;
    std::vector<std::string> wrong;
  };
  const Row rows[] = {
      {"date", {"2026-01-31", "2024-02-29"}, {"2026-02-30", "2026-1-31", "2026-04-31", ""}},
      {"time", {"10:00:00Z", "23:59:60.5+02:00"}, {"10:00:00", "24:00:00Z", "10:00Z"}},
      {"date-time", {"2026-01-31T10:00:00Z", "2026-01-31t10:00:00z"}, {"2026-01-31T10:00Z", "x"}},
      {"iso-date-time", {"2026-01-31T10:00Z", "2026-01-31T10:00:00.1-01:00"}, {"2026-01-31", ""}},
      {"email", {"a.b@c-d.org"}, {"a", "a@b", "a b@c.org", "a@-b.org"}},
      {"ipv4", {"127.0.0.1", "255.255.255.255"}, {"1.2.3", "1.2.3.256", "1.2.3.04"}},
      {"uri", {"https://e.org/a?b#c", "urn:a"}, {"a b", "e.org", "a:b c", ""}},
      {"uuid", {"00000000-0000-4000-8000-00000000000a"}, {"0", "00000000000040008000000000000000"}},
      {"byte", {"", "aGk=", "aGk", "aG\nk=", "+/+/"}, {"a", "a===", "aG=k", "aGk==", "?", "aGkh="}},
      {"other", {"", "anything"}, {}},
  };
  for (const Row& row : rows) {
    for (const std::string& text : row.right) {
      EXPECT_TRUE(has_format(text, row.format)) << row.format << ": " << text;
    }
    for (const std::string& text : row.wrong) {
      EXPECT_FALSE(has_format(text, row.format)) << row.format << ": " << text;
    }
  }
}

}  // namespace
}  // namespace sitter
