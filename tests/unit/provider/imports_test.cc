// SPDX-License-Identifier: BSD-3-Clause
// A library's import is replaced, and nobody else's; malformed ELF tables are refused.
#include "provider/imports.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>

using namespace livebtl;
using namespace livebtl::fi;

using Function = int(int);
extern "C" {
int livebtl_test_imported(int number);
int importer_now_calls(int number);
Function* importer_now_address();
int importer_lazy_calls(int number);
Function* importer_lazy_address();
}

namespace {

int other(int number) { return -number; }
void* const kOther = reinterpret_cast<void*>(&other);
constexpr const char* kSymbol = "livebtl_test_imported";

/// The rights of the memory at an address, as in "r--p".
std::string rights_at(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char rights[8] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, rights) != 3) continue;
    const auto wanted = reinterpret_cast<unsigned long>(address);
    if (begin <= wanted && wanted < end) return rights;
  }
  return "";
}

/// Finds the segment of a loaded library that becomes read-only after its slots are filled.
int find_relro(dl_phdr_info* info, std::size_t /*bytes*/, void* into) {
  if (std::string(info->dlpi_name).find("livebtl_importer_now") == std::string::npos) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type == PT_GNU_RELRO)
      *static_cast<const void**>(into) =
          reinterpret_cast<const void*>(info->dlpi_addr + header.p_vaddr);
  }
  return 1;
}

#if defined(__x86_64__)
constexpr std::uint64_t kSlotType = R_X86_64_JUMP_SLOT;
#else
constexpr std::uint64_t kSlotType = R_AARCH64_JUMP_SLOT;
#endif

/// An object in memory as the dynamic linker would have loaded it, with one import.
struct Image {
  std::array<ElfW(Dyn), 10> dynamic{};
  std::array<ElfW(Sym), 2> symbols{};
  std::array<ElfW(Rela), 1> calls{};
  void* slot = nullptr;
  std::array<char, 8> names{"\0wanted"};

  std::array<ElfW(Phdr), 2> headers{};

  static std::size_t offset(const void* begin, const void* at) {
    return static_cast<std::size_t>(static_cast<const char*>(at) - static_cast<const char*>(begin));
  }

  Image() {
    const auto at = [&](const auto& member) { return offset(this, &member); };
    dynamic = {{{DT_JMPREL, {at(calls)}},
                {DT_PLTRELSZ, {sizeof calls}},
                {DT_PLTREL, {DT_RELA}},
                {DT_STRTAB, {at(names)}},
                {DT_STRSZ, {sizeof names}},
                {DT_SYMTAB, {at(symbols)}},
                {DT_SYMENT, {sizeof(ElfW(Sym))}},
                {DT_NULL, {0}}}};
    symbols[1].st_name = 1;
    calls[0] = {at(slot), std::uint64_t{1} << 32 | kSlotType, 0};
    headers[0] = {PT_LOAD, PF_R | PF_W, 0, 0, 0, 0, sizeof(Image), 8};
    headers[1] = {PT_DYNAMIC, PF_R, 0, at(dynamic), 0, 0, sizeof dynamic, 8};
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  Result<unsigned> redirect(const char* symbol = "wanted") {
    dl_phdr_info info{};
    info.dlpi_addr = reinterpret_cast<ElfW(Addr)>(this);
    info.dlpi_phdr = headers.data();
    info.dlpi_phnum = static_cast<ElfW(Half)>(headers.size());
    return redirect_import(info, symbol, kOther);
  }
  void set(ElfW(Sxword) tag, std::uint64_t value) {
    for (auto& entry : dynamic)
      if (entry.d_tag == tag) entry.d_un.d_val = value;
  }
};

/// Is such an object refused, and left unchanged?
template <class Spoil>
bool refused(Spoil spoil) {
  Image image;
  spoil(image);
  const auto done = image.redirect();
  return !done && done.error().code == Errc::kUnsupported && image.slot == nullptr;
}

}  // namespace

TEST_CASE("a library's calls of one import go elsewhere, everybody else's do not") {
  REQUIRE(importer_now_calls(5) == 6);
  const auto done = redirect_import("liblivebtl_importer_now.so", kSymbol, kOther);
  REQUIRE_MESSAGE(done, done.error().text);
  CHECK(*done >= 1);
  CHECK(importer_now_calls(5) == -5);
  CHECK(importer_now_address()(5) == -5);
  CHECK(livebtl_test_imported(5) == 6);
  CHECK(importer_lazy_calls(5) == 6);
}

