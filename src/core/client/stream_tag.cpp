#include "core/client/stream_tag.hpp"

#include <fmt/format.h>

#include <cassert>

#include "core/wire/protocol.hpp"

namespace sitter {

std::string stream_meta(std::string_view stream_id) {
  return fmt::format(R"json("_meta":{{{}}})json", stream_member(stream_id));
}

std::string stream_member(std::string_view stream_id) {
  return fmt::format(R"json("{}":{})json", kMetaStream, stream_id);
}

bool names_stream(std::string_view result) {
  return !member(member(result, "_meta"), kMetaStream).empty();
}

std::string tagged(Line notification, std::string_view params_raw, std::string_view stream_id) {
  Edits edits(notification);
  if (is_object(params_raw)) {
    name_stream(params_raw, stream_id, edits);
  } else if (params_raw.empty()) {
    edits.append(notification.text(),
                 fmt::format(R"json("params":{{{}}})json", stream_meta(stream_id)));
  } else {
    edits.replace(params_raw, fmt::format("{{{}}}", stream_meta(stream_id)));
  }
  return edits.apply();
}

void name_stream(std::string_view object, std::string_view stream_id, Edits& edits) {
  assert(is_object(object));
  const std::string_view meta = member(object, "_meta");
  const std::string_view named = member(meta, kMetaStream);
  if (meta.empty()) {
    edits.append(object, stream_meta(stream_id));
  } else if (!is_object(meta)) {
    edits.replace(meta, fmt::format("{{{}}}", stream_member(stream_id)));
  } else if (named.empty()) {
    edits.append(meta, stream_member(stream_id));
  } else if (named != stream_id) {
    edits.replace(named, std::string(stream_id));
  }
}

}  // namespace sitter
