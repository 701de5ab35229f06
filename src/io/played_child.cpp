#include "io/played_child.hpp"

#include <utility>
#include <variant>

namespace sitter {

PlayedChild::PlayedChild(EventLoop& loop, Options options, Log& log, Children& children,
                         ErrorOutput& error_output, Events events)
    : events_(std::move(events)) {
  if (options.daemon) {
    daemon_ = std::make_unique<Daemon>(
        loop, *std::move(options.daemon), log, children,
        HttpClient::Events{
            [this](HttpFact&& fact) { daemon_->handle(std::move(fact), events_.now()); },
            [this] { events_.on_told(); }});
  }
  if (options.cli) {
    cli_ = std::make_unique<CliChild>(*std::move(options.cli), log, children, error_output,
                                      [this](const auto& facts) { tell(facts); });
  }
}

void PlayedChild::tell(const std::function<void(Now)>& facts) {
  facts(events_.now());
  events_.on_told();
}

bool PlayedChild::takes_end(const Fact& ended, Now now) {
  const auto* const exited = std::get_if<fact::ChildExited>(&ended);
  if (daemon_ && exited != nullptr && !is_build(exited->gen)) {
    daemon_->handle(*exited, now);
    return true;
  }
  if (exited != nullptr && is_run(exited->gen)) {
    cli_->handle(CliFact(*exited), now);
    return true;
  }
  // An orphan may have belonged to a run, and to a build or a child.
  if (cli_ && exited == nullptr) cli_->handle(CliFact(fact::OrphanEnded{}), now);
  return false;
}

void PlayedChild::handle_timeout(Now now) {
  if (daemon_) daemon_->handle_timeout(now);
  if (cli_) cli_->handle_timeout(now);
}

std::optional<Instant> PlayedChild::next_timeout() const {
  if (daemon_) return daemon_->next_timeout();
  return cli_ ? cli_->next_timeout() : std::nullopt;
}

const Fact* PlayedChild::next_fact() {
  if (daemon_) return daemon_->next_fact();
  return cli_ ? cli_->next_fact() : nullptr;
}

std::optional<std::int64_t> PlayedChild::listening_pid() const {
  return daemon_ ? daemon_->listening_pid() : std::nullopt;
}

bool PlayedChild::set_paused(bool paused) {
  if (daemon_) daemon_->set_paused(paused);
  return daemon_ != nullptr;
}

}  // namespace sitter
