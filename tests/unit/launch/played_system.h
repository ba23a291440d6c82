// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/launch/played_system.h -- a machine that consists of tables: files, variables, and
// what programs print. A sound one is Debian with Open MPI, libfabric and livebtl; each test
// changes what it is about.
#pragma once

#include <map>
#include <set>
#include <string>

#include "launch/system.h"

namespace livebtl::test {

using launch::FileFacts;
using launch::Ran;
using launch::Variables;

class PlayedSystem final : public launch::System {
 public:
  std::map<std::string, std::string, std::less<>> variables;
  std::map<std::string, std::string> texts;     // of files
  std::map<std::string, FileFacts> more;        // facts that texts and programs do not give
  std::map<std::string, std::string> links;     // path -> path without links
  std::map<std::string, std::string> programs;  // path and words, joined by spaces -> output
  std::map<std::string, std::string>
      with_path;                          // the same, with OMPI_MCA_mca_base_component_path set
  std::set<std::string> denied;           // may not be read and written
  std::map<std::string, int> exit_codes;  // of programs; otherwise 0

  void program(const std::string& path, const std::string& words, const std::string& output) {
    programs[path + (words.empty() ? "" : " ") + words] = output;
    texts.try_emplace(path, "");
  }
  void ldd(const std::string& file, const std::string& output) {
    program("/usr/bin/ldd", file, output);
    texts.try_emplace(file, "");
  }

  std::optional<std::string> variable(std::string_view name) const override {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<std::string> variable_names() const override {
    std::vector<std::string> names;
    for (const auto& [name, value] : variables) names.push_back(name);
    return names;
  }
  std::optional<std::string> file_text(const std::string& path) const override {
    const auto found = texts.find(path);
    return found == texts.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<std::string> names_in(const std::string& directory) const override {
    std::set<std::string> names;
    const std::string prefix = directory + "/";
    for (const auto& [path, text] : texts) {
      if (path.starts_with(prefix))
        names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
    }
    return {names.begin(), names.end()};
  }
  std::optional<FileFacts> facts(const std::string& path) const override {
    if (const auto found = more.find(path); found != more.end()) return found->second;
    const auto found = texts.find(path);
    if (found == texts.end())
      return names_in(path).empty()
                 ? std::nullopt
                 : std::optional(FileFacts{FileFacts::Kind::kDirectory, 0, 0755, 0});
    return FileFacts{FileFacts::Kind::kFile, 0, 0755, found->second.size()};
  }
  std::optional<std::string> resolved(const std::string& path) const override {
    const auto found = links.find(path);
    if (found != links.end()) return found->second;
    return facts(path) ? std::optional(path) : std::nullopt;
  }
  bool may_read_and_write(const std::string& path) const override {
    return facts(path).has_value() && !denied.contains(path);
  }
  bool may_execute(const std::string& path) const override {
    const auto found = facts(path);
    return found && (found->mode & 0111) != 0;
  }
  Ran run(const std::vector<std::string>& words, const Variables& more_variables) const override {
    std::string line;
    for (const auto& word : words) line += (line.empty() ? "" : " ") + word;
    if (!more_variables.empty() && with_path.contains(line)) return {0, with_path.at(line)};
    const auto found = programs.find(line);
    if (found == programs.end()) return {127, ""};
    const auto code = exit_codes.find(line);
    return {code == exit_codes.end() ? 0 : code->second, found->second};
  }
};

inline constexpr const char* kLib = "/usr/lib/x86_64-linux-gnu";
inline const std::string kInfoOfComponent = "--parsable --param pml livebtl --level 9";

/// What ompi_info prints about the component.
inline std::string serves(const std::string& what) {
  return "mca:pml:livebtl:version:\"mca:2.1.0\"\nmca:pml:livebtl:param:pml_livebtl_serves:value:" +
         what + "\n";
}

/// Debian 12 with Open MPI 4.1.4 and the packages of livebtl; ./program is linked with Open MPI.
inline void make_sound(PlayedSystem& system) {
  const std::string lib = kLib;
  system.variables["PATH"] = "/usr/bin:/bin";
  system.program("/usr/bin/mpirun", "--version", "mpirun (Open MPI) 4.1.4\n\nReport bugs ...\n");
  system.program("/usr/bin/ompi_info", "--version", "Open MPI v4.1.4\n");
  system.program("/usr/bin/ompi_info", "--parsable --param mtl ofi",
                 "mca:mtl:ofi:version:\"component:4.1.4\"\n");
  system.program("/usr/bin/ompi_info", kInfoOfComponent, serves("yes"));
  system.texts[lib + "/libmpi.so.40"] = "";
  system.texts[lib + "/libfabric.so.1"] = "";
  system.ldd("/usr/bin/ompi_info", "\tlibmpi.so.40 => " + lib + "/libmpi.so.40 (0x00007f)\n");
  system.ldd("./program", "\tlinux-vdso.so.1 (0x00007f)\n\tlibmpi.so.40 => " + lib +
                              "/libmpi.so.40 (0x00007f)\n\tlibc.so.6 => " + lib +
                              "/libc.so.6 (0x0)\n");
  system.ldd(lib + "/libfabric/liblivebtl-fi.so",
             "\tliblivebtl.so.0 => " + lib + "/liblivebtl.so.0 (0x00007f)\n" +
                 "\tlibfabric.so.1 => " + lib + "/libfabric.so.1 (0x00007f)\n");
  system.ldd(lib + "/livebtl/openmpi/mca_pml_livebtl.so",
             "\tliblivebtl.so.0 => " + lib + "/liblivebtl.so.0 (0x00007f)\n");
  system.texts[lib + "/liblivebtl.so.0"] = "";
}

}  // namespace livebtl::test