TEST_CASE("slots that were read-only are so again") {
  const void* relro = nullptr;
  dl_iterate_phdr(find_relro, &relro);
  REQUIRE(relro != nullptr);
  REQUIRE(rights_at(relro) == "r--p");
  REQUIRE(redirect_import("liblivebtl_importer_now.so", kSymbol, kOther));
  CHECK(rights_at(relro) == "r--p");
}

TEST_CASE("slots that the first call would fill are filled before it") {
  const auto done = redirect_import("liblivebtl_importer_lazy.so", kSymbol, kOther);
  REQUIRE_MESSAGE(done, done.error().text);
  CHECK(importer_lazy_calls(7) == -7);
  CHECK(importer_lazy_address()(7) == -7);
  CHECK(livebtl_test_imported(7) == 8);
}

TEST_CASE("what is not imported is not filled, and what is not loaded is not found") {
  CHECK(*redirect_import("liblivebtl_importer_now.so", "livebtl_test_import", kOther) == 0);
  CHECK(*redirect_import("liblivebtl_importer_now.so", "no_such_function", kOther) == 0);
  const auto absent = redirect_import("liblivebtl_importer", kSymbol, kOther);
  REQUIRE_FALSE(absent);
  CHECK(absent.error().code == Errc::kNotFound);
}

TEST_CASE("an object's tables are used if they are sound") {
  Image image;
  CHECK(*image.redirect() == 1);
  CHECK(image.slot == kOther);
  Image absolute;  // as the C library leaves addresses
  for (const auto tag : {DT_JMPREL, DT_STRTAB, DT_SYMTAB})
    for (auto& entry : absolute.dynamic)
      if (entry.d_tag == tag) entry.d_un.d_ptr += reinterpret_cast<ElfW(Addr)>(&absolute);
  CHECK(*absolute.redirect() == 1);
  CHECK(absolute.slot == kOther);
}

TEST_CASE("an object whose tables lead outside of it is refused") {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 40;
  CHECK(refused([](Image& image) { image.headers[1].p_type = PT_NULL; }));
  CHECK(refused([](Image& image) { image.headers[1].p_vaddr = kFar; }));
  CHECK(refused([](Image& image) { image.headers[1].p_memsz = kFar; }));
  CHECK(refused([](Image& image) { image.headers[0].p_flags = PF_R; }));
  CHECK(refused([](Image& image) { image.set(DT_JMPREL, kFar); }));
  CHECK(refused([](Image& image) { image.set(DT_JMPREL, 4); }));
  CHECK(refused([](Image& image) { image.set(DT_PLTRELSZ, sizeof(ElfW(Rela)) - 1); }));
  CHECK(refused([](Image& image) { image.set(DT_PLTRELSZ, sizeof(ElfW(Rela)) << 20); }));
  CHECK(refused([](Image& image) { image.set(DT_PLTREL, DT_REL); }));
  CHECK(refused([](Image& image) { image.set(DT_STRTAB, kFar); }));
  CHECK(refused([](Image& image) { image.set(DT_STRSZ, 0); }));
  CHECK(refused([](Image& image) { image.set(DT_SYMENT, 1); }));
  CHECK(refused([](Image& image) { image.calls[0].r_offset = kFar; }));
  CHECK(refused([](Image& image) { ++image.calls[0].r_offset; }));
}

TEST_CASE("a name that cannot be read is not the one that is sought") {
  const auto unfilled = [](auto spoil) {
    Image image;
    spoil(image);
    const auto done = image.redirect();
    return done && *done == 0 && image.slot == nullptr;
  };
  CHECK(unfilled([](Image& image) { image.set(DT_STRSZ, 7); }));  // no terminating zero
  CHECK(unfilled([](Image& image) { image.symbols[1].st_name = 8; }));
  CHECK(unfilled([](Image& image) { image.symbols[1].st_name = 2; }));
  CHECK(unfilled([](Image& image) { image.set(DT_SYMTAB, std::uint64_t{1} << 40); }));
  CHECK(unfilled([](Image& image) { image.set(DT_SYMTAB, 4); }));
  CHECK(unfilled([](Image& image) { image.calls[0].r_info = std::uint64_t{1} << 62 | kSlotType; }));
  CHECK(unfilled([](Image& image) { image.calls[0].r_info = std::uint64_t{1} << 32; }));
}
