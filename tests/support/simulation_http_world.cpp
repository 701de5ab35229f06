#include "support/simulation_http_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/http/url.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

namespace {

/// Seeds of this world have nothing to do with those of `World`.
constexpr std::uint64_t kSeeds = 0x9fb21c651e98df25;

std::string_view daemon_word(HttpScene::Daemon daemon) {
  switch (daemon) {
    case HttpScene::Daemon::sessions:
      return "sessions";
    case HttpScene::Daemon::one_session:
      return "one session";
    case HttpScene::Daemon::no_sessions:
      return "no sessions";
    case HttpScene::Daemon::stateless:
      break;
  }
  return "stateless";
}

}  // namespace

HttpWorld::Chosen::Chosen(std::uint64_t seed)
    : random(seed * kSeeds), scene(random_scene(random)), config(random_config(random, scene)) {}

HttpScene HttpWorld::Chosen::random_scene(Random& random) {
  using Daemon = HttpScene::Daemon;
  HttpScene scene;
  scene.daemon =
      std::array{Daemon::sessions, Daemon::one_session, Daemon::no_sessions,
                 Daemon::stateless}[static_cast<std::size_t>(random.weighted({50, 10, 15, 25}))];
  scene.shows_listener = random.chance(60);
  scene.has_proxy = random.chance(20);
  scene.is_started_here = !scene.has_proxy && random.chance(30);
  scene.ends_with_bridge = random.chance(50);
  scene.keeps_session = random.chance(20);
  scene.has_builds = random.chance(25);
  scene.has_redirects = random.chance(15);
  scene.faults = random.pick(std::array{0, 5, 20, 60});
  scene.has_event_ids = random.chance(60);
  if (random.chance(60)) scene.retry = Milliseconds(random.pick(std::array{0, 10, 300, 2000}));
  scene.gives_stream = random.chance(70);
  return scene;
}

BridgeConfig HttpWorld::Chosen::random_config(Random& random, const HttpScene& scene) {
  BridgeConfig config;
  config.url = "http://127.0.0.1:3000/mcp";
  config.command = config.url;
  config.wait_for_server = random.pick(std::array{Milliseconds(30000), Milliseconds(2000)});
  config.answer_within = random.pick(std::array{Milliseconds(8000), Milliseconds(500)});
  config.lints = false;
  if (scene.has_builds) config.build_command = "make";
  config.on_busy_wait = random.pick(std::array{Milliseconds(10000), Milliseconds(0)});
  config.sitter_version = "0.4.0";
  config.seed = random.next();
  return config;
}

HttpLink::Options HttpWorld::options() const {
  HttpLink::Options options;
  std::string ignored;
  options.url = *parse_url(config_.url, ignored);
  options.headers = {{"X-Secret", "s"}};
  options.keeps_session = scene_.keeps_session;
  options.may_start = scene_.is_started_here;
  options.ends_daemon = scene_.ends_with_bridge;
  options.wait_for_server = config_.wait_for_server;
  options.sitter_version = config_.sitter_version;
  return options;
}

HttpWorld::HttpWorld(std::uint64_t seed, std::FILE* story, Digest* digest, Tally& tally)
    : HttpWorld(Chosen(seed), story, digest, tally) {}

HttpWorld::HttpWorld(Chosen chosen, std::FILE* story, Digest* digest, Tally& tally)
    : PlayedWorld(chosen.random, chosen.config, story, digest),
      tally_(tally),
      scene_(chosen.scene),
      config_(std::move(chosen.config)),
      link_(options()),
      network_(random_, scene_, said_, tally, [this](const HttpFact& fact) { on_http(fact); }),
      client_(random_, scene_, said_) {
  said_.now = now_.steady;
  said_.patience = config_.wait_for_server;
  tell("config",
       fmt::format(
           "{}{}{}{}{}, faults {}, {} event ids, retry {}", daemon_word(scene_.daemon),
           scene_.shows_listener ? ", shows its listener" : "", scene_.has_proxy ? ", proxy" : "",
           scene_.is_started_here ? ", started here" : "", scene_.has_builds ? ", builds" : "",
           scene_.faults, scene_.has_event_ids ? "with" : "without",
           scene_.retry ? scene_.retry->count() : -1));
}

void HttpWorld::play() {
  if (!scene_.is_started_here && random_.chance(80)) {
    network_.begins();
  } else if (!scene_.is_started_here) {
    daemon_restarts();
  }
  for (int steps = random_.between(100, 400); steps > 0; --steps) step();
  if (random_.chance(90)) {
    settle();
    check_service();
    check_stream();
  }
  end();
}

void HttpWorld::step() {
  switch (random_.weighted({25, 60, 15, 1})) {
    case 0:
      client_acts();
      break;
    case 1:
      daemon_speaks();
      break;
    case 2:
      time_passes();
      break;
    default:
      something_happens();
  }
}

