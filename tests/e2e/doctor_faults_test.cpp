#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/doctor.hpp"
#include "support/http_daemon.hpp"

namespace sitter::testing {
namespace {

using ::testing::HasSubstr;

/// A fault of fake-mcp, and what doctor says about it. Without words, it finds no problem, because
/// the fault shows in calls only, or because mcp-sitter evens it out.
struct Fault {
  std::vector<std::string> flags;
  std::string words = {};

  friend void PrintTo(const Fault& fault, std::ostream* out) {
    for (const std::string& flag : fault.flags) *out << flag << ' ';
  }
};

class DoctorFaultTest : public DoctorTest, public ::testing::WithParamInterface<Fault> {
 protected:
  static void expect(const Run& run) {
    const Fault& fault = GetParam();
    SCOPED_TRACE(run.output + run.error);
    EXPECT_EQ(run.exit_code, fault.words.empty() ? 0 : 1);
    EXPECT_THAT(run.output, HasSubstr(fault.words));
    EXPECT_EQ(run.json()["problems"], fault.words.empty() ? 0 : 1);
  }
};

class DoctorFault : public DoctorFaultTest {};

TEST_P(DoctorFault, IsReportedOrHarmless) { expect(run_fake(GetParam().flags)); }

INSTANTIATE_TEST_SUITE_P(
    , DoctorFault,
    ::testing::Values(
        Fault{{"--raw-answer",
               R"json(tools/list={"jsonrpc":"2.0","id":%ID%,"result":{"tools":7}})json"},
              "tools is not of type array"},
        Fault{{"--raw-answer", R"json(tools/list={"jsonrpc":"2.0","id":%ID%,"result":{"a":)json" +
                                   std::string(1000, '[') + std::string(1000, ']') + "}}"},
              "nested too deeply"},
        Fault{{"--signal-on", "initialize=ABRT"}, "SIGABRT"},
        Fault{{"--close-stdout-on", "tools/list"}, "while its lists were read"},
        Fault{{"--prefix-answers", "junk"}, "lines on stdout are not messages"},
        Fault{{"--stop-reading-after", "1"}, "no answer within 10s"},
        Fault{{"--flood-stderr", "3000000"}}, Fault{{"--slow-start", "300"}},
        Fault{{"--two-per-line"}}, Fault{{"--answer-as-array"}}, Fault{{"--id-last"}},
        Fault{{"--crlf"}}, Fault{{"--bom"}}, Fault{{"--blank-lines"}},
        Fault{{"--exit-when-idle", "100"}}, Fault{{"--strict"}}, Fault{{"--ask", "roots/list"}},
        Fault{{"--notify", "notifications/tools/list_changed"}},
        Fault{{"--era", "dual", "--no-listen"}}, Fault{{"--era", "dual", "--never-acknowledge"}},
        Fault{{"--era", "dual", "--untagged"}}, Fault{{"--era", "dual", "--no-result-type"}},
        Fault{{"--era", "dual", "--discover-without-versions"}},
        Fault{{"--era", "dual", "--no-graceful-end"}}));

class DoctorHttpFault : public DoctorFaultTest {};

TEST_P(DoctorHttpFault, IsReportedOrHarmless) {
  HttpDaemon daemon(GetParam().flags);
  daemon.start();
  expect(run_json({"--http", daemon.url(), "--startup-timeout", "3"}, {}));
}

INSTANTIATE_TEST_SUITE_P(
    , DoctorHttpFault,
    ::testing::Values(
        Fault{{"--http-status", "initialize=500"}, "answers 500 Internal Server Error"},
        Fault{{"--http-status", "initialize=401"}, "--header-env"},
        Fault{{"--http-close-before-answer", "tools/list"}, "the connection ended"},
        Fault{{"--http-cut-after-bytes", "tools/list=10"}, "in the middle of the response"},
        Fault{{"--http-endless-header"}, "longer than 64 KiB"},
        Fault{{"--http-mute"}, "had not answered its opening"},
        Fault{{"--http-status", "tools/list=503x1"}}, Fault{{"--http-not-found-first", "1"}},
        Fault{{"--http-no-session"}}, Fault{{"--http-single-session"}},
        Fault{{"--http-lost-session", "410"}}, Fault{{"--http-no-get"}},
        Fault{{"--http-get-conflict"}}, Fault{{"--http-no-delete"}}, Fault{{"--http-sse"}},
        Fault{{"--http-event-ids"}}, Fault{{"--http-multiline"}}, Fault{{"--http-close-each"}},
        Fault{{"--http-close-idle", "20"}}, Fault{{"--http-keep-alive-header", "1"}},
        Fault{{"--http-continue"}}));

}  // namespace
}  // namespace sitter::testing
