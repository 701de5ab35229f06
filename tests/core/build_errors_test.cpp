#include "core/rebuild/build_errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sitter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<BuildLine> lines_of(std::string_view output) {
  std::vector<BuildLine> lines;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    lines.push_back({static_cast<std::int64_t>(lines.size()) + 1, output.substr(0, end)});
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return lines;
}

/// Each error with its source, and " | " between the lines.
std::vector<std::string> errors_of(std::string_view output) {
  const std::vector<BuildLine> lines = lines_of(output);
  std::vector<std::string> texts;
  for (const BuildError& error : find_errors(lines).errors) {
    std::string text(lines[error.line].text);
    for (std::size_t i = error.source_begin; i < error.source_end; ++i) {
      text += " | " + std::string(lines[i].text);
    }
    texts.push_back(text);
  }
  return texts;
}

std::vector<std::string> remarks_of(std::string_view output) {
  const std::vector<BuildLine> lines = lines_of(output);
  const BuildErrors found = find_errors(lines);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (found.is_remark[i]) texts.emplace_back(lines[i].text);
  }
  return texts;
}

constexpr std::string_view kGcc = R"(g++ -Wall -c -o app.o app.cpp
In file included from /usr/include/c++/12/algorithm:61,
                 from app.cpp:1:
/usr/include/c++/12/bits/stl_algo.h: In instantiation of 'void std::sort(_RAIter, _RAIter)':
app.cpp:7:12:   required from here
/usr/include/c++/12/bits/stl_algo.h:1938:50: error: no match for 'operator-'
 1938 |                                 std::__lg(__last - __first) * 2,
      |                                           ~~~~~~~^~~~~~~~~
/usr/include/c++/12/bits/stl_iterator.h:621:5: note: candidate: 'operator-(const Left&)'
  621 |     operator-(const reverse_iterator<_IteratorL>& __x,
      |     ^~~~~~~~
/usr/include/c++/12/bits/stl_iterator.h:621:5: note:   template argument deduction/substitution failed:
app.cpp:9:3: warning: could not convert 'x' [-Wconversion]
    9 |   f(x);
      |   ^
app.cpp: In function 'int main()':
app.cpp:10:3: error: 'y' was not declared in this scope; did you mean 'x'?
   10 |   y = 1;
      |   ^
      |   x
make: *** [Makefile:3: app.o] Error 1
)";

TEST(BuildErrorsTest, GccWithTemplates) {
  EXPECT_THAT(
      errors_of(kGcc),
      ElementsAre("/usr/include/c++/12/bits/stl_algo.h:1938:50: error: no match for 'operator-'"
                  " |  1938 |                                 std::__lg(__last - __first) * 2,"
                  " |       |                                           ~~~~~~~^~~~~~~~~",
                  "app.cpp:10:3: error: 'y' was not declared in this scope; did you mean 'x'?"
                  " |    10 |   y = 1; |       |   ^ |       |   x"));
  EXPECT_EQ(remarks_of(kGcc).size(), 12U);
}

TEST(BuildErrorsTest, ClangWithoutMargins) {
  EXPECT_THAT(errors_of("a.cpp:3:5: error: use of undeclared identifier 'x'\n"
                        "    x = 1;\n"
                        "    ^\n"
                        "a.cpp:1:6: note: 'f' declared here\n"
                        "a.cpp:9:1: error: no\n"
                        "int main() {\n"
                        "     ^\n"
                        "fatal error: too many errors emitted, stopping now [-ferror-limit=]\n"
                        "1 warning and 2 errors generated.\n"),
              ElementsAre("a.cpp:3:5: error: use of undeclared identifier 'x'"
                          " |     x = 1; |     ^",
                          "a.cpp:9:1: error: no | int main() { |      ^"));
}

TEST(BuildErrorsTest, ANinjaBuildStopsOnlyOnce) {
  EXPECT_THAT(errors_of("[1/2] Building CXX object a.cpp.o\n"
                        "FAILED: a.cpp.o \n"
                        "/usr/bin/c++ -Werror -o a.cpp.o -c a.cpp\n"
                        "a.cpp:1:10: fatal error: missing.hpp: No such file or directory\n"
                        "    1 | #include \"missing.hpp\"\n"
                        "      |          ^~~~~~~~~~~~~\n"
                        "compilation terminated.\n"
                        "ninja: build stopped: subcommand failed.\n"),
              ElementsAre("a.cpp:1:10: fatal error: missing.hpp: No such file or directory"
                          " |     1 | #include \"missing.hpp\" |       |          ^~~~~~~~~~~~~"));
}

TEST(BuildErrorsTest, ALinker) {
  EXPECT_THAT(errors_of("/usr/bin/ld: main.o: in function `main':\n"
                        "main.c:(.text+0x9): undefined reference to `f'\n"
                        "/usr/bin/ld: main.c:4: undefined reference to `g'\n"
                        "collect2: error: ld returned 1 exit status\n"),
              ElementsAre("main.c:(.text+0x9): undefined reference to `f'",
                          "/usr/bin/ld: main.c:4: undefined reference to `g'"));
}

