"""The data that IOR writes, by the forms of docs/measuring.md."""

import ctypes
from array import array
from dataclasses import dataclass

TYPES = ("timestamp", "offset", "incompressible", "random")
_WORD, _WORDS_PER_MARK, _MASK = 8, 512, (1 << 32) - 1


class _Drawn:
    """Random numbers of the C library from a seed on."""

    def __init__(self, seed: int) -> None:
        self._state = ctypes.c_uint(seed & _MASK)

    def next(self) -> int:
        """Returns the next one."""
        return int(ctypes.CDLL(None).rand_r(ctypes.byref(self._state)))


@dataclass(frozen=True)
class Packets:
    """Files of IOR.

    Attributes:
        kind: Type of the data.
        signature: IOR's `-G`, not negative.
        transfer: Bytes of a transfer.
        block: Bytes of a block.
        segments: Number of segments.
        tasks: Number of tasks.
    """

    kind: str
    signature: int
    transfer: int
    block: int
    segments: int = 1
    tasks: int = 2

    def words(self, rank: int, offset: int) -> list[int]:
        """Returns the words of the transfer of a rank that begins at an offset of its file."""
        count = self.transfer // _WORD
        if self.kind == "random":
            word, words = _Drawn(self.signature + rank + offset).next(), []
            for _ in range(count):
                word = word * 0x9E37FFFFFFFC0001 % (1 << 64) >> 3
                words.append(word)
            return words
        drawn = _Drawn(self.signature + rank)
        same = drawn.next() << 32 | drawn.next()
        counted = [rank << 32 | self.signature + i for i in range(count)]
        words = [same] * count if self.kind == "incompressible" else counted
        if self.kind != "timestamp":
            for i in range(0, count, _WORDS_PER_MARK):
                words[i] = rank << 32 | offset * (i // _WORDS_PER_MARK + 1) & _MASK
        return words

    def files(self, *, per_rank: bool) -> dict[str, bytes]:
        """Returns the contents of the files by their names."""
        files: dict[str, bytearray] = {}
        for _ in range(self.segments):
            for rank in range(self.tasks):
                content = files.setdefault(f"file.{rank:08}" if per_rank else "file", bytearray())
                for _ in range(0, self.block, self.transfer):
                    content += array("Q", self.words(rank, len(content))).tobytes()
        return {name: bytes(content) for name, content in files.items()}
