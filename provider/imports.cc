// SPDX-License-Identifier: BSD-3-Clause
// provider/imports.cc -- see imports.h.
#include "provider/imports.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <string>

namespace livebtl::fi {
namespace {

#if defined(__x86_64__)
constexpr bool kProcessorKnown = true;
constexpr std::uint32_t kCallSlot = R_X86_64_JUMP_SLOT, kAddressSlot = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr bool kProcessorKnown = true;
constexpr std::uint32_t kCallSlot = R_AARCH64_JUMP_SLOT, kAddressSlot = R_AARCH64_GLOB_DAT;
#else
constexpr bool kProcessorKnown = false;
constexpr std::uint32_t kCallSlot = 0, kAddressSlot = 0;
#endif

using Word = std::uintptr_t;

/// The tables hold numbers, each of which is checked before it is used as a pointer.
template <class Type>
Type* at(Word address) noexcept {
  return reinterpret_cast<Type*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// The `bytes` addresses from `begin` on.
struct Range {
  Word begin = 0;
  Word bytes = 0;
  bool has(Word address, Word count) const noexcept {
    return address >= begin && count <= bytes && address - begin <= bytes - count;
  }
};

Error not_understood(const char* what) {
  return {Errc::kUnsupported, std::string("its ELF tables are not understood: ") + what};
}

/// Tables that the dynamic section names, each within one segment; `symbols` is not checked yet.
struct Tables {
  std::span<const ElfW(Rela)> calls, others;
  const ElfW(Sym) * symbols = nullptr;
  std::string_view names;
};

class ElfObject {
 public:
  explicit ElfObject(const dl_phdr_info& info) noexcept
      : base_(info.dlpi_addr), headers_(info.dlpi_phdr, info.dlpi_phnum) {}

  Result<Tables> tables() const;
  /// Is this entry a slot for `symbol`?
  bool imports(const Tables& tables, const ElfW(Rela) & entry, std::string_view symbol) const;
  Status fill(Word offset, void* value) const;

 private:
  Range range(const ElfW(Phdr) & header) const noexcept {
    return {base_ + header.p_vaddr, header.p_memsz};
  }
  const ElfW(Phdr) * find(ElfW(Word) type) const noexcept {
    for (const auto& header : headers_)
      if (header.p_type == type) return &header;
    return nullptr;
  }
  /// Do these bytes lie in one loaded segment that has all of these rights?
  bool loaded(Word address, Word bytes, ElfW(Word) rights) const noexcept {
    for (const auto& header : headers_) {
      if (header.p_type == PT_LOAD && (header.p_flags & rights) == rights &&
          range(header).has(address, bytes))
        return true;
    }
    return false;
  }
  /// glibc turns addresses in the dynamic section into memory addresses; others do not.
  Word address_of(Word value) const noexcept { return value < base_ ? base_ + value : value; }
  template <class Entry>
  bool table(Word address, Word bytes, std::span<const Entry>& into) const noexcept {
    if (bytes == 0) return true;
    address = address_of(address);
    if (address % alignof(Entry) != 0 || bytes % sizeof(Entry) != 0 ||
        !loaded(address, bytes, PF_R))
      return false;
    into = {at<const Entry>(address), bytes / sizeof(Entry)};
    return true;
  }

  Word base_;
  std::span<const ElfW(Phdr)> headers_;
};

Result<Tables> ElfObject::tables() const {
  const ElfW(Phdr)* const section = find(PT_DYNAMIC);
  std::span<const ElfW(Dyn)> entries;
  if (section == nullptr || !table(base_ + section->p_vaddr, section->p_memsz, entries))
    return tl::unexpected(not_understood("no dynamic section"));
  // By tag; higher tags are of no interest here.
  Word values[DT_PLTRELSZ + DT_JMPREL + 1] = {};
  for (const auto& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag > 0 && entry.d_tag <= DT_JMPREL) values[entry.d_tag] = entry.d_un.d_val;
  }
  if (values[DT_PLTRELSZ] != 0 && values[DT_PLTREL] != DT_RELA)
    return tl::unexpected(not_understood("relocations without addends"));
  Tables found;
  std::span<const char> names;
  const bool good = table(values[DT_JMPREL], values[DT_PLTRELSZ], found.calls) &&
                    (values[DT_RELASZ] == 0 || values[DT_RELAENT] == sizeof(ElfW(Rela))) &&
                    table(values[DT_RELA], values[DT_RELASZ], found.others) &&
                    table(values[DT_STRTAB], values[DT_STRSZ], names) && !names.empty() &&
                    values[DT_SYMENT] == sizeof(ElfW(Sym));
  if (!good) return tl::unexpected(not_understood("a table is not where it should be"));
  found.names = {names.data(), names.size()};
  found.symbols = at<const ElfW(Sym)>(address_of(values[DT_SYMTAB]));
  return found;
}

bool ElfObject::imports(const Tables& tables, const ElfW(Rela) & entry,
                        std::string_view symbol) const {
  const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
  if (type != kCallSlot && type != kAddressSlot) return false;
  // The symbol table does not say how long it is.
  const ElfW(Sym)* const wanted = tables.symbols + ELF64_R_SYM(entry.r_info);
  const auto address = reinterpret_cast<Word>(wanted);
  if (address % alignof(ElfW(Sym)) != 0 || !loaded(address, sizeof *wanted, PF_R)) return false;
  if (wanted->st_name >= tables.names.size()) return false;
  const std::string_view rest = tables.names.substr(wanted->st_name);
  return rest.size() > symbol.size() && rest.starts_with(symbol) && rest[symbol.size()] == '\0';
}

// If a library was linked with RELRO, its slots are made read-only once they are filled, up to the
// last whole page of that range.
Status ElfObject::fill(Word offset, void* value) const {
  const Word slot = base_ + offset;
  if (slot % alignof(void*) != 0 || !loaded(slot, sizeof value, PF_W))
    return tl::unexpected(not_understood("a slot is not in its data"));
  const auto page_bytes = static_cast<Word>(::sysconf(_SC_PAGESIZE));
  const Word page = slot / page_bytes * page_bytes;
  const ElfW(Phdr)* const relro = find(PT_GNU_RELRO);
  bool is_protected = false;
  if (relro != nullptr) {
    const Range range = this->range(*relro);
    const Word end = (range.begin + range.bytes) / page_bytes * page_bytes;
    is_protected = page >= range.begin / page_bytes * page_bytes && page < end;
  }
  void* const memory = at<void>(page);
  if (is_protected && ::mprotect(memory, page_bytes, PROT_READ | PROT_WRITE) != 0)
    return fail(Errc::kSystem, std::string("mprotect: ") + std::strerror(errno));
  // Another thread may be calling through the slot.
  __atomic_store_n(at<void*>(slot), value, __ATOMIC_RELEASE);
  if (is_protected && ::mprotect(memory, page_bytes, PROT_READ) != 0)
    return fail(Errc::kSystem, std::string("mprotect: ") + std::strerror(errno));
  return {};
}

struct Search {
  std::string_view library, symbol;
  void* replacement;
  Result<unsigned> done;
};

int look_at(dl_phdr_info* info, std::size_t /*bytes*/, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (path.substr(path.rfind('/') + 1) != search.library) return 0;  // npos + 1 is 0
  search.done = redirect_import(*info, search.symbol, search.replacement);
  return 1;
}

}  // namespace

Result<unsigned> redirect_import(const dl_phdr_info& info, std::string_view symbol,
                                 void* replacement) {
  if (!kProcessorKnown || sizeof(void*) != sizeof(std::uint64_t))
    return fail(Errc::kUnsupported, "this is not known for this processor");
  const ElfObject object(info);
  const auto tables = object.tables();
  if (!tables) return tl::unexpected(tables.error());
  unsigned filled = 0;
  for (const auto& table : {tables->calls, tables->others}) {
    for (const auto& entry : table) {
      if (!object.imports(*tables, entry, symbol)) continue;
      if (const Status done = object.fill(entry.r_offset, replacement); !done)
        return tl::unexpected(done.error());
      ++filled;
    }
  }
  return filled;
}

Result<unsigned> redirect_import(std::string_view library, std::string_view symbol,
                                 void* replacement) {
  Search search{library, symbol, replacement, fail(Errc::kNotFound, "it is not loaded")};
  ::dl_iterate_phdr(look_at, &search);
  return search.done;
}

}  // namespace livebtl::fi
