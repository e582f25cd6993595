# SPDX-License-Identifier: MIT
"""Benchmarks of known proportions, in every form that pytest-codspeed has."""
import subprocess

import pytest


def burn(turns):
    total = 0
    for i in range(turns):
        total += i
    return total


def blocks(count):
    """So many blocks of 1 MiB and a byte: the interpreter's own are smaller, and not malloc's."""
    return [bytearray(1 << 20) for _ in range(count)]


def test_once(benchmark):
    assert benchmark(burn, 2000) == 1999000


def test_twice(benchmark):
    benchmark(burn, 4000)


@pytest.mark.benchmark
def test_marked():
    burn(2000)


@pytest.mark.parametrize("count", [1, 3])
def test_blocks(benchmark, count):
    benchmark(blocks, count)


class TestNames:
    @pytest.mark.parametrize("name", ["a b", "c::d[e]", "ü"])
    def test_of(self, benchmark, name):
        benchmark(len, name)


def test_starts_a_program(benchmark):
    benchmark(subprocess.run, ["seq", "100000"], stdout=subprocess.DEVNULL, check=True)
