// SPDX-License-Identifier: BSD-3-Clause
// ompi/packing.cc -- see packing.h.
#include "ompi/packing.h"

namespace livebtl::ompi {
namespace {

/// Open MPI's convertor, for one walk over a datatype.
class Convertor {
 public:
  Convertor() noexcept { OBJ_CONSTRUCT(&convertor_, opal_convertor_t); }
  ~Convertor() {
    opal_convertor_cleanup(&convertor_);
    OBJ_DESTRUCT(&convertor_);
  }
  Convertor(const Convertor&) = delete;
  Convertor& operator=(const Convertor&) = delete;

  bool for_send(const Elements& from) noexcept {
    return opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &from.datatype->super,
                                                    from.count, from.buffer, 0,
                                                    &convertor_) == OPAL_SUCCESS;
  }
  bool for_receive(const Elements& to) noexcept {
    return opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &to.datatype->super,
                                                    to.count, to.buffer, 0,
                                                    &convertor_) == OPAL_SUCCESS;
  }

  /// `step` is opal_convertor_pack or _unpack. It may stop short of the end, and is called again.
  template <class Step>
  bool walk(Step step, std::byte* packed, std::size_t bytes) noexcept {
    std::size_t walked = 0;
    while (walked < bytes) {
      iovec piece{packed + walked, bytes - walked};
      std::uint32_t pieces = 1;
      std::size_t moved = bytes - walked;
      if (step(&convertor_, &piece, &pieces, &moved) < 0 || moved == 0) return false;
      walked += moved;
    }
    return true;
  }

 private:
  opal_convertor_t convertor_;
};

}  // namespace

bool pack(const Elements& elements, std::byte* packed) noexcept {
  Convertor convertor;
  return convertor.for_send(elements) &&
         convertor.walk(opal_convertor_pack, packed, elements.bytes());
}

bool unpack(const Elements& elements, const std::byte* packed, std::size_t bytes) noexcept {
  Convertor convertor;
  return convertor.for_receive(elements) &&
         convertor.walk(opal_convertor_unpack, const_cast<std::byte*>(packed), bytes);
}

}  // namespace livebtl::ompi
