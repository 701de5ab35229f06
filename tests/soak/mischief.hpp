#pragma once

#include <list>
#include <string>
#include <vector>

#include "soak/client.hpp"
#include "soak/findings.hpp"
#include "soak/household.hpp"
#include "support/program.hpp"
#include "support/simulation_random.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::soak {

/// What happens to a bridge and its server from outside: signals, kills, rebuilds, saves, `ctl`.
class Mischief {
 public:
  Mischief(Client& client, const Household& household, const testing::TemporaryDirectory& place,
           std::string program, std::vector<std::string> environment, Findings& findings);

  /// Writes into `place` what a server under development needs before its first start.
  static void furnish(const testing::TemporaryDirectory& place);
  /// The options of the bridge that make all of this possible.
  static std::vector<std::string> options(const testing::TemporaryDirectory& place);
  static std::vector<std::string> server_flags();

  void do_something(sim::Random& random);
  /// Ends each `ctl` that would follow for ever. Returns whether all `ctl` processes have ended. To
  /// be called again and again.
  bool try_to_end_ctl();
  void give_up_ctl();

  std::size_t count() const { return count_; }

 private:
  void end_server(sim::Random& random);
  void rebuild(sim::Random& random);
  void save(sim::Random& random);
  void ctl(sim::Random& random);

  Client& client_;
  const Household& household_;
  const testing::TemporaryDirectory& place_;
  std::string program_;
  std::vector<std::string> environment_;
  Findings& findings_;
  void take_leave_of_ctl();

  struct Ctl {
    Ctl(const testing::Program::Start& start, bool does_follow)
        : program(start), follows(does_follow) {}
    testing::Program program;
    bool follows;
  };
  std::list<Ctl> ctls_;
  std::size_t count_ = 0;
};

}  // namespace sitter::soak
