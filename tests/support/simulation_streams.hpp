#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/raw_id.hpp"
#include "core/wire/message.hpp"
#include "sitter/time.hpp"
#include "support/simulation_ids.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// The streams as the client knows them. Checks what the client hears about them. Throws `Broken`.
class Streams {
 public:
  struct Stream {
    const ClientSaid* said = nullptr;
    Filter wanted;
    /// What the stream carries, as the client was told; empty before the acknowledgement.
    std::optional<Filter> granted;
    /// The child that was last asked for the stream.
    Generation gen = kNoGeneration;
    /// That child has ended the stream.
    bool has_ended = false;
    Instant opened;
    std::optional<Instant> closed_at;
    /// The numbers of the changes that children have reported to this stream.
    std::set<int> told;
  };

  void open(const ClientSaid& said, Instant now) {
    Stream& stream = streams_[said.mark];
    stream.said = &said;
    stream.wanted = same_spelling(said.wanted);
    stream.opened = now;
  }

  /// Null if there is no such stream, or if it is closed. `is_late`: a closed stream is found too,
  /// because earlier lines may still be on their way.
  Stream* find(std::string_view raw_id, bool is_late = false) {
    for (auto& [mark, stream] : streams_) {
      if ((!stream.closed_at || is_late) && same_id(stream.said->id, raw_id)) return &stream;
    }
    return nullptr;
  }

  /// An open stream that a server may mean by this id if it keeps numbers as doubles.
  Stream* find_rounded(std::string_view raw_id) {
    if (!is_big(id_key(raw_id))) return nullptr;
    for (auto& [mark, stream] : streams_) {
      const bool is_alike = rounded_key(stream.said->id) == rounded_key(raw_id);
      if (!stream.closed_at && is_alike) return &stream;
    }
    return nullptr;
  }

  /// Whether a server may confuse this id with that of a stream, open or closed.
  bool has_had_rounded(std::string_view raw_id) const {
    return std::any_of(streams_.begin(), streams_.end(), [&](const auto& entry) {
      return rounded_key(entry.second.said->id) == rounded_key(raw_id);
    });
  }

  /// Null if the line with this mark opened no stream.
  Stream* of(int mark) {
    const auto found = streams_.find(mark);
    return found == streams_.end() ? nullptr : &found->second;
  }

  void close(Stream& stream, Instant now) {
    if (!stream.closed_at) stream.closed_at = now;
  }

  /// The child has been asked for the stream, for the first time or again.
  void on_asked(Stream& stream, Generation gen) {
    if (stream.closed_at) throw Broken("a child is asked for a stream that is closed");
    if (stream.gen == gen) throw Broken("a child is asked twice for the same stream");
    stream.gen = gen;
    stream.has_ended = false;
  }

  /// The child has said something, perhaps about a stream.
  void on_said(const ChildSaid& said, Generation gen) {
    if (Stream* const stream = of(said.mark); stream && said.is_refusal) on_refused(*stream, gen);
    if (said.kind != ChildSaid::Kind::stream_end) return;
    if (Stream* const stream = find(said.id, true)) stream->has_ended |= stream->gen == gen;
  }

  /// The child that was asked for the stream does not serve it.
  void on_refused(Stream& stream, Generation gen) {
    if (stream.gen == gen) stream.gen = kNoGeneration;
  }

  /// Another child serves in the place of `gen`.
  void on_lost(Generation gen) {
    for (auto& [mark, stream] : streams_) on_refused(stream, gen);
  }

  /// The stream that a line to the client is for.
  Stream& told_of(const nlohmann::json& message, const std::string& line, bool is_late) {
    const std::string id = message.at("params").at("_meta").at(std::string(kTagName)).dump();
    Stream* const stream = find(id, is_late);
    if (stream == nullptr) throw Broken(fmt::format("a line for stream {}, which is not open", id));
    const std::string as_sent = fmt::format("{}\":{}", kTagName, stream->said->id);
    const bool is_childs = sim_number_in(line) != 0;
    if (!is_childs && line.find(as_sent) == line.npos) {
      throw Broken("the id of a stream is spelled anew");
    }
    return *stream;
  }

  void on_acknowledged(const nlohmann::json& message, const std::string& line, bool is_late) {
    Stream& stream = told_of(message, line, is_late);
    if (stream.granted) throw Broken("a stream is acknowledged a second time");
    Filter granted;
    for (const auto& [name, value] : message["params"]["notifications"].items()) {
      if (name == "resourceSubscriptions") {
        for (const auto& uri : value) granted.insert(uri.dump());
      } else if (const std::size_t end = name.find("ListChanged");
                 end != name.npos && value == true) {
        granted.insert(fmt::format("notifications/{}/list_changed", name.substr(0, end)));
      }
    }
    if (!std::includes(stream.wanted.begin(), stream.wanted.end(), granted.begin(),
                       granted.end())) {
      throw Broken("a stream is granted what it was not asked for");
    }
    stream.granted = std::move(granted);
  }

  /// A change of a list or a resource. `number` is 0 if the bridge itself reports the change.
  void on_change(const nlohmann::json& message, const std::string& line, int number, bool is_late) {
    Stream& stream = told_of(message, line, is_late);
    const auto& params = message["params"];
    const std::string about =
        params.contains("uri") ? params["uri"].dump() : message["method"].get<std::string>();
    if (!stream.granted) throw Broken("a stream hears of a change before it is acknowledged");
    // A resource that a child reports may be a part of a resource that the stream was granted.
    const bool is_part = number != 0 && params.contains("uri") &&
                         std::any_of(stream.granted->begin(), stream.granted->end(),
                                     [](const std::string& one) { return one.starts_with('"'); });
    if (!is_part && !stream.granted->contains(about)) {
      throw Broken(
          fmt::format("stream {} hears of {}, which it was not granted", stream.said->id, about));
    }
    if (number != 0 && !stream.told.insert(number).second) {
      throw Broken("a stream hears of the same change twice");
    }
  }

  /// Every stream from before `late` must be acknowledged or have ended, unless a wait has begun
  /// after that, at `moved_at`.
  void check(Instant late, Instant moved_at) const {
    for (const auto& [mark, stream] : streams_) {
      if (stream.closed_at || stream.granted || std::max(stream.opened, moved_at) >= late) continue;
      throw Broken(fmt::format("stream {} waits too long to be acknowledged", stream.said->id));
    }
  }

 private:
  static constexpr std::string_view kTagName = "io.modelcontextprotocol/subscriptionId";

  /// The filter, with URIs as this JSON library spells them.
  static Filter same_spelling(const Filter& filter) {
    Filter same;
    for (const std::string& about : filter) {
      same.insert(about.starts_with('"') ? nlohmann::json::parse(about).dump() : about);
    }
    return same;
  }

  std::map<int, Stream> streams_;  // by mark
};

}  // namespace sitter::sim