TEST(BuildErrorsTest, Cargo) {
  const std::string output =
      "   Compiling app v0.1.0 (/home/me/app)\n"
      "warning: unused variable: `error`\n"
      " --> src/main.rs:1:9\n"
      "  |\n"
      "error[E0308]: mismatched types\n"
      "  --> src/main.rs:12:18\n"
      "   |\n"
      "12 |     let x: i32 = \"a\";\n"
      "   |            ---   ^^^ expected `i32`, found `&str`\n"
      "   |            |\n"
      "   |            expected due to this\n"
      "   |\n"
      "   = note: expected type `i32`\n"
      "              found reference `&str`\n"
      "help: try this\n"
      "   |\n"
      "12 +     let x: i32 = 1;\n"
      "\n"
      "error[E0308]: mismatched types\n"
      "  --> src/main.rs:20:3\n"
      "\n"
      "error: aborting due to 2 previous errors; 1 warning emitted\n"
      "For more information about this error, try `rustc --explain E0308`.\n"
      "error: could not compile `app` (bin \"app\") due to 2 previous errors\n";
  const auto errors = errors_of(output);
  EXPECT_THAT(errors,
              ElementsAre(::testing::_, "error[E0308]: mismatched types |   --> src/main.rs:20:3"));
  EXPECT_THAT(errors.front(), ::testing::AllOf(::testing::HasSubstr("12 |     let x: i32"),
                                               ::testing::HasSubstr("expected due to this")));
  EXPECT_THAT(remarks_of(output),
              ::testing::IsSupersetOf({"warning: unused variable: `error`",
                                       "   = note: expected type `i32`", "help: try this",
                                       "12 +     let x: i32 = 1;"}));
}

TEST(BuildErrorsTest, AtMostEightLinesOfSourceBelongToAnError) {
  std::string output = "a.cpp:3:5: error: no\n";
  for (std::size_t i = 0; i < limits::kErrorSourceLinesMax + 1; ++i) output += "  |\n";
  const BuildErrors found = find_errors(lines_of(output));
  ASSERT_EQ(found.errors.size(), 1U);
  EXPECT_EQ(found.errors[0].source_end - found.errors[0].source_begin,
            limits::kErrorSourceLinesMax);
  EXPECT_TRUE(found.is_remark.back());
}

TEST(BuildErrorsTest, Tsc) {
  EXPECT_THAT(errors_of("src/a.ts(1,2): error TS2304: Cannot find name 'x'.\n"
                        "src/b.ts(3,4): error TS2322: Type 'A' is not assignable to type 'B'.\n"
                        "  Property 'c' is missing in type 'A'.\n"),
              ElementsAre("src/a.ts(1,2): error TS2304: Cannot find name 'x'.",
                          "src/b.ts(3,4): error TS2322: Type 'A' is not assignable to type 'B'."
                          " |   Property 'c' is missing in type 'A'."));
  EXPECT_THAT(errors_of("src/a.ts:1:2 - error TS2304: Cannot find name 'x'.\n"
                        "\n"
                        "1  x;\n"
                        "   ~\n"
                        "\n"
                        "Found 1 error in src/a.ts:1\n"),
              ElementsAre("src/a.ts:1:2 - error TS2304: Cannot find name 'x'. | 1  x; |    ~"));
}

TEST(BuildErrorsTest, Go) {
  EXPECT_THAT(errors_of("# example.com/app\n"
                        "./a.go:3:2: undefined: x\n"
                        "./a.go:5:7: not enough arguments in call to f\n"
                        "\thave ()\n"
                        "\twant (string)\n"
                        "./a.go:9:2: too many errors\n"),
              ElementsAre("./a.go:3:2: undefined: x",
                          "./a.go:5:7: not enough arguments in call to f | \thave ()"
                          " | \twant (string)"));
}

TEST(BuildErrorsTest, NodeWritesThePlaceAndTheSourceAboveTheError) {
  for (const std::string blank : {"", "\n"}) {
    EXPECT_THAT(
        errors_of("/srv/error-log.mjs:9\n"
                  "const limit = ;\n"
                  "              ^\n" +
                  blank +
                  "SyntaxError: Unexpected token ';'\n"
                  "    at checkSyntax (node:internal/main/check_syntax:74:5)\n"
                  "Node.js v22.23.3\n"),
        ElementsAre("SyntaxError: Unexpected token ';' | /srv/error-log.mjs:9 | const limit = ;"
                    " |               ^" +
                    std::string(blank.empty() ? "" : " | ")));
  }
}

