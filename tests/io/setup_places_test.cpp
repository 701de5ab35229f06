#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "setup/clients.hpp"

namespace sitter::setup {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The files of a client in the project /p, for a user with these variables.
std::vector<std::string> files_of(const std::string& client, const UserFolders& folders,
                                  const std::map<std::string, std::string>& variables) {
  const Surroundings here{.project = "/p",
                          .environment = [&](const char* name) -> const char* {
                            const auto found = variables.find(name);
                            return found == variables.end() ? nullptr : found->second.c_str();
                          },
                          .program = {},
                          .folders = folders};
  std::vector<std::string> files;
  for (const Place& place : places(client_named(client), here)) {
    if (files.empty() || files.back() != place.file) files.push_back(place.file);
  }
  return files;
}

const std::map<std::string, std::string> kUserOfLinux = {{"HOME", "/home/me"}};
const std::map<std::string, std::string> kUserOfWindows = {
    {"HOME", "/c/Users/me"},  // as Git for Windows sets it
    {"USERPROFILE", "C:/Users/me"},
    {"APPDATA", "C:/Users/me/AppData/Roaming"},
    {"LOCALAPPDATA", "C:/Users/me/AppData/Local"}};

std::vector<std::string> on_windows(const std::string& client) {
  return files_of(client, kWindowsFolders, kUserOfWindows);
}

TEST(SetupPlaces, OnLinuxAreBelowHome) {
  EXPECT_THAT(files_of("claude", kLinuxFolders, kUserOfLinux),
              ElementsAre("/home/me/.claude.json", "/p/.mcp.json", "/home/me/.claude.json"));
  EXPECT_THAT(files_of("vscode", kLinuxFolders, kUserOfLinux),
              ElementsAre("/p/.vscode/mcp.json", "/home/me/.config/Code/User/mcp.json"));
}

TEST(SetupPlaces, OnMacosHaveSettingsInTheLibrary) {
  EXPECT_THAT(files_of("vscode", kMacosFolders, kUserOfLinux),
              ElementsAre("/p/.vscode/mcp.json",
                          "/home/me/Library/Application Support/Code/User/mcp.json"));
}

TEST(SetupPlaces, OnWindowsAreBelowTheProfileOfTheUser) {
  EXPECT_THAT(on_windows("claude"),
              ElementsAre("C:/Users/me/.claude.json", "/p/.mcp.json", "C:/Users/me/.claude.json"));
  EXPECT_THAT(on_windows("codex"),
              ElementsAre("C:/Users/me/.codex/config.toml", "/p/.codex/config.toml"));
  EXPECT_THAT(on_windows("gemini"),
              ElementsAre("/p/.gemini/settings.json", "C:/Users/me/.gemini/settings.json"));
  EXPECT_THAT(on_windows("cursor"),
              ElementsAre("/p/.cursor/mcp.json", "C:/Users/me/.cursor/mcp.json"));
  EXPECT_THAT(on_windows("qwen"),
              ElementsAre("C:/Users/me/.qwen/settings.json", "/p/.qwen/settings.json"));
  EXPECT_THAT(on_windows("opencode"), ElementsAre("C:/Users/me/.config/opencode/opencode.jsonc",
                                                  "C:/Users/me/.config/opencode/opencode.json",
                                                  "/p/opencode.json", "/p/opencode.jsonc"));
}

TEST(SetupPlaces, OnWindowsHaveSettingsInTheRoamingFolder) {
  EXPECT_THAT(on_windows("vscode"),
              ElementsAre("/p/.vscode/mcp.json", "C:/Users/me/AppData/Roaming/Code/User/mcp.json"));
  EXPECT_THAT(on_windows("cline"),
              ElementsAre("C:/Users/me/.cline/data/settings/cline_mcp_settings.json",
                          "C:/Users/me/AppData/Roaming/Code/User/globalStorage/"
                          "saoudrizwan.claude-dev/settings/cline_mcp_settings.json"));
}

TEST(SetupPlaces, FollowTheVariablesOfAClientFirst) {
  auto variables = kUserOfWindows;
  variables["CODEX_HOME"] = "D:/codex";
  EXPECT_THAT(files_of("codex", kWindowsFolders, variables),
              ElementsAre("D:/codex/config.toml", "/p/.codex/config.toml"));
}

TEST(SetupPlaces, AreOnlyInTheProjectIfNoFolderOfTheUserIsKnown) {
  EXPECT_THAT(files_of("cursor", kWindowsFolders, kUserOfLinux),
              ElementsAre("/p/.cursor/mcp.json"));
  EXPECT_THAT(files_of("cline", kWindowsFolders, {}), IsEmpty());
}

}  // namespace
}  // namespace sitter::setup
