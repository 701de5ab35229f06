#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "support/program.hpp"
#include "support/scripted_client.hpp"

namespace sitter::testing {

inline const std::string kExamples = SITTER_EXAMPLES "/cli/";

/// The tests of the examples need all of the programs; `./dev test` installs them.
inline bool is_installed(const std::string& program) {
  return Program({.command = {"/bin/sh", "-c", "command -v " + program}}).wait() == 0;
}

inline bool exists(const std::string& file) { return access(file.c_str(), F_OK) == 0; }

/// What a command writes, which must succeed.
inline std::string output_of(std::vector<std::string> command, const std::string& cwd,
                             const std::vector<std::string>& environment = {}) {
  Program program({.command = std::move(command), .cwd = cwd, .environment = environment});
  program.close_input();
  std::string output;
  for (const std::string& line : program.read_all()) output += line + "\n";
  EXPECT_EQ(program.wait(), 0) << program.error_text();
  return output;
}

inline Json listed_tools(ScriptedClient& client) {
  client.request("list", "tools/list");
  const Json answer = client.answer("list");
  Json own = Json::array();
  for (const Json& tool : answer["result"]["tools"]) {
    if (!tool["name"].get<std::string>().starts_with("sitter_")) own.push_back(tool);
  }
  return own;
}

/// Expects that the call is a failure, and returns what the model reads about it.
inline std::string failure_of(ScriptedClient& client, const std::string& tool,
                              const Json& arguments) {
  const Json result = client.result_of(tool, arguments);
  EXPECT_TRUE(result.value("isError", false)) << tool << " " << arguments << ": " << result;
  return text_of(result);
}

/// The words that no example may interpret, in an argument that is one line.
inline const std::vector<std::string> kHostile{"--",
                                               "-x",
                                               "--output=evil",
                                               "$(touch evil)",
                                               "`touch evil`",
                                               "; touch evil",
                                               "'\"\\ \\n%s",
                                               "{text} {{text}}",
                                               "*",
                                               "\xc3\xbc",
                                               " ",
                                               "-e -n"};

}  // namespace sitter::testing
