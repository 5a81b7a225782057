#pragma once

namespace strider {

#if defined(__x86_64__)
/// `function` for processors with AVX2, as ifunc would have it, but without its trouble with sanitizers.
template <auto function, typename... Arguments>
[[gnu::target("avx2")]] auto with_avx2(Arguments... arguments) {
  return function(arguments...);
}

#if !defined(__clang__)
/// The same for those with AVX-512, which has a multiplication of 64-bit words.
template <auto function, typename... Arguments>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")]] auto with_avx512(Arguments... arguments) {
  return function(arguments...);
}
#endif
#endif

enum class Vectors { plain, avx2, avx512 };

/// The widest vectors of this processor that are worth it.
inline Vectors widest_vectors() {
#if defined(__x86_64__)
#if !defined(__clang__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return Vectors::avx512;
#endif
  if (__builtin_cpu_supports("avx2")) return Vectors::avx2;
#endif
  return Vectors::plain;
}

/// Calls `function`, compiled for these vectors. It and all that it calls in its loops have to be declared
/// `[[gnu::always_inline]] inline`, so that they are compiled for each kind of processor.
template <auto function, typename... Arguments>
auto with_vectors([[maybe_unused]] Vectors vectors, Arguments... arguments) {
#if defined(__x86_64__)
#if !defined(__clang__)
  if (vectors == Vectors::avx512) return with_avx512<function>(arguments...);
#endif
  if (vectors == Vectors::avx2) return with_avx2<function>(arguments...);
#endif
  return function(arguments...);
}

template <auto function, typename... Arguments>
auto with_widest_vectors(Arguments... arguments) {
  return with_vectors<function>(widest_vectors(), arguments...);
}

}  // namespace strider
