"""Data of a case, computed again from the definition in docs/measuring.md, without the engine."""

import json
import struct

from harness import Json

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
NO_PART = (
    *("case", "name", "interface", "repetitions", "warmup", "settle", "deadline", "depth", "think", "cache"),
    *("rate_limit", "arrivals", "arrival_rate", "runtime", "ramp"),
)
"""The keys of a case that do not change its data."""


def mix(x: int) -> int:
    """SplitMix64's output function."""
    x = (x + STEP) & MASK
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def hash_numbers(*numbers: int) -> int:
    """The engine's hash of several numbers."""
    state = 0x5354524944455200
    for number in numbers:
        state = mix(state ^ number)
    return state


def scramble(x: int) -> int:
    """The bijection behind data and digests."""
    x ^= x >> 32
    x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ (x >> 29)


def workload(test: Json) -> int:
    """What identifies the work of a case of a plan, whatever its interface."""
    kept = {key: value for key, value in test.items() if key not in NO_PART}
    found = 0
    for letter in json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode():
        found = hash_numbers(found, letter)
    return found


def contents(
    test: Json, size: int, file: int = 0, generation: int = 1, data_seed: int = 7, turn: int = 0
) -> bytes:
    """The bytes of a file of a case, a multiple of 8, after so many writes; `turn`: its pass."""
    key = hash_numbers(data_seed, workload(test), file, generation)
    if turn > 0:
        key = hash_numbers(key, turn)
    return struct.pack(f"<{size // 8}Q", *(scramble((key + i * STEP) & MASK) for i in range(size // 8)))
