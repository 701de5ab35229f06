#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json_text.hpp"
#include "core/base/polled_queue.hpp"
#include "core/http/http_exchange.hpp"
#include "core/http/secrets.hpp"
#include "core/wire/reply.hpp"
#include "sitter/fact.hpp"
#include "sitter/order.hpp"

namespace sitter {

/// What the bridge hears of a child over HTTP: its facts in order, with the lines that they refer
/// to, and the log. Secrets of the user are masked in texts of our own. Lines are also read here,
/// so that a fact can pass on what was read.
class LinkOutput {
 public:
  explicit LinkOutput(const std::vector<HttpHeader>& secret) : secrets_(secret) {}

  /// From now on the facts are about this generation.
  void set_generation(Generation gen) { gen_ = gen; }
  Generation gen() const { return gen_; }
  const Secrets& secrets() const { return secrets_; }

  /// Null if the line is no message. Valid until the next line is read.
  const Message* read(const OwnedLine& line) {
    ++readings_;
    message_ = reader_.read(line.line());
    return message_;
  }

  void tell(Fact fact) { facts_.push_back({std::move(fact), {}}); }
  /// `message` is what was read last, if that was this line.
  void tell_line(OwnedLine line, const Message* message = nullptr) {
    add<fact::ChildLine>(std::move(line));
    if (message != nullptr) facts_.back().reading = readings_;
  }
  void tell_too_long(SseParser::Event event) {
    Told& told = facts_.emplace_back();
    told.too_long = std::move(event);
    told.fact =
        fact::ChildLineTooLong{gen_, told.too_long.head, told.too_long.tail, told.too_long.size};
  }
  /// The request with this line was not carried out; see `fact::RequestRefused`.
  void refuse(OwnedLine line, std::string_view why, std::optional<Milliseconds> again_after = {},
              bool is_unknown_session = false) {
    auto& fact = add<fact::RequestRefused>(std::move(line));
    fact.why = secrets_.masked(why);
    fact.again_after = again_after;
    fact.is_unknown_session = is_unknown_session;
  }
  /// Refuses a request as the last one that was refused because the daemon is away, so that it does
  /// not overtake that one. Returns false if the bridge has heard of all such refusals.
  bool refuse_like_last(OwnedLine& line) {
    for (auto told = facts_.rbegin(); told != facts_.rend(); ++told) {
      const auto* const last = std::get_if<fact::RequestRefused>(&told->fact);
      if (last == nullptr || !last->again_after) continue;
      refuse(std::move(line), last->why, last->again_after);
      return true;
    }
    return false;
  }
  /// Refuses a request that comes after the end of its child, before the bridge hears of this end.
  void refuse_late(OwnedLine line) {
    const auto end = std::find_if(facts_.begin(), facts_.end(), [](const Told& told) {
      return std::holds_alternative<fact::ChildLost>(told.fact);
    });
    if (end == facts_.end()) return;
    refuse(std::move(line), std::get<fact::ChildLost>(end->fact).why);
    facts_.splice(end, facts_, std::prev(facts_.end()));
  }
  /// The request with this line may have been carried out.
  void lose(OwnedLine line, std::string_view why) {
    add<fact::RequestLost>(std::move(line)).why = secrets_.masked(why);
  }
  /// Answers a request with an error of our own. If the exchange is no request, the text is logged.
  void answer_error(const HttpExchange& exchange, std::string_view text,
                    ErrorCode code = ErrorCode::internal_error) {
    if (exchange.kind == HttpExchange::Kind::request) {
      const std::string shown = fmt::format("{}{}", kOwnErrorPrefix, secrets_.masked(text));
      tell_line(OwnedLine(error_line(exchange.id, code, shown)));
    } else {
      log(order::Log::Level::warn, text);
    }
  }
  /// Answers a request with an error of the daemon, a raw object.
  void pass_error(const HttpExchange& exchange, std::string_view error) {
    tell_line(OwnedLine(as_wire_line(error_line(exchange.id, error))));
  }
  void log(order::Log::Level level, std::string_view text) {
    logs_.push_back({level, secrets_.masked(text)});
  }

  // Both are null if there is nothing, and valid until the next call.
  const Fact* poll_fact() {
    // The memory of a long line is not kept until the next one.
    told_.clear();
    if (facts_.empty()) return nullptr;
    told_.splice(told_.begin(), facts_, facts_.begin());
    auto* const said = std::get_if<fact::ChildLine>(&told_.front().fact);
    if (said != nullptr && told_.front().reading == readings_) said->message = message_;
    return &told_.front().fact;
  }
  const order::Log* poll_log() { return logs_.poll(); }

 private:
  /// A fact, and what its views refer to.
  struct Told {
    Fact fact;
    OwnedLine line;
    SseParser::Event too_long = {};
    /// The number of the reading in which the line was read as it is.
    std::uint64_t reading = 0;
  };

  template <class AboutLine>
  AboutLine& add(OwnedLine line) {
    Told& told = facts_.emplace_back();
    told.line = std::move(line);
    auto& fact = told.fact.emplace<AboutLine>();
    fact.gen = gen_;
    fact.line = told.line.line();
    return fact;
  }

  const Secrets secrets_;
  Generation gen_ = kNoGeneration;
  MessageReader reader_;
  const Message* message_ = nullptr;  // what it has found last
  std::uint64_t readings_ = 0;
  PolledQueue<order::Log> logs_;
  // In a list a fact stays where it is until it was polled.
  std::list<Told> facts_;
  std::list<Told> told_;
};

}  // namespace sitter
