#include "support/simulation_cli_world.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/child/child_lifecycle.hpp"
#include "core/child/ending.hpp"
#include "core/tool_server/cli_server.hpp"
#include "support/played_orders.hpp"

namespace sitter::sim {

namespace {

/// Seeds of this world have nothing to do with those of the other worlds.
constexpr std::uint64_t kSeeds = 0xc2b2ae3d27d4eb4f;

/// How long the end may take when the client has closed our stdin, and nothing is owed.
constexpr Milliseconds kQuickEnd{1500};
/// After a signal.
constexpr Milliseconds kHastyEnd{300};

}  // namespace

CliWorld::Chosen::Chosen(std::uint64_t seed)
    : random(seed * kSeeds),
      scene(random_scene(random)),
      tool(random_tool(random)),
      config(random_config()) {}

Scene CliWorld::Chosen::random_scene(Random& random) {
  using Kind = Scene::Client;
  Scene scene;
  scene.client = std::array{Kind::legacy, Kind::modern,
                            Kind::dual}[static_cast<std::size_t>(random.weighted({50, 30, 20}))];
  scene.has_numbered_calls = true;
  scene.has_batches = scene.client == Kind::legacy && random.chance(15);
  scene.has_builds = random.chance(15);
  scene.has_reloads = random.chance(30);
  scene.has_watch = random.chance(40);
  scene.is_controlled = random.chance(25);
  scene.has_call_tool = random.chance(20);
  return scene;
}

CliScene CliWorld::Chosen::random_tool(Random& random) {
  CliScene tool;
  tool.has_file = random.chance(25);
  tool.calls_max = random.pick(std::array<std::size_t, 4>{1, 2, 3, 8});
  tool.call_timeout =
      random.pick(std::array{Milliseconds(55000), Milliseconds(5000), Milliseconds(1000)});
  tool.faults = random.pick(std::array{0, 20, 50, 90});
  return tool;
}

BridgeConfig CliWorld::Chosen::random_config() {
  BridgeConfig chosen;
  chosen.command = "./tool";
  chosen.kind = ServerKind::tool;
  chosen.answer_within = random.pick(std::array{Milliseconds(8000), Milliseconds(500)});
  chosen.kill_grace = random.pick(std::array{Milliseconds(500), Milliseconds(0)});
  chosen.lints = false;
  if (scene.has_builds) chosen.build_command = "make";
  if (scene.has_watch) {
    chosen.watches_binary = true;
    chosen.debounce = random.pick(std::array{Milliseconds(300), Milliseconds(20)});
  }
  if (scene.has_call_tool) chosen.call_tool = BridgeConfig::CallTool::on;
  chosen.on_busy_wait =
      random.chance(80) ? tool.call_timeout + limits::kRunGrace : Milliseconds::zero();
  chosen.sitter_version = "0.5.0";
  chosen.seed = random.next();
  return chosen;
}

CliWorld::CliWorld(std::uint64_t seed, std::FILE* story, Digest* digest, Tally& tally)
    : CliWorld(Chosen(seed), story, digest, tally) {}

CliWorld::CliWorld(Chosen chosen, std::FILE* story, Digest* digest, Tally& tally)
    : PlayedWorld(chosen.random, chosen.config, story, digest),
      scene_(chosen.scene),
      tool_scene_(chosen.tool),
      config_(std::move(chosen.config)),
      server_(options()),
      tool_(random_, tool_scene_, ways()),
      promises_(scene_, tool_scene_, said_, tool_.runs(), tally),
      client_(random_, said_, scene_),
      outside_(random_, scene_) {
  promises_.set_now(now_.steady);
  tell("config",
       fmt::format("{}, {} calls, timeout {}, faults {}{}{}{}, busy wait {}",
                   tool_scene_.has_file ? "a file" : "describes itself", tool_scene_.calls_max,
                   tool_scene_.call_timeout.count(), tool_scene_.faults,
                   scene_.has_builds ? ", builds" : "", scene_.has_watch ? ", watch" : "",
                   scene_.is_controlled ? ", ctl" : "", config_.on_busy_wait.count()));
}

CliServer::Options CliWorld::options() const {
  CliServer::Options options;
  options.name = "tool";
  if (!tool_scene_.has_file) options.description_arguments = {"schema"};
  options.description_source = tool_scene_.has_file ? "tool.json" : "./tool schema";
  options.calls_max = tool_scene_.calls_max;
  options.call_timeout = tool_scene_.call_timeout;
  return options;
}

CliTool::Ways CliWorld::ways() {
  return {[this](const CliFact& fact) {
            server_.handle(fact, now_);
            if (!is_carrying_out_) carry_out_played();
            // The orphan may have belonged to a build.
            if (const auto* const orphan = std::get_if<fact::OrphanEnded>(&fact)) feed(*orphan);
          },
          [this](Milliseconds time, std::function<void()> event) {
            at(now_.steady + time, [this, event = std::move(event)] {
              event();
              feed_from_played();
            });
          },
          [this](std::string_view who, std::string_view what) { tell(who, what); }};
}

void CliWorld::play() {
  for (int steps = random_.between(50, 300); steps > 0; --steps) step();
  if (random_.chance(80)) settle();
  end();
}

void CliWorld::step() {
  switch (random_.weighted({40, 50, scene_.has_outside() ? 6 : 0, 4})) {
    case 0:
      client_acts();
      break;
    case 1:
      time_passes();
      break;
    case 2:
      outside_acts();
      break;
    default:
      something_happens();
  }
}

void CliWorld::client_acts() {
  for (int count = random_.between(1, 4); count > 0 && bridge_.reads_client(); --count) {
    const int mark = client_.says();
    if (mark == 0) return;
    const ClientSaid& said = said_.client[static_cast<std::size_t>(mark)];
    promises_.on_client_line(said);
    client_says(said.text);
  }
}

void CliWorld::outside_acts() {
  switch (outside_.next()) {
    case Outside::Act::asks_for_reload:
      tell("outside", "SIGHUP");
      feed(fact::ReloadAsked{"SIGHUP"});
      break;
    case Outside::Act::asks_for_status:
      feed(fact::StatusAsked{});
      break;
    case Outside::Act::saves:
      files_change();
      break;
    case Outside::Act::watch_changes:
      feed(outside_.watched());
      break;
    case Outside::Act::asks:
      somebody_asks();
      break;
    case Outside::Act::leaves:
      if (const ControlId connection = outside_.leaves(); connection != 0) {
        tell(fmt::format("ctl {}", connection), "leaves");
        controls_.on_closed(connection);
        feed(fact::ControlClosed{connection});
      }
  }
  feed_from_played();
}

void CliWorld::files_change() {
  tell("outside", "edits the tool");
  tool_.change();
  feed(outside_.saved());
}

void CliWorld::somebody_asks() {
  const ControlAsked asked = outside_.asks();
  tell(fmt::format("ctl {}", asked.connection), asked.text);
  controls_.on_asked(asked, now_.steady);
  feed(fact::ControlLine{asked.connection, asked.text});
}

void CliWorld::something_happens() {
  if (random_.chance(60)) {
    tool_.kill_one(promises_);
    return;
  }
  tell("outside", "edits the tool, unseen");
  tool_.change();
}

/// From now on nothing goes wrong, so everything that waits is answered before long.
void CliWorld::settle() {
  tell("world", "nothing goes wrong from now on");
  tool_.behave();
  wait_for_answers();
  for (int count = 10; count > 0; --count) {
    client_acts();
    rest_a_moment();
  }
  wait_for_answers();
  promises_.check_listed();
}

/// All calls that are under way may run into their time limit, one after the other.
void CliWorld::wait_for_answers() {
  const auto count = static_cast<int>(promises_.owed_count()) + 3;
  const Instant limit = now_.steady + count * (tool_scene_.call_timeout + Milliseconds(5000));
  while (promises_.owed_count() > 0) {
    if (now_.steady > limit) throw Broken("requests are never answered:" + promises_.owed_words());
    rest_a_moment();
  }
}

void CliWorld::end() {
  Milliseconds time = limits::kOwedWait + limits::kRunGrace + limits::kGiveUpAfterKill + kQuickEnd;
  switch (random_.weighted({60, 25, 15})) {
    case 0:
      if (bridge_.owed_count() == 0 && !promises_.is_held() && !scene_.has_builds) time = kQuickEnd;
      tell("client", "closes stdin");
      feed(fact::ClientClosedInput{});
      break;
    case 1:
      time = kHastyEnd;
      tell("system", "SIGTERM");
      feed(fact::StopSignalled{143});
      break;
    default:
      time = kHastyEnd;
      tell("client", "closes stdout");
      feed(fact::ClientClosedOutput{});
  }
  feed_from_played();
  const Instant limit = now_.steady + time;
  while (!is_over_) {
    if (now_.steady > limit) throw Broken("the bridge does not end");
    rest_a_moment();
  }
  if (bridge_.next_timeout()) throw Broken("a timeout after the end");
  promises_.check_end();
  controls_.check_end();
}

// ---- the shell between the bridge and the server

void CliWorld::handle_timeout_of_played() {
  server_.handle_timeout(now_);
  carry_out_played();
}

bool CliWorld::takes(const Order& order) {
  std::visit(
      [this](const auto& one) {
        using One = std::decay_t<decltype(one)>;
        if constexpr (requires { promises_.on_order(one); }) {
          if (!is_build(one.gen)) promises_.on_order(one);
        }
        if constexpr (std::is_same_v<One, order::RenumberChild>) {
          throw Broken("a tool is said to have restarted itself");
        }
      },
      order);
  return pass_to_played(server_, order, now_);
}

void CliWorld::carry_out_played() {
  is_carrying_out_ = true;
  while (const CliOrder* const polled = server_.poll_order()) {
    check_steps();
    const CliOrder order = *polled;
    std::visit([this](const auto& one) { tool_.take(one, promises_); }, order);
  }
  is_carrying_out_ = false;
}

const Fact* CliWorld::next_fact() {
  const Fact* const fact = server_.poll_fact();
  if (fact == nullptr) return nullptr;
  check_fact(*fact);
  promises_.on_fact(*fact);
  if (const auto* const error = std::get_if<fact::ChildErrorLine>(fact)) {
    controls_.on_error_line(std::string(error->line));
  }
  return fact;
}

void CliWorld::client_hears(const std::string& text) {
  for (const Heard& heard : promises_.on_send_to_client(text)) client_.hears(heard);
}

void CliWorld::control_hears(ControlId connection, const std::string& line) {
  controls_.on_line(connection, line);
}

void CliWorld::on_settled() {
  if (is_over_) return;
  for (const auto& [gen, life] : lives_) promises_.check_open(gen, life.open);
  promises_.check();
  controls_.check(std::nullopt, now_.steady);
}

}  // namespace sitter::sim
