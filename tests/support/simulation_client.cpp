#include "support/simulation_client.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sitter/bytes.hpp"

namespace sitter::sim {

using Kind = ClientSaid::Kind;

Client::Client(Random& random, Said& said, const Scene& scene)
    : random_(random),
      said_(said),
      scene_(scene),
      wildness_(scene.wildness),
      is_impatient_(random.chance(scene.wildness / 2)),
      lists_again_(random.chance(60)),
      wants_progress_(random.chance(50)),
      id_style_(random.below(6)),
      left_{0, scene.has_builds ? random.between(1, 8) : 0} {
  if (scene.client == Scene::Client::modern || scene.client == Scene::Client::mixed) {
    state_ = State::stateless;
  }
}

int Client::says() {
  if (has_to_list_ && random_.chance(50)) {
    has_to_list_ = false;
    return list();
  }
  if (left_.kills > 0) {
    --left_.kills;
    return kill();
  }
  switch (state_) {
    case State::silent:
    case State::probing:
    case State::opening:
    case State::opened:
      return says_opening();
    case State::initialized:
      return says_anything();
    case State::stateless:
      break;
  }
  return says_stateless();
}

/// Most of the time, writes what belongs to the opening of a session.
int Client::says_opening() {
  if (state_ == State::silent && scene_.client == Scene::Client::dual) return discover();
  if (state_ == State::probing) {
    if (scene_.notifies_early && random_.chance(30)) return notification();
    if (!random_.chance(6)) return 0;
    // The client has waited long enough for an answer.
    state_ = State::silent;
    return initialize();
  }
  if (state_ == State::silent && !random_.chance(wildness_ / 3)) return initialize();
  if (state_ == State::opening) {
    if (is_impatient_ && random_.chance(50)) return initialized();
    if (!is_impatient_ && !random_.chance(5 + wildness_ / 4)) return 0;
  }
  if (state_ == State::opened && !random_.chance(wildness_ / 5)) return initialized();
  return says_anything();
}

int Client::says_anything() {
  const bool is_asked = !questions_.empty();
  const bool may_open_again = !scene_.has_batches;
  switch (random_.weighted({30, 8, 14, 8, 3, 8, is_asked ? 14 : 1, is_asked ? 3 : 0, 4,
                            1 + wildness_ / 20, wildness_ / 40, writes_batches_ ? 25 : 0,
                            may_open_again ? wildness_ / 50 : 0, left_.rebuilds > 0 ? 10 : 0,
                            rebuild_ids_.empty() ? 0 : 3})) {
    case 0:
      return call();
    case 1:
      return list();
    case 2:
      return other_request();
    case 3:
      return call_builtin();
    case 4:
      return kill();
    case 5:
      return cancel();
    case 6:
      return answer();
    case 7:
      return progress();
    case 8:
      return notification();
    case 9:
      return rubbish();
    case 10:
      return too_long();
    case 11:
      return batch();
    case 12:
      return initialize();
    case 13:
      return rebuild();
    default:
      return cancel(random_.take(rebuild_ids_));
  }
}

int Client::says_stateless() {
  if (scene_.notifies_early && scene_.client == Scene::Client::modern && early_count_ < 2) {
    return early_count_++ == 0 ? request("server/discover", "") : notification();
  }
  const bool is_mixed = scene_.client == Scene::Client::mixed;
  switch (random_.weighted({30, 8, 10, 8, 3, 8, 8, streams_.empty() ? 0 : 5, 3, 1 + wildness_ / 20,
                            wildness_ / 40, is_mixed ? 4 : 0, is_mixed ? 2 : 0,
                            left_.rebuilds > 0 ? 8 : 0, rebuild_ids_.empty() ? 0 : 2})) {
    case 0:
      return call();
    case 1:
      return list();
    case 2:
      return other_stateless_request();
    case 3:
      return call_builtin();
    case 4:
      return kill();
    case 5:
      return cancel();
    case 6:
      return listen();
    case 7:
      return cancel(random_.take(streams_));
    case 8:
      return notification();
    case 9:
      return rubbish();
    case 10:
      return too_long();
    case 11:
      return other_request();
    case 12:
      return random_.chance(60) ? initialize()
                                : notify(Kind::initialized, "notifications/initialized", "");
    case 13:
      return rebuild();
    default:
      return cancel(random_.take(rebuild_ids_));
  }
}

int Client::says_one_of_many() {
  // A client that probes says nothing else.
  if (state_ == State::probing) return 0;
  return random_.chance(90) ? call() : other_request();
}

int Client::says_much() {
  if (state_ == State::probing) return 0;
  return request("completion/complete",
                 fmt::format(R"json(,"ref":{{"type":"ref/prompt","name":"p"}},)json"
                             R"json("argument":{{"name":"x","value":"{:x>{}}"}})json",
                             "", limits::kMiB));
}

void Client::hears(const Heard& heard) {
  switch (heard.kind) {
    case Heard::Kind::answer:
      // The user may cancel the call at this very moment, so some ids stay in the list.
      if (random_.chance(80)) std::erase(rebuild_ids_, heard.id);
      if (!heard.is_opening) break;
      if (state_ == State::opening) state_ = State::opened;
      writes_batches_ = heard.version == kBatchRevision;
      break;
    case Heard::Kind::discovery:
      // If the id is empty, the probe was refused.
      if (state_ == State::probing) state_ = heard.id.empty() ? State::silent : State::stateless;
      break;
    case Heard::Kind::stream_ended:
      std::erase(streams_, heard.id);
      break;
    case Heard::Kind::question:
      questions_.push_back({heard.id, heard.has_token});
      break;
    case Heard::Kind::question_cancelled:
      // The user may have answered just before, so some questions stay in the list.
      if (random_.chance(80)) {
        std::erase_if(questions_, [&](const Question& q) { return q.id == heard.id; });
      }
      break;
    case Heard::Kind::tools_changed:
      has_to_list_ = lists_again_ && scene_.lists_again && random_.chance(90);
      break;
    case Heard::Kind::other:
      break;
  }
}

}  // namespace sitter::sim
