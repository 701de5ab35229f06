#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/json_text.hpp"
#include "core/schema/json_schema.hpp"
#include "core/wire/json_view.hpp"
#include "support/temporary_directory.hpp"

// The JSON-Schema-Test-Suite. A right value must fit. A wrong value must not fit, unless the schema
// has said what of it is not checked.

namespace sitter {
namespace {

struct Exception {
  std::string_view file;
  /// The description of a group of tests; empty for the whole file.
  std::string_view group;
  std::string_view reason;
};

constexpr std::array kExceptions{
    Exception{"optional/content.json", "", "contentEncoding and contentMediaType only annotate"},
    Exception{"optional/format.json", "", "format only annotates"},
    Exception{"optional/format-assertion.json", "", "format only annotates"},
    Exception{"optional/ecmascript-regex.json", "", "patterns are those of RE2"},
    Exception{"ref.json", "ref overrides any sibling keywords",
              "the keywords beside $ref count, as since 2019-09"},
    Exception{"vocabulary.json",
              "schema that uses custom metaschema with with no validation vocabulary",
              "a schema cannot switch keywords off"},
    Exception{"multipleOf.json", "float division = inf",
              "a quotient beyond the range of a double is not known"}};

/// The files below `folder`, without the folder `format`: "type.json", "optional/bignum.json".
std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const char* const part : {"", "optional/"}) {
    std::error_code ignored;  // a draft may have no optional tests
    for (const auto& entry : std::filesystem::directory_iterator(folder / part, ignored)) {
      if (entry.path().extension() == ".json")
        files.push_back(part + entry.path().filename().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

const Exception* exception_for(std::string_view file, std::string_view group) {
  const auto* const found =
      std::find_if(kExceptions.begin(), kExceptions.end(), [&](const Exception& one) {
        return one.file == file && (one.group.empty() || one.group == group);
      });
  return found == kExceptions.end() ? nullptr : found;
}

std::filesystem::path folder_of(const std::string& draft) {
  return std::filesystem::path(SITTER_SCHEMA_SUITE) / "tests" / draft;
}

/// The drafts to check. Debian 12 has a suite that ends with draft 7.
std::vector<std::string> drafts() {
  std::vector<std::string> there{"draft6", "draft7"};
  for (const char* const newer : {"draft2019-09", "draft2020-12"}) {
    std::error_code ignored;  // what cannot be looked at is not there
    if (std::filesystem::is_directory(folder_of(newer), ignored)) there.emplace_back(newer);
  }
  return there;
}

class JsonSchemaSuiteTest : public ::testing::TestWithParam<std::string> {
 protected:
  static std::filesystem::path folder() { return folder_of(GetParam()); }

  /// Checks all values of one group.
  void check(const std::string& file, std::string_view group) {
    const std::string name = string_value(member(group, "description"));
    const JsonSchema schema(member(group, "schema"));
    const Exception* const exception = exception_for(file, name);
    if (exception != nullptr) met_.insert(exception);
    for (const std::string_view one : json_elements(member(group, "tests"))) {
      ++count_;
      const bool is_right = member(one, "valid") == "true";
      const auto violation = schema.check(member(one, "data"));
      if (is_right == !violation || (!is_right && !schema.unchecked().empty())) continue;
      if (exception != nullptr) {
        needed_.insert(exception);
        continue;
      }
      ADD_FAILURE() << file << ": " << name << ": " << string_value(member(one, "description"))
                    << (violation ? " does not fit: " + violation->place + " " + violation->what
                                  : " fits");
    }
  }

  int count_ = 0;
  std::set<const Exception*> met_;
  std::set<const Exception*> needed_;
};

TEST_P(JsonSchemaSuiteTest, RightValuesFitAndWrongOnesDoNot) {
  for (const std::string& file : files_in(folder())) {
    const std::string text = testing::contents_of(folder() / file);
    for (const std::string_view group : json_elements(json_trimmed(text))) check(file, group);
  }
  EXPECT_GT(count_, 400) << folder() << " has no tests; the package is json-schema-test-suite";
  for (const Exception* const one : met_) {
    EXPECT_TRUE(needed_.contains(one)) << one->file << ": " << one->group << " is no exception";
  }
}

INSTANTIATE_TEST_SUITE_P(Drafts, JsonSchemaSuiteTest, ::testing::ValuesIn(drafts()));

}  // namespace
}  // namespace sitter