/// What the link tells is passed on when everything that one read has brought is handled.
void HttpWorld::daemon_speaks() {
  is_reading_ = random_.chance(50);
  do {
    network_.act(now_.steady);
  } while (is_reading_ && random_.chance(60));
  if (std::exchange(is_reading_, false)) feed_from_played();
}

void HttpWorld::client_acts() {
  const bool is_flood = random_.below(150) == 0;
  for (int count = is_flood ? 50 : 1; count > 0 && bridge_.reads_client(); --count) {
    if (const auto line = client_.says()) client_says(*line);
  }
}

void HttpWorld::client_says(const std::string& text) {
  PlayedWorld::client_says(text);
  if (client_.cancelled() != 0) network_.check_cancelled(client_.cancelled());
}

void HttpWorld::something_happens() {
  switch (random_.weighted({40, 20, 15, 20})) {
    case 0:
      daemon_restarts();
      break;
    case 1:
      tell("daemon", "forgets its sessions");
      network_.forgets_sessions();
      break;
    case 2:
      tell("daemon", "does not listen any more");
      network_.closes();
      if (!scene_.is_started_here) later(2000, [this] { daemon_restarts(); });
      break;
    default:
      if (scene_.has_sessions()) break;
      tell("network", "an idle connection is closed");
      network_.closes_idle();
  }
}

/// The process of the daemon dies, and a moment later another one serves. If the daemon is started
/// here, it is the bridge that starts it.
void HttpWorld::daemon_restarts() {
  ++tally_["restarts"];
  if (process_ && process_->lives) {
    process_dies(process_->pid, {random_.chance(50) ? 0 : 139, ""});
    return;
  }
  tell("daemon", "dies");
  network_.dies();
  if (scene_.is_started_here || std::exchange(is_restarting_, true)) return;
  later(random_.pick(std::array{0, 200, 5000}), [this] {
    tell("daemon", "listens");
    is_restarting_ = false;
    network_.begins();
  });
}

/// Lets everything happen that happens by itself, and then some time pass.
void HttpWorld::rest() {
  for (int acts = 200; acts > 0 && network_.act(now_.steady); --acts) continue;
  if (const auto line = client_.says_at_rest()) client_says(*line);
  rest_a_moment();
}

/// From now on nothing goes wrong, so everything that waits is answered before long.
void HttpWorld::settle() {
  tell("world", "nothing goes wrong from now on");
  is_behaving_ = true;
  network_.behave();
  if (process_ && process_->lives && !network_.listens()) process_dies(process_->pid, {1, ""});
  const bool is_away = !network_.listens() || scene_.daemon == HttpScene::Daemon::one_session;
  if (!scene_.is_started_here && is_away) daemon_restarts();
  if (scene_.is_started_here && is_away && process_ && process_->lives) daemon_restarts();
  const Instant limit = now_.steady + std::chrono::minutes(5);
  while (client_.owed_count() > 0) {
    if (now_.steady > limit) throw Broken("requests are never answered:" + client_.owed_words());
    rest();
  }
}

/// A daemon that serves is found to serve. A start command that has returned may have left a daemon
/// that is not ready yet, so the startup timeout passes first.
void HttpWorld::check_service() {
  const Instant end = now_.steady + std::chrono::minutes(2);
  while (now_.steady < end) {
    if (client_.is_open() || scene_.is_stateless()) {
      client_says(client_.calls());
      const int mark = client_.last_mark();
      const Instant limit = now_.steady + std::chrono::minutes(2);
      while (client_.owed_count() > 0) {
        if (now_.steady > limit) throw Broken("a call at the end is never answered");
        rest();
      }
      if (client_.has_succeeded(mark)) return;
    }
    for (int i = 0; i < 20; ++i) rest();
  }
  throw Broken("the daemon serves, and no call succeeds");
}

/// What the daemon says without being asked is heard.
void HttpWorld::check_stream() {
  const Instant limit = now_.steady + std::chrono::minutes(2);
  while (!network_.has_stream()) {
    if (now_.steady > limit) throw Broken("the stream of the session is not opened");
    rest();
  }
}

void HttpWorld::end() {
  const std::string session = is_behaving_ ? network_.live_session() : "";
  tell("client", "closes stdin");
  feed(fact::ClientClosedInput{});
  feed_from_played();
  const Instant limit = now_.steady + std::chrono::seconds(20);
  while (!is_over_) {
    if (now_.steady > limit) throw Broken("the bridge does not end");
    rest();
  }
  if (bridge_.next_timeout()) throw Broken("a timeout after the end");
  if (!session.empty() && !scene_.keeps_session && !network_.has_ended(session)) {
    throw Broken("the session is left open");
  }
}

}  // namespace sitter::sim
