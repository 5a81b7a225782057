#include "foundation/named_place.hpp"

#include <algorithm>
#include <string_view>

#include "foundation/error.hpp"
#include "foundation/regular_file.hpp"
#include "foundation/text.hpp"

namespace strider {
namespace {

constexpr std::size_t longest_path = 4095, longest_component = 255, longest_host = 253, longest_name = 255;
/// Of MPI: MPI_MAX_INFO_KEY and MPI_MAX_INFO_VAL of MPICH without the end.
constexpr std::size_t longest_hint_name = 255, longest_hint_value = 1023;

/// No locale has a say in what a name is.
bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool consists_of(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter_or_digit(c) || others.find(c) != std::string_view::npos; });
}

[[noreturn]] void wrong(const Parameter& parameter, const std::string& message, const std::string& remedy) {
  throw InputError(std::string(parameter.name), std::string(parameter.name) + ": " + message, remedy);
}

void check_path(const Parameter& parameter, const std::string& path) {
  if (path.empty()) wrong(parameter, "the path is empty", "name one");
  if (path.size() > longest_path)
    wrong(parameter, in_quotes(path) + " is too long for a path", "at most " + std::to_string(longest_path) + " bytes");
  if (path.front() == '~')
    wrong(parameter, in_quotes(path) + " begins with ~, which only a shell expands", "write the whole path");
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    if (end > longest_component)
      wrong(parameter, in_quotes(rest.substr(0, end)) + " is too long for a file name",
            "at most " + std::to_string(longest_component) + " bytes between two slashes");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

bool is_host(std::string_view host) {
  if (host.empty() || host.size() > longest_host) return false;
  if (host.find(':') != std::string_view::npos)  // an address of IPv6, with a zone at its end
    return std::count(host.begin(), host.end(), ':') >= 2 && consists_of(host.substr(0, host.find('%')), ":.") &&
           consists_of(host, ":.%");
  while (!host.empty()) {
    const std::size_t end = std::min(host.find('.'), host.size());
    const std::string_view label = host.substr(0, end);
    if (label.empty() || label.size() > 63 || !consists_of(label, "-_") || label.front() == '-') return false;
    host.remove_prefix(std::min(end + 1, host.size()));
  }
  return true;
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         std::stoul(std::string(text)) >= 1 && std::stoul(std::string(text)) <= 65535;
}

/// "host", "host:port", "[address]:port", with "user@" before it.
bool is_authority(std::string_view text) {
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    if (at == 0 || !consists_of(text.substr(0, at), "._-")) return false;
    text.remove_prefix(at + 1);
  }
  std::size_t end = std::min(text.find(':'), text.size());
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos || !is_host(text.substr(1, bracket - 1))) return false;
    end = bracket + 1;
  } else if (!is_host(text.substr(0, end))) {
    return false;
  }
  return end == text.size() || (text[end] == ':' && is_port(text.substr(end + 1)));
}

void check_url(const Parameter& parameter, const std::string& url) {
  const std::size_t colon = url.find("://");
  const auto schemes = split_choices(parameter.choices);
  const std::string_view scheme = std::string_view(url).substr(0, std::min(colon, url.size()));
  const std::string example = std::string(schemes.front()) + "://SERVER:PORT/PATH";
  if (colon == std::string::npos || std::find(schemes.begin(), schemes.end(), scheme) == schemes.end())
    wrong(parameter, in_quotes(url) + " is not an address of this kind", "write " + example);
  const std::string_view rest = std::string_view(url).substr(colon + 3);
  if (!is_authority(rest.substr(0, rest.find_first_of("/?#"))))
    wrong(parameter, in_quotes(url) + " names no server", "write " + example);
  if (url.size() > longest_path)
    wrong(parameter, in_quotes(url) + " is too long", "at most " + std::to_string(longest_path) + " bytes");
}

void check_name(const Parameter& parameter, const std::string& name) {
  if (name.empty() || name.size() > longest_name || !consists_of(name, "._:@+-") || name.front() == '-' ||
      name == "." || name == "..")
    wrong(parameter, in_quotes(name) + " is not the name of a " + std::string(name_of(parameter.kind)),
          "use 1 to 255 letters, digits and . _ : @ + -, without - at the beginning");
}

}  // namespace

void check_place(const Parameter& parameter, const std::string& value) {
  switch (parameter.kind) {
    case Kind::file:
    case Kind::config:
      check_path(parameter, value);
      if (const std::string problem = irregularity_of(value, largest_input_file); !problem.empty())
        wrong(parameter, in_quotes(value) + " " + problem, "name a regular file");
      return;
    case Kind::directory:
    case Kind::path: return check_path(parameter, value);
    case Kind::host:
      if (!is_host(value))
        wrong(parameter, in_quotes(value) + " is not the name of a host",
              "io1.example.org, or an address such as 10.0.0.1");
      return;
    case Kind::url: return check_url(parameter, value);
    default: return check_name(parameter, value);
  }
}

void check_hint(const Parameter& parameter, const std::string& name, const std::string& value) {
  if (name.empty() || name.size() > longest_hint_name || !consists_of(name, "._-"))
    wrong(parameter, in_quotes(name) + " is not the name of a hint",
          "1 to " + std::to_string(longest_hint_name) + " letters, digits and . _ -");
  if (value.size() > longest_hint_value)
    wrong(parameter, "the value of " + name + " is too long",
          "at most " + std::to_string(longest_hint_value) + " bytes");
}

}  // namespace strider
