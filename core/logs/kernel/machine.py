"""What numba lacks: bytes at an address, 32 bytes in one look, and a wide multiply.

An address is an int64, as everything here is: numba turns int64 mixed with uint64 into a float. Plain array indexing
was measured at a third of the speed (docs/LOG.md), for numba counts references to arrays in the loop.

A *look* loads 32 bytes and answers with one bit a byte, the first byte lowest; LLVM makes AVX2, AVX-512 or NEON of it.
Whoever looks must own the 32 bytes from the address on: see ``SPARE`` in core.logs.columns. The lowest byte of a word
is the first one, as on all machines that numba has wheels for.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite import ir  # type: ignore[import-untyped]  # no types in that package
from numba import njit, types
from numba.extending import intrinsic

from core.logs.kernel import unconfigured  # noqa: F401 before anything is compiled

LOOK = 32  # bytes; with 64 the kernel was a sixth slower: a log line has a number every ten bytes

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Emit = Callable[[Any, Any], Any]  # IR builder, argument values -> result value

_BYTE, _HALF, _WORD, _WIDE = (ir.IntType(bits) for bits in (8, 32, 64, 128))
_BYTES = ir.VectorType(_BYTE, LOOK)

_AS_C = {"nogil": True, "boundscheck": False, "error_model": "numpy", "no_cfunc_wrapper": True}


def compiled(function: _Function) -> _Function:
    """Compile for the CPU at hand, without the GIL; arithmetic and indices as in C.

    All of it is put into the one loop that calls it, for 1.4 times the speed: left to itself LLVM makes calls of
    what each number of a line needs.
    """
    return cast(_Function, njit(**_AS_C, forceinline=True, no_cpython_wrapper=True)(function))


def entry(function: _Function) -> _Function:
    """Compile a loop that Python calls: nothing is put into it twice, as it is nobody's part."""
    return cast(_Function, njit(**_AS_C)(function))


def _instruction(arguments: int, emit: _Emit, result: Any = types.int64) -> Callable[..., Any]:
    """A function of int64 arguments that compiles to what ``emit`` builds."""

    def build(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        value = emit(builder, values)
        return context.get_dummy_value() if value is None else value

    def of_one(_context: Any, entry: Any) -> tuple[Any, Callable[..., Any]]:
        return result(entry), build

    def of_two(_context: Any, entry: Any, two: Any) -> tuple[Any, Callable[..., Any]]:
        return result(entry, two), build

    return cast(Callable[..., Any], intrinsic(of_one if arguments == 1 else of_two))


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, ir.PointerType())


def _load(builder: Any, address: Any, kind: Any) -> Any:
    return builder.load(_pointer(builder, address), typ=kind, align=1)


def _all(value: int) -> Any:
    return ir.Constant(_BYTES, [ir.Constant(_BYTE, value)] * LOOK)


def _between(builder: Any, vector: Any, first: int, last: int) -> Any:
    return builder.icmp_unsigned("<=", builder.sub(vector, _all(first)), _all(last - first))


def _are_digits(builder: Any, vector: Any) -> Any:
    return _between(builder, vector, ord("0"), ord("9"))


def _bits(builder: Any, truths: Any) -> Any:
    return builder.zext(builder.bitcast(truths, ir.IntType(LOOK)), _WORD)


# --- bytes and words ----------------------------------------------------------------------------------------------

byte: Callable[[int], int] = _instruction(1, lambda b, v: b.zext(_load(b, v[0], _BYTE), _WORD))
word: Callable[[int], int] = _instruction(1, lambda b, v: _load(b, v[0], _WORD))


def _store(builder: Any, address: Any, value: Any) -> None:
    builder.store(value, _pointer(builder, address), align=1)


put_byte: Callable[[int, int], None] = _instruction(2, lambda b, v: _store(b, v[0], b.trunc(v[1], _BYTE)), types.void)
put_half: Callable[[int, int], None] = _instruction(2, lambda b, v: _store(b, v[0], b.trunc(v[1], _HALF)), types.void)
put_word: Callable[[int, int], None] = _instruction(2, lambda b, v: _store(b, v[0], v[1]), types.void)


# --- looks --------------------------------------------------------------------------------------------------------


def _digits(builder: Any, values: Any) -> Any:
    return _bits(builder, _are_digits(builder, _load(builder, values[0], _BYTES)))


