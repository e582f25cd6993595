// SPDX-License-Identifier: MIT
//! The benchmarks as divan finds them.
use costs::{block, work};
use divan::{black_box, Bencher};

fn main() {
    divan::main();
}

#[divan::bench]
fn once() -> u64 {
    work(black_box(10_000))
}

#[divan::bench]
fn twice() -> u64 {
    work(black_box(20_000))
}

#[divan::bench(args = [1, 3])]
fn blocks(bencher: Bencher, count: usize) {
    bencher.bench_local(|| (0..black_box(count)).for_each(|_| block(12_345)));
}
