#include "curl_calls.hpp"

#include <curl/curl.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sitter::bench {
namespace {

std::size_t append(char* bytes, std::size_t size, std::size_t count, void* to) {
  static_cast<std::string*>(to)->append(bytes, size * count);
  return size * count;
}

}  // namespace

struct CurlCalls::State {
  CURL* curl = curl_easy_init();
  curl_slist* headers = nullptr;
  std::string body;
};

bool CurlCalls::is_there() { return true; }

CurlCalls::CurlCalls(std::string url) : state_(std::make_unique<State>()) {
  CURL* const curl = state_->curl;
  for (const char* const header :
       {"Content-Type: application/json", "Accept: application/json, text/event-stream"}) {
    state_->headers = curl_slist_append(state_->headers, header);
  }
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, state_->headers);
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &state_->body);
}

CurlCalls::~CurlCalls() {
  curl_easy_cleanup(state_->curl);
  curl_slist_free_all(state_->headers);
}

std::string_view CurlCalls::call(std::string_view message) {
  state_->body.clear();
  curl_easy_setopt(state_->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(message.size()));
  curl_easy_setopt(state_->curl, CURLOPT_POSTFIELDS, message.data());
  const CURLcode result = curl_easy_perform(state_->curl);
  if (result != CURLE_OK) {
    std::fprintf(stderr, "libcurl: %s\n", curl_easy_strerror(result));
    std::exit(1);
  }
  return state_->body;
}

}  // namespace sitter::bench
