#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon.hpp"
#include "program.hpp"
#include "support/temporary_directory.hpp"

namespace sitter::bench {

/// What answers the calls.
struct Server {
  /// How a program in the middle is told of it.
  Words words;
  std::size_t answer_bytes;
  std::size_t call_bytes = kMessageBytes;
  /// The command of a tool, with the argument of the calls.
  Words bare{};
  std::shared_ptr<Daemon> daemon{};
  std::shared_ptr<Front> front{};
  std::shared_ptr<testing::TemporaryDirectory> files{};
};

/// What stands between the client and the server.
struct Middle {
  std::string name;
  std::function<Words(const Server&)> command;
  /// Makes the calls in this process, where there is no program in the middle.
  std::function<std::unique_ptr<Caller>(const Server&)> caller{};
  /// False if the command is the server itself.
  bool is_between = true;
};

/// One value per round for each of the middles; none where nothing was measured.
using Figure = std::vector<std::vector<double>>;

enum class Compare { ratio, difference };

class Run;

struct Case {
  /// "group/name"
  std::string name;
  /// The last one is compared with each of the others.
  std::vector<Middle> middles;
  std::function<Server()> server;
  void (*measure)(Run&);
  Compare compare;
  /// For the rows of the table, in their order.
  std::vector<std::string_view> goals{};
  /// In one block; a round has several.
  std::size_t calls = 1000;
};

struct Options {
  std::string sitter;
  /// The launcher of the npm package, and what runs it.
  std::string launcher{};
  std::string node = "node";
  int rounds = 20;
  /// 0: as the case says.
  std::size_t calls = 0;
  int core;
  double absence = 30;
};

/// A case that is measured, and its table.
class Run {
 public:
  /// Starts the server, and begins the table.
  Run(const Case& measured, const Options& options);

  const Options& options() const { return options_; }
  const Server& server() const { return server_; }
  const Middle& middle(std::size_t way) const { return case_.middles[way]; }
  std::size_t ways() const { return case_.middles.size(); }
  std::size_t calls() const { return options_.calls > 0 ? options_.calls : case_.calls; }
  Figure figure() const { return Figure(ways()); }

  std::unique_ptr<Caller> open(std::size_t way) const;
  /// Of a program in the middle.
  Words command(std::size_t way) const { return middle(way).command(server_); }
  /// Ends the benchmark if the answers to so many calls can't have this size.
  void check(std::size_t bytes, std::size_t calls) const;

  /// Calls `measure(round, way)` for the middles in turn, in each round. Each round begins with
  /// another one.
  template <class Measure>
  void each_round(Measure measure) const {
    for (int round = 0; round < options_.rounds; ++round) {
      in_turn(round, [&](std::size_t way) { measure(round, way); });
    }
  }
  template <class Measure>
  void in_turn(int round, Measure measure) const {
    for (std::size_t i = 0; i < ways(); ++i)
      measure((i + static_cast<std::size_t>(round)) % ways());
  }

  /// Adds a row: the medians over the rounds, and a comparison within each round.
  void add(std::string_view what, const Figure& figure, int digits);

 private:
  std::string compared(const Figure& figure, std::size_t with, int digits) const;

  const Case& case_;
  const Options& options_;
  Server server_;
  std::size_t rows_ = 0;
};

double quantile(std::vector<double> values, double part);
double median(const std::vector<double>& values);

}  // namespace sitter::bench