def _hexes(builder: Any, values: Any) -> Any:
    here = _load(builder, values[0], _BYTES)
    letters = _between(builder, here, ord("a"), ord("f"))
    return _bits(builder, builder.or_(letters, _are_digits(builder, here)))


def _any_hexes(builder: Any, values: Any) -> Any:
    # 0x20 makes letters small and leaves digits as they are; nothing else becomes a letter
    here = _load(builder, values[0], _BYTES)
    letters = _between(builder, builder.or_(here, _all(0x20)), ord("a"), ord("f"))
    return _bits(builder, builder.or_(letters, _are_digits(builder, here)))


def _stops(builder: Any, values: Any) -> Any:
    here = _load(builder, values[0], _BYTES)
    after = _load(builder, builder.add(values[0], ir.Constant(_WORD, 1)), _BYTES)
    blank = builder.icmp_unsigned("==", here, _all(ord(" ")))
    double = builder.and_(blank, builder.icmp_unsigned("==", after, _all(ord(" "))))
    special = builder.or_(_are_digits(builder, here), _between(builder, here, ord("\t"), ord("\r")))
    return _bits(builder, builder.or_(special, double))


def _ends(builder: Any, values: Any) -> Any:
    here = _load(builder, values[0], _BYTES)
    newline = builder.icmp_unsigned("==", here, _all(ord("\n")))
    return _bits(builder, builder.or_(newline, builder.icmp_unsigned("==", here, _all(ord("\r")))))


def _odd(builder: Any, values: Any) -> Any:
    here = _load(builder, values[0], _BYTES)
    high = builder.icmp_signed("<", here, _all(0))
    return _bits(builder, builder.or_(high, builder.icmp_unsigned("==", here, _all(0x1B))))


def _differ(builder: Any, values: Any) -> Any:
    one, other = (_load(builder, value, _BYTES) for value in values)
    return _bits(builder, builder.icmp_unsigned("!=", one, other))


def _copy(builder: Any, values: Any) -> None:
    builder.store(_load(builder, values[1], _BYTES), _pointer(builder, values[0]), align=1)


digits: Callable[[int], int] = _instruction(1, _digits)  # 0-9
hexes: Callable[[int], int] = _instruction(1, _hexes)  # 0-9 a-f
any_hexes: Callable[[int], int] = _instruction(1, _any_hexes)  # 0-9 a-f A-F
stops: Callable[[int], int] = _instruction(1, _stops)  # digits, tab to carriage return, the first of two spaces
ends: Callable[[int], int] = _instruction(1, _ends)  # \n \r
odd: Callable[[int], int] = _instruction(1, _odd)  # escape, and whatever is not ASCII
differ: Callable[[int, int], int] = _instruction(2, _differ)  # bytes that are not the same at both addresses
copy: Callable[[int, int], None] = _instruction(2, _copy, types.void)  # 32 bytes to the first address from the second


# --- numbers ------------------------------------------------------------------------------------------------------


def _lowest(builder: Any, values: Any) -> Any:
    return builder.cttz(values[0], ir.Constant(ir.IntType(1), 0))


def _fold(builder: Any, values: Any) -> Any:
    product = builder.mul(builder.zext(values[0], _WIDE), builder.zext(values[1], _WIDE))
    high = builder.trunc(builder.lshr(product, ir.Constant(_WIDE, 64)), _WORD)
    return builder.xor(high, builder.trunc(product, _WORD))


lowest: Callable[[int], int] = _instruction(1, _lowest)  # place of the lowest bit that is set, 64 when none is
fold: Callable[[int, int], int] = _instruction(2, _fold)  # the two halves of the 128-bit product, one upon the other


# --- runs ---------------------------------------------------------------------------------------------------------


@compiled
def digits_end(at: int) -> int:
    """Where the digits end that start there."""
    while True:
        length = lowest(~digits(at))
        at += length
        if length < LOOK:
            return at


@compiled
def hexes_end(at: int) -> int:
    """Where 0-9 a-f end."""
    while True:
        length = lowest(~hexes(at))
        at += length
        if length < LOOK:
            return at


@compiled
def any_hexes_end(at: int) -> int:
    """Where 0-9 a-f A-F end."""
    while True:
        length = lowest(~any_hexes(at))
        at += length
        if length < LOOK:
            return at
