#include "options.hpp"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include "program.hpp"

namespace sitter::bench {

std::string built(const std::string& program) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
}

CommonOptions::CommonOptions(std::string figures, std::size_t calls_in_block)
    : core(last_core()), only(std::move(figures)), calls(calls_in_block) {}

void CommonOptions::add_to(CLI::App& app, const std::string& about_figures) {
  app.add_option("--sitter", sitter, "the mcp-sitter to measure")->capture_default_str();
  app.add_option("--fake-mcp", fake_mcp, "the server")->capture_default_str();
  app.add_option("--rounds", rounds, "rounds of each figure")->capture_default_str();
  app.add_option("--calls", calls, "calls in a block; a round has five blocks")
      ->capture_default_str();
  app.add_option("--core", core, "the core that all processes run on")->capture_default_str();
  app.add_option("--only", only, "figures: " + about_figures + "; as in a,b")
      ->check([all = only](const std::string& some) {
        return some.find_first_not_of(all + ",") == some.npos
                   ? std::string()
                   : fmt::format("the figures are {} to {}", all.front(), all.back());
      })
      ->capture_default_str();
}

void CommonOptions::begin() const {
  std::signal(SIGPIPE, SIG_IGN);
  stay_on(core);
  fmt::print("{}, core {}, {} rounds\n\n", sitter, core, rounds);
}

}  // namespace sitter::bench
