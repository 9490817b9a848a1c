#include "plugin/shared_object.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "lb/registry.h"

namespace eddy::plugin {
namespace {

constexpr size_t kMostSchemes = 32;
constexpr size_t kLongestName = 32;
// Of `load_balancer` itself, whatever the scheme.
constexpr std::array<std::string_view, 3> kReserved = {"scheme", "plugin", "control"};

constexpr auto kFactNames = std::to_array<std::string_view>({
#define EDDY_PLUGIN_FACT_NAME(name, value) name,
    EDDY_PLUGIN_FACTS(EDDY_PLUGIN_FACT_NAME)
#undef EDDY_PLUGIN_FACT_NAME
});
static_assert(kFactNames.size() <= lb::kPluginFactPlaces);

constexpr lb::PluginHeader kOwn = lb::plugin_header(nullptr);

template <size_t N>
std::string text_of(const std::array<char, N>& text) {
  return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

std::string built_with(const lb::PluginHeader& header) {
  return "Eddy " + text_of(header.version) + " by " + text_of(header.compiler);
}

bool is_name(std::string_view name) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_rest = [&](char c) { return is_small(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= kLongestName && is_small(name.front()) &&
         std::ranges::all_of(name, is_rest);
}

std::string scheme_problem(const lb::SchemeInfo& scheme) {
  if (!is_name(scheme.name))
    return "a scheme's name is no name: lower-case letters, digits and _, at most 32";
  const std::string who = "scheme '" + std::string(scheme.name) + "'";
  if (lb::find_scheme(scheme.name) != nullptr)
    return who + " is one of the program's own; give it another name";
  if (scheme.make == nullptr || scheme.make_with_rlb == nullptr)
    return who + " has no function that makes it";
  for (const lb::ParameterInfo& each : scheme.parameters)
    if (!is_name(each.name) || std::ranges::find(kReserved, each.name) != kReserved.end())
      return who + " has a parameter '" + std::string(each.name.substr(0, kLongestName)) +
             "', which is no name for one";
  return {};
}

// How many octets of the object the symbol stands for; 0: it is no data.
size_t octets_of(const void* symbol) {
  Dl_info info{};
  ElfW(Sym)* entry = nullptr;
  if (::dladdr1(symbol, &info, reinterpret_cast<void**>(&entry), RTLD_DL_SYMENT) == 0 ||
      entry == nullptr || ELF64_ST_TYPE(entry->st_info) != STT_OBJECT)
    return 0;
  return entry->st_size;
}

// Without the path, which is a number to whoever reads it.
std::string loader_says(const std::string& path) {
  const char* said = ::dlerror();
  std::string text = said == nullptr ? "it cannot be loaded" : said;
  if (text.starts_with(path)) text.erase(0, path.size());
  while (text.starts_with(':') || text.starts_with(' ')) text.erase(0, 1);
  return text;
}

}  // namespace

std::string header_problem(const lb::PluginHeader& header, size_t octets) {
  constexpr size_t kSince = offsetof(lb::PluginHeader, version);  // the same in every version
  if (octets < kSince || header.magic != lb::kPluginMagic)
    return std::string("its symbol ") + lb::kPluginSymbol +
           " is not what EDDY_PLUGIN makes (lb/schemes/plugin.h)";
  if (header.abi != lb::kPluginAbi)
    return "it was built for plugin ABI " + std::to_string(header.abi) + ", and this program has " +
           std::to_string(lb::kPluginAbi) + "; build it with this version's headers";
  if (header.size != sizeof header || octets < sizeof header)
    return "its header has " + std::to_string(header.size) + " octets, and this program's " +
           std::to_string(sizeof header) + "; build it with this version's headers";
  for (size_t i = 0; i < kFactNames.size(); ++i)
    if (header.facts[i] != kOwn.facts[i])
      return "it was built with " + built_with(header) + ", where " + std::string(kFactNames[i]) +
             " is " + std::to_string(header.facts[i]) + ", and here it is " +
             std::to_string(kOwn.facts[i]) + "; build it as this program was built";
  return header.schemes == nullptr ? "it has no list of schemes" : "";
}

std::string schemes_problem(std::span<const lb::SchemeInfo> schemes) {
  if (schemes.empty() || schemes.size() > kMostSchemes)
    return "it has " + std::to_string(schemes.size()) + " schemes, valid is 1 to " +
           std::to_string(kMostSchemes);
  for (size_t i = 0; i < schemes.size(); ++i) {
    if (std::string problem = scheme_problem(schemes[i]); !problem.empty()) return problem;
    for (size_t j = 0; j < i; ++j)
      if (schemes[j].name == schemes[i].name)
        return "it has scheme '" + std::string(schemes[i].name) + "' twice";
  }
  return {};
}

SharedObject::SharedObject(SharedObject&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), contents_(std::move(other.contents_)) {}

SharedObject::~SharedObject() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

Result<SharedObject> SharedObject::open(const std::string& path) {
  try {
    void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return Result<SharedObject>::failure(loader_says(path));
    SharedObject object(handle);
    if (std::string problem = object.inspect(); !problem.empty())
      return Result<SharedObject>::failure(std::move(problem));
    return object;
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& thrown) {
    return Result<SharedObject>::failure(std::string("loading it throws: ") + thrown.what());
  } catch (...) {
    return Result<SharedObject>::failure("loading it throws something that is no std::exception");
  }
}

std::string SharedObject::inspect() {
  const void* symbol = ::dlsym(handle_, lb::kPluginSymbol);
  if (symbol == nullptr)
    return std::string("it has no symbol ") + lb::kPluginSymbol +
           "; a scheme's file ends with EDDY_PLUGIN (lb/schemes/plugin.h)";
  const auto& header = *static_cast<const lb::PluginHeader*>(symbol);
  if (std::string problem = header_problem(header, octets_of(symbol)); !problem.empty())
    return problem;
  contents_ = {text_of(header.version), header.schemes()};
  return schemes_problem(contents_.schemes);
}

}  // namespace eddy::plugin