TEST(BuildErrorsTest, ATracebackIsOneErrorNamedByItsLastLine) {
  EXPECT_THAT(errors_of("Traceback (most recent call last):\n"
                        "  File \"/app/setup.py\", line 3, in <module>\n"
                        "    main()\n"
                        "  File \"/app/setup.py\", line 1, in main\n"
                        "    import missing\n"
                        "ModuleNotFoundError: No module named 'missing'\n"
                        "Done\n"),
              ElementsAre("ModuleNotFoundError: No module named 'missing'"
                          " |   File \"/app/setup.py\", line 1, in main |     import missing"));
  EXPECT_THAT(errors_of("  File \"a.py\", line 1\n"
                        "    x = = 1\n"
                        "        ^\n"
                        "SyntaxError: invalid syntax\n"),
              ElementsAre("SyntaxError: invalid syntax |   File \"a.py\", line 1"
                          " |     x = = 1 |         ^"));
}

TEST(BuildErrorsTest, DotnetRepeatsItsErrors) {
  EXPECT_THAT(
      errors_of(
          "  Determining projects to restore...\n"
          "/home/me/app/Program.cs(3,5): error CS0103: The name 'x' does not exist in the "
          "current context [/home/me/app/app.csproj]\n"
          "/home/me/app/Program.cs(4,9): warning CS0168: The variable 'error' is declared but "
          "never used [/home/me/app/app.csproj]\n"
          "\n"
          "Build FAILED.\n"
          "\n"
          "/home/me/app/Program.cs(3,5): error CS0103: The name 'x' does not exist in the "
          "current context [/home/me/app/app.csproj]\n"
          "    1 Warning(s)\n"
          "    1 Error(s)\n"),
      ElementsAre("/home/me/app/Program.cs(3,5): error CS0103: The name 'x' does not exist in the "
                  "current context [/home/me/app/app.csproj]"));
}

TEST(BuildErrorsTest, Msvc) {
  EXPECT_THAT(errors_of("a.cpp(3): error C2065: 'x': undeclared identifier\n"
                        "b.obj : error LNK2019: unresolved external symbol f\n"
                        "app.exe : fatal error LNK1120: 1 unresolved externals\n"),
              ElementsAre("a.cpp(3): error C2065: 'x': undeclared identifier",
                          "b.obj : error LNK2019: unresolved external symbol f"));
}

TEST(BuildErrorsTest, OtherTools) {
  for (const std::string error :
       {"CMake Error at CMakeLists.txt:3 (find_package):", "A.java:3: error: cannot find symbol",
        "[ERROR] /home/me/A.java:[3,5] cannot find symbol",
        "e: file:///home/me/A.kt:3:5 Type mismatch", "ERROR in ./src/a.ts:3:5",
        "src/main.rs:2:18: error[E0308]: mismatched types",
        "thread 'main' panicked at build.rs:3:5:", "info.cpp:3:5: error: no"}) {
    EXPECT_THAT(errors_of("building\n" + error + "\nerror: give up\n"), ElementsAre(error));
  }
}

TEST(BuildErrorsTest, AnErrorOfAHeaderThatIsRepeatedCountsOnce) {
  EXPECT_THAT(errors_of("a.hpp:3:5: error: no\nb.cpp:1:1: error: no\na.hpp:3:5: error: no\n"),
              ElementsAre("a.hpp:3:5: error: no", "b.cpp:1:1: error: no"));
}

TEST(BuildErrorsTest, WithoutAPlaceTheLinesThatLookLikeErrorsCount) {
  EXPECT_THAT(errors_of("make: *** No rule to make target 'x'.  Stop.\n"),
              ElementsAre("make: *** No rule to make target 'x'.  Stop."));
  EXPECT_THAT(errors_of("Error: Cannot find module './x'\nnpm error code 1\n"),
              ElementsAre("Error: Cannot find module './x'"));
}

TEST(BuildErrorsTest, SummariesAloneAreNoErrors) {
  for (const std::string summary :
       {"make[1]: *** [Makefile:3: all] Error 1", "make: *** Waiting for unfinished jobs....",
        "gmake[2]: *** [CMakeFiles/app.dir/build.make:76: a.o] Error 1", "FAILED: a.o",
        "ninja: build stopped: subcommand failed.", "Found 2 errors.",
        "error: could not compile `app` (bin \"app\") due to 3 previous errors", "2 errors",
        "collect2: error: ld returned 1 exit status", "Build FAILED.", "    1 Error(s)",
        "clang: error: linker command failed with exit code 1 (use -v to see invocation)",
        "0 errors, 2 warnings", "-- Configuring incomplete, errors occurred!"}) {
    EXPECT_THAT(errors_of(summary), IsEmpty()) << summary;
  }
}

TEST(BuildErrorsTest, ALineAfterAGapBelongsToNoError) {
  const BuildErrors found = find_errors({{3, "a.c:1:2: error: no"}, {9, "  | x"}});
  ASSERT_EQ(found.errors.size(), 1U);
  EXPECT_EQ(found.errors[0].source_begin, found.errors[0].source_end);
}

}  // namespace
}  // namespace sitter
